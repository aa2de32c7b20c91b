/** Tasks: finding lines in Discover. */

import { becomes } from "#test/harness/becomes.ts";
import { button, type DashboardTask, DISCOVER, expectLines, linesOf, row, seen } from "./dashboard-task.ts";

export const FINDING: readonly DashboardTask[] = [
  {
    name: "see how many lines there are",
    look: "light",
    path: DISCOVER,
    actions: 0,
    run: ({ page }, rest) => expectLines(page, rest),
  },
  {
    name: "find errors by keys alone",
    look: "dark",
    path: DISCOVER,
    actions: 3,
    run: async (hand, rest) => {
      await seen(row(hand.page));
      await hand.press("/");
      await hand.type("log.level:error");
      await hand.press("Enter");
      await expectLines(hand.page, rest, "log.level:error");
    },
  },
  {
    name: "keep one service by its value in the list of fields",
    look: "light",
    path: DISCOVER,
    actions: 2,
    run: async (hand, rest) => {
      await hand.click(button(hand.page, /^.? ?service$/));
      await hand.click(button(hand.page, "Filter for service payment"));
      await expectLines(hand.page, rest, "service:payment");
    },
  },
  {
    name: "go through the fields by keys, the list being one stop",
    look: "dark",
    path: DISCOVER,
    actions: 5,
    run: async (hand) => {
      const { page } = hand;
      await seen(row(page));
      await seen(page.locator("tr-field-list .field").nth(3));
      await hand.press("f", "Tab", "ArrowDown", "ArrowRight", "Enter");
      await page.waitForURL(/cols=/);
      await becomes(() => page.locator('tr-field-list .list button[tabindex="0"]').count(), 1);
    },
  },
  {
    name: "leave a service out, and take that back",
    look: "dark",
    path: `${DISCOVER}&f=-service:payment`,
    actions: 1,
    run: async (hand, rest) => {
      await expectLines(hand.page, rest, "NOT service:payment");
      await hand.click(button(hand.page, /^Remove filter/));
      await expectLines(hand.page, rest);
    },
  },
  {
    name: "correct a filter's value",
    look: "phone",
    path: `${DISCOVER}&f=service:paymen`,
    actions: 3,
    run: async (hand, rest) => {
      await hand.click(button(hand.page, "Edit filter service: paymen"));
      await hand.fill(hand.page.getByRole("textbox", { name: "Value" }), "payment");
      await hand.press("Enter");
      await expectLines(hand.page, rest, "service:payment");
    },
  },
  {
    name: "accept one of two filters",
    look: "dark",
    path: `${DISCOVER}&f=service:payment&f=service:stock`,
    actions: 1,
    run: async (hand, rest) => {
      await hand.click(button(hand.page, "service: payment and service: stock: accept either"));
      await expectLines(hand.page, rest, "service:payment OR service:stock");
    },
  },
  {
    name: "leave out a cell's value by keys",
    look: "light",
    path: `${DISCOVER}&q=service:payment&cols=service,message`,
    actions: 4,
    run: async (hand) => {
      await seen(row(hand.page));
      await hand.press("j", "ArrowRight", "ArrowRight", "-");
      await hand.page.waitForURL(/f=-service:payment/);
    },
  },
  {
    name: "keep the value of a cell that is pointed at",
    look: "dark",
    path: `${DISCOVER}&q=service:stock&cols=service,message`,
    actions: 1,
    run: async (hand, rest) => {
      await row(hand.page).first().locator('[data-column="service"]').hover();
      await hand.click(
        hand.page.locator(".cell-tools").getByRole("button", { name: "Filter for this service" }),
      );
      await hand.page.waitForURL(/f=service:stock/);
      await expectLines(hand.page, rest, "service:stock");
    },
  },
  {
    name: "come back to a query of before",
    look: "phone",
    path: DISCOVER,
    actions: 6,
    run: async (hand, rest) => {
      const query = hand.page.getByRole("combobox", { name: "Query" });
      for (const text of ["service:payment", "service:stock"]) {
        await hand.fill(query, text);
        await hand.press("Enter");
        await expectLines(hand.page, rest, text);
      }
      await hand.click(button(hand.page, "Recent queries"));
      await hand.click(hand.page.getByRole("option", { name: /^service:payment/ }));
      await hand.page.keyboard.press("Enter");
      await expectLines(hand.page, rest, "service:payment");
    },
  },
  {
    name: "invert a filter",
    look: "light",
    path: `${DISCOVER}&f=service:payment`,
    actions: 2,
    run: async (hand, rest) => {
      await hand.click(button(hand.page, "Edit filter service: payment"));
      await hand.click(button(hand.page, "Invert"));
      await expectLines(hand.page, rest, "NOT service:payment");
    },
  },
  {
    name: "put two searches side by side",
    look: "4k",
    path: `${DISCOVER}&q=service:stock`,
    actions: 3,
    run: async (hand, rest) => {
      await seen(row(hand.page));
      await hand.click(button(hand.page, "Compare"));
      const right = hand.page.getByRole("region", { name: "Right search" });
      await hand.fill(right.getByRole("combobox", { name: "Query" }), "service:payment");
      await hand.press("Enter");
      await seen(right.getByText(new RegExp(`^${await linesOf(rest, "service:payment")} lines in `)));
      const left = hand.page.getByRole("region", { name: "Left search" });
      await seen(left.getByText(new RegExp(`^${await linesOf(rest, "service:stock")} lines in `)));
    },
  },
  {
    name: "keep a filter for new searches, and let it go",
    look: "200 %",
    path: `${DISCOVER}&f=service:stock`,
    actions: 4,
    run: async (hand) => {
      const { page } = hand;
      const edit = button(page, "Edit filter service: stock");
      const pin = page.getByRole("button", { name: "Pin" });
      await hand.click(edit);
      await hand.click(pin);
      await seen(page.getByRole("button", { name: "Pin", pressed: true }));
      await page.goto(page.url().replace(/#.*/, "#/appearance"));
      await seen(page.getByRole("heading", { name: "Appearance" }));
      await page.goto(page.url().replace(/#.*/, "#/discover"));
      await page.waitForURL(/f=service:stock/);
      await hand.click(edit);
      await hand.click(pin);
      await seen(page.getByRole("button", { name: "Pin", pressed: false }));
    },
  },
  {
    name: "see few lines beside many",
    look: "dark",
    path: DISCOVER,
    actions: 1,
    run: async (hand) => {
      await hand.click(button(hand.page, "Log scale"));
      await hand.page.waitForURL(/scale=log/);
      await seen(hand.page.getByRole("button", { name: "Log scale", pressed: true }));
    },
  },
  {
    name: "see what kinds of errors there are",
    look: "light",
    path: `${DISCOVER}&q=log.level:error`,
    actions: 1,
    run: async (hand) => {
      await hand.click(button(hand.page, "Patterns"));
      const patterns = hand.page.getByRole("list", { name: /^Patterns/ });
      await seen(patterns.getByText(/not paid: upstream timed out after/));
      await seen(patterns.getByText(/is gone: session expired/));
    },
  },
  {
    name: "read the lines of one pattern",
    look: "dark",
    path: `${DISCOVER}&q=log.level:error&view=patterns`,
    actions: 1,
    run: async (hand, rest) => {
      const item = hand.page.getByRole("listitem").filter({ hasText: "session expired" });
      await hand.click(item.getByRole("button", { name: "Show the lines of this pattern" }));
      await expectLines(hand.page, rest, 'log.level:error AND message:"is gone: session expired"');
      await seen(row(hand.page).filter({ hasText: "session expired" }));
    },
  },
  {
    name: "leave a pattern out",
    look: "phone",
    path: `${DISCOVER}&q=log.level:error&view=patterns`,
    actions: 1,
    run: async (hand) => {
      const item = hand.page.getByRole("listitem").filter({ hasText: "session expired" });
      await hand.click(item.getByRole("button", { name: "Leave out the lines of this pattern" }));
      await item.waitFor({ state: "detached" });
      await seen(hand.page.getByText(/upstream timed out after/));
    },
  },
  {
    name: "see lines for each five minutes",
    look: "4k",
    path: DISCOVER,
    actions: 1,
    run: async (hand) => {
      await hand.choose(hand.page.getByLabel("Lines per"), "5m");
      await hand.page.waitForURL(/step=5m/);
      await seen(hand.page.locator('tr-histogram .plot[aria-label*=" in 37 steps"]'));
    },
  },
  {
    name: "look at a longer time",
    look: "200 %",
    path: DISCOVER,
    actions: 1,
    run: async (hand) => {
      await seen(row(hand.page));
      await hand.click(button(hand.page, "Zoom out"));
      await hand.page.waitForURL(/from=\d{4}-/);
      await seen(row(hand.page));
    },
  },
  {
    name: "choose the last hour by keys",
    look: "light",
    path: DISCOVER,
    actions: 2,
    run: async (hand) => {
      await seen(row(hand.page));
      await hand.press("t");
      await hand.click(button(hand.page, "Last hour"));
      await hand.page.waitForURL(/from=now-1h/);
    },
  },
  {
    name: "come from an empty range to the newest lines",
    look: "phone",
    path: "discover?from=now-30d&to=now-29d",
    actions: 1,
    run: async (hand) => {
      await hand.click(button(hand.page, /Jump to the newest data/));
      await seen(row(hand.page));
    },
  },
];
