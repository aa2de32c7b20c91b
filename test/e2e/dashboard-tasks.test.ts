/**
 * Forty tasks in a browser over a real hub and agent, on five screens, each with the actions it may take. What pages show
 * is compared with what the search interface answers.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { addPlacesAndDashboards, openShop, type Shop } from "#test/harness/shop.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { CHARTS } from "./tasks/chart-tasks.ts";
import { Hand, LOOKS, type Look, type Rest } from "./tasks/dashboard-task.ts";
import { FINDING } from "./tasks/finding-tasks.ts";
import { READING } from "./tasks/reading-tasks.ts";
import { RUNNING } from "./tasks/running-tasks.ts";

const TASKS = [...FINDING, ...READING, ...CHARTS, ...RUNNING];

const workspace = new Workspace();
const pages = new Map<Look, { readonly page: Page; readonly complaints: string[] }>();
let shop: Shop;

before(async () => {
  shop = await openShop(workspace, 300);
  await addPlacesAndDashboards(shop.hub);
});

after(() => workspace.close());

/** One page for each screen: a start of the browser's context takes longer than a task. */
async function pageOf(look: Look): Promise<{ readonly page: Page; readonly complaints: string[] }> {
  const known = pages.get(look);
  if (known !== undefined) return known;
  const { width, height, theme, scale } = LOOKS[look];
  const context = await shop.browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    deviceScaleFactor: scale,
    reducedMotion: "reduce",
    locale: "en",
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  pages.set(look, { page, complaints });
  return { page, complaints };
}

const rest: Rest = async (path) => {
  const response = await fetch(`${shop.hub.searchUrl}${path}`);
  assert.ok(response.ok, `${path}: ${response.status}`);
  return (await response.json()) as Record<string, unknown>;
};

for (const { name, look, path, actions, run } of TASKS)
  test(`${look}: ${name}`, async () => {
    const { page, complaints } = await pageOf(look);
    await page.goto("about:blank");
    await page.goto(`${shop.hub.dashboardUrl}/#/${path}`);
    const hand = new Hand(page);
    await run(hand, rest);
    assert.equal(hand.actions, actions);
    assert.deepEqual(complaints.splice(0), []);
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    assert.ok(width <= LOOKS[look].width, `the page is ${width} wide`);
  });

test("there are forty tasks, ten of them by keys alone", () => {
  assert.ok(TASKS.length >= 40, String(TASKS.length));
  assert.ok(TASKS.filter(({ name }) => /by (?:a )?keys?\b/.test(name)).length >= 10);
});
