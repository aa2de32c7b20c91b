/** Charts that are worked with: parts that filter, ranges of time that zoom, one cursor over all panels, by mouse and keys. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { openWorkPages, SHOP_INDEX, SHOP_LINES, type WorkPages } from "./ui-work-pages.ts";

const workspace = new Workspace();
let pages: WorkPages;

before(async () => {
  pages = await openWorkPages(workspace);
  // A chart of bytes has axes where a line has a number of them.
  const update = await fetch(`${pages.hub.searchUrl}/${SHOP_INDEX}/_doc/0/_update?refresh=true`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ doc: { http: { response: { body: { bytes: 1_200 } } } } }),
  });
  assert.ok(update.ok, await update.text());
  await fetch(`${pages.hub.dashboardUrl}/api/samples`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
});

after(() => workspace.close());

/** Waits until the page searches for this; the address changes before the page does. */
async function expectQuery(page: Page, query: string): Promise<void> {
  const input = page.getByRole("combobox", { name: "Query" });
  await until(`the query ${query}`, async () => (await input.inputValue()) === query);
}

test("a bar, a name of the legend and a row of the table filter, and with Alt leave out", () =>
  pages.visit("#/visualise?index=logs-shop&from=now-2h&by=terms:10:page&split=5:status", async (page) => {
    await page.locator("tr-chart text").getByText("/page/0").click();
    await page.waitForURL(/q=/);
    await expectQuery(page, 'page:"/page/0"');
    await page
      .locator("tr-chart .legend")
      .getByRole("button", { name: /^500/ })
      .click({ modifiers: ["Alt"] });
    await page.waitForURL(/NOT/);
    await expectQuery(page, 'page:"/page/0" AND NOT status:500');
    await page.goBack();
    await page.goBack();
    await expectQuery(page, "");
    await page.getByRole("button", { name: "Table", exact: true }).click();
    await page.locator("tr-chart table").getByRole("button", { name: "/page/1" }).click();
    await page.waitForURL(/q=/);
    await expectQuery(page, 'page:"/page/1"');
  }));

async function save(kind: string, title: string, attributes: object): Promise<string> {
  const answer = await fetch(`${pages.hub.dashboardUrl}/api/saved/${kind}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ title, attributes }),
  });
  assert.ok(answer.ok, await answer.clone().text());
  return ((await answer.json()) as { readonly id: string }).id;
}

test("a value that one chart computes doesn't filter the panels that lack it", async () => {
  const parameters = new URLSearchParams({
    index: "logs-shop",
    by: "terms:10:tens",
    chart: "table",
    scripts: "tens: long = doc['took'].value / 10",
  });
  const computed = await save("visualisation", "Tens", { parameters: parameters.toString() });
  const panels = [{ id: computed, width: 6, height: "middle" }];
  const id = await save("dashboard", "Computed", { panels });
  await pages.visit(`#/dashboards?id=${id}&from=now-2h`, async (page) => {
    const value = page.locator("tr-chart table tbody").getByRole("button").first();
    await value.click();
    const said = page.locator("p[role=status]", { hasText: "Only this chart computes that field" });
    await said.waitFor({ state: "attached" });
    assert.doesNotMatch(page.url(), /[?&]q=/);
  });
});

test("a slice and a step of a number filter by what they stand for", async () => {
  await pages.visit("#/visualise?index=logs-shop&from=now-2h&chart=pie&split=5:status", async (page) => {
    await page.locator("tr-chart .plot").focus();
    await page.keyboard.press("ArrowRight");
    await page.locator("tr-chart .readout").getByText("200").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/q=/);
    await expectQuery(page, "status:200");
  });
  await pages.visit("#/visualise?index=logs-shop&from=now-2h&by=steps:50:took", async (page) => {
    await page.locator("tr-chart .plot").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.waitForURL(/q=/);
    await expectQuery(page, "took:[0 TO 50}");
  });
});

test("a range of time is chosen by dragging and by keys", () =>
  pages.visit("#/visualise?index=logs-shop&from=now-2h", async (page) => {
    const plot = page.locator("tr-chart .plot");
    await plot.locator("path").first().waitFor();
    const box = (await plot.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + 60, { steps: 4 });
    await page.locator("tr-chart .cursor.range").waitFor();
    await page.mouse.up();
    await page.waitForURL(/from=20/);
    await page.locator('tr-chart[aria-busy="false"]').waitFor();
    const parameters = (): URLSearchParams => new URLSearchParams(page.url().split("?")[1]);
    const length = (): number => Date.parse(parameters().get("to")!) - Date.parse(parameters().get("from")!);
    assert.ok(length() > 20 * 60_000 && length() < 35 * 60_000, String(length()));
    const before = length();
    await plot.focus();
    await page.keyboard.press("ArrowRight");
    for (let step = 0; step < 3; step++) await page.keyboard.press("Shift+ArrowRight");
    const { hash } = new URL(page.url());
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.hash !== hash);
    assert.ok(length() < before / 2);
  }));

test("the time under the pointer is marked in all panels of a dashboard, and a bar filters all of them", () =>
  pages.visit("#/dashboards?id=access-logs&from=now-2h&to=now", async (page) => {
    const charts = page.locator("tr-chart .plot.times");
    for (const chart of [charts.first(), charts.nth(1)]) await chart.locator(".tick").first().waitFor();
    const box = (await charts.first().boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.7, box.y + 60);
    await charts.nth(1).locator(".cursor").waitFor();
    await page.mouse.move(0, 0);
    await charts.nth(1).locator(".cursor").waitFor({ state: "detached" });
    const requests = page.getByRole("region", { name: "Requests", exact: true });
    await requests.getByText(String(SHOP_LINES)).waitFor();
    const codes = page.getByRole("region", { name: "Status codes" });
    await codes.locator(".legend").getByRole("button").nth(1).click();
    await page.waitForURL(/q=http/);
    await requests.getByText(String(SHOP_LINES)).waitFor({ state: "detached" });
  }));
