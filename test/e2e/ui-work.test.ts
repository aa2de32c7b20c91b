/** The pages people work on (console, indices, export) in a browser, over a real pages.hub. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { becomes, becomesTrue } from "#test/harness/becomes.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { openWorkPages, putLines, SHOP_INDEX, SHOP_LINES, type WorkPages } from "./ui-work-pages.ts";

const workspace = new Workspace();
let pages: WorkPages;

before(async () => {
  pages = await openWorkPages(workspace);
});

after(() => workspace.close());

/** Replaces the console's text. */
async function write(page: Page, text: string): Promise<void> {
  const editor = page.getByRole("textbox", { name: "Requests" });
  await editor.fill(text);
  await editor.press("Control+Home");
}

/** Returns the console's text. */
const written = (page: Page): Promise<string> =>
  page.locator("tr-code-editor").evaluate<string, { value: string }>((editor) => editor.value);

const answer = (page: Page) => page.locator("article");

const REQUESTS: readonly (readonly [string, RegExp])[] = [
  ["PUT spec", /200/],
  [
    `PUT spec/_mapping\n{"properties": {"title": {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}, "place": {"type": "geo_point"}}}`,
    /200/,
  ],
  [`POST spec/_doc\n{"title": "made with an id of its own", "place": {"lat": 1, "lon": 2}}`, /201/],
  [
    `POST spec/_doc/_bulk?refresh=true\n{index: {_id: 1}}\n{"title": "one", "price": 5}\n{index: {_id: 2}}\n{\n  "title": "two",\n  "price": 50\n}`,
    /200/,
  ],
  [`GET /_search\n{"query": {"match_all": {}}}`, /200/],
  ["GET spec/_mapping/_doc", /200/],
  [
    `GET spec/_doc/_search\n{"query": {"bool": {"must": [{"match": {"title": "one"}}], "must_not": [{"range": {"price": {"gte": 10}}}]}}, "aggregations": {"prices": {"range": {"field": "price", "ranges": [{"key": "low", "from": 0, "to": 10}]}}}, "highlight": {"fields": {"title": {}}}}`,
    /200/,
  ],
  [`PUT spec/_doc/3\n{"title": "three"}`, /201/],
  [`POST spec/_doc/3/_update\n{"title": "third"}`, /200/],
  [
    `GET spec/_analyze\n{"tokenizer": "standard", "filter": ["lowercase", "unique"], "text": "To be or not TO BE"}`,
    /200/,
  ],
];

test("the console runs every kind of request the search interface has, as it is written down", () =>
  pages.visit("#/console", async (page) => {
    for (const [text, status] of REQUESTS) {
      await write(page, text);
      await page.keyboard.press("Control+Enter");
      await answer(page).getByText(text.split("\n", 1)[0]!).waitFor();
      await becomes(() => answer(page).locator(".state").textContent(), status);
    }
    await page.getByRole("button", { name: "Answer as a table" }).click();
    await answer(page).getByRole("columnheader", { name: "token", exact: true }).waitFor();
    await answer(page).getByRole("cell", { name: "or", exact: true }).waitFor();
    await page.getByRole("button", { name: "Answer as a table" }).click();
    await answer(page).getByText('"or"').waitFor();
    await becomes(() => answer(page).getByText(/"TO"/).count(), 0);
  }));

