/** A hub with an hour of a shop's lines in one index, and a browser: where tests of the pages people work on begin. */

import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { launchBrowser, openPage } from "#test/harness/browser.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import { buildDashboard } from "#ui/build.ts";

export const SHOP_INDEX = "logs-shop";
export const SHOP_LINES = 240;

export interface WorkPages {
  readonly hub: TestHub;
  readonly browser: Browser;
  /** Opens a page, runs `check`, and expects that nothing complained but what is `expected` to. */
  visit(path: string, check: (page: Page) => Promise<void>, expected?: RegExp): Promise<void>;
}

/** Builds the dashboard and starts hub and browser; all ends with the workspace. */
export async function openWorkPages(workspace: Workspace): Promise<WorkPages> {
  await buildDashboard();
  const hub = await startHub({ dataDir: workspace.path("hub") });
  workspace.defer(() => hub.destroy());
  await putLines(hub.searchUrl, SHOP_INDEX, shopLines(Date.now()));
  const browser = await launchBrowser();
  workspace.defer(() => browser.close());
  const visit: WorkPages["visit"] = async (path, check, expected) => {
    const { page, complaints } = await openPage(browser, `${hub.dashboardUrl}/${path}`);
    try {
      await check(page);
      assert.deepEqual(
        complaints.filter((complaint) => !expected?.test(complaint)),
        [],
      );
    } finally {
      await page.close();
    }
  };
  return { hub, browser, visit };
}

/** Puts documents into an index, searchable at once; their ids count from `firstId`. */
export async function putLines(
  url: string,
  index: string,
  lines: readonly object[],
  firstId = 0,
): Promise<void> {
  const body = lines
    .map((line, at) => `{"index":{"_id":"${firstId + at}"}}\n${JSON.stringify(line)}\n`)
    .join("");
  const response = await fetch(`${url}/${index}/_doc/_bulk?refresh=true`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body,
  });
  assert.equal(response.status, 200);
  assert.equal(((await response.json()) as { errors: boolean }).errors, false);
}

/** An hour of requests: three status codes, six pages. */
function shopLines(nowMs: number): object[] {
  return Array.from({ length: SHOP_LINES }, (_, number) => ({
    "@timestamp": new Date(nowMs - number * 15_000).toISOString(),
    message: `GET /page/${number % 6} took ${number} ms`,
    http: { response: { status_code: number % 10 === 0 ? 500 : 200 } },
    status: number % 10 === 0 ? "500" : number % 4 === 0 ? "404" : "200",
    page: `/page/${number % 6}`,
    took: number,
  }));
}
