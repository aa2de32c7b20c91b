/** Visualisations and dashboards in a browser, over a real hub. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { becomes } from "#test/harness/becomes.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { openWorkPages, putLines, type WorkPages } from "./ui-work-pages.ts";

const workspace = new Workspace();
let pages: WorkPages;

before(async () => {
  pages = await openWorkPages(workspace);
  await fillPlaces(pages.hub.searchUrl);
});

after(() => workspace.close());

/** Forty lines from Berlin, ten from Potsdam beside it, five from Sydney. */
async function fillPlaces(url: string): Promise<void> {
  await fetch(`${url}/visits`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: '{"mappings":{"_doc":{"properties":{"place":{"type":"geo_point"}}}}}',
  });
  const at = (count: number, lat: number, lon: number): object[] =>
    Array.from({ length: count }, () => ({ "@timestamp": new Date().toISOString(), place: { lat, lon } }));
  await putLines(url, "visits", [...at(40, 52.52, 13.4), ...at(10, 52.4, 13.06), ...at(5, -33.87, 151.2)]);
}

test("a visualisation is made in a form, saved, put on a dashboard, exported and imported", () =>
  pages.visit("#/visualise?index=logs-shop&from=now-2h", async (page) => {
    const plot = page.locator("tr-chart .plot");
    await plot.waitFor();
    await page.getByLabel("Field (optional)").fill("status");
    await page.keyboard.press("Enter");
    await page.locator("tr-chart .legend").getByText("404").waitFor();
    await page.getByLabel("Group by", { exact: true }).selectOption("terms");
    await page.getByLabel("Field", { exact: true }).fill("page");
    await page.keyboard.press("Enter");
    await page.locator("tr-chart text").getByText("/page/3").waitFor();
    for (const chart of ["Line chart", "Area", "Donut", "Heat map", "Table", "Number", "Bars"])
      await page.getByRole("button", { name: chart, exact: true }).click();
    await page.waitForURL(/by=terms:10:page&split=5:status/);
    await page.getByRole("button", { name: "Request" }).click();
    await page.locator("tr-json-view").getByText('"page"').first().waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByLabel("Title").fill("Pages by status");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Pages by status" }).waitFor();

    await page.goto(`${pages.hub.dashboardUrl}/#/dashboards`);
    await page.getByRole("button", { name: "New dashboard" }).click();
    await page.getByLabel("Title").fill("Shop");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByLabel("Add a panel").selectOption({ label: "Pages by status" });
    await page.getByRole("button", { name: "Wider: Pages by status" }).click();
    await page.locator(".panel.w8 text").getByText("/page/3").waitFor();
    await page.getByRole("button", { name: "Save dashboard" }).click();
    await page.getByRole("button", { name: "Save dashboard" }).waitFor({ state: "detached" });
    await page.getByRole("searchbox", { name: "Query for all panels" }).fill("page:\\/page\\/1");
    await page.keyboard.press("Enter");
    await page.locator(".panel text").getByText("/page/3").waitFor({ state: "detached" });
    await page.locator(".panel text").getByText("/page/1").waitFor();

    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const path = await (await download).path();
    await page.getByRole("link", { name: "All dashboards" }).click();
    await page.locator("input[type=file]").setInputFiles({
      name: "shop.json",
      mimeType: "application/json",
      buffer: await readFile(path),
    });
    await page.locator(".panel text").getByText("/page/1").waitFor();
    const list = await fetch(`${pages.hub.dashboardUrl}/api/saved/dashboard`);
    const { objects } = (await list.json()) as { objects: { title: string }[] };
    assert.deepEqual(
      objects.map(({ title }) => title),
      ["Shop", "Shop"],
    );
  }));

test("a saved object is renamed and copied in the list, and a dashboard that isn't there shows none of another", () =>
  pages.visit("#/dashboards", async (page) => {
    const url = `${pages.hub.dashboardUrl}/api/saved/dashboard`;
    await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        title: "Night shift",
        attributes: { panels: [{ kind: "text", id: "t", text: "Call the cook", width: 6, height: 2 }] },
      }),
    });
    await page.reload();
    const rename = async (from: string, to: string): Promise<void> => {
      await page.getByRole("button", { name: `Rename or copy ${from}`, exact: true }).click();
      await page.getByRole("textbox", { name: "Title" }).fill(to);
    };
    await rename("Night shift", "Late shift");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Late shift", exact: true }).waitFor();
    await rename("Late shift", "Early shift");
    await page.getByRole("checkbox", { name: "Save as new" }).check();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("link", { name: "Early shift", exact: true }).waitFor();
    await rename("Early shift", "Dawn shift");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Dawn shift", exact: true }).waitFor();
    assert.equal(await page.getByRole("link", { name: "Early shift", exact: true }).count(), 0);
    await page.getByRole("link", { name: "Late shift", exact: true }).click();
    await page.getByText("Call the cook").waitFor();
    await page.evaluate("location.hash = '#/dashboards?id=gone'");
    await page.getByText("There is no dashboard gone").waitFor();
    await page.getByText("Call the cook").waitFor({ state: "detached" });
  }));

test("a measure of a field that no line has as a number is said to have none", () =>
  pages.visit("#/visualise?from=now-2h&metric=avg:nothing", async (page) => {
    await page.getByText("No number was found: choose another field or a longer time range.").waitFor();
    assert.equal(await page.locator("tr-chart .plot").count(), 0);
  }));

