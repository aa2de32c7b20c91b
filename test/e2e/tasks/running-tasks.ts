/** Tasks: console, live lines and the pages of administration. */

import type { Locator, Page } from "playwright-core";
import { becomes } from "#test/harness/becomes.ts";
import { button, type DashboardTask, DISCOVER, row, seen } from "./dashboard-task.ts";

interface IndexStats {
  readonly primaries: { readonly docs: { readonly count: number } };
}

/** The number in a row's cell, as the table's head names it. */
const cellOf = (page: Page, line: string, text: string): Locator =>
  page.getByRole("row").filter({ hasText: line }).getByText(text, { exact: true });

export const RUNNING: readonly DashboardTask[] = [
  {
    name: "send a request by keys and read its answer",
    look: "light",
    path: "console?request=GET%20logs-*/_count",
    actions: 1,
    run: async (hand, rest) => {
      await hand.page.getByRole("textbox", { name: "Requests" }).focus();
      await hand.press("Control+Enter");
      const { count } = await rest("/logs-*/_count");
      await seen(hand.page.locator("tr-json-view").getByText(String(count), { exact: true }));
    },
  },
  {
    name: "see how large an index is",
    look: "phone",
    path: "indices",
    actions: 0,
    run: async ({ page }, rest) => {
      // The hour's lines are in two indices after midnight.
      const { indices } = (await rest("/logs-*/_stats/docs")) as { indices: Record<string, IndexStats> };
      for (const [name, { primaries }] of Object.entries(indices))
        await seen(cellOf(page, name, primaries.docs.count.toLocaleString("en")));
    },
  },
  {
    name: "see how indices grow",
    look: "dark",
    path: "indices",
    actions: 1,
    run: async (hand) => {
      await hand.click(button(hand.page, "Growth"));
      await seen(hand.page.locator("tr-growth-panel tr-chart .plot path"));
    },
  },
  {
    name: "see what fields an index has",
    look: "4k",
    path: "indices",
    actions: 1,
    run: async (hand) => {
      await hand.click(hand.page.getByRole("link", { name: /^visits$/ }));
      await seen(hand.page.getByText("geo_point", { exact: true }));
    },
  },
  {
    name: "see which copies of shards are missing",
    look: "dark",
    path: "cluster",
    actions: 1,
    run: async (hand, rest) => {
      const health = await rest("/_cluster/health");
      await hand.fill(hand.page.getByRole("searchbox", { name: "Search indices" }), "visits");
      const missing = hand.page.getByRole("img", { name: /^Replica of shard \d: unassigned$/ });
      await becomes(() => missing.count(), Number(health["unassigned_shards"]));
      await becomes(() => hand.page.getByRole("img", { name: /^Primary of shard \d: started/ }).count(), 5);
    },
  },
  {
    name: "see how full the streams are",
    look: "200 %",
    path: "status",
    actions: 0,
    run: ({ page }) => seen(page.getByRole("region", { name: "Streams" }).getByText("Dead letters")),
  },
  {
    name: "see what an agent has read",
    look: "light",
    path: "agents",
    actions: 1,
    run: async (hand) => {
      await hand.click(hand.page.getByRole("link", { name: "web-1", exact: true }));
      const files = hand.page.getByRole("region", { name: "Files" });
      await becomes(() => files.getByRole("cell", { name: "committed" }).count(), 2);
    },
  },
  {
    name: "begin a pipeline for lines of no format",
    look: "light",
    path: "pipelines",
    actions: 1,
    run: async (hand) => {
      const { page } = hand;
      await seen(
        page
          .getByRole("row")
          .filter({ hasText: "access.log" })
          .getByText(/^Access log/),
      );
      await seen(page.getByRole("row").filter({ hasText: "services.json" }).getByText(/^JSON/));
      await hand.click(page.getByRole("link", { name: "Propose a pattern for /var/log/shop/cart.log" }));
      await seen(page.getByText("The pipeline is valid."));
      await seen(page.locator(".trial").first().getByText("worker-0", { exact: true }));
    },
  },
  {
    name: "complete an option of a filter by keys",
    look: "dark",
    path: "pipelines?new=1",
    actions: 4,
    run: async (hand) => {
      const { page } = hand;
      await seen(page.getByText("The pipeline is valid."));
      const editor = page.getByRole("textbox", { name: "Pipeline" });
      await editor.focus();
      await hand.press("Control+End");
      await hand.type("filter { dro");
      await seen(page.getByRole("option", { name: /^drop/ }));
      await hand.press("Enter");
      await hand.type("perc");
      await seen(page.getByRole("option", { name: /^percentage/ }));
    },
  },
  {
    name: "see what an account may do",
    look: "dark",
    path: "users",
    actions: 6,
    run: async (hand) => {
      const { page } = hand;
      await hand.fill(page.getByLabel("Name").first(), "ann");
      await hand.fill(page.getByLabel("Password"), "a long password of ann");
      await hand.choose(page.getByLabel("Role").first(), "editor");
      await hand.fill(page.getByLabel("Indices").first(), "logs-*:read");
      await hand.click(button(page, "Add account"));
      await hand.click(button(page, "What ann may do"));
      const rights = page.getByRole("dialog", { name: "What ann may do" });
      await seen(rights.getByText("Search and read lines: logs-*"));
      await seen(rights.getByText("Delete indices (no)"));
    },
  },
  {
    name: "see why a pattern of grok doesn't match",
    look: "dark",
    path: "pipelines?view=grok",
    actions: 1,
    run: async (hand) => {
      const matched = hand.page.getByText("Match", { exact: true });
      await seen(matched);
      await hand.fill(
        hand.page.getByRole("textbox", { name: "Expression", exact: true }),
        "%{IP:client} %{NUMBER:bytes}",
      );
      await seen(hand.page.getByText("No match", { exact: true }));
    },
  },
  {
    name: "see what a rule would have fired",
    look: "light",
    path: "alerts?new=1&q=log.level:error",
    actions: 1,
    run: async (hand) => {
      await hand.fill(hand.page.getByLabel("Threshold"), "1");
      await seen(hand.page.getByText(/Would have fired (?:once|\d+ times)/));
    },
  },
  {
    name: "go to another page by keys",
    look: "dark",
    path: "appearance",
    actions: 3,
    run: async (hand) => {
      await seen(hand.page.getByRole("heading", { name: "Appearance" }));
      await hand.press("Control+k");
      await seen(hand.page.getByRole("dialog", { name: "Go to" }));
      await hand.type("Cluster");
      await hand.press("Enter");
      await hand.page.waitForURL(/#\/cluster/);
    },
  },
  {
    name: "look up a key by a key",
    look: "phone",
    path: "status",
    actions: 2,
    run: async (hand) => {
      await seen(hand.page.getByRole("heading", { name: "Health", exact: true }));
      await hand.press("?");
      await seen(hand.page.getByRole("dialog", { name: "Help" }));
      await hand.press("Escape");
      await hand.page.getByRole("dialog", { name: "Help" }).waitFor({ state: "hidden" });
    },
  },
  {
    name: "hold live lines and go on, by keys",
    look: "light",
    path: "live",
    actions: 2,
    run: async (hand) => {
      await seen(hand.page.getByText("Following", { exact: true }));
      await hand.press("p");
      await seen(button(hand.page, "Resume"));
      await hand.press("p");
      await seen(hand.page.getByText("Following", { exact: true }));
    },
  },
  {
    name: "follow two services side by side",
    look: "dark",
    path: "live?q=service:payment",
    actions: 5,
    run: async (hand) => {
      await hand.click(button(hand.page, "Another tail beside this one"));
      const second = hand.page.getByRole("region", { name: "Tail 2" });
      await hand.fill(second.getByRole("combobox", { name: "Query" }), "service:stock");
      await hand.press("Enter");
      await seen(second.locator("tr-tail-window .row:visible").filter({ hasText: /sold out/ }));
      const first = hand.page.getByRole("region", { name: "Tail 1" });
      await seen(first.locator("tr-tail-window .row:visible").filter({ hasText: /paid/ }));
      await hand.click(button(hand.page, "Pause all"));
      await becomes(() => hand.page.getByText("Paused", { exact: true }).count(), 2);
      await hand.click(second.getByRole("button", { name: "Close tail 2" }));
      await hand.page.waitForURL(/#\/live\?q=service:payment/);
    },
  },
  {
    name: "go from a search to its live lines",
    look: "4k",
    path: `${DISCOVER}&q=service:payment`,
    actions: 1,
    run: async (hand) => {
      await seen(row(hand.page));
      await hand.click(button(hand.page, "Live"));
      await hand.page.waitForURL(/#\/live\?q=service:payment/);
      await seen(hand.page.locator("tr-tail-window .row:visible"));
    },
  },
];
