/** The keyboard alone is enough: Tab through every page, Enter opens, Escape closes and gives the focus back. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { findBarriers } from "#test/harness/axe.ts";
import { becomes, becomesTrue } from "#test/harness/becomes.ts";
import { followCalls } from "#test/harness/browser.ts";
import { addPlacesAndDashboards, openShop, type Shop } from "#test/harness/shop.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const workspace = new Workspace();
let shop: Shop;

before(async () => {
  shop = await openShop(workspace, 300);
  await addPlacesAndDashboards(shop.hub);
});

after(() => workspace.close());

/** Pages a person goes through by keys; the menus of the head are the same on each. */
const WALKS = [
  "discover",
  "live",
  "visualise?from=now-2h",
  "dashboards",
  "dashboards?id=access-logs&edit=1",
  "console",
  "alerts",
  "alerts?new=1&q=error",
  "agents",
  "pipelines",
  "pipelines?new=1",
  "indices",
  "indices?index=visits",
  "indices?view=retention",
  "status",
  "cluster",
  "visualise?index=visits&chart=map&by=places:place",
  "users",
  "enrolment",
  "appearance",
];

/** An expression: the element that has the focus, looked for in shadow trees; null where nothing has it. */
const FOCUSED = `(() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (at === null || at === document.body) return null;
  const { width, height, top, bottom } = at.getBoundingClientRect();
  const { outlineStyle, boxShadow } = getComputedStyle(at);
  const isAgain = at.walked === true && at !== globalThis.lastWalked;
  at.walked = true;
  globalThis.lastWalked = at;
  return {
    name: at.localName + "." + at.className + " " + (at.ariaLabel ?? at.textContent ?? "").trim().slice(0, 40),
    isAgain,
    isSkip: at.matches("a.skip"),
    isSeen: width > 0 && height > 0 && bottom > 0 && top < innerHeight,
    isMarked: outlineStyle !== "none" || boxShadow !== "none" || at.matches("textarea, .cm-content, .plot, main"),
    isInMain: at.closest("header") === null && at.getRootNode() !== document,
  };
})()`;

interface Focused {
  readonly name: string;
  /** It had the focus before another had it; the parts of a date are stops of one element. */
  readonly isAgain: boolean;
  readonly isSkip: boolean;
  readonly isSeen: boolean;
  readonly isMarked: boolean;
  readonly isInMain: boolean;
}

/** Stops that nobody should have to pass on one page. */
const MAX_STOPS = 160;

/** Presses Tab from the head of a page until that leaves it; returns what is wrong with the way. */
async function walk(page: Page): Promise<string[]> {
  const found: string[] = [];
  let isInMain = false;
  await page.locator("tr-app a.skip").focus();
  for (let stop = 0; stop < MAX_STOPS; stop++) {
    const focused = await page.evaluate<Focused | null>(FOCUSED);
    if (focused === null || (focused.isAgain && focused.isSkip))
      return isInMain ? found : [...found, "Tab reaches nothing of the page"];
    if (focused.isAgain) return [...found, `${focused.name} comes again`];
    if (!focused.isSeen) found.push(`${focused.name} isn't in sight`);
    if (!focused.isMarked) found.push(`${focused.name} isn't marked`);
    isInMain ||= focused.isInMain;
    // A Tab is text in the console's editor; Escape lets the next one continue.
    if (/^textarea|^div\.cm-content/.test(focused.name)) await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
  }
  return [...found, "Tab never leaves the page"];
}

test("Tab goes through every page, each stop in sight and marked; no page is wider than 320 px", async () => {
  const context = await shop.browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const answered = followCalls(page);
  const found: string[] = [];
  for (const path of WALKS) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto("about:blank");
    await page.goto(`${shop.hub.dashboardUrl}/#/${path}`);
    await page.locator("main > *").first().waitFor();
    await page.waitForLoadState("networkidle");
    await answered();
    for (const fault of await walk(page)) found.push(`${path}: ${fault}`);
    await page.setViewportSize({ width: 320, height: 640 });
    const width = (): Promise<number> => page.evaluate<number>("document.documentElement.scrollWidth");
    await becomesTrue(`${path} within 320 px`, width, (px) => px <= 320).catch((error: unknown) =>
      found.push(String(error)),
    );
  }
  await context.close();
  assert.deepEqual(found, []);
});

/** An expression: how many stops of Tab each table's body has, where arrow keys aren't those of its inputs. */
const STOPS_OF_LISTS = `(() => {
  const counts = [];
  const look = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot !== null) look(element.shadowRoot);
      if (!element.matches("tbody") || element.querySelector("input, select, textarea") !== null) continue;
      const inside = [...element.querySelectorAll("button, a[href], summary")].filter((one) => one.closest("[popover]") === null);
      counts.push(inside.filter(({ tabIndex }) => tabIndex >= 0).length);
    }
  };
  look(document);
  return counts;
})()`;

