/** Signing in, the pages of access and a connected account, as a person in a browser meets them. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { SampleProvider } from "#test/conformance/oauth/sample-provider.ts";
import { launchBrowser } from "#test/harness/browser.ts";
import { TestHub } from "#test/harness/hub.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const PASSWORD = "correct horse battery";

suite("the pages of access in a browser", () => {
  const workspace = new Workspace();
  const provider = new SampleProvider();
  const hub = new TestHub({ dataDir: workspace.path("hub-data"), settings: { "auth.mode": "required" } });
  let browser: Browser;
  let page: Page;

  before(async () => {
    await provider.start();
    workspace.defer(() => provider.stop());
    workspace.defer(() => hub.destroy());
    await hub.start();
    browser = await launchBrowser();
    workspace.defer(() => browser.close());
    page = await (await browser.newContext()).newPage();
  });
  after(() => workspace.close());

  /** The page before stays in sight until the next is loaded. */
  async function goto(name: string): Promise<void> {
    await page.goto(`${hub.dashboardUrl}/#/${name}`);
    await page.locator(`tr-page-${name} h1`).waitFor();
  }

  const formOf = (button: string | RegExp) =>
    page.locator("form", { has: page.getByRole("button", { name: button }) });

  test("the link of the first start makes the first administrator, who is signed in with it", async () => {
    const link = await until(
      "the link",
      () => /https?:\/\/\S+\/api\/auth\/setup\/\S+/.exec(readFileSync(hub.logFile, "utf8"))?.[0],
    );
    await page.goto(link!);
    await page.getByLabel(/name/i).first().fill("ada");
    for (const field of await page.locator("input[type=password]").all()) await field.fill(PASSWORD);
    await page.getByRole("button").first().click();
    await page.waitForURL(`${hub.dashboardUrl}/`);
    const me = await page.request.get(`${hub.dashboardUrl}/api/auth/me`);
    assert.equal(((await me.json()) as { name: string }).name, "ada");
  });

  test("an account and a key are made, the key is shown once and works, and both end when they are removed", async () => {
    await goto("users");
    const form = formOf("Add account");
    await form.getByLabel("Name").fill("vic");
    await form.getByLabel("Password").fill(PASSWORD);
    await form.getByRole("button", { name: "Add account" }).click();
    await page.getByRole("cell", { name: "vic", exact: true }).waitFor();
    const keys = formOf("Make key");
    await keys.getByLabel("Name").fill("import");
    await keys.getByLabel("Role").selectOption("viewer");
    await keys.getByRole("button", { name: "Make key" }).click();
    const key = await page.locator(".secret dd").textContent();
    const asked = () =>
      fetch(`${hub.searchUrl}/_search`, { headers: { authorization: `Bearer ${key}` } }).then(
        ({ status }) => status,
      );
    assert.equal(await asked(), 200);
    await page.getByRole("button", { name: "I have kept it" }).click();
    assert.equal(await page.locator(".secret").count(), 0);
    await page.getByRole("button", { name: "Revoke import" }).click();
    await page.locator("dialog[open]").getByRole("button", { name: "Revoke key" }).click();
    await until("the end of the key", async () => (await asked()) === 401);
    await page.getByRole("button", { name: "Remove vic" }).click();
    await page.locator("dialog[open]").getByRole("button", { name: "Remove account" }).click();
    await page.getByRole("cell", { name: "vic", exact: true }).waitFor({ state: "detached" });
  });

  test("an application is registered, gets a further secret, and is deleted", async () => {
    await goto("oauth-clients");
    const form = formOf("Register");
    await form.getByLabel(/^Name/).fill("Reports");
    await form.getByLabel(/^Redirect URIs/).fill("https://reports.example/cb");
    await form.getByRole("button", { name: "Register" }).click();
    await page.locator(".secret dd").nth(1).waitFor();
    const [id, first] = await page.locator(".secret dd").allTextContents();
    await page.getByRole("button", { name: "New secret for Reports" }).click();
    await page.locator("dialog[open]").getByRole("button", { name: "Make secret" }).click();
    await page.getByRole("button", { name: "End the old secret of Reports" }).waitFor();
    const [again, second] = await page.locator(".secret dd").allTextContents();
    assert.equal(again, id);
    assert.notEqual(second, first);
    await page.getByRole("button", { name: "Delete Reports" }).click();
    await page.locator("dialog[open]").getByRole("button", { name: "Delete client" }).click();
    await page.getByText("No application is registered.").waitFor();
  });

  test("a line for another server is made and withdrawn", async () => {
    await goto("enrolment");
    await page.getByRole("button", { name: "Make a line" }).click();
    const line = (await page.locator(".secret dd").textContent()) ?? "";
    assert.ok(line.startsWith(`tailrace-agent enroll ${hub.dashboardUrl} `), line);
    await page.getByRole("button", { name: /^Withdraw/ }).click();
    await page.getByRole("button", { name: /^Withdraw/ }).waitFor({ state: "detached" });
  });

  test("an account elsewhere is connected by consent there", async () => {
    await goto("connections");
    const form = formOf("Define");
    await form.getByLabel("Name", { exact: true }).fill("Sample");
    await form.getByLabel("Authorization endpoint").fill(`${provider.origin}/o/oauth2/v2/auth`);
    await form.getByLabel("Token endpoint").fill(`${provider.origin}/token`);
    await form.getByLabel("client_id").fill(provider.clientId);
    await form.getByLabel("client_secret").fill(provider.clientSecret);
    await form.getByLabel("Scope").fill("https://api.example.com/auth/read");
    await form.getByLabel("Hosts that get the token").fill(new URL(provider.origin).host);
    await form.getByRole("button", { name: "Define" }).click();
    const connect = formOf(/^Connect/);
    await connect.getByLabel(/^Name/).fill("audit");
    await connect.getByRole("button", { name: /Connect/ }).click();
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    await goto("connections");
    await page.getByText("connected", { exact: true }).waitFor();
  });

  test("signing out leads to the sign-in, and the pages ask for it again", async () => {
    await page.evaluate("fetch('/api/auth/logout', { method: 'POST' })");
    await page.goto(`${hub.dashboardUrl}/`);
    await page.locator("input[type=password]").waitFor();
    const refused = await page.request.get(`${hub.dashboardUrl}/api/auth/accounts`);
    assert.equal(refused.status(), 401);
  });
});
