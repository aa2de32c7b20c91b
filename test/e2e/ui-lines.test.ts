/** Discover and Live as a reader of logs works with them, by mouse and by keys, wide and narrow, light and dark. */

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { findBarriers } from "#test/harness/axe.ts";
import { becomes } from "#test/harness/becomes.ts";
import { openShop, type Shop } from "#test/harness/shop.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const workspace = new Workspace();
let shop: Shop;

before(async () => {
  shop = await openShop(workspace, 300);
});

after(() => workspace.close());

type Look = {
  readonly name: string;
  readonly width: number;
  readonly colorScheme: "light" | "dark";
  readonly hasTouch?: boolean;
};

const LOOKS: readonly Look[] = [
  { name: "wide and light", width: 1440, colorScheme: "light" },
  { name: "narrow and dark", width: 390, colorScheme: "dark" },
];
const WIDE = LOOKS[0]!;

const row = (page: Page) => page.locator("tr-event-table .row:visible");
const selected = (page: Page) => page.locator('tr-event-table .row[aria-selected="true"]:visible');

/** Opens an address in a fresh browser, runs `check`, and expects that no script complained. */
async function visit(hash: string, look: Look, check: (page: Page) => Promise<void>): Promise<void> {
  const viewport = { width: look.width, height: 860 };
  const { colorScheme, hasTouch = false } = look;
  const context: BrowserContext = await shop.browser.newContext({
    viewport,
    colorScheme,
    hasTouch,
    reducedMotion: "reduce",
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  try {
    await page.goto(`${shop.hub.dashboardUrl}/${hash}`);
    await check(page);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

/** An expression of the page: the sizes of the lines that its table has loaded, in their order. */
const SORTED_VALUES = `document.querySelector("tr-app").shadowRoot.querySelector("tr-page-discover").shadowRoot
  .querySelector("tr-discover-results").shadowRoot.querySelector("tr-event-table").rows
  .map((row) => row.fields.get("http.response.body.bytes")).filter((value) => value !== undefined)`;

/** Clicks, and sees what that shows for a while only: whoever looks for it later may miss it. */
async function whileClicked(target: Locator, shown: Locator): Promise<void> {
  await Promise.all([shown.waitFor(), target.click()]);
}

const clipboard = (page: Page): Promise<string> => page.evaluate<string>("navigator.clipboard.readText()");

for (const look of LOOKS)
  test(`an error is found, read among the lines around it and passed on, ${look.name}`, () =>
    visit("#/discover?from=now-2h", look, async (page) => {
      await row(page).first().waitFor();
      const query = page.getByRole("combobox", { name: "Query" });
      await query.fill("(log.level:error");
      await query.press("Enter");
      await page.getByRole("alert").getByText("This ( is never closed.").waitFor();
      await query.fill("log.level:error");
      await query.press("Enter");
      await page.waitForURL(/q=log\.level:error/);
      await row(page).filter({ hasText: "ERROR" }).first().waitFor();
      await row(page).first().locator(".time button").click();
      const details = page.locator("tr-event-details");
      await whileClicked(
        details.getByRole("button", { name: "Copy host.name" }),
        details.getByTitle("Copied"),
      );
      assert.notEqual(await clipboard(page), "");
      await details.getByRole("button", { name: "Surrounding lines" }).click();
      const anchor = details.locator(".anchor");
      await anchor.waitFor();
      await details.locator("li.row").nth(5).waitFor();
      await details.getByText("Asking …").first().waitFor({ state: "detached" });
      assert.deepEqual(await findBarriers(page, "colours"), []);
      await details.getByRole("button", { name: "Close" }).click();
      await whileClicked(
        page.getByRole("button", { name: "Copy a link" }),
        page.getByText("The link is copied"),
      );
      assert.match(await clipboard(page), /#\/discover\?q=log\.level:error&from=\d{4}-.*&to=\d{4}-/);
    }));

test("the note that a link is copied moves neither buttons nor lines", () =>
  visit("#/discover?from=now-2h", { ...WIDE, width: 1280 }, async (page) => {
    const copy = page.getByRole("button", { name: "Copy a link" });
    await row(page).first().waitFor();
    await page.getByText(/lines in \d+ ms/).waitFor();
    const before = await Promise.all([copy.boundingBox(), row(page).first().boundingBox()]);
    await whileClicked(copy, page.getByText("The link is copied"));
    assert.deepEqual(await Promise.all([copy.boundingBox(), row(page).first().boundingBox()]), before);
  }));

test("a field without text is shown as empty, not as nothing", async () => {
  const line = { "@timestamp": new Date().toISOString(), message: "no reply", service: "" };
  const response = await fetch(`${shop.hub.searchUrl}/empty/_doc?refresh=true`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(line),
  });
  assert.equal(response.status, 201);
  await visit("#/discover?index=empty", WIDE, async (page) => {
    await row(page).first().locator(".time button").click();
    const fields = page.locator("tr-event-details").getByRole("row").filter({ hasText: "service" });
    await fields.getByText("(empty)", { exact: true }).waitFor();
  });
});

test("lines are sorted by a column from the keyboard, and the address keeps it", () =>
  visit("#/discover?from=now-2h&cols=http.response.body.bytes,message", WIDE, async (page) => {
    await row(page).first().waitFor();
    await page.getByRole("columnheader", { name: /bytes/ }).getByRole("button").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Sort ascending" }).waitFor();
    assert.deepEqual(await findBarriers(page, "all"), []);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/sort=-http\.response\.body\.bytes/);
    await page
      .locator('[role="columnheader"][aria-sort="descending"]')
      .filter({ hasText: "bytes" })
      .waitFor();
    const scroller = page.locator("tr-event-table .scroll");
    // The sorted lines may take the place of the others, at their first row, while this scrolls.
    let values: number[] = [];
    await until("a second page of sorted lines", async () => {
      await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      values = await page.evaluate<number[]>(SORTED_VALUES);
      return values.length > 100;
    });
    assert.deepEqual(
      values,
      values.toSorted((a, b) => b - a),
    );
  }));

test("by keys alone: errors are stepped through, a text is found in the lines, long ones are wrapped", () =>
  visit("#/discover?from=now-2h", WIDE, async (page) => {
    await row(page).first().waitFor();
    await page.keyboard.press("e");
    await selected(page).filter({ hasText: "ERROR" }).waitFor();
    await page.keyboard.press("s");
    await page.getByRole("textbox", { name: "Find in the lines" }).waitFor();
    await page.keyboard.type("GET");
    await page.keyboard.press("Enter");
    await selected(page).filter({ hasText: "GET" }).waitFor();
    await page.locator("tr-event-table mark.find").first().waitFor();
    await page
      .locator("tr-find-bar output")
      .getByText(/^\d+ of \d+$/)
      .waitFor();
    assert.deepEqual(await findBarriers(page, "all"), []);
    await page.keyboard.press("Escape");
    await page.locator("tr-find-bar").waitFor({ state: "detached" });
    const heightOf = (): Promise<number> =>
      page.evaluate<number>(`Math.max(...[...document.querySelector("tr-app").shadowRoot.querySelector("tr-page-discover").shadowRoot
        .querySelector("tr-discover-results").shadowRoot.querySelector("tr-event-table").shadowRoot.querySelectorAll(".row:not([hidden])")].map((row) => row.offsetHeight))`);
    await page.setViewportSize({ width: 900, height: 860 });
    const before = await heightOf();
    await page.keyboard.press("w");
    await page.locator("tr-event-table[iswrapped]").waitFor();
    await until("rows of several lines", async () => (await heightOf()) > before);
    await page.keyboard.press("Enter");
    await page.locator("tr-event-details").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("tr-event-details").waitFor({ state: "detached" });
  }));

test("an edge between panes is wide enough for a finger, where one points", () =>
  visit("#/discover?from=now-2h", { ...WIDE, hasTouch: true }, async (page) => {
    const edge = (name: string): Locator => page.getByRole("separator", { name });
    const size = async (name: string, side: "width" | "height"): Promise<number | undefined> =>
      (await edge(name).boundingBox())?.[side];
    await row(page).first().waitFor();
    await becomes(() => size("Width of the fields", "width"), 24);
    await becomes(() => size("Height of the histogram", "height"), 24);
    const at = (await edge("Width of the fields").boundingBox())!;
    const usual = await page.locator("aside").evaluate((fields) => fields.clientWidth);
    const touch = await page.context().newCDPSession(page);
    const points = (by: number): object => ({ touchPoints: [{ x: at.x + 2 + by, y: at.y + 300 }] });
    await touch.send("Input.dispatchTouchEvent", { type: "touchStart", ...points(0) } as never);
    await touch.send("Input.dispatchTouchEvent", { type: "touchMove", ...points(60) } as never);
    await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await becomes(() => page.locator("aside").evaluate((fields) => fields.clientWidth), usual + 60);
  }));

test("panes are sized by the pointer and by keys, and are so again after a reload", () =>
  visit("#/discover?from=now-2h", WIDE, async (page) => {
    const fields = page.locator("aside");
    const details = page.locator("tr-event-details");
    const plot = page.locator("tr-histogram canvas");
    const size = async (of: Locator, side: "width" | "height"): Promise<number> =>
      Math.round((await of.boundingBox())?.[side] ?? 0);
    const edge = (name: string): Locator => page.getByRole("separator", { name });
    await plot.waitFor();
    await row(page).first().waitFor();
    const usual = [await size(fields, "width"), await size(plot, "height")];
    const from = (await edge("Width of the fields").boundingBox())!;
    await page.mouse.move(from.x + 3, from.y + 300);
    await page.mouse.down();
    await page.mouse.move(from.x + 63, from.y + 300, { steps: 3 });
    await page.mouse.up();
    await edge("Height of the histogram").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await row(page).first().click();
    await details.waitFor();
    const open = await size(details, "width");
    await edge("Width of the open line").focus();
    await page.keyboard.press("ArrowLeft");
    const wanted = [usual[0]! + 60, usual[1]! + 32];
    const sizes = async (): Promise<number[]> => [await size(fields, "width"), await size(plot, "height")];
    await becomes(sizes, wanted);
    await becomes(() => size(details, "width"), open + 16);
    assert.deepEqual(await findBarriers(page, "all"), []);
    await page.reload();
    await plot.waitFor();
    await becomes(sizes, wanted);
    await edge("Width of the fields").press("Enter");
    await edge("Height of the histogram").press("Enter");
    await becomes(sizes, usual);
  }));

test("selected words of a line filter, a field of it is found, and a link shows the line alone", () =>
  visit("#/discover?from=now-2h&q=service:cart", WIDE, async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await row(page).first().click();
    const details = page.locator("tr-event-details");
    const fields = details.locator("tbody tr");
    await details.getByRole("searchbox", { name: "Find a field or value" }).fill("trace");
    await becomes(() => fields.first().locator("th").textContent(), "trace.id");
    await whileClicked(
      details.getByRole("button", { name: "Copy link" }),
      details.getByRole("button", { name: "Copied" }),
    );
    const line = await details.locator(".message").textContent();
    await details.locator(".message").dblclick({ position: { x: 30, y: 18 } });
    await details.getByRole("button", { name: /^Filter for “/ }).waitFor();
    assert.deepEqual(await findBarriers(page, "all"), []);
    await details.getByRole("button", { name: "Filter it out" }).click();
    await page.waitForURL(/f=-message:/);
    await page.goto(await clipboard(page));
    await page.getByText(/^1 lines? in /).waitFor();
    await row(page).filter({ hasText: line! }).waitFor();
  }));

test("a line is copied where the page has no clipboard, as over plain http from another machine", () =>
  visit("#/discover?from=now-2h&q=service:cart", WIDE, async (page) => {
    await page.addInitScript('Object.defineProperty(Navigator.prototype, "clipboard", { value: undefined })');
    await page.reload();
    await row(page).first().click();
    const details = page.locator("tr-event-details");
    const line = await details.locator(".message").textContent();
    const copy = details.getByRole("button", { name: "Copy line" });
    await whileClicked(copy, details.getByRole("button", { name: "Copied" }));
    await becomes(() => copy.evaluate((button) => button.matches(":focus")), true);
    const other = await page.context().newPage();
    await other.goto(shop.hub.dashboardUrl);
    await other.bringToFront();
    assert.equal(await clipboard(other), line);
    await other.close();
    await page.evaluate("document.execCommand = () => false");
    await copy.click();
    await details.getByText("select the text and copy it by hand").waitFor();
    assert.deepEqual(await findBarriers(page, "colours"), []);
  }));

test("a message doesn't turn the text behind it, and a slow rate is shown by the minute", () =>
  visit("#/live?q=service:turned", WIDE, async (page) => {
    await page.getByText("Following", { exact: true }).waitFor();
    const line = {
      "@timestamp": new Date().toISOString(),
      level: "info",
      service: "turned",
      user: "\u202eymu",
    };
    appendFileSync(
      shop.servicesFile,
      `${JSON.stringify({ ...line, message: "saved \u202efdp.exe of http://e.org/\u202ea" })}\n`,
    );
    const shown = "saved [U+202E]fdp.exe of http://e.org/[U+202E]a";
    await page.locator("tr-tail-window .row").filter({ hasText: shown }).waitFor();
    await page
      .locator(".tools")
      .getByText(/^\d+\/min$/)
      .first()
      .waitFor();
    await page.goto(`${shop.hub.dashboardUrl}/#/discover?from=now-2h&q=service:turned`);
    await row(page).filter({ hasText: shown }).click();
    const details = page.locator("tr-event-details");
    await becomes(() => details.locator(".message").textContent(), shown);
    assert.equal(await details.locator(".message a").getAttribute("href"), "http://e.org/\u202ea");
    await details.locator("td").filter({ hasText: "[U+202E]ymu" }).waitFor();
    await whileClicked(details.getByRole("button", { name: "Copy user" }), details.getByTitle("Copied"));
    assert.equal(await clipboard(page), "\u202eymu");
  }));

for (const width of [390, 620, 720])
  test(`the number of lines stays readable beside the cost of a slow search, ${width} px wide`, () =>
    visit("#/discover", { name: "", width, colorScheme: "light" }, async (page) => {
      await row(page).first().waitFor();
      const bar = page.locator("tr-discover-results .status");
      const cost = bar.locator("tr-search-cost");
      const slow = {
        hubMs: 4_000,
        totalMs: 5_000,
        drawnMs: 5_100,
        shards: 1,
        total: 1,
        body: {},
        index: "logs",
      };
      const explain = cost.getByRole("button", { name: "Explain the time it took" });
      // The page gives the cost of its own search once the lines are drawn, which may be after this.
      await becomes(async () => {
        await cost.evaluate((view, shown) => Object.assign(view, { cost: shown }), slow);
        return explain.isVisible();
      }, true);
      const box = await bar.locator('span[role="status"]').boundingBox();
      assert.ok(box !== null && box.width >= 100, `${box?.width} px`);
    }));

test("a search shows its profile", () =>
  visit("#/discover?from=now-2h&q=*rder", WIDE, async (page) => {
    await page.getByRole("button", { name: /^Explain/ }).click();
    const panel = page.getByRole("dialog", { name: "Time breakdown" });
    await panel.getByText("The hub searched").waitFor();
    await panel.getByText(/give its beginning/).waitFor();
    assert.deepEqual(await findBarriers(page, "all"), []);
  }));

for (const look of LOOKS)
  test(`Live colours lines, counts errors and keeps the filter as a search, ${look.name}`, () =>
    visit("#/live?q=service:painted", look, async (page) => {
      await page.getByText("Following", { exact: true }).waitFor();
      await page.getByRole("button", { name: /Colours/ }).click();
      await page.getByRole("textbox", { name: "Text" }).fill("green light");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Remove the colour of green light" }).waitFor();
      assert.deepEqual(await findBarriers(page, "colours"), []);
      await page.keyboard.press("Escape");
      const line = { "@timestamp": new Date().toISOString(), level: "error", service: "painted" };
      appendFileSync(
        shop.servicesFile,
        `${JSON.stringify({ ...line, message: `green light ${look.width}` })}\n`,
      );
      const shown = page.locator("tr-tail-window .row").filter({ hasText: `green light ${look.width}` });
      await shown.waitFor();
      await becomes(() => shown.getAttribute("data-colour"), "1");
      await page.getByRole("img", { name: /[1-9]\d* errors/ }).waitFor();
      await page.getByRole("button", { name: "Save this filter as a search" }).click();
      await page.getByLabel("Title").fill(`Painted ${look.width}`);
      await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
      await page.getByText(`Saved as “Painted ${look.width}”`).waitFor();
    }));