test("a list is one stop of Tab; arrows go through its rows and their buttons, Home and End to its ends", async () => {
  const page = await shop.browser.newPage({ viewport: { width: 1440, height: 900 } });
  for (const path of ["indices", "agents", "pipelines", "cluster", "dashboards"]) {
    await page.goto("about:blank");
    await page.goto(`${shop.hub.dashboardUrl}/#/${path}`);
    await page.locator("tbody tr").first().waitFor();
    await becomesTrue(
      `one stop for each list of ${path}`,
      () => page.evaluate<number[]>(STOPS_OF_LISTS),
      (counts) => counts.every((count) => count <= 1),
    );
  }
  await page.goto(`${shop.hub.dashboardUrl}/#/dashboards`);
  const body = page.locator("tbody").nth(1);
  const rows = body.getByRole("row");
  const first = rows.first().getByRole("link").first();
  await first.focus();
  const steps: readonly (readonly [key: string, focused: Locator])[] = [
    ["ArrowDown", rows.nth(1).getByRole("link").first()],
    ["ArrowRight", rows.nth(1).getByRole("button").first()],
    ["ArrowUp", first],
    ["End", rows.last().locator("a, button").last()],
    ["Home", first],
  ];
  for (const [key, focused] of steps) {
    await page.keyboard.press(key);
    await until(`the focus after ${key}`, () => hasFocus(focused));
  }
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  await until("Tab coming back to where it was", () => hasFocus(rows.nth(1).getByRole("link").first()));
  await page.close();
});

/** What opens over a page: where, the button that opens it by Enter, what is to be seen then. */
interface Opening {
  readonly path: string;
  readonly opener: (page: Page) => Locator;
  readonly opened: (page: Page) => Locator;
  /** False where it unfolds behind the button, so that Tab leads into it. */
  readonly isOver?: boolean;
  /** Must be in the document before. */
  readonly ready?: (page: Page) => Locator;
}

const button = (name: string | RegExp) => (page: Page) => page.getByRole("button", { name }).first();
const dialog = (page: Page): Locator => page.getByRole("dialog").filter({ visible: true });
const firstRow = (page: Page): Locator => page.locator("tr-event-table .row").first();

const OPENINGS: Readonly<Record<string, Opening>> = {
  "the menu of administration": {
    path: "appearance",
    opener: button("Administration"),
    isOver: false,
    opened: (page) => page.getByRole("link", { name: "Indices" }),
  },
  help: { path: "appearance", opener: button("Help"), opened: dialog },
  "the palette": { path: "appearance", opener: button(/^Go to/), opened: dialog },
  "the time range": {
    path: "discover",
    ready: firstRow,
    opener: button(/^Last/),
    opened: (page) => page.getByLabel("From"),
  },
  "what is saved": {
    path: "discover",
    ready: firstRow,
    opener: button("Saved"),
    opened: button("Save this search …"),
  },
  "the formats of an export": {
    path: "discover",
    ready: firstRow,
    opener: button("Export"),
    opened: button(/^NDJSON/),
  },
  "why a search took its time": {
    path: "discover",
    ready: firstRow,
    opener: button(/^Explain/),
    opened: dialog,
  },
  "a column's menu": {
    path: "discover?cols=service",
    ready: firstRow,
    opener: (page) =>
      page
        .getByRole("columnheader", { name: /service/ })
        .getByRole("button")
        .first(),
    opened: (page) => page.getByRole("menu"),
  },
  "the colours of live lines": { path: "live", opener: button(/^Colours/), opened: dialog },
  "the title of a live search": { path: "live", opener: button("Save this filter"), opened: dialog },
  "the title of a visualisation": { path: "visualise?from=now-2h", opener: button("Save"), opened: dialog },
  "the title of a dashboard": { path: "dashboards", opener: button("New dashboard"), opened: dialog },
  "the question before an index is deleted": {
    path: "indices?index=visits",
    opener: button("Delete"),
    opened: dialog,
  },
};

/** True where the element has the focus, in whatever shadow tree it is. */
function hasFocus(one: Locator): Promise<boolean> {
  return one.evaluate((element) => element.matches(":focus"));
}

