/** Signing in, the pages of access and a connected account, as a person in a browser meets them. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { SampleProvider } from "#test/conformance/oauth/sample-provider.ts";
import { findBarriers } from "#test/harness/axe.ts";
import { becomesTrue } from "#test/harness/becomes.ts";
import { launchBrowser } from "#test/harness/browser.ts";
import { TestHub } from "#test/harness/hub.ts";
import { holdsSecret, keepSecret, outputWithSecrets } from "#test/harness/secrets.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const PASSWORD = "correct horse battery";

suite("the pages of access in a browser", () => {
  const workspace = new Workspace();
  const provider = new SampleProvider();
  const hub = new TestHub({
    dataDir: workspace.path("hub-data"),
    settings: { "auth.mode": "required", "pipeline.allowed_hosts": ["127.0.0.1"] },
  });
  /** Every address that the browser asked for. */
  const asked: string[] = [];
  let browser: Browser;
  let page: Page;

  before(async () => {
    await provider.start();
    workspace.defer(() => provider.stop());
    workspace.defer(() => hub.destroy());
    await hub.start();
    browser = await launchBrowser();
    workspace.defer(() => browser.close());
    page = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
    page.on("request", (request) => void asked.push(request.url()));
    keepSecret(PASSWORD);
  });
  after(() => workspace.close());

  /** The page before stays in sight until the next is loaded. */
  async function goto(name: string): Promise<void> {
    await page.goto(`${hub.dashboardUrl}/#/${name}`);
    await page.locator(`tr-page-${name} h1`).waitFor();
    await expectNoBarrier(name);
  }

  /** Everybody can use what is shown, in light and in dark. */
  async function expectNoBarrier(what: string): Promise<void> {
    const found = await findBarriers(page);
    await page.emulateMedia({ colorScheme: "dark" });
    found.push(...(await findBarriers(page, "colours")));
    await page.emulateMedia({ colorScheme: null });
    assert.deepEqual(found, [], what);
  }

  /** The navigation of a viewer has no pages of administrators. */
  async function expectFewerPages(name: string): Promise<void> {
    const context = await browser.newContext();
    const visitor = await context.newPage();
    await visitor.goto(`${hub.dashboardUrl}/#/discover`);
    await visitor.getByLabel("Name").fill(name);
    await visitor.getByLabel("Password").fill(PASSWORD);
    await visitor.getByRole("button", { name: "Sign in" }).click();
    await visitor.getByRole("button", { name, exact: true }).waitFor();
    await visitor.getByText(/^Nothing has arrived yet: look at/).waitFor();
    assert.equal(await visitor.getByRole("link", { name: "Connect servers" }).count(), 0);
    await visitor.getByRole("button", { name: "Administration" }).click();
    await visitor.getByRole("link", { name: "Cluster" }).waitFor();
    assert.equal(await visitor.getByRole("link", { name: "Users and keys" }).count(), 0);
    await visitor.keyboard.press("Control+k");
    await visitor.getByRole("option", { name: "Cluster" }).waitFor();
    assert.equal(await visitor.getByRole("option", { name: "Users and keys" }).count(), 0);
    await expectNothingRefused(visitor);
    await context.close();
  }

  /** Pages offer a viewer nothing that makes or changes something. */
  async function expectNothingRefused(visitor: Page): Promise<void> {
    const beside = await page.context().newPage(); // of who administers
    const authorization = `Basic ${btoa(`ada:${PASSWORD}`)}`;
    const created = await fetch(`${hub.searchUrl}/shelf`, { method: "PUT", headers: { authorization } });
    assert.equal(created.status, 200);
    for (const [name, role, action] of [
      ["pipelines", "link", "New pipeline"],
      ["dashboards", "button", "New dashboard"],
      ["alerts", "link", "New alert"],
      ["alerts", "link", "Alert on errors"],
      ["agents", "link", "Connect a server"],
      ["indices", "link", "Retention"],
      ["indices?index=shelf", "button", "Delete"],
      ["indices?index=shelf", "button", "Merge segments"],
      ["indices?index=shelf&tab=aliases", "button", "Add alias"],
      ["indices?index=shelf&tab=settings", "button", "Set"],
    ] as const) {
      await beside.goto(`${hub.dashboardUrl}/#/${name}`);
      await beside.getByRole(role, { name: action, exact: true }).first().waitFor();
      await visitor.goto(`${hub.dashboardUrl}/#/${name}`);
      await visitor.locator(`tr-page-${name.split("?")[0]} h1`).waitFor();
      await visitor.waitForLoadState("networkidle");
      assert.equal(await visitor.getByRole(role, { name: action, exact: true }).count(), 0, action);
    }
    await beside.close();
  }

  /** Presses a button of the question that is asked. */
  async function confirm(button: string): Promise<void> {
    const dialog = page.locator("dialog[open]");
    await dialog.waitFor();
    await expectNoBarrier(button);
    await dialog.getByRole("button", { name: button }).click();
  }

  const formOf = (button: string | RegExp) =>
    page.locator("form", { has: page.getByRole("button", { name: button }) });

  test("the link of the first start makes the first administrator, who is signed in with it", async () => {
    const link = await until(
      "the link",
      () => /https?:\/\/\S+\/api\/auth\/setup\/\S+/.exec(readFileSync(hub.logFile, "utf8"))?.[0],
    );
    keepSecret(link!.slice(link!.lastIndexOf("/") + 1));
    await page.goto(link!);
    await expectNoBarrier("the first sign-in");
    await page.getByLabel(/name/i).first().fill("ada");
    for (const field of await page.locator("input[type=password]").all()) await field.fill(PASSWORD);
    await page.getByRole("button").first().click();
    await page.waitForURL(`${hub.dashboardUrl}/`);
    const me = await page.request.get(`${hub.dashboardUrl}/api/auth/me`);
    assert.equal(((await me.json()) as { name: string }).name, "ada");
  });

  test("an address that was opened before signing in is shown after it, also where the first password was wrong", async () => {
    const context = await browser.newContext();
    const visitor = await context.newPage();
    await visitor.goto(`${hub.dashboardUrl}/#/discover?q=error&from=now-4h`);
    const signIn = async (password: string): Promise<void> => {
      await visitor.getByLabel("Name").fill("ada");
      await visitor.getByLabel("Password").fill(password);
      await visitor.getByRole("button", { name: "Sign in" }).click();
    };
    await signIn(`${PASSWORD} not`);
    await visitor.getByRole("alert").waitFor();
    await signIn(PASSWORD);
    await visitor.locator("tr-page-discover").waitFor();
    await visitor.waitForURL(`${hub.dashboardUrl}/#/discover?q=error&from=now-4h`);
    await context.close();
  });

  test("an account and a key are created, the key is shown once and works, and both end when removed", async () => {
    await goto("users");
    const form = formOf("Add account");
    await form.getByLabel("Name").fill("vic");
    await form.getByLabel("Password").fill(PASSWORD);
    await form.getByRole("button", { name: "Add account" }).click();
    await page.getByRole("cell", { name: "vic", exact: true }).waitFor();
    await expectFewerPages("vic");
    const keys = formOf("Create key");
    await keys.getByLabel("Name").fill("import");
    await keys.getByLabel("Role").selectOption("viewer");
    await keys.getByRole("button", { name: "Create key" }).click();
    const key = await page.locator(".secret code").first().textContent();
    keepSecret(key!);
    await expectNoBarrier("a key that is shown once");
    const answered = () =>
      fetch(`${hub.searchUrl}/_search`, { headers: { authorization: `Bearer ${key}` } }).then(
        ({ status }) => status,
      );
    assert.equal(await answered(), 200);
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.locator(".secret").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Revoke import" }).click();
    await confirm("Revoke key");
    await until("the end of the key", async () => (await answered()) === 401);
    await page.getByRole("button", { name: "Remove vic" }).click();
    await confirm("Remove account");
    await page.getByRole("cell", { name: "vic", exact: true }).waitFor({ state: "detached" });
  });

  test("an application is registered, gets a further secret, and is deleted", async () => {
    await goto("oauth-clients");
    const form = formOf("Register");
    await form.getByLabel(/^Name/).fill("Reports");
    await form.getByLabel(/^Redirect URIs/).fill("https://reports.example/cb");
    await form.getByRole("checkbox", { name: "Search your logs" }).check();
    await form.getByRole("button", { name: "Register" }).click();
    await page.locator(".secret code").nth(1).waitFor();
    const [id, first] = await page.locator(".secret code").allTextContents();
    await page.getByRole("button", { name: "New secret for Reports" }).click();
    await confirm("Create secret");
    await page.getByRole("button", { name: "End the old secret of Reports" }).waitFor();
    const shown = () => page.locator(".secret code").allTextContents();
    await becomesTrue("a second secret", shown, ([again, second]) => again === id && second !== first);
    for (const secret of [first!, (await shown())[1]!]) keepSecret(secret);
    await page.getByRole("button", { name: "Delete Reports" }).click();
    await confirm("Delete client");
    await page.getByText(/No application is registered/).waitFor();
  });

  test("a person sees what applications may do, withdraws it, and changes the password", async () => {
    const origin = hub.dashboardUrl;
    const administer = async (path: string, data: object): Promise<Record<string, string>> => {
      const made = await page.request.post(`${origin}${path}`, { data, headers: { origin } });
      assert.equal(made.status(), 201, await made.text());
      return (await made.json()) as Record<string, string>;
    };
    await administer("/api/auth/accounts", { name: "pat", password: PASSWORD, role: "viewer" });
    const redirectUri = `${origin}/health`;
    const kind = { kind: "confidential", redirect_uris: [redirectUri] };
    const client = await administer("/api/auth/clients", { name: "Weekly report", ...kind });
    keepSecret(client["client_secret"]!);
    const context = await browser.newContext();
    const own = await context.newPage();
    const signIn = async (password: string): Promise<void> => {
      await own.getByLabel("Name").fill("pat");
      await own.getByLabel("Password").fill(password);
      await own.getByRole("button", { name: "Sign in" }).click();
    };
    const query = new URLSearchParams({
      client_id: client["client_id"]!,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: `${origin}/auth/logs.read`,
      state: "s",
    });
    await own.goto(`${origin}/o/oauth2/v2/auth?${query.toString()}`);
    await signIn(PASSWORD);
    await own.getByRole("button", { name: "Allow" }).click();
    await own.waitForURL(`${redirectUri}?**`);
    await own.goto(`${origin}/#/discover`);
    await own.getByRole("button", { name: "pat", exact: true }).click();
    await own.route("**/api/auth/logout", (route) => route.abort());
    await own.getByRole("button", { name: "Sign out" }).click();
    await own.getByText("You are still signed in").waitFor();
    await own.getByRole("link", { name: "My account" }).click();
    await own.getByRole("cell", { name: "Weekly report", exact: true }).waitFor();
    assert.deepEqual(await findBarriers(own), []);
    await own.getByRole("button", { name: "Withdraw Weekly report" }).click();
    await own.getByRole("button", { name: "Withdraw access" }).click();
    await own.getByText("No application may act for you.").waitFor();
    await own.getByText("(this one)").waitFor();
    const next = keepSecret(`${PASSWORD} next`);
    await own.getByLabel("Current password").fill(PASSWORD);
    await own.getByLabel(/^New password/).fill(next);
    await own.getByRole("button", { name: "Change password" }).click();
    await own.getByText("The password is changed.").waitFor();
    await own.getByText("(this one)").waitFor();
    await context.close();
  });

  test("a role is changed once it is confirmed, and a refused or unconfirmed one isn't shown", async () => {
    await goto("users");
    const role = page.getByLabel("Role of ada", { exact: true });
    await role.selectOption("viewer");
    await page.locator("dialog[open]").getByRole("button", { name: "Cancel" }).click();
    await becomesTrue(
      "the role before",
      () => role.inputValue(),
      (value) => value === "admin",
    );
    await role.selectOption("viewer");
    await confirm("Change role");
    await page.getByText(/is the only administrator/).waitFor();
    assert.equal(await role.inputValue(), "admin");
  });

  test("an enrolment line is created and revoked", async () => {
    await goto("enrolment");
    await page.getByRole("button", { name: "Create command" }).click();
    const line = (await page.locator(".secret code").first().textContent()) ?? "";
    await expectNoBarrier("a line for another server");
    assert.ok(line.startsWith(`tailrace-agent enroll ${hub.dashboardUrl} `), line);
    keepSecret(line.split(" ")[3]!);
    await page.getByRole("button", { name: /^Revoke/ }).click();
    await page.getByRole("button", { name: /^Revoke/ }).waitFor({ state: "detached" });
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

  /** Counts entries, not what the poller tells of its failures. */
  const countOf = async (index: string): Promise<number> => {
    const answer = await page.request.get(`${hub.dashboardUrl}/es/${index}/_count?q=id:*`);
    return answer.ok() ? ((await answer.json()) as { count: number }).count : 0;
  };

  test("a pipeline polls with the account's token, and continues without a prompt when the token expires", async () => {
    provider.expiresIn = 2;
    provider.forgetAccessTokens();
    const text = `input {
      http_poller { urls => { "api" => "${provider.origin}/api/log" } schedule => { every => "200ms" } connection => "audit"
        items => "items" cursor => "id" cursor_parameter => "since" }
    }
    output { elasticsearch { index => "partner" } }`;
    const made = await page.request.put(`${hub.dashboardUrl}/api/pipelines/partner`, {
      data: { text },
      headers: { origin: hub.dashboardUrl },
    });
    assert.ok(made.ok(), await made.text());
    await until("the first entries", async () => (await countOf("partner")) === 3);
    const consents = provider.requests("authorization_code").length;
    const before = provider.requests("refresh_token").length;
    await until("two more tokens", () => provider.requests("refresh_token").length >= before + 2);
    provider.entries = 7;
    await until("the later entries", async () => (await countOf("partner")) === 7);
    assert.equal(provider.requests("authorization_code").length, consents, "nobody was asked");
    await goto("connections");
    await page.getByText("connected", { exact: true }).waitFor();
  });

  test("a grant revoked at the provider shows reconnect, everything else continues, and connecting again heals it", async () => {
    provider.forgetRefreshToken();
    provider.forgetAccessTokens();
    await goto("connections");
    await page.getByText("reconnect", { exact: true }).waitFor();
    provider.entries = 9;
    const written = await page.request.post(`${hub.dashboardUrl}/es/other/_doc?refresh=true`, {
      data: { id: 1 },
      headers: { origin: hub.dashboardUrl },
    });
    assert.equal(written.status(), 201, await written.text());
    assert.deepEqual([await countOf("other"), await countOf("partner")], [1, 7]);
    assert.equal((await page.request.get(`${hub.dashboardUrl}/health`)).status(), 200);
    await page.getByRole("button", { name: "Reconnect audit" }).click();
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    await until("the entries since", async () => (await countOf("partner")) === 9);
  });

  /** Gives name and password on the page of the sign-in, when it is there. */
  async function signInAgain(): Promise<void> {
    await page.waitForURL(/\/o\/oauth2\//);
    await page.getByLabel(/name/i).first().fill("ada");
    await page.locator("input[type=password]").fill(PASSWORD);
    await page.getByRole("button").first().click();
  }

  test("a session that ends while a page is open leads to the sign-in, and back to the page afterwards", async () => {
    await goto("connections");
    await page.request.post(`${hub.dashboardUrl}/api/auth/logout`, { headers: { origin: hub.dashboardUrl } });
    await signInAgain();
    await page.waitForURL(`${hub.dashboardUrl}/#/connections`);
    await page.locator("tr-page-connections h1").waitFor();
  });

  test("live lines whose session has ended say so, and connect again by way of the sign-in", async () => {
    await page.goto(`${hub.dashboardUrl}/#/live`);
    await page.getByText("Following", { exact: true }).waitFor();
    await page.request.post(`${hub.dashboardUrl}/api/auth/logout`, { headers: { origin: hub.dashboardUrl } });
    await page.locator("tr-connection-badge").getByText("Signed out").waitFor();
    await page.getByRole("button", { name: "Reconnect" }).click();
    await signInAgain();
    await page.waitForURL(`${hub.dashboardUrl}/#/live`);
    await page.getByText("Following", { exact: true }).waitFor();
  });

  test("an unsaved pipeline, which may have passwords in it, is no longer in the browser after the sign-out", async () => {
    const hasDraft = (): Promise<boolean> =>
      page.evaluate<boolean>("Object.keys(localStorage).some((key) => key.startsWith('tailrace.own.'))");
    await page.goto(`${hub.dashboardUrl}/#/pipelines?new=1`);
    const editor = page.getByRole("textbox", { name: "Pipeline", exact: true });
    await editor.fill('output { http { url => "https://example.com" password => "x" } }');
    await page.getByText("This browser keeps them until you sign out.").waitFor();
    assert.equal(await hasDraft(), true);
    await page.getByRole("button", { name: "ada", exact: true }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(/\/o\/oauth2\//);
    assert.equal(await hasDraft(), false);
    await signInAgain();
    await page.getByRole("button", { name: "ada", exact: true }).waitFor();
  });

  test("signing out leads to the sign-in, and the pages require it again", async () => {
    await page.evaluate("fetch('/api/auth/logout', { method: 'POST' })");
    await page.goto(`${hub.dashboardUrl}/`);
    await page.locator("input[type=password]").waitFor();
    await expectNoBarrier("the sign-in");
    const refused = await page.request.get(`${hub.dashboardUrl}/api/auth/accounts`);
    assert.equal(refused.status(), 401);
  });

  test("no secret of all this is in an address or in the hub's output, except the set-up link", () => {
    for (const secret of provider.secrets) keepSecret(secret);
    assert.ok(asked.length > 100, `${asked.length} requests`);
    for (const url of asked) {
      if (!url.includes("/api/auth/setup/")) assert.equal(holdsSecret(url), false, new URL(url).pathname);
    }
    assert.deepEqual(outputWithSecrets(workspace.folder), []);
    assert.ok(readFileSync(hub.logFile, "utf8").length > 0);
  });
});
