/** Pages show what the hub has, and keep what their reader made: in a browser, over a real hub. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { becomes, becomesTrue } from "#test/harness/becomes.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { openWorkPages, putLines, SHOP_INDEX, SHOP_LINES, type WorkPages } from "./ui-work-pages.ts";

const workspace = new Workspace();
let pages: WorkPages;

before(async () => {
  pages = await openWorkPages(workspace);
  await putLines(pages.hub.searchUrl, "parts", partLines());
  await putLines(pages.hub.searchUrl, "traces", traceLines());
  await putLines(pages.hub.searchUrl, "terminal", terminalLines());
});

after(() => workspace.close());

const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

/** Six values of a field, and twelve lines without it. */
function partLines(): object[] {
  return Array.from({ length: 48 }, (_, number) => ({
    "@timestamp": minutesAgo(10 + (number % 5)),
    message: `line ${number}`,
    ...(number % 4 !== 0 && { part: `p${number % 6}` }),
  }));
}

function traceLines(): object[] {
  const messages = [
    "started",
    "java.lang.Error: broken",
    "\tat a.f(A.java:1)",
    "\tat b.g(B.java:2)",
    "stopped",
  ];
  const at = minutesAgo(5);
  return messages.map((message, number) => ({
    "@timestamp": at,
    message,
    "host.name": "web-1",
    log: { file: { path: "/var/log/app.log" }, offset: number * 100 },
  }));
}

test("a chart that is split by a field shows the lines without it and the further values", () =>
  pages.visit("#/visualise?index=parts&from=now-1h&split=2:part.keyword", async (page) => {
    const legend = page.locator("tr-chart .legend");
    await legend.getByText("(no value)").waitFor();
    await legend.getByText("Others").waitFor();
    await page.getByRole("button", { name: "Table", exact: true }).click();
    await page.locator("tr-chart table").waitFor();
    const sum = async (): Promise<number> => {
      const cells = await page.locator("tr-chart td").allTextContents();
      return cells.reduce((total, text) => total + (Number(text) || 0), 0);
    };
    await becomes(sum, 48);
  }));

/** Loads the page again without its socket, so that its requests can be held. */
async function overHttp(page: Page): Promise<void> {
  await page.routeWebSocket("**/api/live", (socket) => socket.close());
  await page.reload();
}

test("a colon typed before the values are there is taken for no name", () =>
  pages.visit(`#/discover?index=${SHOP_INDEX}&from=now-2h`, async (page) => {
    await overHttp(page);
    await page.getByText(`${SHOP_LINES} lines in`).waitFor();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/_search*", async (route) => {
      if (route.request().postData()?.includes('"values"') === true) await released;
      await route.continue();
    });
    const query = page.getByRole("combobox", { name: "Query" });
    await query.pressSequentially("pag");
    await page.getByRole("option", { name: /^page:/ }).waitFor();
    await page.keyboard.type("e:");
    await page.keyboard.press("Tab");
    await becomes(() => query.inputValue(), "page:");
    release();
    await page.unrouteAll({ behavior: "wait" });
  }));

test("a query of KQL that finds nothing is offered in Lucene syntax", () =>
  pages.visit(
    `#/discover?from=now-2h&q=${encodeURIComponent('took > 200 and page : "/page/1"')}`,
    async (page) => {
      const offer = page.getByRole("button", { name: 'Did you mean took:>200 AND page : "/page/1"?' });
      await offer.click();
      await page.locator("tr-event-table .row").first().waitFor();
      assert.equal(await offer.count(), 0);
    },
  ));

test("a trial that failed shows nothing of the one before", () =>
  pages.visit(
    "#/pipelines?new",
    async (page) => {
      await overHttp(page);
      await page.getByText("The pipeline is valid.").waitFor();
      await page.route("**/_try/simulate", (route) => route.fulfill({ status: 503, body: "{}" }));
      await page.getByLabel("Sample lines").fill("another line");
      await page.getByText("The hub isn't ready").waitFor();
      await becomes(() => page.locator(".trial").count(), 0);
      await becomes(() => page.getByText("The pipeline is valid.").count(), 0);
    },
    /503/,
  ));

