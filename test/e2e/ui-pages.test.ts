/** The dashboard's pages in a browser, against a hub of canned lines under the hub's own content security policy. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Browser, Page } from "playwright-core";
import { becomes, becomesTrue } from "#test/harness/becomes.ts";
import { launchBrowser, openPage, type WatchedPage } from "#test/harness/browser.ts";
import { until } from "#test/harness/until.ts";
import { buildDashboard } from "#ui/build.ts";
import { liveEvent } from "./canned-lines.ts";
import { type FakeHub, startFakeHub } from "./ui-fake-hub.ts";

let hub: FakeHub;
let browser: Browser;

before(async () => {
  await buildDashboard();
  hub = await startFakeHub(Date.now());
  browser = await launchBrowser();
});

after(async () => {
  await browser.close();
  await hub.stop();
});

/** Opens a page, runs `check`, and expects that nothing complained. */
async function visit(
  path: string,
  check: (page: Page, watched: WatchedPage) => Promise<void>,
): Promise<void> {
  const watched = await openPage(browser, `${hub.url}${path}`);
  try {
    await check(watched.page, watched);
    assert.deepEqual(watched.complaints, []);
  } finally {
    await watched.page.close();
  }
}

/** An expression in the page: which lines its table has loaded, in sight or not. */
const LOADED_KEYS = `document.querySelector("tr-app").shadowRoot.querySelector("tr-page-discover").shadowRoot
  .querySelector("tr-discover-results").shadowRoot.querySelector("tr-event-table").rows.map((row) => row.key)`;

const rows = (page: Page) => page.locator("tr-event-table .row");
const tailRows = (page: Page) => page.locator("tr-tail-window .row:visible");

test("Discover shows the newest lines, their number and their histogram", () =>
  visit("/", async (page) => {
    await rows(page).first().waitFor();
    await page.getByText("3,000 lines in 7 ms, 100 loaded", { exact: true }).first().waitFor();
    await page.locator('tr-histogram .plot[aria-label*="most at"]').waitFor();
    const canvas = page.locator("tr-histogram canvas");
    await becomesTrue(
      "a histogram of some height",
      () => canvas.boundingBox(),
      (box) => box !== null && box.height > 50,
    );
    const times = (): Promise<string[]> => page.locator("tr-event-table .time").allTextContents();
    await becomesTrue("times in their order", times, (shown) =>
      isDeepStrictEqual(shown, shown.toSorted().toReversed()),
    );
  }));