test("the console completes paths and bodies, formats, and remembers", () =>
  pages.visit("#/console", async (page) => {
    await write(page, "");
    await page.keyboard.type("g");
    await page.getByRole("option", { name: /^GET/ }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type("logs-s");
    await page.getByRole("option", { name: /logs-shop/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.type("/_sear");
    await page
      .getByRole("option", { name: /^_search/ })
      .first()
      .waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.keyboard.type('{"que');
    await page
      .getByRole("option", { name: /^query/ })
      .first()
      .waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type('"term');
    await page.getByRole("option", { name: /^term/ }).first().waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type('"stat');
    await page.getByRole("option", { name: /^status/ }).click();
    await page.keyboard.type("500");
    await becomes(() => written(page), 'GET logs-shop/_search\n{"query": {"term": {"status": "500"}}}');
    await page.getByRole("button", { name: "Format" }).click();
    await becomes(() => written(page), /\n {6}"status": "500"\n/);
    await page.keyboard.press("Control+Enter");
    await answer(page).getByText("200 OK").waitFor();
    await answer(page)
      .getByText(String(SHOP_LINES / 10), { exact: false })
      .first()
      .waitFor();
    await page.getByRole("button", { name: "History" }).click();
    await page.getByRole("complementary", { name: "History" }).getByText("GET logs-shop/_search").waitFor();
    await page.reload();
    await page.locator("tr-code-editor .cm-line").nth(1).waitFor();
    await becomes(() => written(page), /status/);
  }));

test("the console marks what keeps a body from being JSON", () =>
  pages.visit("#/console", async (page) => {
    await write(page, 'GET logs-shop/_search\n{"size": 1 "from": 2}\n\nGET _cat/indices');
    const mark = page.locator("tr-code-editor .cm-lintRange-error");
    await mark.waitFor();
    await becomes(() => mark.textContent(), '"from"');
    await mark.hover();
    await page.getByText("A comma is missing before this.").waitFor();
    await page.locator("tr-code-editor .cm-line").nth(1).click();
    await page.keyboard.press("Control+f");
    await page.keyboard.type("size");
    await page.locator("tr-code-editor .cm-searchMatch").waitFor();
  }));

test("a pipeline's mistake is marked where it stands, and its old trial goes", () =>
  pages.visit(
    "#/pipelines?new",
    async (page) => {
      const editor = page.getByRole("textbox", { name: "Pipeline" });
      await page.getByText("The pipeline is valid.").waitFor();
      await editor.fill("input { shipper {} }\nfilter {\n  gork { }\n}");
      const mark = page.locator("tr-code-editor .cm-lintRange-error");
      await mark.waitFor();
      await becomes(() => mark.textContent(), "gork");
      await becomes(() => page.getByText("The pipeline is valid.").count(), 0);
      await becomes(() => page.locator(".trial").count(), 0);
      await editor.press("Escape");
      await editor.press("Tab");
      const hasFocus = (): Promise<boolean> =>
        page
          .locator("tr-code-editor")
          .evaluate<boolean, { matches(selector: string): boolean }>((host) => host.matches(":focus-within"));
      await becomes(hasFocus, false);
    },
    /400/,
  ));

test("a pipeline's text that isn't saved is there again after another page, and can be discarded", () =>
  pages.visit("#/pipelines?new", async (page) => {
    const text = "input { shipper {} }\n# a day's work";
    await page.getByText("The pipeline is valid.").waitFor();
    const first = await written(page);
    await page.getByRole("textbox", { name: "Pipeline" }).fill(text);
    await page.getByText("This browser keeps them.").waitFor();
    await page.getByRole("link", { name: "All pipelines" }).click();
    await page.getByRole("link", { name: "New pipeline" }).click();
    await page.locator("tr-code-editor .cm-line").nth(1).waitFor();
    await becomes(() => written(page), text);
    await page.getByRole("button", { name: "Discard changes" }).click();
    await becomes(() => written(page), first);
    await page.getByText("This browser keeps them.").waitFor({ state: "detached" });
  }));

test("a new pipeline doesn't replace one that has its name", () =>
  pages.visit(
    "#/pipelines?new",
    async (page) => {
      await page.getByText("The pipeline is valid.").waitFor();
      const put = await fetch(`${pages.hub.dashboardUrl}/api/pipelines/taken`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: '{"text":"input { shipper {} }"}',
      });
      const { revision } = (await put.json()) as { revision: number };
      await page.getByLabel("Name", { exact: true }).fill("taken");
      await page.getByRole("button", { name: "Save and run" }).click();
      await page.getByText("There is a pipeline “taken” already.").waitFor();
      const kept = await fetch(`${pages.hub.dashboardUrl}/api/pipelines/taken`);
      assert.equal(((await kept.json()) as { revision: number }).revision, revision);
    },
    /409/,
  ));

test("the console asks before it deletes, and shows what it would delete", () =>
  pages.visit("#/console", async (page) => {
    await write(page, "DELETE logs-*");
    await page.keyboard.press("Control+Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`${SHOP_LINES} documents`).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    const left = await fetch(`${pages.hub.searchUrl}/${SHOP_INDEX}/_count`);
    assert.equal(((await left.json()) as { count: number }).count, SHOP_LINES);
  }));

test("an error of a request is described in words", () =>
  pages.visit(
    "#/console",
    async (page) => {
      await write(page, "GET nowhere/_search");
      await page.keyboard.press("Control+Enter");
      await answer(page).locator(".state.wrong").getByText("404").waitFor();
      await answer(page).locator(".reason").getByText("no such index").waitFor();
    },
    /404/,
  ));

test("an index shows its fields, tests its analysers, takes an alias, and is deleted by its typed name", async () => {
  await fetch(`${pages.hub.searchUrl}/throwaway/_doc/1?refresh=true`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: '{"title": "Away with it", "size": {"width": 1}}',
  });
  await pages.visit("#/indices", async (page) => {
    await page.getByRole("searchbox", { name: "Search indices" }).fill("throw*");
    await page.getByRole("link", { name: "throwaway" }).click();
    await page.getByText("4 fields").or(page.getByText("3 fields")).waitFor();
    await page.getByText("ignore_above: 256").waitFor();
    await page.getByRole("tab", { name: "Analyse" }).click();
    await page.getByLabel("Text").fill("Running Dogs");
    await page.getByRole("button", { name: "Analyse", exact: true }).click();
    await page.getByText("2 tokens").waitFor();
    await page.getByRole("tab", { name: "Aliases" }).click();
    await page.getByLabel("Alias name").fill("other");
    await page.getByRole("button", { name: "Add alias" }).click();
    await page.getByText("Alias other added.").waitFor();
    await page.getByRole("cell", { name: "other", exact: true }).waitFor();
    await page.getByRole("button", { name: "Merge segments" }).click();
    await page.getByText(/^Merged/).waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    const deletion = page.getByRole("button", { name: "Delete index" });
    await becomes(() => deletion.isDisabled(), true);
    await page.getByRole("dialog").getByRole("textbox").fill("throwaway");
    await deletion.click();
    await page.waitForURL(/#\/indices$/);
    await page.getByRole("link", { name: "throwaway" }).waitFor({ state: "detached" });
  });
});

test("Discover saves a search and writes all its lines into a file", () =>
  pages.visit("#/discover?index=logs-shop&from=now-2h&q=status:500&cols=page", async (page) => {
    await page.getByText(`${SHOP_LINES / 10} lines in`).waitFor();
    await page.getByRole("button", { name: "Export" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: /^CSV/ }).click();
    const file = await readFile(await (await download).path(), "utf8");
    const lines = file.trimEnd().split("\r\n");
    assert.equal(lines[0], "@timestamp,page");
    assert.equal(lines.length, SHOP_LINES / 10 + 1);
    await page.getByRole("button", { name: "Saved" }).click();
    await page.getByRole("button", { name: /Save this search/ }).click();
    await page.getByLabel("Title").fill("Failures");
    await Promise.all([
      page.getByText("Saved as “Failures”").waitFor(),
      page.getByRole("dialog").getByRole("button", { name: "Save" }).click(),
    ]);
    await page.goto(`${pages.hub.dashboardUrl}/#/discover`);
    await page.getByRole("button", { name: "Saved" }).click();
    await page.getByRole("link", { name: "Failures", exact: true }).click();
    await page.waitForURL(/q=status:500/);
  }));

test("on a screen that becomes narrow the list of fields doesn't cover the lines, and the query can be read", () =>
  pages.visit("#/discover?index=logs-shop&from=now-2h", async (page) => {
    const fields = page.getByRole("complementary", { name: "Fields" });
    await page.setViewportSize({ width: 1200, height: 800 });
    await fields.waitFor();
    await page.setViewportSize({ width: 768, height: 1024 });
    await fields.waitFor({ state: "detached" });
    const query = await page.getByRole("combobox", { name: "Query" }).boundingBox();
    assert.ok(query!.width >= 200, `${query!.width} px`);
    await page.keyboard.press("f");
    await fields.waitFor();
  }));

test("Discover shows which shards failed and why, instead of no matches", async () => {
  await putLines(pages.hub.searchUrl, "mixed-1", [{ "@timestamp": new Date().toISOString(), took: 5 }]);
  await putLines(pages.hub.searchUrl, "mixed-2", [{ "@timestamp": new Date().toISOString(), took: "long" }]);
  await pages.visit("#/discover?index=mixed-*&from=now-1h&q=took:abc", async (page) => {
    await page.getByRole("alert").getByText("5 of 10 shards failed").waitFor();
    await page.locator("tr-query-bar .fault").getByText('For input string: "abc"').waitFor();
    await becomes(() => page.getByText("No lines in this time range").count(), 0);
    const query = page.getByRole("combobox", { name: "Query" });
    await query.fill("");
    await query.pressSequentially("too");
    await page.getByRole("option", { name: /^took:/ }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type(":5");
    await becomes(() => query.inputValue(), "took:5");
    await query.fill("took::5");
    await page.getByText("There are two colons behind took.").waitFor();
  });
});

test("Discover counts an open field's values again for each search, and Enter opens the line that j chose", () =>
  pages.visit("#/discover?index=logs-shop&from=now-2h", async (page) => {
    await page.getByRole("button", { name: "page", exact: true }).click();
    const fields = page.getByRole("complementary", { name: "Fields" });
    await fields.getByText(`In ${SHOP_LINES} lines`).waitFor();
    await page.getByRole("button", { name: "Column page" }).click();
    await page.goto(
      `${pages.hub.dashboardUrl}/#/discover?index=logs-shop&from=now-2h&q=status:500&cols=page`,
    );
    await fields.getByText(`In ${SHOP_LINES / 10} lines`).waitFor();
    await page.getByRole("button", { name: "Column page" }).focus();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "Selected line" }).waitFor();
    assert.match(page.url(), /cols=page/);
  }));

const PATHS = [
  "#/console",
  "#/indices",
  `#/indices?index=${SHOP_INDEX}&tab=analyse`,
  "#/visualise?from=now-2h",
  "#/dashboards",
  "#/status",
];

test("no page of work is wider than its screen", async () => {
  for (const viewport of [
    { width: 390, height: 844 },
    { width: 1440, height: 900 },
  ]) {
    const context = await pages.browser.newContext({ viewport });
    const page = await context.newPage();
    for (const path of PATHS) {
      await page.goto(`${pages.hub.dashboardUrl}/${path}`);
      await page.locator("main > *").first().waitFor();
      await page.waitForLoadState("networkidle");
      await becomesTrue(
        `${path} within ${viewport.width} px`,
        () => page.evaluate<number>("document.documentElement.scrollWidth"),
        (width) => width <= viewport.width,
      );
    }
    await context.close();
  }
});

test("the time range can be read on each narrow screen", async () => {
  for (const width of [390, 420, 600]) {
    const context = await pages.browser.newContext({ viewport: { width, height: 844 } });
    const page = await context.newPage();
    await page.goto(`${pages.hub.dashboardUrl}/#/visualise?from=now-2h`);
    const ends = page.locator("tr-time-range-picker .ends");
    await ends.waitFor();
    const box = await ends.boundingBox();
    assert.ok(box !== null && box.width > 100 && box.x + box.width <= width, JSON.stringify({ width, box }));
    await context.close();
  }
});

test("a retention rule is added and removed on the page, and asks before it deletes", () =>
  pages.visit("#/indices?view=retention", async (page) => {
    const add = async (pattern: string, age: string): Promise<void> => {
      await page.getByLabel("Indices", { exact: true }).fill(pattern);
      await page.getByLabel(/^Keep for/).fill(age);
      await page.getByRole("button", { name: "Add" }).click();
    };
    const isEmpty = page.getByText("Everything is kept");
    await isEmpty.waitFor();
    await add(`${SHOP_INDEX}*`, "4000d");
    await page.getByRole("cell", { name: "4000d" }).waitFor();
    await page.getByRole("button", { name: /^Remove the rule/ }).click();
    await isEmpty.waitFor();
    await add("*", "0d");
    const question = page.getByRole("dialog");
    await question.getByText(SHOP_INDEX).waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    await question.waitFor({ state: "hidden" });
    await isEmpty.waitFor();
  }));
