/** Everybody can use every page: the rules of WCAG 2.2 A and AA that a program can check, in every state and theme. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { findBarriers } from "#test/harness/axe.ts";
import { becomes } from "#test/harness/becomes.ts";
import { followCalls } from "#test/harness/browser.ts";
import { addPlacesAndDashboards, openShop, type Shop } from "#test/harness/shop.ts";
import { Workspace } from "#test/harness/workspace.ts";

const workspace = new Workspace();
let shop: Shop;
let page: Page;

before(async () => {
  shop = await openShop(workspace, 300);
  await addPlacesAndDashboards(shop.hub);
  const viewport = { width: 1440, height: 900 };
  const context = await shop.browser.newContext({ viewport, reducedMotion: "reduce" });
  page = await context.newPage();
});

after(() => workspace.close());

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
  [
    "the time range",
    "#/discover",
    async (page) => {
      await page.getByRole("button", { name: /Last hour|Last 15/ }).click();
      await page.getByLabel("From").waitFor();
    },
  ],
  [
    "the formats of fields",
    "#/discover",
    async (page) => {
      await page.getByRole("button", { name: /^Formats of the fields/ }).click();
      const dialog = page.getByRole("dialog", { name: /^Formats of the fields/ });
      await dialog.getByLabel("Field").fill("duration_ms");
      await dialog.getByLabel("Format of the values").selectOption("duration");
      await dialog.getByRole("button", { name: "Add" }).click();
      await dialog.getByRole("listitem").filter({ hasText: "duration_ms" }).waitFor();
    },
  ],
  ["Live", "#/live", (page) => page.locator("tr-tail-window .row").first().waitFor()],
  [
    "two tails",
    "#/tails?t=&t=q%3Dservice%253Apayment",
    async (page) => {
      for (const name of ["Tail 1", "Tail 2"])
        await page.getByRole("region", { name }).locator("tr-tail-window .row").first().waitFor();
    },
  ],
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
    "Visualise as a table",
    "#/visualise?from=now-2h&split=5:service",
    async (page) => {
      await page.locator("tr-chart .plot").waitFor();
      await page.getByRole("button", { name: "As a table" }).click();
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
  [
    "retention rules",
    "#/indices?view=retention",
    async (page) => {
      await page.getByLabel("Indices", { exact: true }).fill("logs-*");
      await page.getByLabel(/^Keep for/).fill("1h");
      await page.getByRole("button", { name: "Add" }).waitFor();
    },
  ],
  ["the hub's own health", "#/dashboards?id=hub-health", (page) => page.locator("tr-chart").nth(3).waitFor()],
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
  [
    "the patterns of lines",
    "#/discover?from=now-2h&view=patterns",
    (page) => page.locator("tr-patterns-panel li.row").first().waitFor(),
  ],
  [
    "the cluster",
    "#/cluster",
    (page) =>
      page
        .getByRole("img", { name: /unassigned$/ })
        .first()
        .waitFor(),
  ],
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
  ["a new pipeline", "#/pipelines?new=1", (page) => page.getByText("The pipeline is valid.").waitFor()],
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
    async (page) => {
      await page.getByRole("button", { name: "Administration" }).click();
      await page.getByRole("link", { name: "Indices" }).waitFor();
    },
  ],
  [
    "the command palette",
    "#/appearance",
    async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog", { name: "Go to" }).waitFor();
    },
  ],
  [
    "help",
    "#/appearance",
    async (page) => {
      await page.getByRole("button", { name: "Help" }).click();
      await page.getByRole("dialog", { name: "Help" }).waitFor();
    },
  ],
];

const THEMES = ["light", "dark", "contrast"] as const;

for (const [name, path, reach] of STATES)
  test(`a program finds no barrier in any theme: ${name}`, async () => {
    await page.goto("about:blank");
    await page.goto(`${shop.hub.dashboardUrl}/${path}`);
    await page.locator("main > *").first().waitFor();
    await reach(page);
    const found: string[] = [];
    for (const theme of THEMES) {
      await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
      for (const barrier of await findBarriers(page, theme === "light" ? "all" : "colours"))
        found.push(`${theme}: ${barrier}`);
    }
    assert.deepEqual(found, []);
  });

/** Every page. */
const ADDRESSES = [
  "discover?f=service:payment",
  "discover?from=now-2h&view=patterns",
  "compare",
  "live",
  "tails?t=&t=q%3Dservice%253Apayment",
  "visualise?from=now-2h",
  "dashboards",
  "dashboards?id=access-logs",
  "dashboards?id=access-logs&edit=1",
  "console",
  "alerts?new=1&q=error",
  "agents",
  "pipelines",
  "pipelines?new=1",
  "indices",
  "indices?index=visits",
  "indices?view=retention",
  "cluster",
  "status",
  "users",
  "enrolment",
  "oauth-clients",
  "connections",
  "appearance",
] as const;
/** As most screens are, and the narrowest with the whole menu. */
const WIDTHS = [1440, 1024] as const;

/** An expression: the bars of tools that take more than one row. */
const BROKEN_BARS = `(() => {
  const found = [];
  const look = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot !== null) look(element.shadowRoot);
      if (!element.matches(".status, .tools, .title, .bar, .editor, header")) continue;
      const boxes = [...element.children].map((child) => child.getBoundingClientRect()).filter(({ width }) => width > 0);
      if (boxes.some(({ top }) => top >= boxes[0].bottom)) found.push(element.className || element.localName);
    }
  };
  look(document);
  return found;
})()`;

test("in German no page has a barrier, and bars of tools are one row high, also of two searches side by side", async () => {
  const german = await shop.browser.newPage({ reducedMotion: "reduce", locale: "de" });
  const answered = followCalls(german);
  const found: string[] = [];
  for (const path of ADDRESSES) {
    await german.goto("about:blank");
    await german.goto(`${shop.hub.dashboardUrl}/#/${path}`);
    await german.locator("main > *").first().waitFor();
    await german.waitForLoadState("networkidle");
    await answered();
    for (const width of WIDTHS) {
      await german.setViewportSize({ width, height: 800 });
      // Half of a narrow window has two rows of tools.
      if (path === "compare" && width === 1024) continue;
      const bars = (): Promise<string[]> => german.evaluate<string[]>(BROKEN_BARS);
      await becomes(bars, []).catch((error: unknown) => found.push(`${path} at ${width}: ${String(error)}`));
    }
    for (const theme of THEMES) {
      await german.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
      for (const barrier of await findBarriers(german, theme === "light" ? "all" : "colours"))
        found.push(`${path}, ${theme}: ${barrier}`);
    }
  }
  await german.close();
  assert.deepEqual(found, []);
});