test("a query from the keyboard is searched, marked and stands in the address", () =>
  visit("/", async (page) => {
    await rows(page).first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("timed out");
    await page.keyboard.press("Enter");
    await page.locator("tr-event-table mark").first().waitFor();
    await page.waitForURL((url) => url.hash === "#/discover?q=timed+out");
    await page.goBack();
    await page.waitForURL(/\/(#\/discover)?$/);
    await page.locator("tr-event-table mark").first().waitFor({ state: "detached" });
  }));

test("j, Enter and Escape go through lines; a field's value becomes a filter that can be turned off and removed", () =>
  visit("/", async (page) => {
    await rows(page).first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    const details = page.locator("tr-event-details");
    await details
      .getByRole("row", { name: /host.name/ })
      .getByRole("button", { name: "Filter for this host.name" })
      .click();
    await page.waitForURL(/f=host\.name:web-/);
    const pill = page.locator(".pill");
    await pill.waitFor();
    await pill.getByRole("button", { pressed: true }).click();
    await page.waitForURL(/f=%7Ehost/);
    await page.getByRole("button", { name: /Remove filter/ }).click();
    await pill.waitFor({ state: "detached" });
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await details.waitFor();
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
  }));

test("scrolling loads older lines, none twice and none left out", () =>
  visit("/", async (page) => {
    await rows(page).first().waitFor();
    const scroller = page.locator("tr-event-table .scroll");
    for (let loaded = 200; loaded <= 600; loaded += 100) {
      await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await page.getByText(new RegExp(`, ${loaded} loaded`)).waitFor();
    }
    await becomes(async () => (await page.evaluate<string[]>(LOADED_KEYS)).length, 600);
    const keys = await page.evaluate<string[]>(LOADED_KEYS);
    assert.equal(new Set(keys).size, keys.length);
  }));

test("dragging over the histogram, or choosing steps by key, zooms", () =>
  visit("/", async (page) => {
    await page.locator('tr-histogram .plot[aria-label*="most at"]').waitFor();
    const plot = page.locator("tr-histogram .plot");
    const label = (): Promise<string | null> => plot.getAttribute("aria-label");
    const whole = await label();
    const box = (await page.locator("tr-histogram .u-over").boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.4, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=\d{4}-.*&to=\d{4}-/);
    const zoomed = page.url();
    await until("the histogram of the zoomed range", async () => (await label()) !== whole);
    await plot.focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Shift+ArrowLeft");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.href !== zoomed);
  }));

test("a field shows its most frequent values, and can be a column", () =>
  visit("/", async (page) => {
    await rows(page).first().waitFor();
    const list = page.locator("tr-field-list");
    await list.getByRole("button", { name: /log\.level$/, expanded: false }).click();
    await list.getByText("INFO").waitFor();
    await list.getByRole("button", { name: "Column host.name" }).click();
    await page.getByRole("columnheader", { name: /host\.name/ }).waitFor();
    await page.waitForURL((url) => url.hash === "#/discover?cols=host.name");
  }));

test("an empty range offers the newest data", () =>
  visit("/#/discover?from=now-3d&to=now-2d", async (page) => {
    await page.getByRole("button", { name: /Jump to the newest data/ }).click();
    await rows(page).first().waitFor();
  }));

test("a query on a field that no line has offers the one that was meant", () =>
  visit("/#/discover?q=levle:ERROR", async (page) => {
    await page.getByRole("heading", { name: "No line has a field levle." }).waitFor();
    await page.getByRole("button", { name: "Did you mean log.level?" }).click();
    await page.waitForURL(/q=log\.level:ERROR/);
  }));

test("an impossible range is reported before the search", () =>
  visit("/", async (page) => {
    await rows(page).first().waitFor();
    await page.keyboard.press("t");
    await page.getByLabel("From").fill("soon");
    await page.getByRole("button", { name: "Apply range" }).click();
    await page.getByText("Start “soon” isn't a time").waitFor();
    await page.getByRole("button", { name: "Last hour" }).click();
    await page.waitForURL(/#\/discover\?from=now-1h$/);
  }));

test("an end of the range is chosen in a calendar, which opens at the end that is written", () =>
  visit("/#/discover?from=2026-01-31T14:00:00.000Z&to=2026-01-31T15:00:00.000Z&tz=utc", async (page) => {
    await page.getByTitle("Time range (t)").click();
    await page.getByRole("button", { name: "Choose the start in a calendar" }).click();
    const calendar = page.locator("tr-time-range-picker input[type=datetime-local]").first();
    assert.equal(await calendar.inputValue(), "2026-01-31T14:00");
    await calendar.fill("2026-01-30T08:15:30");
    await becomes(() => page.getByLabel("From").inputValue(), "2026-01-30 08:15:30");
    await page.getByRole("button", { name: "Apply range" }).click();
    await page.waitForURL(/from=2026-01-30T08:15:30\.000Z/);
  }));

test("a failed search shows the reason and the remedy", async () => {
  const cause = { type: "query_shard_exception", reason: "Failed to parse query [a:]" };
  hub.failQuery("a:", 400, { error: { root_cause: [cause], ...cause }, status: 400 });
  const watched = await openPage(browser, `${hub.url}/#/discover?q=a:`);
  await watched.page
    .getByRole("alert")
    .getByText(/Failed to parse query \[a:\].*quotes/)
    .waitFor();
  const query = watched.page.getByRole("combobox", { name: "Query" });
  await query.press("End");
  await query.press("Enter");
  const mark = watched.page.locator("tr-query-bar .fault");
  await mark.waitFor();
  const reason = watched.page.locator("tr-discover-results .notice.fault");
  await becomesTrue(
    "a reason below the mark in the query",
    async () => [await mark.boundingBox(), await reason.boundingBox()] as const,
    ([above, below]) => above !== null && below !== null && above.y + above.height <= below.y,
  );
  await watched.page.close();
});

/** An expression in the page: what live lines scroll in. */
const TAIL_SCROLLER = `document.querySelector("tr-app").shadowRoot.querySelector("tr-page-live").shadowRoot
  .querySelector("tr-tail-window").shadowRoot.querySelector(".scroll")`;
/** An expression in the page: how far the live lines are scrolled up from their end, in px, as they are drawn. */
const TAIL_FROM_END = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const { scrollHeight, scrollTop, clientHeight } = ${TAIL_SCROLLER};
  done(Math.round(scrollHeight - scrollTop - clientHeight));
})))`;
/** An expression in the page: a turn of the wheel, and behind it the event of a scroll that was before it. */
const WHEEL_THEN_SCROLL = `[new WheelEvent("wheel", { deltaY: -120 }), new Event("scroll")]
  .forEach((event) => ${TAIL_SCROLLER}.dispatchEvent(event))`;

test("Live shows lines as they come, holds when its reader scrolls up, and jumps to the end", () =>
  visit("/#/live", async (page) => {
    await page.getByText("Following", { exact: true }).waitFor();
    let number = 50_000;
    const offer = (count: number): void =>
      hub.live.tail.offer(Array.from({ length: count }, () => liveEvent(number++, Date.now())));
    const fromEnd = (): Promise<number> => page.evaluate<number>(TAIL_FROM_END);
    offer(200);
    await page.getByText("300 of 20K lines kept", { exact: true }).waitFor();
    await until(
      "the end in sight",
      async () => (await tailRows(page).count()) > 10 && (await fromEnd()) === 0,
    );
    await page.locator("tr-tail-window").hover();
    await page.mouse.wheel(0, -600);
    await page.getByText("Not following", { exact: true }).waitFor();
    await until("the end of the scrolling", async () => (await fromEnd()) === 600);
    const before = await tailRows(page).first().textContent();
    offer(60);
    await page.getByRole("button", { name: /60 new/ }).waitFor();
    assert.equal(await tailRows(page).first().textContent(), before);
    await page.keyboard.press("End");
    await page.getByText("Following", { exact: true }).waitFor();
  }));

test("Live that is paused moves nothing, not for lines that were on their way either", () =>
  visit("/#/live", async (page) => {
    const { promise: rowsCame, resolve: onRows } = Promise.withResolvers<void>();
    // A hub that hasn't heard of the pause yet.
    await page.routeWebSocket("**/api/live", (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        if (!String(message).includes('"tail.pause"')) server.send(message);
      });
      server.onMessage((message) => {
        socket.send(message);
        if (String(message).includes("on its way")) onRows();
      });
    });
    await page.reload();
    await page.getByText("Following", { exact: true }).waitFor();
    await page.getByText("100 of 20K lines kept", { exact: true }).waitFor();
    await page.keyboard.press("p");
    await page.getByText("Paused", { exact: true }).waitFor();
    const before = await tailRows(page).last().textContent();
    const source = Buffer.from(JSON.stringify({ message: "on its way" }));
    hub.live.tail.offer(
      Array.from({ length: 30 }, (_, i) => ({ ...liveEvent(70_000 + i, Date.now()), source })),
    );
    await rowsCame;
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert.equal(await tailRows(page).last().textContent(), before);
    await page.getByText("100 of 20K lines kept", { exact: true }).waitFor();
    await page.keyboard.press("p");
    await page.getByText("130 of 20K lines kept", { exact: true }).waitFor();
    await tailRows(page).last().getByText("on its way").waitFor();
  }));

test("a reader's wheel is kept when an event of the window's own scrolling follows it", () =>
  visit("/#/live", async (page) => {
    await page.getByText("Following", { exact: true }).waitFor();
    await tailRows(page).nth(10).waitFor();
    await until("the end in sight", async () => (await page.evaluate<number>(TAIL_FROM_END)) === 0);
    await page.evaluate(WHEEL_THEN_SCROLL);
    await page.getByText("Not following", { exact: true }).waitFor();
  }));

test("Live filters, shows the fault of a filter, and shows what was skipped", () =>
  visit("/#/live?q=log.level:error", async (page) => {
    await page.getByText("Following", { exact: true }).waitFor();
    hub.live.tail.offer(
      Array.from({ length: 2_500 }, (_, i) => ({ ...liveEvent(60_000 + i, Date.now()), source: ERROR_LINE })),
    );
    await page.getByText("500 skipped", { exact: true }).waitFor();
    await page
      .getByText(/500 lines skipped: more lines a second/)
      .first()
      .waitFor();
    await page.keyboard.press("/");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("(error");
    await page.keyboard.press("Enter");
    await page
      .getByRole("alert")
      .getByText(/^This \( is never closed at character 1 of the filter\. Add a \)/)
      .waitFor();
    await page.getByText("Not following", { exact: true }).waitFor();
    await page.reload();
    await page.getByRole("alert").waitFor();
    await page.getByText("Not following", { exact: true }).waitFor();
  }));

const ERROR_LINE = Buffer.from(JSON.stringify({ message: "broken", log: { level: "error" } }));

test("a search that found no hub is made again when the hub is back", () =>
  visit("/", async (page, { complaints }) => {
    await rows(page).first().waitFor();
    await page.context().setOffline(true);
    await page.keyboard.press("r");
    await page.getByText("The hub can't be reached.").waitFor();
    await page.context().setOffline(false);
    await page.getByText("The hub can't be reached.").waitFor({ state: "detached" });
    const unexpected = complaints.filter((complaint) => !complaint.includes("ERR_INTERNET_DISCONNECTED"));
    complaints.splice(0, complaints.length, ...unexpected);
  }));

test("Status shows the hub and its agents; help opens by key; an unknown address shows an error", () =>
  visit("/#/status", async (page) => {
    await page.getByRole("cell", { name: "web-1", exact: true }).waitFor();
    await page.getByText("12.4 MB").waitFor();
    const slow = page.getByRole("row", { name: /2,345 ms/ });
    await slow.getByText(/give its beginning/).waitFor();
    await slow.getByRole("link", { name: "Console" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Help" }).waitFor();
    await page.keyboard.press("Escape");
    await page.goto(`${hub.url}/#/nowhere`);
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  }));