/** A line with colours of a terminal, and one of 100 KB. */
function terminalLines(): object[] {
  return [
    { "@timestamp": minutesAgo(1), message: "\u001b[32mready\u001b[0m, \u001b[1;31mbut slow\u001b[0m" },
    { "@timestamp": minutesAgo(2), message: `long ${"x".repeat(100_000)} end` },
  ];
}

test("colours of a terminal are drawn, and a long line has ten rows until more is asked for", () =>
  pages.visit("#/discover?index=terminal&from=now-1h", async (page) => {
    const rows = page.locator("tr-event-table .row:visible");
    await rows.nth(1).waitFor();
    await page.locator("tr-event-table .ansi-1.ansi-bold").getByText("but slow").waitFor();
    await becomes(() => rows.first().locator(".cell").last().textContent(), "ready, but slow");
    await page.getByRole("button", { name: "Wrap long lines (w)" }).click();
    const long = rows.filter({ hasText: "xxx" });
    await long.getByRole("button", { name: "More" }).waitFor();
    const height = (): Promise<number> => long.evaluate((row) => row.clientHeight);
    await becomesTrue("ten rows", height, (px) => px < 260);
    await long.getByRole("button", { name: "More" }).click();
    await becomes(async () => (await height()) > 10_000, true);
    await becomes(async () => (await long.textContent())?.includes("x end"), true);
  }));

test("the newest lines come first, and a trace in them is read from its first line down", () =>
  pages.visit("#/discover?index=traces&from=now-1h", async (page) => {
    await page.locator("tr-event-table .row:visible").nth(4).waitFor();
    const rows = page.locator("tr-event-table .row");
    const inOrder = ["stopped", "java.lang.Error", "at a.f", "at b.g", "started"];
    await becomes(async () => (await rows.allTextContents()).join("\n"), new RegExp(inOrder.join("[^]*")));
  }));

test("lines without a level leave its column to their messages", () =>
  pages.visit("#/discover?index=traces&from=now-1h", async (page) => {
    await page.getByText("5 lines in").waitFor();
    const level = page.locator("tr-event-table .row:visible .level").first();
    await becomes(() => level.evaluate((cell) => cell.clientWidth), 0);
  }));

test("columns are read whether a document nests its fields or dots their names", () =>
  pages.visit("#/discover?index=traces&from=now-1h&cols=host.name,log.file.path", async (page) => {
    await page.getByText("5 lines in").waitFor();
    await page.locator("tr-event-table").getByText("web-1").first().waitFor();
    await page.locator("tr-event-table").getByText("/var/log/app.log").first().waitFor();
  }));

async function makeDashboard(page: Page, title: string): Promise<void> {
  await page.getByRole("button", { name: "New dashboard" }).click();
  await page.getByLabel("Title").fill(title);
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByText("Nothing on this dashboard yet").waitFor();
}

test("samples can be loaded beside dashboards of one's own", () =>
  pages.visit("#/dashboards", async (page) => {
    await makeDashboard(page, "Mine");
    await page.getByRole("link", { name: "All dashboards" }).click();
    await page.getByRole("link", { name: "Mine" }).waitFor();
    await page.getByRole("button", { name: "Load samples" }).click();
    await page.getByRole("link", { name: "Access logs" }).waitFor();
    await page.getByRole("link", { name: "Mine" }).waitFor();
  }));

