/** The tasks on the dashboard, each with the time from a click or key to the next paint, as the browser itself measures it. */

import type { Browser, BrowserContext, Page } from "playwright-core";
import { restOf, TASKS } from "#test/e2e/tasks/all.ts";
import { type DashboardTask, Hand, LOOKS } from "#test/e2e/tasks/dashboard-task.ts";
import { addPlacesAndDashboards, addPlainLines, openShop, type Shop } from "#test/harness/shop.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { percentile, type Result } from "./benchmark.ts";

/** As many as the tasks are written for. */
const REQUESTS = 300;
/** Longer ones are named. */
const NAMED = 5;
/** Run in the page before its own scripts: keeps the longest time from an input to the paint after it. */
const KEEP_LONGEST = `(() => {
  globalThis.longestPaintMs = 0;
  const take = (entries) => {
    for (const { interactionId, duration } of entries)
      if (interactionId > 0) globalThis.longestPaintMs = Math.max(globalThis.longestPaintMs, duration);
  };
  const observer = new PerformanceObserver((list) => take(list.getEntries()));
  observer.observe({ type: "event", durationThreshold: 16, buffered: true });
  globalThis.takePaints = () => (take(observer.takeRecords()), globalThis.longestPaintMs);
})()`;
/** Resolves after the frame that an entry of the last input is made with. */
const LONGEST = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(takePaints())))))`;

interface TaskPaint {
  readonly name: string;
  readonly paintMs: number;
}

/** Returns true where `--only` means tasks, by a part of their names. */
export function isOfTasks(only: string): boolean {
  return only !== "" && TASKS.some(({ name }) => name.includes(only));
}

/** Does every task, or those whose names hold `only`, once over a hub of its own; those that fail are failures of the result. */
export async function measureTasks(throttle: number, atMost: number, only = ""): Promise<Result[]> {
  const paints: TaskPaint[] = [];
  const failures: Result[] = [];
  const workspace = new Workspace();
  try {
    const shop = await openShop(workspace, REQUESTS);
    await addPlacesAndDashboards(shop.hub);
    await addPlainLines(shop.hub);
    for (const task of TASKS) {
      if (!task.name.includes(only)) continue;
      try {
        paints.push(await measureTask(shop, task, throttle));
      } catch (error) {
        const failure = (error as Error).message;
        failures.push({ case: `task: ${task.name}`, value: Number.NaN, unit: "", reference: null, failure });
      }
    }
  } finally {
    await workspace.close();
  }
  return [...resultsOf(paints, throttle, atMost), ...failures];
}

function resultsOf(paints: readonly TaskPaint[], throttle: number, atMost: number): Result[] {
  const sorted = paints.toSorted((a, b) => b.paintMs - a.paintMs);
  const at = throttle === 1 ? "" : ` at ${throttle} × throttle`;
  const times = paints.map(({ paintMs }) => paintMs);
  const result = (name: string, value: number, target?: Result["target"]): Result => ({
    case: `input to next paint${at}, ${name}`,
    value,
    unit: "ms",
    reference: null,
    ...(target && { target }),
  });
  return [
    result(`slowest of ${paints.length} tasks`, Math.max(...times), { atMost }),
    result("median", percentile(times, 0.5)),
    ...sorted.slice(0, NAMED).map(({ name, paintMs }) => result(name, paintMs)),
  ];
}

async function measureTask(
  { browser, hub }: Shop,
  task: DashboardTask,
  throttle: number,
): Promise<TaskPaint> {
  const { context, page } = await open(browser, task, throttle);
  try {
    await page.goto(`${hub.dashboardUrl}/#/${task.path}`);
    await task.run(new Hand(page), restOf(hub.searchUrl));
    return { name: task.name, paintMs: await page.evaluate<number>(LONGEST) };
  } finally {
    await context.close();
  }
}

async function open(
  browser: Browser,
  { look }: DashboardTask,
  throttle: number,
): Promise<{ readonly context: BrowserContext; readonly page: Page }> {
  const { width, height, theme, scale } = LOOKS[look];
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    deviceScaleFactor: scale,
    reducedMotion: "reduce",
    locale: "en",
  });
  const page = await context.newPage();
  if (throttle > 1) {
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: throttle });
  }
  await page.addInitScript(KEEP_LONGEST);
  return { context, page };
}
