/** Everybody can use every page: rules of WCAG 2.2 A and AA in every theme, the keyboard alone, narrow and zoomed screens. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { findBarriers } from "#test/harness/axe.ts";
import { openShop, type Shop } from "#test/harness/shop.ts";
import { Workspace } from "#test/harness/workspace.ts";

const workspace = new Workspace();
let shop: Shop;

before(async () => {
  shop = await openShop(workspace, 300);
  await fillMore(shop.hub);
});

after(() => workspace.close());

/** Places for a map, and dashboards. */
async function fillMore({ searchUrl, dashboardUrl }: Shop["hub"]): Promise<void> {
  const send = async (url: string, method: string, body: unknown): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    assert.ok(response.ok, `${url} answered with ${response.status}`);
  };
  const properties = { place: { type: "geo_point" } };
  await send(`${searchUrl}/visits`, "PUT", { mappings: { _doc: { properties } } });
  const visit = { "@timestamp": new Date().toISOString(), place: { lat: 52.5, lon: 13.4 } };
  await send(`${searchUrl}/visits/_doc?refresh=true`, "POST", visit);
  await send(`${dashboardUrl}/api/samples`, "POST", {});
}

type Step = (page: Page) => Promise<void>;

/** Pages, each in the states it can be in: what must be done to see it so. */
const STATES: readonly (readonly [name: string, path: string, reach: Step])[] = [
  ["Discover", "#/discover", (page) => page.locator("tr-event-table .row").first().waitFor()],
  [
    "Discover with a line open",
    "#/discover?f=log.level:error&cols=service,message",
    async (page) => {
      await page.locator("tr-event-table .row button").first().click();
      await page.locator("tr-event-details table").waitFor();
    },
  ],
  [
    "Discover with a field open",
    "#/discover?from=now-1h",
    async (page) => {
      await page.locator("tr-event-table .row").first().waitFor();
      await page.getByRole("button", { name: "service", exact: true }).click();
      await page.locator("tr-field-list").getByText("checkout").waitFor();
    },
  ],
  [
    "Discover without lines",
    "#/discover?from=2020-01-01&to=2020-01-02",
    (page) => page.getByText("No lines in this time range").waitFor(),
  ],
  [
    "Discover with a wrong query",
    "#/discover?q=level:(",
    (page) => page.getByRole("alert").first().waitFor(),
  ],
  ["the time range", "#/discover", (page) => page.getByRole("button", { name: /Last hour|Last 15/ }).click()],
  ["Live", "#/live", (page) => page.locator("tr-tail-window .row").first().waitFor()],
  ["Visualise", "#/visualise?from=now-2h", (page) => page.locator("tr-chart .plot").waitFor()],
  [
    "Visualise with a map",
    "#/visualise?index=visits&chart=map&by=places:place&ring=500:50:10",
    async (page) => {
      await page.locator("tr-world-map circle.place").first().waitFor();
      await page.locator("tr-world-map .plot").focus();
      await page.keyboard.press("ArrowRight");
      await page.locator("tr-world-map .readout").waitFor();
    },
  ],
  [
    "Visualise as numbers",
    "#/visualise?from=now-2h&split=5:service",
    async (page) => {
      await page.locator("tr-chart .plot").waitFor();
      await page.getByRole("button", { name: "Numbers" }).click();
      await page.locator("tr-chart table").waitFor();
    },
  ],
  ["a dashboard", "#/dashboards?id=access-logs", (page) => page.locator("tr-chart .plot").nth(3).waitFor()],
  [
    "a dashboard that is edited",
    "#/dashboards?id=access-logs&edit=1",
    (page) => page.getByRole("button", { name: "Wider: Requests", exact: true }).waitFor(),
  ],
  [
    "an answer as a table",
    "#/console?request=GET%20_cat/indices%3Fformat%3Djson",
    async (page) => {
      await page.getByRole("textbox", { name: "Requests" }).press("Control+Enter");
      await page.getByRole("button", { name: "Answer as a table" }).click();
      await page.getByRole("columnheader", { name: "health" }).waitFor();
      await page.getByRole("button", { name: "Answer as a table" }).click();
    },
  ],
  ["an index", "#/indices?index=visits", (page) => page.getByText("geo_point", { exact: true }).waitFor()],
  ["Dashboards", "#/dashboards", (page) => page.getByRole("heading", { level: 1 }).waitFor()],
  ["Console", "#/console", (page) => page.getByRole("textbox", { name: "Requests" }).waitFor()],
  [
    "Indices",
    "#/indices",
    (page) =>
      page
        .getByRole("link", { name: /^logs-/ })
        .first()
        .waitFor(),
  ],
  ["Health", "#/status", (page) => page.getByText("web-1").first().waitFor()],
  ["Agents", "#/agents", (page) => page.getByRole("link", { name: "web-1", exact: true }).waitFor()],
  [
    "an agent",
    "#/agents",
    async (page) => {
      await page.getByRole("link", { name: "web-1", exact: true }).click();
      await page.getByRole("region", { name: "Inputs" }).waitFor();
    },
  ],
  ["Pipelines", "#/pipelines", (page) => page.getByRole("tab", { name: "Grok debugger" }).waitFor()],
  ["a new pipeline", "#/pipelines?new=1", (page) => page.getByText("The pipeline is right.").waitFor()],
  [
    "the grok debugger",
    "#/pipelines?view=grok",
    (page) => page.locator("tr-grok-debugger textarea").first().waitFor(),
  ],
  ["Alerts", "#/alerts", (page) => page.getByRole("heading", { level: 1 }).waitFor()],
  ["a new alert", "#/alerts?new=1&q=error", (page) => page.getByLabel("Threshold").waitFor()],
  [
    "a title that is asked for",
    "#/dashboards",
    async (page) => {
      await page.getByRole("button", { name: "New dashboard" }).click();
      await page.getByRole("dialog").waitFor();
    },
  ],
  [
    "the menu of exports",
    "#/discover",
    async (page) => {
      await page.getByRole("button", { name: "Export" }).click();
      await page.getByRole("button", { name: /^CSV/ }).waitFor();
    },
  ],
  ["Users with sign-in off", "#/users", (page) => page.getByRole("heading", { level: 1 }).waitFor()],
  [
    "Connections with sign-in off",
    "#/connections",
    (page) => page.getByRole("heading", { level: 1 }).waitFor(),
  ],
  ["Appearance", "#/appearance", (page) => page.getByRole("group", { name: "Theme" }).waitFor()],
  ["an address without a page", "#/nowhere", (page) => page.getByRole("heading", { level: 1 }).waitFor()],
  [
    "the menu of administration",
    "#/nowhere",
    (page) => page.getByRole("button", { name: "Administration" }).click(),
  ],
  ["the command palette", "#/appearance", (page) => page.keyboard.press("Control+k")],
  ["help", "#/appearance", (page) => page.getByRole("button", { name: "Help" }).click()],
];

