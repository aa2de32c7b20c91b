/**
 * `npm run screenshots [-- NAME …]`: takes the pictures of docs/, or those named, of the running product, with the logs of
 * a shop that never was. Must run after the dashboard was built. They show how long searches took: best on an idle machine.
 */

import { appendFileSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";
import { launchBrowser, openPage } from "#test/harness/browser.ts";
import { count } from "#test/harness/search.ts";
import { shopLogs } from "#test/harness/shop-logs.ts";
import { startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const DOCS = resolve(import.meta.dirname, "../docs");
const REQUESTS = 6_000;
const SIZE = { width: 1440, height: 900 };

const SEARCH = `GET logs-*/_search
{
  "query": { "match": { "message": "not paid" } },
  "size": 1
}`;

interface Picture {
  readonly name: string;
  /** Behind the dashboard's address. */
  readonly path: string;
  readonly theme: "light" | "dark";
  /** Waits until there is something to see. */
  readonly prepare: (page: Page) => Promise<void>;
}

/** Returns the address of a page whose parameters need escaping. */
function addressOf(page: string, parameters: Readonly<Record<string, string>>): string {
  return `#/${page}?${new URLSearchParams(parameters).toString()}`;
}

const PICTURES: readonly Picture[] = [
  {
    name: "discover",
    path: "#/discover?from=now-1h",
    theme: "light",
    prepare: async (page) => {
      await page.locator("tr-event-table .row").first().waitFor();
      await page.locator("tr-histogram canvas").waitFor();
    },
  },
  {
    name: "discover-line",
    path: "#/discover?from=now-1h&q=log.level:error&cols=service,message",
    theme: "dark",
    prepare: async (page) => {
      await page.locator("tr-event-table .row button").first().click();
      await page.locator("tr-event-details table").waitFor();
    },
  },
  {
    name: "patterns",
    path: "#/discover?from=now-1h&view=patterns",
    theme: "light",
    prepare: async (page) => {
      await page.locator("tr-patterns-panel li.row").nth(3).waitFor();
      await page.locator("tr-histogram canvas").waitFor();
    },
  },
  {
    name: "compare",
    path: addressOf("compare", {
      left: "from=now-1h&q=service:stock",
      right: "from=now-1h&q=log.level:error",
    }),
    theme: "dark",
    prepare: async (page) => {
      await page.locator("tr-event-table .row").nth(40).waitFor();
      await page.locator("tr-histogram canvas").nth(1).waitFor();
    },
  },
  {
    name: "live",
    path: "#/live",
    theme: "dark",
    prepare: (page) => page.locator("tr-tail-window .row").nth(20).waitFor(),
  },
  {
    name: "visualise",
    path: addressOf("visualise", {
      from: "now-1h",
      chart: "line",
      metric: "formula:count(log.level:error) / count() * 100",
      split: "5:service",
      unit: "percent",
      limits: "10,50",
    }),
    theme: "light",
    prepare: (page) => page.locator("tr-chart .stroke").first().waitFor(),
  },
  {
    name: "dashboard",
    path: "#/dashboards?id=access-logs&from=now-1h",
    theme: "light",
    prepare: (page) => page.locator("tr-chart .plot").nth(3).waitFor(),
  },
  {
    name: "pipelines",
    path: "#/pipelines?new=1",
    theme: "light",
    prepare: async (page) => {
      await page.getByText("The pipeline is valid.").waitFor();
      await page.locator("tr-pipeline-editor .trial").waitFor();
    },
  },
  {
    name: "console",
    path: `#/console?request=${encodeURIComponent(SEARCH)}`,
    theme: "light",
    prepare: async (page) => {
      await page.getByRole("textbox", { name: "Requests" }).press("Control+Enter");
      await page.locator("article tr-json-view").waitFor();
    },
  },
  {
    name: "agent",
    path: "#/agents",
    theme: "light",
    prepare: async (page) => {
      await page.getByRole("link", { name: "web-1", exact: true }).click();
      await page.getByRole("region", { name: "Files" }).waitFor();
    },
  },
];

/** The first search of all reads files that later ones find in memory: it isn't what people see all day. */
async function warmUp(browser: Browser, url: string): Promise<void> {
  const { page } = await openPage(browser, `${url}/#/discover?from=now-1h`);
  await page.locator("tr-event-table .row").first().waitFor();
  await page.close();
}

ignoreClosedOutput();
const workspace = new Workspace();
try {
  const { access, services, lines } = shopLogs({ endMs: Date.now(), requests: REQUESTS });
  const paths = [workspace.path("shop", "access.log"), workspace.path("shop", "services.json")];
  appendFileSync(paths[0]!, access);
  appendFileSync(paths[1]!, services);
  const { hub } = await startStack(workspace, { input: { paths } });
  await until("all lines searchable", async () => (await count(hub.searchUrl)) >= lines);
  const samples = await fetch(`${hub.dashboardUrl}/api/samples`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  if (!samples.ok) throw new Error(`the samples can't be saved: status ${samples.status}`);
  const browser = await launchBrowser();
  workspace.defer(() => browser.close());
  mkdirSync(DOCS, { recursive: true });
  await warmUp(browser, hub.dashboardUrl);
  const names = process.argv.slice(2);
  const wanted = PICTURES.filter(({ name }) => names.length === 0 || names.includes(name));
  for (const { name, path, theme, prepare } of wanted) {
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