test("lines of a saved search are a panel, which a dashboard's file takes along", async () => {
  const save = await fetch(`${pages.hub.dashboardUrl}/api/saved/search`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      title: "Failures",
      attributes: { parameters: "q=status:500&index=logs-shop&cols=page,message" },
    }),
  });
  assert.ok(save.ok, await save.text());
  await pages.visit("#/dashboards", async (page) => {
    await page.getByRole("button", { name: "New dashboard" }).click();
    await page.getByLabel("Title").fill("Errors");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByLabel("Add a panel").selectOption({ label: "Failures" });
    const lines = page.getByRole("region", { name: "Lines of Failures" });
    await lines.getByText("24 of 24 lines").waitFor();
    await lines.getByRole("cell", { name: "/page/0", exact: true }).first().waitFor();
    await lines.getByRole("columnheader", { name: "Message", exact: true }).waitFor();
    await page.getByRole("button", { name: "Save dashboard" }).click();
    await page.getByRole("button", { name: "Save dashboard" }).waitFor({ state: "detached" });
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const file = JSON.parse(await readFile(await (await download).path(), "utf8")) as {
      searches: { title: string }[];
    };
    assert.deepEqual(
      file.searches.map(({ title }) => title),
      ["Failures"],
    );
  });
});

test("a map shows where lines come from, near places as one circle, by mouse and by keys", () =>
  pages.visit("#/visualise?index=visits&from=now-2h", async (page) => {
    await page.getByRole("button", { name: "Map", exact: true }).click();
    const map = page.locator("tr-world-map");
    await map.locator("circle.place").nth(1).waitFor();
    await becomes(() => map.locator("circle.place").count(), 2);
    await page.waitForURL(/chart=map&by=places:place/);
    await map.locator(".plot").focus();
    await page.keyboard.press("ArrowRight");
    await map.locator(".readout b").getByText("50").waitFor();
    for (let i = 0; i < 7; i++) await page.keyboard.press(i === 0 ? "Enter" : "+");
    await map.locator("text").getByText("10").waitFor();
    await page.waitForURL(/view=/);
    await page.getByLabel("Distance filter").check();
    await page.getByLabel("Kilometres").fill("8");
    await page.keyboard.press("Enter");
    await map.getByText("40 lines within 8 km").waitFor();
    await page.getByRole("button", { name: "As a table" }).click();
    await page.getByRole("rowheader", { name: "52.52° N, 13.40° E" }).waitFor();
    await page.getByRole("button", { name: "As a table" }).click();
    await page.getByRole("button", { name: "Show all places" }).click();
    await map.locator("text").getByText("50").waitFor();
  }));

test("samples are offered where no dashboard is, and show the lines they are for", async () => {
  const url = `${pages.hub.dashboardUrl}/api/saved/dashboard`;
  const { objects } = (await (await fetch(url)).json()) as { objects: { id: string }[] };
  for (const { id } of objects) await fetch(`${url}/${id}`, { method: "DELETE" });
  await pages.visit("#/dashboards", async (page) => {
    await page.getByRole("button", { name: "Load samples" }).click();
    await page.getByRole("link", { name: "Access logs" }).click();
    await page.getByRole("heading", { name: "Different clients" }).waitFor();
    await page.getByRole("region", { name: "Requests", exact: true }).getByText("240").waitFor();
    await becomes(() => page.getByRole("alert").count(), 0);
  });
});

test("panels are arranged by mouse and by keys, and a variable narrows all of them", () =>
  pages.visit("#/dashboards?id=access-logs&edit=1", async (page) => {
    const titles = () => page.locator(".panel h2").allTextContents();
    await page.getByRole("button", { name: "Wider: Requests", exact: true }).waitFor();
    const [first, second, third] = await titles();
    const header = page.locator(".panel h2");
    const from = (await header.first().boundingBox())!;
    const to = (await header.nth(2).boundingBox())!;
    await page.mouse.move(from.x + 4, from.y + 4);
    await page.mouse.down();
    await page.mouse.move(to.x + 10, to.y + 40, { steps: 5 });
    await page.mouse.up();
    await becomes(async () => (await titles()).slice(0, 3), [second, third, first]);
    const corner = (await page.locator(".corner").first().boundingBox())!;
    await page.mouse.move(corner.x + 8, corner.y + 8);
    await page.mouse.down();
    await page.mouse.move(corner.x + 300, corner.y + 140, { steps: 5 });
    await page.mouse.up();
    await page.locator(".panel.w6.middle").getByText(second!).waitFor();
    await page.getByRole("button", { name: `Move to the front: ${third}` }).focus();
    await page.keyboard.press("Enter");
    await becomes(async () => (await titles()).slice(0, 2), [third, second]);
    await page.keyboard.press("Enter");
    await becomes(async () => (await titles())[0], third);

    await page
      .getByRole("textbox", { name: "Field of a further variable" })
      .or(page.getByRole("combobox", { name: "Field of a further variable" }))
      .fill("page");
    await page.getByRole("button", { name: "Add variable" }).click();
    await page.getByRole("button", { name: "Save dashboard" }).click();
    await page.getByRole("button", { name: "Save dashboard" }).waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("heading", { name: "Access logs" }).waitFor();
    await becomes(async () => (await titles())[0], third);
    const choice = page.getByRole("combobox", { name: "page", exact: true });
    await choice.selectOption("/page/2");
    await page
      .getByRole("region", { name: "Requests", exact: true })
      .getByText("40", { exact: true })
      .waitFor();
    await page.waitForURL(/var=page/);
    await page.getByRole("link", { name: "Lines of Requests in Discover", exact: true }).click();
    await page.getByText("40 lines in").waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Table of Status codes" }).click();
    await page.locator("tr-chart table").getByRole("rowheader", { name: "200" }).waitFor();
    await page.emulateMedia({ media: "print" });
    await page.getByRole("button", { name: "Edit" }).waitFor({ state: "hidden" });
    await page.getByRole("heading", { name: "Status codes" }).waitFor();
  }));
