/** The pages of administration and alerts in a browser: what is entered stays, and what is shown has its reason. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator } from "playwright-core";
import { Workspace } from "#test/harness/workspace.ts";
import { openWorkPages, putLines, type WorkPages } from "./ui-work-pages.ts";

/** A name that teams give their indices: as long as a table is wide. */
const LONG_NAME = "payments-checkout-and-refunds-of-all-shops-by-the-team-that-answers-for-them-000001";

const workspace = new Workspace();
let pages: WorkPages;

before(async () => {
  pages = await openWorkPages(workspace);
  for (const index of [LONG_NAME, ".hidden"])
    await putLines(pages.hub.searchUrl, index, [{ "@timestamp": new Date().toISOString() }]);
});

after(() => workspace.close());

test("channels that are added to an alert stay while the page refreshes, and are saved", () =>
  pages.visit("#/alerts?new=1&q=took", async (page) => {
    await page.getByLabel("Title").fill("Many lines");
    await page.getByRole("button", { name: "Webhook", exact: true }).click();
    await page.getByText(/^Would have fired/).waitFor();
    await page.getByLabel("Webhook address").fill("http://127.0.0.1:9/hook");
    // Its preview is another refresh of the page.
    const preview = page.getByText(/^Would have fired 0 times/);
    await page.getByLabel("Threshold").fill("100000");
    await page.getByLabel("Threshold").blur();
    await preview.waitFor();
    await page.getByRole("button", { name: "Create rule" }).click();
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "Many lines" }) });
    await row.getByRole("cell", { name: "more than 100,000 in 5 min" }).waitFor();
    const response = await fetch(`${pages.hub.dashboardUrl}/api/alerts`);
    const { alerts } = (await response.json()) as { alerts: { rule: { channels: unknown } }[] };
    assert.deepEqual(
      alerts.map(({ rule }) => rule.channels),
      [[{ type: "webhook", url: "http://127.0.0.1:9/hook" }]],
    );
  }));

/** Returns where an element ends at the right, px. */
async function rightOf(one: Locator): Promise<number> {
  const box = await one.boundingBox();
  return box === null ? Number.NaN : box.x + box.width;
}

test("a long name of an index leaves the other columns in sight, and the names that are offered", () =>
  pages.visit("#/indices", async (page) => {
    for (const width of [900, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      for (const name of ["indices", "cluster"]) {
        await page.goto(`${pages.hub.dashboardUrl}/#/${name}`);
        const row = page.locator(`tr-page-${name}`).getByRole("row").filter({ hasText: LONG_NAME });
        const last = row.getByRole("cell").last();
        await last.waitFor();
        assert.ok((await rightOf(last)) < width, `the last column of ${name} at ${width} px`);
      }
    }
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`${pages.hub.dashboardUrl}/#/discover?index=missing`);
    const offered = page.getByRole("button", { name: LONG_NAME });
    await offered.waitFor();
    assert.ok((await rightOf(offered)) < 390, "the name that is offered");
  }));

test("forms of access say which indices an empty field means, and how long a password is", () =>
  pages.visit("#/users", async (page) => {
    const form = page.locator("form", { has: page.getByRole("button", { name: "Add account" }) });
    await form.getByLabel("Name").fill("vera");
    await form.getByLabel("Password, 10 characters or more").fill("short");
    await form.getByRole("button", { name: "Add account" }).click();
    const isRefused = await form
      .getByLabel("Password, 10 characters or more")
      .evaluate((input) => input.matches(":invalid"));
    assert.ok(isRefused, "a short password is sent");
    await form.getByLabel("Password, 10 characters or more").fill("long enough for it");
    await form.getByLabel("Indices (empty: all)").fill("");
    await form.getByRole("button", { name: "Add account" }).click();
    const row = page.getByRole("row").filter({ hasText: "vera" });
    await row.getByRole("cell", { name: /^\*/ }).waitFor();
  }));

test("a search that finds no index counts those it leaves out, without hidden ones", () =>
  pages.visit("#/indices", async (page) => {
    await page.getByRole("searchbox", { name: "Search indices" }).fill("zzz");
    await page.getByText("2 indices are left out by the search.").waitFor();
    await page.getByLabel("Show hidden").check();
    await page.getByText(/^[3-9] indices are left out by the search\.$/).waitFor();
  }));

test("the cluster's page gives the reason why a copy is on no node", () =>
  pages.visit("#/cluster", async (page) => {
    await page.getByText("yellow: not every replica is there").waitFor();
    const reason = page.locator(".notice").filter({ hasText: /Shard \d of \S+ lacks a copy\./ });
    await reason.getByText(/Each copy needs a node of its own/).waitFor();
  }));