test("what Enter opens takes the focus, Escape closes it and the focus is back where it was", async () => {
  const page = await shop.browser.newPage();
  for (const [name, { path, ready, opener, opened, isOver = true }] of Object.entries(OPENINGS)) {
    await page.goto("about:blank");
    await page.goto(`${shop.hub.dashboardUrl}/#/${path}`);
    await ready?.(page).waitFor();
    const from = opener(page);
    await from.focus();
    await page.keyboard.press("Enter");
    await opened(page).waitFor({ state: "visible" });
    if (isOver) await until(`${name} taking the focus`, async () => !(await hasFocus(from)));
    await page.keyboard.press("Escape");
    await opened(page).waitFor({ state: "hidden" });
    await until(`${name} giving the focus back`, () => hasFocus(from));
  }
  await page.close();
});

/** An expression: what is wrong with where the open popovers are. */
const MISPLACED = `(() => {
  const found = [];
  const look = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot !== null) look(element.shadowRoot);
      if (!element.matches(":popover-open")) continue;
      const { left, top, right, bottom } = element.getBoundingClientRect();
      const opener = root.querySelector("[aria-expanded=true]") ?? element.previousElementSibling;
      const at = opener.getBoundingClientRect();
      if (element.scrollWidth > element.clientWidth) found.push("it scrolls sideways");
      if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) found.push("it leaves the window");
      if (left < at.right && right > at.left && top < at.bottom && bottom > at.top) found.push("it covers its button");
    }
  };
  look(document);
  return found;
})()`;

/** An expression: what is wrong with where the hint is; its anchor is what the ring is around. */
const HINT_FAULTS = `(() => {
  const root = document.querySelector("tr-app").shadowRoot.querySelector("tr-tour").shadowRoot;
  const box = root.querySelector(".panel").getBoundingClientRect();
  const at = root.querySelector(".ring").getBoundingClientRect();
  const found = [];
  if (box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight) found.push("it leaves the window");
  if (box.left < at.right && box.right > at.left && box.top < at.bottom - 6 && box.bottom > at.top + 6) found.push("it covers its anchor");
  return found;
})()`;

test("what opens over a page stands within a small window, beside its button, and never scrolls sideways", async () => {
  const page = await shop.browser.newPage({ viewport: { width: 720, height: 450 } });
  for (const [name, { path, ready, opener, opened }] of Object.entries(OPENINGS)) {
    if (path === "appearance") continue;
    await page.goto("about:blank");
    await page.goto(`${shop.hub.dashboardUrl}/#/${path}`);
    await ready?.(page).waitFor();
    await opener(page).click();
    await opened(page).waitFor({ state: "visible" });
    await becomes(async () => [name, ...(await page.evaluate<string[]>(MISPLACED))], [name]);
  }
  await page.close();
});

test("the first visit shows four hints beside what they are about, once; Help shows them again", async () => {
  const page = await shop.browser.newPage({
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    colorScheme: "dark",
  });
  await page.addInitScript(`Object.defineProperty(navigator, "webdriver", { get: () => false })`);
  await page.goto(`${shop.hub.dashboardUrl}/#/discover?from=now-2h`);
  const hints = page.getByRole("region", { name: "First hints" });
  await hints.waitFor();
  const next = hints.getByRole("button", { name: "Next" });
  assert.deepEqual(await findBarriers(page), []);
  for (const title of ["Search", "Zoom into a time", "Open a line"]) {
    await hints.getByRole("heading", { name: title }).waitFor();
    await becomes(() => page.evaluate<string[]>(HINT_FAULTS), []);
    await next.press("Enter");
  }
  await hints.getByText("4 of 4").waitFor();
  await hints.getByRole("button", { name: "Done" }).press("Enter");
  await hints.waitFor({ state: "detached" });
  await page.reload();
  await firstRow(page).waitFor();
  await page.getByRole("button", { name: "Help", exact: true }).click();
  await page.getByRole("button", { name: "Show hints on the page" }).click();
  await hints.waitFor();
  assert.equal(await hints.count(), 1);
  await next.focus();
  await page.keyboard.press("Escape");
  await hints.waitFor({ state: "detached" });
  await page.close();
});

/** Rows that lead on: the page they are on, the link that Enter follows, and where that leads. */
const ROWS: readonly (readonly [path: string, link: RegExp, leads: RegExp])[] = [
  ["agents", /^web-1$/, /#\/agents\?id=/],
  ["indices", /^visits$/, /#\/indices\?index=visits/],
  ["dashboards", /^Access logs$/, /#\/dashboards\?id=access-logs/],
];

test("Enter follows a row, and the browser's way back leads to the list", async () => {
  const page = await shop.browser.newPage();
  for (const [path, name, leads] of ROWS) {
    await page.goto("about:blank");
    await page.goto(`${shop.hub.dashboardUrl}/#/${path}`);
    await page.getByRole("link", { name }).first().focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(leads);
    await page.goBack();
    await page.getByRole("link", { name }).first().waitFor();
  }
  await page.close();
});