const SIZES = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
];

test("no page is wider than its screen, in light and in dark", async () => {
  for (const viewport of SIZES)
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await browser.newContext({ viewport, colorScheme });
      const page = await context.newPage();
      for (const path of ["#/discover", "#/live", "#/status", "#/nowhere"]) {
        await page.goto("about:blank");
        await page.goto(`${hub.url}/${path}`);
        await page.locator("main > *").first().waitFor();
        const width = await page.evaluate<number>("document.documentElement.scrollWidth");
        assert.ok(width <= viewport.width, `${path} at ${viewport.width} is ${width} wide`);
      }
      await context.close();
    }
});

/** An expression in the page: the tables that are wider than their frame. */
const WIDE_TABLES = `(() => {
  const found = [];
  const look = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot !== null) look(element.shadowRoot);
      if (element.matches(".table") && element.scrollWidth > element.clientWidth) found.push(element.ariaLabel);
    }
  };
  look(document);
  return found;
})()`;

test("tables of administration fit a tablet, where words are longer too", async () => {
  for (const width of [710, 768, 820, 900, 1100]) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, locale: "de-DE" });
    const page = await context.newPage();
    for (const name of ["agents", "status"]) {
      await page.goto(`${hub.url}/#/${name}`);
      await page.locator(`tr-page-${name} .table`).first().waitFor();
      assert.deepEqual(await page.evaluate<string[]>(WIDE_TABLES), [], `${name} at ${width} px`);
    }
    await context.close();
  }
});

