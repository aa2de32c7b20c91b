/**
 * The pages in Chromium: how much Discover loads, how soon its rows are there, how it scrolls, opens a large document; how
 * soon each task's clicks and keys are drawn.
 */

import type { Browser, Page } from "playwright-core";
import { KIB } from "#proto/kit/units.ts";
import { openShop, type Shop } from "#test/harness/shop.ts";
import {
  type Benchmark,
  type Case,
  measureCases,
  percentile,
  type Result,
  type Target,
} from "./benchmark.ts";
import { countFrames } from "./frames.ts";
import { isOfTasks, measureTasks } from "./page-tasks.ts";

const LOADS = 7;
const REQUESTS = 4_000;
const THROTTLE = 4;
/** From a click or a key until the page is drawn again: at full speed, and throttled. */
const NEXT_PAINT_MS = 100;
const SLOW_NEXT_PAINT_MS = 300;
const SCROLLED_ROWS = 100_000;
const SCROLL_MS = 5_000;
const LARGE_FIELDS = 1_000;
/** An expression of the page: its table of lines; undefined until there is one. */
const TABLE = `(${["tr-app", "tr-page-discover", "tr-discover-results"].reduce((within, tag) => `${within}?.querySelector("${tag}")?.shadowRoot`, "document")}?.querySelector("tr-event-table"))`;
const FIRST_ROW = "first row, ms";
/**
 * Run in the page before its own scripts: says when the frame with the first row has been laid out and painted. To ask
 * from outside has the page load what asks, which takes longer than its own scripts.
 */
const NOTE_FIRST_ROW = `(() => {
  const note = () => console.info("${FIRST_ROW}", performance.now());
  const look = () => {
    if (${TABLE}?.shadowRoot?.querySelector(".row")) setTimeout(note);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

export const page: Benchmark = {
  name: "page",
  about:
    "pages in Chromium: bytes and time to the first rows, 100,000 rows, 1,000 fields, each task's clicks until drawn",
  async run(context) {
    const { workspace, scale, progress, only } = context;
    if (isOfTasks(only)) return measureTasks(1, NEXT_PAINT_MS, only);
    const shop = await openShop(workspace, Math.round(REQUESTS * scale));
    const tasks = (throttle: number, atMost: number): Case => ({
      name: `tasks at ${throttle} × throttle`,
      measure: async () => {
        progress(`the tasks at ${throttle} × throttle`);
        return measureTasks(throttle, atMost);
      },
    });
    const cases: readonly Case[] = [
      { name: "loads", measure: () => loadResults(shop, progress) },
      { name: "scrolling", measure: () => measureScrolling(shop.browser, shop.hub.dashboardUrl) },
      { name: "a large document", measure: async () => [await measureLargeDocument(shop)] },
      tasks(1, NEXT_PAINT_MS),
      tasks(THROTTLE, SLOW_NEXT_PAINT_MS),
    ];
    return measureCases(cases, context);
  },
};

async function loadResults(shop: Shop, progress: (text: string) => void): Promise<Result[]> {
  progress(`${LOADS} loads, then ${LOADS} on a processor of a quarter the speed`);
  const free = await measureLoads(shop, 1);
  const slow = await measureLoads(shop, THROTTLE);
  return [
    figure("first load, compressed", free.sizeBytes / KIB, "KiB", { atMost: 100 }),
    figure("requests until rows are there", free.requests, "requests"),
    figure("rows visible, median", percentile(free.timesMs, 0.5), "ms", { atMost: 600 }),
    figure("rows visible, slowest", Math.max(...free.timesMs), "ms"),
    figure(`rows visible at ${THROTTLE} × throttle, median`, percentile(slow.timesMs, 0.5), "ms", {
      atMost: 2_000,
    }),
  ];
}

interface Loads {
  /** From the start of the navigation to the end of the frame with the first row. */
  readonly timesMs: readonly number[];
  /** Of page, scripts and styles asked for until then, as they came over the wire. */
  readonly sizeBytes: number;
  readonly requests: number;
}

/** Loads Discover with an empty cache each time. */
async function measureLoads({ browser, hub }: Shop, throttle: number): Promise<Loads> {
  const timesMs: number[] = [];
  let sizeBytes = 0;
  let requests = 0;
  for (let load = 0; load < LOADS; load++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const opened = await context.newPage();
    const session = await context.newCDPSession(opened);
    if (throttle > 1) await session.send("Emulation.setCPUThrottlingRate", { rate: throttle });
    await opened.addInitScript(NOTE_FIRST_ROW);
    const said = opened.waitForEvent("console", (message) => message.text().startsWith(FIRST_ROW));
    await opened.goto(`${hub.dashboardUrl}/#/discover?from=now-1h`, { waitUntil: "commit" });
    const timeMs = Number((await said).text().slice(FIRST_ROW.length));
    timesMs.push(timeMs);
    ({ sizeBytes, requests } = await loadedUntil(opened, timeMs));
    await context.close();
  }
  return { timesMs, sizeBytes, requests };
}

