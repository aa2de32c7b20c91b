/** Live lines: how smoothly a page shows them, and how soon a hub brings them to a thousand viewers. */

import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "#test/harness/browser.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import { buildDashboard } from "#ui/build.ts";
import type { Benchmark, Result, Target } from "./benchmark.ts";
import { countFrames } from "./frames.ts";
import { TailHub } from "./tail-hub-process.ts";
import { measureSlowViewers, measureViewers, SLOW_VIEWERS, VIEWED_RATE } from "./tail-viewers.ts";

const PAGE_RATES = [10_000, 50_000];
/** Up to so many lines a second a page is to move as smoothly as an empty one; above, not to freeze. */
const SMOOTH_RATE = 10_000;
const SMOOTH: Target = { atLeast: 55 };
const NONE: Target = { atMost: 0 };
const PAGE_MS = 10_000;
/** Lines come for so long before frames are counted. */
const WARM_MS = 2_000;
const VIEWERS = 1_000;
const VIEWED_MS = 10_000;

export const tail: Benchmark = {
  name: "tail",
  about: "live lines: frames per second of a page at 10,000 and 50,000 lines/s; 1,000 viewers of one hub",
  async run({ workspace, scale, progress }) {
    await buildDashboard();
    const results: Result[] = [];
    const browser = await launchBrowser();
    workspace.defer(() => browser.close());
    for (const rate of PAGE_RATES) {
      progress(`a page at ${rate} lines/s`);
      results.push(...(await measurePage(workspace, browser, rate, PAGE_MS * scale)));
    }
    await browser.close();
    progress(`${VIEWERS} viewers at ${VIEWED_RATE} lines/s`);
    results.push(...(await measureViewers(workspace, Math.round(VIEWERS * scale), VIEWED_MS * scale)));
    progress(`${SLOW_VIEWERS} viewers that don't read`);
    results.push(await measureSlowViewers(workspace, VIEWED_MS * scale));
    return results;
  },
};

async function measurePage(
  workspace: Workspace,
  browser: Browser,
  rate: number,
  forMs: number,
): Promise<Result[]> {
  const hub = await TailHub.start(workspace);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${hub.url}/#/live?rate=20000`);
  await page.getByText("Following").waitFor();
  const offering = hub.offer(rate, WARM_MS + forMs);
  await page.waitForTimeout(WARM_MS);
  const frames = await countFrames(page, forMs);
  const offered = await offering;
  const { seen, skipped } = await settledCounts(page);
  await page.close();
  hub.stop();
  const result = (name: string, value: number, unit: string, target?: Target): Result => ({
    case: `${rate} lines/s: ${name}`,
    value,
    unit,
    reference: null,
    ...(target === undefined ? {} : { target }),
  });
  return [
    result("frames", frames.perSecond, "per second", rate <= SMOOTH_RATE ? SMOOTH : undefined),
    result("longest frame", frames.longestMs, "ms"),
    result("frozen", frames.frozenSeconds, "seconds", NONE),
    result("lines shown", seen, "lines"),
    result("lines skipped and counted", skipped, "lines"),
    result("lines neither shown nor counted", offered - seen - skipped, "lines", NONE),
  ];
}

/** Returns what the page has taken and what it says was skipped, once neither changes any more. */
async function settledCounts(page: Page): Promise<{ seen: number; skipped: number }> {
  const read = (): Promise<{ seen: number; skipped: number }> =>
    page.evaluate(`(() => {
      const live = document.querySelector("tr-app").shadowRoot.querySelector("tr-page-live").shadowRoot;
      const { log } = live.querySelector("tr-tail-window");
      return { seen: log.taken, skipped: log.skipped };
    })()`);
  let before = await read();
  for (;;) {
    await page.waitForTimeout(1_500);
    const now = await read();
    if (now.seen === before.seen && now.skipped === before.skipped) return now;
    before = now;
  }
}
