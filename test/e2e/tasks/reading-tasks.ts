/** Tasks: reading lines, keeping and passing on what was found. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { becomes } from "#test/harness/becomes.ts";
import { button, type DashboardTask, DISCOVER, expectLines, linesOf, row, seen } from "./dashboard-task.ts";

export const READING: readonly DashboardTask[] = [
  {
    name: "open the second line and close it, by keys",
    look: "light",
    path: DISCOVER,
    actions: 4,
    run: async (hand) => {
      await seen(row(hand.page));
      await hand.press("j", "j", "Enter");
      await seen(hand.page.locator("tr-event-details table"));
      await hand.press("Escape");
      await hand.page.locator("tr-event-details").waitFor({ state: "detached" });
    },
  },
  {
    name: "go to the next error by a key",
    look: "dark",
    path: DISCOVER,
    actions: 1,
    run: async (hand) => {
      await seen(row(hand.page));
      await hand.press("e");
      await seen(hand.page.locator('tr-event-table .row[aria-selected="true"]').filter({ hasText: "ERROR" }));
    },
  },
  {
    name: "find a word in the lines, by keys",
    look: "200 %",
    path: DISCOVER,
    actions: 3,
    run: async (hand) => {
      await seen(row(hand.page));
      await hand.press("s");
      await seen(hand.page.getByRole("textbox", { name: "Find in the lines" }));
      await hand.type("order");
      await hand.press("Enter");
      await seen(hand.page.locator("tr-find-bar output").getByText(/^\d+ of \d+$/));
    },
  },
  {
    name: "wrap long lines by a key",
    look: "phone",
    path: DISCOVER,
    actions: 2,
    run: async (hand) => {
      await seen(row(hand.page));
      await hand.press("w");
      await seen(hand.page.locator("tr-event-table[iswrapped]"));
      await hand.press("w");
      await hand.page.locator("tr-event-table[iswrapped]").waitFor({ state: "detached" });
    },
  },
  {
    name: "see what stands around a line",
    look: "4k",
    path: `${DISCOVER}&q=log.level:error`,
    actions: 2,
    run: async (hand) => {
      await hand.click(row(hand.page).first().locator(".time button"));
      await hand.click(button(hand.page, "Surrounding lines"));
      await seen(hand.page.locator("tr-surrounding-lines li.row").nth(5));
    },
  },
  {
    name: "read the lines around one in full width",
    look: "light",
    path: `${DISCOVER}&q=log.level:error`,
    actions: 3,
    run: async (hand) => {
      await hand.click(row(hand.page).first().locator(".time button"));
      await hand.click(button(hand.page, "Surrounding lines"));
      await hand.click(button(hand.page, "Full width"));
      await seen(hand.page.locator("tr-surrounding-lines li.row").nth(5));
      await becomes(
        () => hand.page.locator("tr-event-details").evaluate((details) => details.clientWidth),
        1_440,
      );
    },
  },
  {
    name: "show a field as a column, the largest first",
    look: "light",
    path: DISCOVER,
    actions: 3,
    run: async (hand) => {
      await hand.click(button(hand.page, "Column duration_ms"));
      await hand.click(
        hand.page
          .getByRole("columnheader", { name: /duration_ms/ })
          .getByRole("button")
          .first(),
      );
      await hand.click(hand.page.getByRole("menuitem", { name: "Sort descending" }));
      await hand.page.waitForURL(/sort=-duration_ms/);
      const number = row(hand.page).first().locator('[data-column="duration_ms"]');
      await becomes(
        () => number.evaluate((cell) => cell.computedStyleMap().get("text-align")?.toString()),
        "right",
      );
    },
  },
  {
    name: "choose how a field is shown, for everybody",
    look: "light",
    path: `${DISCOVER}&q=service:payment&cols=duration_ms`,
    actions: 5,
    run: async (hand) => {
      const { page } = hand;
      await seen(row(page));
      await hand.click(button(page, "Formats of the fields of logs-*"));
      const dialog = page.getByRole("dialog", { name: /^Formats of the fields/ });
      await hand.fill(dialog.getByLabel("Field"), "duration_ms");
      await hand.choose(dialog.getByLabel("Format of the values"), "bytes");
      await hand.press("Tab");
      await dialog.getByRole("button", { name: "Add" }).click();
      await seen(dialog.getByRole("listitem").filter({ hasText: "duration_ms" }));
      await hand.click(dialog.getByRole("button", { name: "Save" }));
      await seen(row(page).filter({ hasText: /\d k?B$/ }));
      await page.reload();
      await seen(row(page).filter({ hasText: /\d k?B$/ }));
    },
  },
  {
    name: "write what was found into a file, and go on",
    look: "dark",
    path: `${DISCOVER}&q=log.level:error`,
    actions: 2,
    run: async (hand, rest) => {
      await expectLines(hand.page, rest, "log.level:error");
      await hand.click(button(hand.page, "Export"));
      // Its end is in sight for a while only: whoever looks for it later may miss it.
      const tray = hand.page.getByRole("region", { name: /^Export logs-/ });
      const told = Promise.all([
        hand.page.waitForEvent("download"),
        seen(tray.getByText(/lines are saved$/)),
      ]);
      await hand.click(button(hand.page, /^NDJSON/));
      await hand.page.goto(hand.page.url().replace(/#.*/, "#/appearance"));
      await seen(hand.page.getByRole("group", { name: "Theme" }));
      const [download] = await told;
      const file = await readFile(await download.path(), "utf8");
      assert.equal(
        file.trimEnd().split("\n").length.toLocaleString("en"),
        await linesOf(rest, "log.level:error"),
      );
    },
  },
  {
    name: "keep a search and come back to it",
    look: "light",
    path: `${DISCOVER}&q=service:stock`,
    actions: 6,
    run: async (hand) => {
      const { page } = hand;
      await hand.click(button(page, "Saved"));
      await hand.click(button(page, /^Save this search/));
      await hand.fill(page.getByLabel("Title"), "Stock");
      await Promise.all([
        seen(page.getByText("Saved as “Stock”")),
        hand.click(page.getByRole("dialog").getByRole("button", { name: "Save" })),
      ]);
      await page.goto(page.url().replace(/#.*/, "#/discover"));
      await hand.click(button(page, "Saved"));
      await hand.click(page.getByRole("link", { name: "Stock", exact: true }));
      await page.waitForURL(/q=service:stock/);
    },
  },
  {
    name: "see where the time of a search went",
    look: "dark",
    path: DISCOVER,
    actions: 1,
    run: async (hand) => {
      await hand.click(button(hand.page, /^Explain/));
      await seen(hand.page.getByRole("dialog", { name: "Time breakdown" }).getByText("The hub searched"));
    },
  },
];
