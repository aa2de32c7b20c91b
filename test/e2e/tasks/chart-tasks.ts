/** Tasks: charts and dashboards, with numbers that are compared with those of the search interface. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { becomes } from "#test/harness/becomes.ts";
import { button, type DashboardTask, expectLines, linesOf, seen } from "./dashboard-task.ts";

/** The text of a number panel. */
const numberOf = (page: Page, name: string): Promise<string | null> =>
  page.getByRole("region", { name, exact: true }).locator(".number b").textContent();

export const CHARTS: readonly DashboardTask[] = [
  {
    name: "draw lines by service",
    look: "light",
    path: "visualise?from=now-3h",
    actions: 3,
    run: async (hand) => {
      await hand.choose(hand.page.getByLabel("Group by", { exact: true }), "terms");
      await hand.fill(hand.page.getByLabel("Field", { exact: true }), "service");
      await hand.press("Enter");
      await seen(hand.page.locator("tr-chart text").getByText("payment"));
    },
  },
  {
    name: "calculate the share of errors by a formula",
    look: "light",
    path: "visualise?from=now-3h&chart=number",
    actions: 4,
    run: async (hand, rest) => {
      await hand.choose(hand.page.getByLabel("Measure", { exact: true }), "formula");
      await hand.fill(
        hand.page.getByLabel("Formula", { exact: true }),
        "count(log.level:error) / count() * 100",
      );
      await hand.press("Tab");
      await hand.choose(hand.page.getByLabel("Unit"), "percent");
      const [errors, all] = await Promise.all([
        rest("/logs-*/_count?q=log.level:error"),
        rest("/logs-*/_count"),
      ]);
      const share = (Number(errors["count"]) / Number(all["count"])) * 100;
      const text = Number(share.toPrecision(5)).toLocaleString("en", { maximumFractionDigits: 3 });
      await becomes(() => hand.page.locator("tr-chart .number b").textContent(), `${text} %`);
    },
  },
  {
    name: "draw two measures in one chart",
    look: "dark",
    path: "visualise?from=now-3h&chart=line&metric=formula:count()",
    actions: 2,
    run: async (hand) => {
      const formula = hand.page.getByLabel("Formula", { exact: true });
      await hand.fill(formula, "errors = count(log.level:error)\nslowest = max(duration_ms)");
      await hand.press("Tab");
      const legend = hand.page.locator("tr-chart .legend");
      await seen(legend.getByText("errors", { exact: true }));
      await seen(legend.getByText("slowest", { exact: true }));
    },
  },
  {
    name: "count lines by queries of one's own",
    look: "light",
    path: "visualise?from=now-3h&chart=table",
    actions: 3,
    run: async (hand, rest) => {
      const { page } = hand;
      await hand.choose(page.getByLabel("Group by", { exact: true }), "filters");
      await hand.fill(page.getByLabel("Queries, one a line"), "service:payment\nservice:stock AND warn");
      await hand.press("Tab");
      const payment = page.locator("tr-chart table").getByRole("row").filter({ hasText: "service:payment" });
      await seen(payment.getByText(await linesOf(rest, "service:payment"), { exact: true }));
    },
  },
  {
    name: "mark lines in a chart over time",
    look: "200 %",
    path: "visualise?from=now-3h",
    actions: 3,
    run: async (hand, rest) => {
      const { page } = hand;
      await hand.fill(page.getByLabel("Mark lines that match"), 'message:"session expired"');
      await hand.press("Tab");
      const lines = await linesOf(rest, 'message:"session expired"');
      await becomes(() => page.locator("tr-chart line.mark").count(), Number(lines));
      await hand.click(page.getByText(lines === "1" ? "1 marked line" : `${lines} marked lines`));
      await seen(page.locator("tr-chart .marks li").first());
    },
  },
  {
    name: "see a number that is above its limit",
    look: "phone",
    path: "visualise?from=now-3h&chart=number",
    actions: 3,
    run: async (hand) => {
      await hand.click(button(hand.page, "Gauge"));
      await hand.fill(hand.page.getByLabel("Limits: warning, error"), "10");
      await hand.press("Enter");
      await seen(hand.page.locator("tr-chart .value.severity2"));
    },
  },
  {
    name: "draw a chart by logarithm, and linear again",
    look: "4k",
    path: "visualise?from=now-3h",
    actions: 2,
    run: async (hand) => {
      const scale = hand.page.getByRole("checkbox", { name: "Logarithmic scale" });
      await hand.click(scale);
      await hand.page.waitForURL(/scale=log/);
      await hand.click(scale);
      await hand.page.waitForURL((url) => !url.href.includes("scale=log"));
    },
  },
  {
    name: "filter a chart by its legend",
    look: "dark",
    path: "visualise?from=now-3h&split=5:service",
    actions: 1,
    run: async (hand) => {
      await hand.click(hand.page.locator("tr-chart .legend").getByRole("button", { name: /^payment/ }));
      await becomes(() => hand.page.getByRole("combobox", { name: "Query" }).inputValue(), "service:payment");
    },
  },
  {
    name: "read a chart's numbers as a table",
    look: "phone",
    path: "visualise?from=now-3h&by=terms:10:service",
    actions: 1,
    run: async (hand, rest) => {
      await hand.click(button(hand.page, "As a table"));
      const payment = hand.page.locator("tr-chart table").getByRole("row").filter({ hasText: "payment" });
      await seen(payment.getByText(await linesOf(rest, "service:payment"), { exact: true }));
    },
  },
  {
    name: "save a chart's numbers as a file",
    look: "200 %",
    path: "visualise?from=now-3h&by=terms:10:service",
    actions: 1,
    run: async (hand, rest) => {
      await seen(hand.page.locator("tr-chart text").getByText("payment"));
      const download = hand.page.waitForEvent("download");
      await hand.click(button(hand.page, "CSV"));
      const file = await readFile(await (await download).path(), "utf8");
      const { count } = await rest("/logs-*/_count?q=service:payment");
      assert.match(file, new RegExp(`^payment,${String(count)}\\r?$`, "m"));
    },
  },
  {
    name: "save a whole dashboard as a picture",
    look: "dark",
    path: "dashboards?id=access-logs&from=now-3h",
    actions: 1,
    run: async (hand) => {
      const { page } = hand;
      await seen(page.locator("tr-chart .plot path"));
      await seen(page.locator("tr-chart table td"));
      const downloaded = page.waitForEvent("download");
      await hand.click(button(page, "Save as a picture"));
      const download = await downloaded;
      assert.equal(download.suggestedFilename(), "access-logs.png");
      const file = await readFile(await download.path());
      assert.equal(file.subarray(1, 4).toString(), "PNG");
      // What is below the window's end is in it, too; a blank one of this size takes some kB.
      const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
      assert.ok(width > 2_700 && height > 2 * 900, `${width} × ${height}`);
      assert.ok(file.length > 60_000, `${file.length} bytes`);
    },
  },
  {
    name: "save a chart as a picture",
    look: "dark",
    path: "visualise?from=now-3h&split=5:service",
    actions: 1,
    run: async (hand) => {
      await seen(hand.page.locator("tr-chart .legend").getByText("payment"));
      const download = hand.page.waitForEvent("download");
      await hand.click(button(hand.page, "PNG"));
      const file = await readFile(await (await download).path());
      assert.equal(file.subarray(1, 4).toString(), "PNG");
      assert.ok(file.length > 5_000, `${file.length} bytes`);
    },
  },
  {
    name: "read a dashboard's numbers",
    look: "4k",
    path: "dashboards?id=access-logs&from=now-3h&to=now",
    actions: 0,
    run: async ({ page }, rest) => {
      const requests = await linesOf(rest, "http.response.status_code:*");
      await becomes(() => numberOf(page, "Requests"), requests);
      await becomes(
        () => numberOf(page, "Server errors"),
        await linesOf(rest, "http.response.status_code:>=500"),
      );
    },
  },
  {
    name: "narrow a whole dashboard by a status",
    look: "light",
    path: "dashboards?id=access-logs&from=now-3h&to=now",
    actions: 1,
    run: async (hand, rest) => {
      const codes = hand.page.getByRole("region", { name: "Status codes" });
      await hand.click(codes.locator(".legend").getByRole("button", { name: /^404/ }));
      await becomes(
        () => numberOf(hand.page, "Requests"),
        await linesOf(rest, "http.response.status_code:404"),
      );
    },
  },
  {
    name: "go from a panel to its lines",
    look: "dark",
    path: "dashboards?id=access-logs&from=now-3h&to=now",
    actions: 1,
    run: async (hand, rest) => {
      await hand.click(hand.page.getByRole("link", { name: "Lines of Requests in Discover", exact: true }));
      await expectLines(hand.page, rest, "http.response.status_code:*");
    },
  },
  {
    name: "write a note on a dashboard",
    look: "dark",
    path: "dashboards?id=access-logs&edit=1",
    actions: 4,
    run: async (hand) => {
      await hand.choose(hand.page.getByLabel("Add a panel"), "text:");
      const text = hand.page.getByRole("textbox", { name: "Text in Markdown" });
      await hand.fill(text, "# On call\n\nCall **payments** first.");
      await hand.press("Tab");
      await hand.click(button(hand.page, "Edit"));
      await seen(hand.page.locator("tr-text-panel strong").getByText("payments"));
    },
  },
  {
    name: "add two panels at once",
    look: "200 %",
    path: "dashboards?id=access-logs&edit=1",
    actions: 5,
    run: async (hand) => {
      const { page } = hand;
      await hand.click(button(page, "Add several panels"));
      await hand.fill(page.getByRole("searchbox", { name: "Search titles" }), "busiest");
      await hand.click(page.getByRole("checkbox", { name: "Busiest clients" }));
      await hand.click(page.getByRole("checkbox", { name: "Busiest files" }));
      await hand.click(button(page, "Add 2 panels"));
      await seen(page.getByRole("region", { name: "Busiest clients", exact: true }));
      await seen(page.getByRole("region", { name: "Busiest files", exact: true }));
    },
  },
  {
    name: "remove a panel and take that back by a key",
    look: "light",
    path: "dashboards?id=access-logs&edit=1",
    actions: 2,
    run: async (hand) => {
      const requests = hand.page.getByRole("region", { name: "Requests", exact: true });
      await hand.click(button(hand.page, "Remove: Requests"));
      await requests.waitFor({ state: "detached" });
      await hand.press("u");
      await requests.waitFor();
    },
  },
  {
    name: "bring back a version of a dashboard",
    look: "light",
    path: "dashboards?id=access-logs&edit=1",
    actions: 6,
    run: async (hand) => {
      const { page } = hand;
      const requests = page.getByRole("region", { name: "Requests", exact: true });
      await hand.click(button(page, "Remove: Requests"));
      await requests.waitFor({ state: "detached" });
      await hand.click(button(page, "Save dashboard"));
      await page.getByText("aren't saved yet").waitFor({ state: "detached" });
      await hand.click(button(page, "Edit"));
      await hand.click(button(page, "Versions"));
      await hand.click(button(page, /^Show the version of/).first());
      await requests.waitFor();
      await hand.click(button(page, "Save dashboard"));
      await page.waitForURL((url) => !url.href.includes("edit=1"));
      await requests.waitFor();
    },
  },
  {
    name: "read a dashboard by its link, without tools",
    look: "phone",
    path: "dashboards?id=access-logs&read=1&from=now-3h&to=now&edit=1",
    actions: 1,
    run: async (hand, rest) => {
      const requests = await linesOf(rest, "http.response.status_code:*");
      await becomes(() => numberOf(hand.page, "Requests"), requests);
      const offered = () => hand.page.getByRole("button", { name: /^(?:Edit|Save dashboard)$/ }).count();
      assert.equal(await offered(), 0);
      await hand.press("e");
      // The page is drawn again by then.
      await hand.page.evaluate(
        "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))",
      );
      assert.equal(await offered(), 0);
    },
  },
];
