/**
 * `npm run screenshots`: takes docs/discover.png of the running product, with the logs of a shop that never was.
 * Must run after the dashboard was built.
 */

import { appendFileSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { launchBrowser, openPage } from "#test/harness/browser.ts";
import { randomFrom } from "#test/harness/random.ts";
import { count } from "#test/harness/search.ts";
import { accessTime } from "#test/harness/sequence-log.ts";
import { startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const DOCS = resolve(import.meta.dirname, "../docs");
const LINES = 4_000;
const SPAN_MS = 60 * 60_000;
const PAGES = [
  "/",
  "/",
  "/cart",
  "/checkout",
  "/shop/item",
  "/shop/item",
  "/shop/search",
  "/api/orders",
  "/login",
];
const AGENTS = [
  "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile Safari/604.1",
  "curl/8.9.1",
];

const workspace = new Workspace();
try {
  const path = workspace.path("nginx", "access.log");
  appendFileSync(path, accessLog());
  const { hub } = await startStack(workspace, { input: { paths: [path] } });
  await until("all lines searchable", async () => (await count(hub.searchUrl)) >= LINES);
  const browser = await launchBrowser();
  workspace.defer(() => browser.close());
  const { page, complaints } = await openPage(browser, `${hub.dashboardUrl}/#/discover?from=now-1h&to=now`);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByText("/shop/item").first().waitFor();
  await page.evaluate("document.fonts.ready");
  mkdirSync(DOCS, { recursive: true });
  await page.screenshot({ path: join(DOCS, "discover.png") });
  if (complaints.length > 0) throw new Error(`the page complained: ${complaints.join("; ")}`);
  process.stdout.write("screenshots: docs/discover.png\n");
} finally {
  await workspace.close();
}

/** An hour of a shop's requests, with a spell of errors. */
function accessLog(): string {
  const random = randomFrom(7);
  const start = Date.now() - SPAN_MS;
  let text = "";
  for (let line = 0; line < LINES; line++) {
    const part = (line + random()) / LINES;
    const failing = part > 0.62 && part < 0.68 && random() < 0.4;
    const status = failing ? 502 : random() < 0.03 ? 404 : 200;
    const client = `198.51.100.${1 + Math.floor(random() * 250)}`;
    const page = PAGES[Math.floor(random() * PAGES.length)]!;
    const agent = AGENTS[Math.floor(random() ** 2 * AGENTS.length)]!;
    text += `${client} - - [${accessTime(new Date(start + part * SPAN_MS))}] "GET ${page} HTTP/1.1" ${status} ${
      200 + Math.floor(random() * 30_000)
    } "-" "${agent}"\n`;
  }
  return text;
}