test("changes of a dashboard that aren't saved are there again, can be undone and discarded", () =>
  pages.visit("#/dashboards?id=access-logs&edit=1", async (page) => {
    const count = (): Promise<number> => page.locator(".grid .panel").count();
    await page.getByRole("button", { name: "Wider: Requests", exact: true }).waitFor();
    const all = await count();
    await becomes(() => page.getByText("aren't saved yet").count(), 0);
    await page.getByRole("button", { name: "Remove: Requests", exact: true }).click();
    await page.getByText("aren't saved yet").waitFor();
    await page.getByRole("link", { name: "All dashboards" }).click();
    await page.getByRole("link", { name: "Access logs" }).click();
    await page.getByText("aren't saved yet").waitFor();
    await becomes(() => count(), all - 1);
    await page.reload();
    await page.getByText("aren't saved yet").waitFor();
    await page.getByRole("button", { name: "Discard changes" }).click();
    await page.getByRole("region", { name: "Requests", exact: true }).waitFor();
    await becomes(() => page.getByText("aren't saved yet").count(), 0);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("button", { name: "Remove: Requests", exact: true }).click();
    await page.keyboard.press("u");
    await page.getByRole("region", { name: "Requests", exact: true }).waitFor();
    await page.getByRole("button", { name: "Redo" }).click();
    await page.getByRole("region", { name: "Requests", exact: true }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Save dashboard" }).click();
    await page.getByText("aren't saved yet").waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("heading", { name: "Status codes" }).waitFor();
    await becomes(() => count(), all - 1);
  }));

/** Loads the page again and keeps the browser's word on a changed address from it until the returned function is called. */
async function holdAddressEvents(page: Page): Promise<() => Promise<void>> {
  // Listeners of a window are called in the order in which they were added: this one is the first.
  await page.addInitScript(`addEventListener("hashchange", (event) => {
    if (event.isTrusted) event.stopImmediatePropagation();
  })`);
  await page.reload();
  return () => page.evaluate(`dispatchEvent(new HashChangeEvent("hashchange"))`);
}

interface TwoInputs {
  readonly what: string;
  readonly path: string;
  readonly first: (page: Page) => Promise<unknown>;
  readonly second: (page: Page) => Promise<unknown>;
  /** Parameters of the address in the end. */
  readonly expected: Readonly<Record<string, string>>;
}

const TWO_INPUTS: readonly TwoInputs[] = [
  {
    what: "a formula and its unit",
    path: `visualise?index=${SHOP_INDEX}&chart=number&metric=formula:count()`,
    first: async (page) => {
      await page.getByLabel("Formula", { exact: true }).fill("count() * 2");
      await page.keyboard.press("Tab");
    },
    second: (page) => page.getByLabel("Unit").selectOption("percent"),
    expected: { metric: "formula:count() * 2", unit: "percent" },
  },
  {
    what: "a search's steps and its scale",
    path: `discover?index=${SHOP_INDEX}&from=now-2h`,
    first: (page) => page.getByLabel("Lines per").selectOption("5m"),
    second: (page) => page.getByRole("button", { name: "Log scale" }).click(),
    expected: { step: "5m", scale: "log" },
  },
  {
    what: "a dashboard's query and its tools",
    path: "dashboards?id=access-logs&from=now-2h",
    first: async (page) => {
      await page.getByRole("searchbox", { name: "Query for all panels" }).fill("status:500");
      await page.keyboard.press("Enter");
    },
    second: (page) => page.getByRole("button", { name: "Edit", exact: true }).click(),
    expected: { q: "status:500", edit: "1" },
  },
  {
    what: "a tail's rate and its query",
    path: "live",
    first: (page) => page.getByLabel("Limit").selectOption("10000"),
    second: async (page) => {
      await page.getByRole("combobox", { name: "Query" }).fill("status:500");
      await page.keyboard.press("Enter");
    },
    expected: { rate: "10000", q: "status:500" },
  },
  {
    what: "the queries of two searches side by side",
    path: `compare?left=index%3D${SHOP_INDEX}&right=index%3D${SHOP_INDEX}`,
    first: async (page) => {
      const left = page.getByRole("region", { name: "Left search" });
      await left.getByRole("combobox", { name: "Query" }).fill("status:500");
      await page.keyboard.press("Enter");
    },
    second: async (page) => {
      const right = page.getByRole("region", { name: "Right search" });
      await right.getByRole("combobox", { name: "Query" }).fill("status:404");
      await page.keyboard.press("Enter");
    },
    expected: { left: `q=status:500&index=${SHOP_INDEX}`, right: `q=status:404&index=${SHOP_INDEX}` },
  },
];

for (const { what, path, first, second, expected } of TWO_INPUTS)
  test(`${what} are both kept where the browser tells of the first address after the second input`, () =>
    pages.visit(`#/${path}`, async (page) => {
      const release = await holdAddressEvents(page);
      await first(page);
      await second(page);
      await release();
      const parameters = new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
      const found = Object.keys(expected).map((name) => [
        name,
        decodeURIComponent(parameters.get(name) ?? ""),
      ]);
      assert.deepEqual(Object.fromEntries(found), expected);
    }));

/** Run in the page: Discover's histogram. */
const HISTOGRAM = `["tr-page-discover", "tr-discover-results", "tr-histogram"].reduce((within, tag) => within.shadowRoot.querySelector(tag), document.querySelector("tr-app"))`;

test("a click is answered by a frame before what it changes is drawn", () =>
  pages.visit(`#/discover?index=${SHOP_INDEX}&from=now-2h`, async (page) => {
    const scale = page.getByRole("button", { name: "Log scale" });
    await scale.waitFor();
    const held = await page.evaluateHandle<{ readonly promise: Promise<Record<string, unknown>> }>(`(() => {
      const histogram = ${HISTOGRAM};
      const { promise, resolve } = Promise.withResolvers();
      const look = () => resolve({ address: location.hash, isDrawn: histogram.isLog });
      histogram.addEventListener("click", () => requestAnimationFrame(look), { once: true });
      return { promise };
    })()`);
    await scale.click();
    const { address, isDrawn } = await held.evaluate(({ promise }) => promise);
    assert.match(String(address), /scale=log/);
    assert.equal(isDrawn, false);
    await page.getByRole("button", { name: "Log scale", pressed: true }).waitFor();
  }));

test("a second input before the first one's frame finds what the first one changed", () =>
  pages.visit(`#/discover?index=${SHOP_INDEX}&from=now-2h`, async (page) => {
    const scale = page.getByRole("button", { name: "Log scale", pressed: false });
    await scale.focus();
    const release = await page.evaluateHandle(`(() => {
      const request = globalThis.requestAnimationFrame;
      const held = [];
      globalThis.requestAnimationFrame = (callback) => held.push(callback);
      return () => {
        globalThis.requestAnimationFrame = request;
        held.forEach((callback) => request(callback));
      };
    })()`);
    const isLog = async (): Promise<boolean> => page.url().includes("scale=log");
    await page.keyboard.press("Enter");
    await becomes(isLog, true);
    await page.keyboard.press("Enter");
    await becomes(isLog, false);
    await release.evaluate((end) => (end as unknown as () => void)());
    await scale.waitFor();
    await becomes(isLog, false);
  }));

test("a range that is dragged over the histogram is kept where new numbers come meanwhile", () =>
  pages.visit(`#/discover?index=${SHOP_INDEX}&from=now-2h`, async (page) => {
    const plot = page.locator("tr-histogram .u-over");
    await plot.hover({ position: { x: 200, y: 20 } });
    await page.mouse.down();
    const { x, y } = (await plot.boundingBox())!;
    await page.evaluate(`(() => {
      const histogram = ${HISTOGRAM};
      histogram.histogram = { ...histogram.histogram };
      return histogram.updateComplete;
    })()`);
    await page.mouse.move(x + 400, y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=\d{4}-.*&to=\d{4}-/);
  }));
