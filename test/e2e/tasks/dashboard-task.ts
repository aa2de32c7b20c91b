/** What a task on the dashboard is: from an address to what its person wanted to see, with the actions it takes. */

import type { Locator, Page } from "playwright-core";

/** The screens that tasks are done on. */
export const LOOKS = {
  light: { width: 1440, height: 900, theme: "light", scale: 1 },
  dark: { width: 1440, height: 900, theme: "dark", scale: 1 },
  phone: { width: 390, height: 844, theme: "light", scale: 1 },
  "4k": { width: 3840, height: 2160, theme: "dark", scale: 1 },
  "200 %": { width: 720, height: 450, theme: "light", scale: 2 },
} as const;
export type Look = keyof typeof LOOKS;

/** A person's hand on a page: what is done, counted. */
export class Hand {
  readonly page: Page;
  actions = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async click(target: Locator): Promise<void> {
    this.actions += 1;
    await target.click();
  }

  /** Presses keys, one after another. */
  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.actions += 1;
      await this.page.keyboard.press(key);
    }
  }

  /** Types a text where the focus is. */
  async type(text: string): Promise<void> {
    this.actions += 1;
    await this.page.keyboard.type(text);
  }

  async fill(target: Locator, text: string): Promise<void> {
    this.actions += 1;
    await target.fill(text);
  }

  async choose(target: Locator, value: string): Promise<void> {
    this.actions += 1;
    await target.selectOption(value);
  }
}

/** Asks the search interface over HTTP; what pages show must be the same. */
export type Rest = (path: string) => Promise<Readonly<Record<string, unknown>>>;

export interface DashboardTask {
  readonly name: string;
  readonly look: Look;
  /** Where it begins, behind `#/`. */
  readonly path: string;
  /** Actions that it takes: more than these are a step back. */
  readonly actions: number;
  readonly run: (hand: Hand, rest: Rest) => Promise<void>;
}

/** Discover with all lines of the shop. */
export const DISCOVER = "discover?from=now-3h";

/** The first button of a name. */
export const button = (page: Page, name: string | RegExp): Locator =>
  page.getByRole("button", { name }).first();

/** Lines in sight. */
export const row = (page: Page): Locator => page.locator("tr-event-table .row:visible");

/** Resolves when it is in sight. */
export const seen = (where: Locator): Promise<void> => where.first().waitFor();

/** Returns how many lines a query finds, as pages write it. */
export async function linesOf(rest: Rest, query = "*"): Promise<string> {
  const { count } = await rest(`/logs-*/_count?q=${encodeURIComponent(query)}`);
  return Number(count).toLocaleString("en");
}

/** Resolves when the page has found as many lines as the search interface counts. */
export async function expectLines(page: Page, rest: Rest, query?: string): Promise<void> {
  await seen(page.getByText(new RegExp(`^${await linesOf(rest, query)} lines in `)));
}
