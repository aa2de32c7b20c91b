/**
 * What pages show is what the search interface answers, over TAILRACE_PAGE_LINES lines (20,000 where it isn't set) while
 * further ones come.
 */

import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { becomes } from "#test/harness/becomes.ts";
import { ask } from "#test/harness/http.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { openWorkPages, putLines, type WorkPages } from "./ui-work-pages.ts";

const LINES = Number(process.env["TAILRACE_PAGE_LINES"] ?? 20_000);
/** In a request, some MB. */
const BATCH = 5_000;
const SPAN_MS = 6 * 3_600_000;
/** Of the lines that are there from the start; those that come are newer. */
const TO_MS = Date.now() - 3_600_000;
const FROM_MS = TO_MS - SPAN_MS;
const RANGE = `from=${new Date(FROM_MS).toISOString()}&to=${new Date(TO_MS).toISOString()}`;
const INDEX = "numbers-*";
const LEVELS = ["info", "info", "info", "debug", "warn", "error"];
const SERVICES = ["cart", "checkout", "payment", "stock"];
const LIVE_MS = 50;

interface Bucket {
  readonly key: number | string;
  readonly doc_count: number;
  readonly inner?: { readonly buckets: readonly Bucket[] };
}

interface Answer {
  readonly hits: { readonly total: number };
  readonly aggregations: Readonly<Record<string, { buckets: readonly Bucket[]; value: number }>>;
}

const workspace = new Workspace();
let pages: WorkPages;
let isStopped = false;
let live: Promise<void>;

before(async () => {
  pages = await openWorkPages(workspace);
  const { searchUrl } = pages.hub;
  for (let first = 0; first < LINES; first += BATCH)
    await putLines(
      searchUrl,
      `numbers-${(first / BATCH) % 3}`,
      Array.from({ length: Math.min(BATCH, LINES - first) }, (_, at) => lineOf(first + at)),
      first,
    );
  live = addLines(searchUrl);
});

after(async () => {
  isStopped = true;
  await live;
  await workspace.close();
});

/** The same for the same number; times are spread, and not in their order. */
function lineOf(number: number): object {
  return {
    "@timestamp": new Date(FROM_MS + ((number * 7_919) % LINES) * (SPAN_MS / LINES)).toISOString(),
    message: `order ${number % 977} of ${SERVICES[number % 4]}`,
    log: { level: LEVELS[Math.floor(number / 4) % 6] },
    service: SERVICES[(number * 13) % 4],
    took: (number * 31) % 1_009,
  };
}

/** Adds lines of now, one after another, until the end. */
async function addLines(searchUrl: string): Promise<void> {
  for (let number = 0; !isStopped; number++) {
    const line = { ...lineOf(number), "@timestamp": new Date().toISOString() };
    await putLines(searchUrl, "numbers-live", [line], number);
    await new Promise((resolve) => setTimeout(resolve, LIVE_MS));
  }
}

/** Searches in the range that pages show. */
function search(aggs: object, query = "*"): Promise<Answer> {
  const range = { range: { "@timestamp": { gte: FROM_MS, lt: TO_MS, format: "epoch_millis" } } };
  const must = [{ query_string: { query } }, range];
  return ask<Answer>("POST", `${pages.hub.searchUrl}/${INDEX}/_search`, {
    size: 0,
    query: { bool: { must } },
    aggs,
  });
}

const shown = (number: number): string => number.toLocaleString("en");

/** An expression: the buckets that the histogram draws, as [start, lines, errors]. */
const DRAWN = `document.querySelector("tr-app").shadowRoot.querySelector("tr-page-discover").shadowRoot
  .querySelector("tr-discover-results").shadowRoot.querySelector("tr-histogram").histogram?.buckets
  .map(({ startMs, total, levels }) => [startMs, total, levels[5]])`;

/** Compares the number of lines and each step of the histogram. */
async function expectDiscover(page: Page, query: string): Promise<void> {
  const times = {
    date_histogram: { field: "@timestamp", interval: "5m" },
    aggs: { inner: { terms: { field: "log.level.keyword" } } },
  };
  const { hits, aggregations } = await search({ times }, query);
  await page
    .getByText(new RegExp(`^${shown(hits.total)} lines in `))
    .first()
    .waitFor();
  const expected = aggregations["times"]!.buckets.map(({ key, doc_count, inner }) => {
    const errors = inner!.buckets.find((bucket) => bucket.key === "error")?.doc_count ?? 0;
    return [key, doc_count, errors];
  });
  // The number of lines comes before the histogram, which is that of the step or query before until then.
  await becomes(
    async () => (await page.evaluate<number[][]>(DRAWN)).filter(([, total]) => total! > 0),
    expected.filter(([, total]) => Number(total) > 0) as number[][],
  );
}

