/**
 * Forty tasks in a browser over a real hub and agent, on five screens, each with the actions it may take. What pages show
 * is compared with what the search interface answers.
 */

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startAgent } from "#test/harness/agent.ts";
import { becomesTrue } from "#test/harness/becomes.ts";
import { addPlacesAndDashboards, addPlainLines, openShop, type Shop } from "#test/harness/shop.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { restOf, TASKS } from "./tasks/all.ts";
import { button, DISCOVER, expectLines, Hand, LOOKS, type Look, row } from "./tasks/dashboard-task.ts";

/** Counts the lines that a query finds. */
const count = async (query: string): Promise<unknown> =>
  (await restOf(shop.hub.searchUrl)(`/logs-*/_count?q=${encodeURIComponent(query)}`))["count"];

/** Discover with lines, over a connection that works. */
async function openLines(): Promise<Page> {
  const { page } = await pageOf("dark");
  await page.goto("about:blank");
  await page.goto(`${shop.hub.dashboardUrl}/#/${DISCOVER}`);
  await row(page).first().waitFor();
  await page.getByTitle("Connected", { exact: true }).waitFor();
  return page;
}

async function ask(page: Page, query: string): Promise<void> {
  await page.getByRole("combobox", { name: "Query" }).fill(query);
  await page.keyboard.press("Enter");
}

const workspace = new Workspace();
const pages = new Map<Look, { readonly page: Page; readonly complaints: string[] }>();
let shop: Shop;

before(async () => {
  shop = await openShop(workspace, 300);
  await addPlacesAndDashboards(shop.hub);
  await addPlainLines(shop.hub);
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

for (const { name, look, path, actions, run } of TASKS)
  test(`${look}: ${name}`, async () => {
    const { page, complaints } = await pageOf(look);
    await page.goto("about:blank");
    await page.goto(`${shop.hub.dashboardUrl}/#/${path}`);
    const hand = new Hand(page);
    await run(hand, restOf(shop.hub.searchUrl));
    assert.equal(hand.actions, actions);
    assert.deepEqual(complaints.splice(0), []);
    await becomesTrue(
      "the page within its window",
      () => page.evaluate<number>("document.documentElement.scrollWidth"),
      (width) => width <= LOOKS[look].width,
    );
  });

test("a second agent that joins is listed without a request of the reader, and its lines are found", async () => {
  const { page } = await pageOf("light");
  await page.goto("about:blank");
  await page.goto(`${shop.hub.dashboardUrl}/#/agents`);
  await page.getByRole("link", { name: "web-1", exact: true }).waitFor();
  const path = workspace.path("second", "joined.log");
  appendFileSync(path, `${new Date().toISOString()} the second machine speaks\n`);
  const agent = await startAgent({
    folder: workspace.path("agent-2", ""),
    paths: [path],
    natsUrl: shop.hub.natsUrl,
    token: shop.hub.token,
    settings: { name: "web-2" },
    input: { id: "second" },
  });
  workspace.defer(() => agent.kill9());
  await page.getByRole("link", { name: "web-2", exact: true }).waitFor();
  await until("its line", async () => Number(await count('"second machine"')) === 1);
  await page.goto(`${shop.hub.dashboardUrl}/#/${DISCOVER}&q=${encodeURIComponent('"second machine"')}`);
  await row(page).filter({ hasText: "the second machine speaks" }).waitFor();
});

test("a search that is asked of a frozen hub is answered when it goes on", async () => {
  const page = await openLines();
  process.kill(shop.hub.pid, "SIGSTOP");
  try {
    await ask(page, "service:payment");
    await page.getByTitle("The hub doesn't respond").waitFor();
  } finally {
    process.kill(shop.hub.pid, "SIGCONT");
  }
  await expectLines(page, restOf(shop.hub.searchUrl), "service:payment");
  await page.getByTitle("Connected", { exact: true }).waitFor();
});

test("a search that is asked of a killed hub keeps the lines, and is answered when the hub is back", async () => {
  const page = await openLines();
  const lines = await count("service:stock");
  await shop.hub.kill9();
  await page.getByTitle("The hub is away").waitFor();
  await ask(page, "service:stock");
  await page.getByText("The hub can't be reached.").waitFor();
  await row(page).first().waitFor();
  await shop.hub.start();
  await until(
    "all lines are found again",
    async () => (await count("service:stock").catch(() => undefined)) === lines,
  );
  // The page asks again by itself, maybe before all shards are read.
  await page.getByText("The hub can't be reached.").waitFor({ state: "detached" });
  await button(page, /^Search$/).click();
  await expectLines(page, restOf(shop.hub.searchUrl), "service:stock");
  await page.getByTitle("Connected", { exact: true }).waitFor();
});

test("there are forty tasks, ten of them by keys alone", () => {
  assert.ok(TASKS.length >= 40, String(TASKS.length));
  assert.ok(TASKS.filter(({ name }) => /by (?:a )?keys?\b/.test(name)).length >= 10);
});