const THEMES = ["light", "dark", "contrast"] as const;

test("no page or state has a barrier that a program can find, in any theme", async () => {
  const context = await shop.browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
  });
  const found: string[] = [];
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  for (const [name, path, reach] of STATES) {
    await page.goto("about:blank");
    await page.goto(`${shop.hub.dashboardUrl}/${path}`);
    await page.locator("main > *").first().waitFor();
    await reach(page);
    for (const theme of THEMES) {
      await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
      for (const barrier of await findBarriers(page, theme === "light" ? "all" : "colours"))
        found.push(`${name} in ${theme}: ${barrier}`);
    }
  }
  await context.close();
  assert.deepEqual(found, []);
});

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
  "status",
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
    isMarked: outlineStyle !== "none" || boxShadow !== "none" || at.matches("textarea, .plot, main"),
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
    // A Tab is text in the console's editor; Escape lets the next one go on.
    if (focused.name.startsWith("textarea")) await page.keyboard.press("Escape");
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
  const found: string[] = [];
  for (const path of WALKS) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto("about:blank");
    await page.goto(`${shop.hub.dashboardUrl}/#/${path}`);
    await page.locator("main > *").first().waitFor();
    await page.waitForLoadState("networkidle");
    for (const fault of await walk(page)) found.push(`${path}: ${fault}`);
    await page.setViewportSize({ width: 320, height: 640 });
    const width = await page.evaluate<number>(
      "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(document.documentElement.scrollWidth))))",
    );
    if (width > 320) found.push(`${path} is ${width} wide on 320 px`);
  }
  await context.close();
  assert.deepEqual(found, []);
});