test("Discover's number of lines and its histogram, for all lines and for a query", () =>
  pages.visit(`#/discover?index=${INDEX}&${RANGE}`, async (page) => {
    await page.locator("tr-histogram select").selectOption("5m");
    await page.waitForURL(/step=5m/);
    await expectDiscover(page, "*");
    const query = "service:payment AND took:>500";
    await page.getByRole("combobox", { name: "Query" }).fill(query);
    await page.keyboard.press("Enter");
    await expectDiscover(page, query);
  }));

test("the values of a field beside the lines", () =>
  pages.visit(`#/discover?index=${INDEX}&${RANGE}`, async (page) => {
    const list = page.locator("tr-field-list");
    await list.getByRole("button", { name: "service", exact: false, expanded: false }).first().click();
    const { hits, aggregations } = await search({ services: { terms: { field: "service.keyword" } } });
    await list.getByText(`In ${shown(hits.total)} lines`).waitFor();
    for (const { key, doc_count } of aggregations["services"]!.buckets) {
      const value = list.locator(".value").filter({ hasText: String(key) });
      await becomes(() => value.locator(".muted").textContent(), new RegExp(`^${shown(doc_count)} `));
    }
  }));

test("the cells of a table of two fields, and a sum", () =>
  pages.visit(
    `#/visualise?index=${INDEX}&${RANGE}&chart=table&by=terms:10:service.keyword&split=5:log.level.keyword`,
    async (page) => {
      const inner = { terms: { field: "log.level.keyword" } };
      const { aggregations } = await search({
        services: { terms: { field: "service.keyword" }, aggs: { inner } },
        sum: { sum: { field: "took" } },
      });
      for (const { key, inner: levels } of aggregations["services"]!.buckets) {
        const row = page.locator("tr-chart tbody tr").filter({ hasText: String(key) });
        const heads = async (): Promise<string[]> =>
          (await page.locator("tr-chart thead th").allTextContents()).slice(1);
        const cells = async (): Promise<unknown> => {
          const texts = await row.locator("td").allTextContents();
          return Object.fromEntries((await heads()).map((name, at) => [name, texts[at]]));
        };
        await becomes(
          cells,
          Object.fromEntries(levels!.buckets.map((one) => [one.key, shown(one.doc_count)])),
        );
      }
      await page.goto(
        `${pages.hub.dashboardUrl}/#/visualise?index=${INDEX}&${RANGE}&chart=number&metric=sum:took`,
      );
      const number = page.locator("tr-chart .number b");
      await becomes(() => number.textContent(), shown(aggregations["sum"]!.value));
    },
  ));

test("the documents of each index", () =>
  pages.visit("#/indices", async (page) => {
    for (const name of ["numbers-0", "numbers-1", "numbers-2"]) {
      const { count } = await ask<{ count: number }>("GET", `${pages.hub.searchUrl}/${name}/_count`);
      const row = page.getByRole("row").filter({ hasText: name });
      await row.getByText(shown(count), { exact: true }).waitFor();
    }
  }));

test("lines that come meanwhile: what a page counts is between what was there before and after it asked", () =>
  pages.visit(`#/discover?index=${INDEX}&from=now-30m`, async (page) => {
    const count = async (): Promise<number> =>
      (await ask<{ count: number }>("GET", `${pages.hub.searchUrl}/numbers-live/_count`)).count;
    const status = page.getByText(/^[\d,]+ lines in /).first();
    await status.waitFor();
    const shownCount = async (): Promise<number> =>
      Number((await status.textContent())!.split(" ", 1)[0]!.replaceAll(",", ""));
    for (let round = 0; round < 3; round++) {
      const before = await count();
      await page.getByRole("button", { name: "Search again" }).click();
      // The answer to an earlier request, which is smaller, may be shown first.
      const isBetween = async (): Promise<boolean> => {
        const found = await shownCount();
        return found >= before && found <= (await count());
      };
      await becomes(isBetween, true);
    }
  }));
