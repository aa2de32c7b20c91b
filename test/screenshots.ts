/**
 * `npm run screenshots`: takes the pictures of docs/ of the running product, with the logs of a shop that never was.
 * Must run after the dashboard was built.
 */

import { appendFileSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { launchBrowser, openPage } from "#test/harness/browser.ts";
import { count } from "#test/harness/search.ts";
import { shopLogs } from "#test/harness/shop-logs.ts";
import { startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const DOCS = resolve(import.meta.dirname, "../docs");
const REQUESTS = 6_000;
const SIZE = { width: 1440, height: 900 };

interface Picture {
  readonly name: string;
  /** Behind the dashboard's address. */
  readonly path: string;
  readonly theme: "light" | "dark";
  /** Waits until there is something to see. */
  readonly prepare: (page: Page) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  {
    name: "discover",
    path: "#/discover?from=now-1h",
    theme: "light",
    prepare: (page) => page.locator("tr-event-table .row").first().waitFor(),
  },
];

const workspace = new Workspace();
try {
  const { access, services, lines } = shopLogs({ endMs: Date.now(), requests: REQUESTS });
  const paths = [workspace.path("shop", "access.log"), workspace.path("shop", "services.json")];
  appendFileSync(paths[0]!, access);
  appendFileSync(paths[1]!, services);
  const { hub } = await startStack(workspace, { input: { paths } });
  await until("all lines searchable", async () => (await count(hub.searchUrl)) >= lines);
  const browser = await launchBrowser();
  workspace.defer(() => browser.close());
  mkdirSync(DOCS, { recursive: true });
  for (const { name, path, theme, prepare } of PICTURES) {
    const { page, complaints } = await openPage(browser, `${hub.dashboardUrl}/${path}`);
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize(SIZE);
    await prepare(page);
    await page.waitForLoadState("networkidle");
    await page.evaluate("document.fonts.ready");
    await page.screenshot({ path: join(DOCS, `${name}.png`) });
    if (complaints.length > 0) throw new Error(`${name}: the page complained: ${complaints.join("; ")}`);
    await page.close();
    process.stdout.write(`screenshots: docs/${name}.png\n`);
  }
} finally {
  await workspace.close();
}
