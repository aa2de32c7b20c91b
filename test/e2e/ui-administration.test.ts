/** The pages of administration and alerts in a browser: what is entered stays, and what is shown has its reason. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Workspace } from "#test/harness/workspace.ts";
import { openWorkPages, type WorkPages } from "./ui-work-pages.ts";

const workspace = new Workspace();
let pages: WorkPages;

before(async () => {
  pages = await openWorkPages(workspace);
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
    await page.getByRole("link", { name: "Many lines" }).waitFor();
    const response = await fetch(`${pages.hub.dashboardUrl}/api/alerts`);
    const { alerts } = (await response.json()) as { alerts: { rule: { channels: unknown } }[] };
    assert.deepEqual(
      alerts.map(({ rule }) => rule.channels),
      [[{ type: "webhook", url: "http://127.0.0.1:9/hook" }]],
    );
  }));