/** Returns what a page had asked for at a time: bytes of page, scripts and styles, and requests of all kinds. */
async function loadedUntil(
  opened: Page,
  timeMs: number,
): Promise<{ readonly sizeBytes: number; readonly requests: number }> {
  const loaded = await opened.evaluate<{ name: string; size: number }[]>(
    `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
      .filter(({ startTime }) => startTime < ${timeMs}).map(({ name, encodedBodySize }) => ({ name, size: encodedBodySize }))`,
  );
  const files = loaded.filter(({ name }) => /\.(js|css)$|\/$|\/#/.test(name));
  return { sizeBytes: files.reduce((sum, { size }) => sum + size, 0), requests: loaded.length };
}

async function measureScrolling(browser: Browser, url: string): Promise<Result[]> {
  const opened = await openDiscover(browser, `${url}/#/discover?from=now-1h`);
  const { sizeBytes } = await loadedUntil(opened, Number.MAX_VALUE);
  await opened.evaluate(`(() => {
    const table = ${TABLE};
    const rows = table.rows;
    table.rows = Array.from({ length: ${SCROLLED_ROWS} }, (_, number) => rows[number % rows.length]);
    return table.updateComplete;
  })()`);
  const step = `${TABLE}.shadowRoot.querySelector(".scroll").scrollTop += 400`;
  const frames = await countFrames(opened, SCROLL_MS, step);
  await opened.close();
  return [
    figure("all that Discover loads, compressed", sizeBytes / KIB, "KiB", { atMost: 100 }),
    figure(`scrolling ${SCROLLED_ROWS} rows`, frames.perSecond, "frames per second", { atLeast: 55 }),
    figure(`scrolling ${SCROLLED_ROWS} rows, longest frame`, frames.longestMs, "ms"),
  ];
}

async function addLargeDocument({ hub }: Shop): Promise<void> {
  const fields = Object.fromEntries(
    Array.from({ length: LARGE_FIELDS }, (_, number) => [`f${number}`, `v${number}`]),
  );
  const source = { "@timestamp": new Date().toISOString(), message: "a line with many fields", ...fields };
  const put = async (path: string, body: object): Promise<void> => {
    const init = {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const response = await fetch(`${hub.searchUrl}${path}`, init);
    if (!response.ok) throw new Error(`the large document isn't taken: ${await response.text()}`);
  };
  await put("/large", { settings: { "index.mapping.total_fields.limit": LARGE_FIELDS * 3 } });
  await put("/large/_doc/1?refresh=true", source);
}

async function measureLargeDocument(shop: Shop): Promise<Result> {
  const { browser, hub } = shop;
  await addLargeDocument(shop);
  const opened = await openDiscover(browser, `${hub.dashboardUrl}/#/discover?index=large&from=now-1d`);
  const timeMs = await opened.evaluate<number>(`(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    const start = performance.now();
    ${TABLE}.shadowRoot.querySelector(".row button").click();
    for (;;) {
      await frame();
      const page = document.querySelector("tr-app").shadowRoot.querySelector("tr-page-discover").shadowRoot.querySelector("tr-discover-results").shadowRoot;
      const details = page.querySelector("tr-event-details");
      if ((details?.shadowRoot.querySelectorAll("tr").length ?? 0) === 0) continue;
      await frame();
      return performance.now() - start;
    }
  })()`);
  await opened.close();
  return figure(`a document of ${LARGE_FIELDS} fields opened`, timeMs, "ms", { atMost: 100 });
}

async function openDiscover(browser: Browser, url: string): Promise<Page> {
  const opened = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await opened.goto(url);
  await opened.locator("tr-event-table .row").first().waitFor();
  await opened.waitForLoadState("networkidle");
  await opened.evaluate(`customElements.whenDefined("tr-event-details").then(() => true)`);
  return opened;
}

function figure(name: string, value: number, unit: string, target?: Target): Result {
  return { case: name, value, unit, reference: null, ...(target === undefined ? {} : { target }) };
}