test("a time range has the zone of its ends, not that of today", async () => {
  const context = await browser.newContext({ timezoneId: "Europe/Berlin" });
  const page = await context.newPage();
  const rows: readonly (readonly [from: string, to: string, zone: string])[] = [
    ["2026-01-10T00:00:00Z", "2026-01-11T00:00:00Z", "UTC+01:00"],
    ["2026-07-10T00:00:00Z", "2026-07-11T00:00:00Z", "UTC+02:00"],
    ["2026-03-29T00:00:00Z", "2026-03-29T06:00:00Z", "UTC+01:00 → UTC+02:00"],
  ];
  for (const [from, to, zone] of rows) {
    await page.goto(`${hub.url}/#/discover?from=${from}&to=${to}`);
    await page.locator("tr-time-range-picker .zone").getByText(zone, { exact: true }).waitFor();
  }
  await context.close();
});

test("a range that ends before it begins is refused with its reason", () =>
  visit("/#/discover?from=now&to=now-1h", (page) =>
    page.getByText("The end must be later than the start.").waitFor(),
  ));

test("the page of tails that is opened by its name alone has two", () =>
  visit("/#/tails", (page) => page.getByRole("region", { name: "Tail 2" }).waitFor()));

test("a list of fields that is longer than its window scrolls, the page doesn't", async () => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 400 } });
  await page.goto(`${hub.url}/#/discover`);
  const fields = page.locator("tr-field-list .list");
  await fields.locator(".field").nth(8).waitFor();
  assert.equal(await fields.evaluate((list) => list.scrollHeight > list.clientHeight), true);
  assert.equal(await page.evaluate<number>("document.documentElement.scrollHeight"), 400);
  await page.close();
});

test("a chosen theme is kept and put on before the first paint", () =>
  visit("/#/status", async (page) => {
    await page.getByRole("button", { name: "Theme: System" }).click();
    await page.getByRole("button", { name: "Theme: Light" }).click();
    await page.getByRole("button", { name: "Theme: Dark" }).waitFor();
    await page.reload();
    assert.equal(await page.evaluate("document.documentElement.dataset.theme"), "dark");
  }));

test("who goes on before a page is loaded stays where they went", () =>
  visit("/", async (page) => {
    await rows(page).first().waitFor();
    const held = Promise.withResolvers<void>();
    await page.route("**/*.js", async (route) => {
      await held.promise;
      await route.continue();
    });
    const asked = page.waitForRequest("**/*.js");
    await page.getByRole("link", { name: "Console" }).click();
    await asked;
    await page.getByRole("link", { name: "Discover", exact: true }).click();
    held.resolve();
    await page.evaluate(
      `customElements.whenDefined("tr-page-console").then(() => new Promise(requestAnimationFrame))`,
    );
    await becomes(() => page.locator("header [aria-current=page]").first().textContent(), "Discover");
    assert.equal(await page.locator("tr-page-console").count(), 0);
    assert.equal(await page.locator("tr-page-discover").count(), 1);
  }));
