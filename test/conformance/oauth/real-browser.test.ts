/** The prompt in a real browser, with scripts off: forms, cookies, policies and redirects as browsers enforce them. */

import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, suite, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { becomes } from "#test/harness/becomes.ts";
import { launchBrowser } from "#test/harness/browser.ts";
import { PERSON, World } from "./auth-server.ts";

/** What is measured in the page. */
interface Look {
  readonly scrollWidth: number;
  readonly ink: string;
  readonly ground: string;
}

const LOOK = `(() => {
  const { color, backgroundColor } = getComputedStyle(document.querySelector("main"));
  return { scrollWidth: document.documentElement.scrollWidth, ink: color, ground: backgroundColor };
})()`;

suite("the prompt in a browser without scripts", () => {
  let world: World;
  let browser: Browser;
  let client: Server;
  let redirectUri: string;
  before(async () => {
    world = await World.start();
    await world.addPerson();
    browser = await launchBrowser();
    client = createServer((_request, response) => response.end("back at the client"));
    await new Promise<void>((resolve) => client.listen(0, "127.0.0.1", resolve));
    redirectUri = `http://127.0.0.1:${(client.address() as AddressInfo).port}/cb`;
  });
  after(async () => {
    await browser.close();
    client.closeAllConnections();
    await new Promise((resolve) => client.close(resolve));
    await world.stop();
  });

  /** Opens `url` and notes complaints of the console and the Origin of every form. */
  async function open(
    url: string,
  ): Promise<{ page: Page; complaints: string[]; origins: (string | undefined)[] }> {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    const complaints: string[] = [];
    const origins: (string | undefined)[] = [];
    page.on("console", (message) => {
      // Browsers ask for an icon on their own.
      if (message.type() === "error" && !message.location().url.endsWith("/favicon.ico"))
        complaints.push(message.text());
    });
    page.on("request", (request) => {
      if (request.method() === "POST") origins.push(request.headers()["origin"]);
    });
    await page.goto(url);
    return { page, complaints, origins };
  }

  async function signIn(page: Page): Promise<void> {
    await page.getByLabel("Name").fill(PERSON.name);
    await page.getByLabel("Password").fill(PERSON.password);
    await page.getByRole("button", { name: "Sign in" }).click();
  }

  test("leads through sign-in and consent back to the client on another origin", async () => {
    const { clientId } = await world.addClient([redirectUri]);
    const { page, complaints, origins } = await open(
      world.authorizationUrl({ clientId }, { redirect_uri: redirectUri }),
    );
    await signIn(page);
    await becomes(() => page.getByRole("heading", { level: 1 }).textContent(), "Allow Reporter?");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${redirectUri}?*`);
    assert.match(page.url(), /[?&]code=/);
    await becomes(() => page.textContent("body"), "back at the client");
    assert.deepEqual(
      origins,
      [world.origin, world.origin],
      "checks of the Origin must let our own forms through",
    );
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test("reports a wrong password by an alert, and works by keyboard alone", async () => {
    const { clientId } = await world.addClient([redirectUri]);
    const { page } = await open(world.authorizationUrl({ clientId }, { redirect_uri: redirectUri }));
    await page.keyboard.type(PERSON.name);
    await page.keyboard.press("Tab");
    await page.keyboard.type("wrong password");
    await page.keyboard.press("Enter");
    await becomes(() => page.getByRole("alert").textContent(), "Name or password is wrong.");
    await page.context().close();
  });

  test("signs in on the dashboard, and the cookie opens it", async () => {
    const { page, complaints } = await open(`${world.origin}/api/auth/login?return_to=/api/auth/me`);
    await signIn(page);
    await page.waitForURL(`${world.origin}/api/auth/me`);
    await becomes(() => page.textContent("body"), /"name":"ada"/);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test("fits a small screen and is readable in both themes", async () => {
    const { clientId } = await world.addClient([redirectUri]);
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await browser.newContext({ colorScheme, viewport: { width: 390, height: 700 } });
      const page = await context.newPage();
      await page.goto(world.authorizationUrl({ clientId }, { redirect_uri: redirectUri }));
      const { scrollWidth, ink, ground } = await page.evaluate<Look>(LOOK);
      assert.ok(scrollWidth <= 390);
      assert.ok(contrast(ink, ground) >= 7, `${ink} on ${ground}`);
      await context.close();
    }
  });
});

/** Contrast of two computed colours (WCAG 2.2, relative luminance). */
function contrast(first: string, second: string): number {
  const [light = 0, dark = 0] = [luminance(first), luminance(second)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const parts = (color.match(/[\d.]+/g) ?? []).slice(0, 3).map((part) => Number(part) / 255);
  const [r = 0, g = 0, b = 0] = parts.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
