/**
 * The numbers that pages show beside those of the search interface, over 2 million lines while others arrive. Each number
 * of lines must lie between what the interface counts before and after it was read, so that a page that shows an old or an
 * estimated number is found.
 */

import { appendFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { restOf } from "#test/e2e/tasks/all.ts";
import type { Rest } from "#test/e2e/tasks/dashboard-task.ts";
import { becomesTrue } from "#test/harness/becomes.ts";
import { ask } from "#test/harness/http.ts";
import { addPlacesAndDashboards, openShop, type Shop } from "#test/harness/shop.ts";
import { type Benchmark, type BenchmarkContext, type Case, measureCases, type Result } from "./benchmark.ts";

const LINES = 2_000_000;
const BODY_LINES = 5_000;
const INDEX = "logs-many";
/** One line each, by the agent, while pages are read. */
const LIVE_EVERY_MS = 50;
const SERVICES = ["checkout", "payment", "stock", "search", "cart"] as const;
const LEVELS = ["info", "info", "info", "debug", "warn", "error"] as const;
const STATUSES = [200, 200, 200, 404, 502] as const;
/** The lines' times: the three hours before the start. */
const SPAN_MS = 3 * 3_600_000;
const RANGE = "from=now-6h";

/** Reads a number off a page, and asks for the same one. */
interface Check {
  readonly name: string;
  readonly path: string;
  readonly read: (page: Page) => Promise<string | null>;
  readonly ask: (rest: Rest) => Promise<number>;
}

export const numbers: Benchmark = {
  name: "numbers",
  about: "numbers of the pages against the search interface, on 2,000,000 lines with live ones",
  async run(context) {
    const { workspace, scale, docs, progress } = context;
    const shop = await openShop(workspace, Math.round(4_000 * Math.min(1, scale)));
    await addPlacesAndDashboards(shop.hub);
    const lines = docs ?? Math.round(LINES * scale);
    progress(`${lines} lines into ${INDEX}`);
    await putLines(shop.hub.searchUrl, lines);
    const live = setInterval(() => appendFileSync(shop.servicesFile, liveLine()), LIVE_EVERY_MS);
    workspace.defer(() => clearInterval(live));
    const page = await shop.browser.newPage({ viewport: { width: 1440, height: 900 }, locale: "en" });
    return measureCases(
      CHECKS.map((check) => caseOf(check, shop, page, context)),
      context,
    );
  },
};

function caseOf(check: Check, { hub }: Shop, page: Page, { progress }: BenchmarkContext): Case {
  const rest = restOf(hub.searchUrl);
  return {
    name: check.name,
    measure: async () => {
      progress(check.name);
      return [await compare(check, page, hub.dashboardUrl, rest)];
    },
  };
}

/** Returns how far the page's number is outside what the interface counted before and after. */
async function compare(check: Check, page: Page, url: string, rest: Rest): Promise<Result> {
  const before = await check.ask(rest);
  await page.goto("about:blank");
  await page.goto(`${url}/#/${check.path}`);
  let shown = Number.NaN;
  const isShown = (text: string | null): boolean => {
    shown = Number((text ?? "").replaceAll(/[^\d.]/g, "") || Number.NaN);
    return !Number.isNaN(shown);
  };
  await becomesTrue(`a number for ${check.name}`, () => check.read(page), isShown);
  const after = await check.ask(rest);
  const [least, most] = [Math.min(before, after), Math.max(before, after)];
  const away = Math.max(0, least - shown, shown - most);
  const name = `${check.name}: ${shown} on the page, ${least} to ${most} asked`;
  return { case: name, value: away, unit: "difference", reference: null, target: { atMost: 0 } };
}

const countOf = async (rest: Rest, query: string): Promise<number> => {
  const recent = `(${query}) AND @timestamp:[now-6h TO now]`;
  const { count } = await rest(`/logs-*/_count?q=${encodeURIComponent(recent)}`);
  return Number(count);
};

const first = (page: Page, selector: string): Promise<string | null> =>
  page
    .locator(selector)
    .first()
    .textContent({ timeout: 1_000 })
    .catch(() => null);

/** The number at the beginning of a page's summary, once no part of the search is missing. */
const found = async (page: Page): Promise<string | null> =>
  /^([\d,]+) lines? in [\d,]+ ms/.exec((await first(page, ".status [role=status]")) ?? "")?.[1] ?? null;

const cell = (page: Page, row: string, column: number): Promise<string | null> =>
  page
    .getByRole("row")
    .filter({ hasText: row })
    .first()
    .getByRole("cell")
    .nth(column)
    .textContent({ timeout: 1_000 })
    .catch(() => null);

const panel = (page: Page, name: string): Promise<string | null> =>
  page
    .getByRole("region", { name, exact: true })
    .locator(".number b")
    .getAttribute("title", { timeout: 1_000 })
    .catch(() => null);

async function docsOf(rest: Rest): Promise<number> {
  const { indices } = (await rest(`/${INDEX}/_stats/docs`)) as {
    indices: Record<string, { primaries: { docs: { count: number } } }>;
  };
  return indices[INDEX]!.primaries.docs.count;
}

/** A range in which no line is added any more. */
const FROM = new Date(Date.now() - 2.5 * 3_600_000).toISOString();
const TO = new Date(Date.now() - 0.5 * 3_600_000).toISOString();
const metric = encodeURIComponent("formula:count(log.level:error) / count() * 100");

const CHECKS: readonly Check[] = [
  { name: "Discover, all lines", path: `discover?${RANGE}`, read: found, ask: (rest) => countOf(rest, "*") },
  {
    name: "Discover, a query and a filter",
    path: `discover?${RANGE}&q=log.level:error&f=service:payment`,
    read: found,
    ask: (rest) => countOf(rest, "log.level:error AND service:payment"),
  },
  {
    name: "Discover, a value of a field",
    path: `discover?${RANGE}&f=service:stock`,
    read: found,
    ask: (rest) => countOf(rest, "service:stock"),
  },
  {
    name: "Visualise, a number",
    path: `visualise?${RANGE}&chart=number&q=log.level:warn`,
    read: (page) =>
      page
        .locator("tr-chart .number b")
        .getAttribute("title", { timeout: 1_000 })
        .catch(() => null),
    ask: (rest) => countOf(rest, "log.level:warn"),
  },
  {
    name: "Visualise, a row of a table",
    path: `visualise?${RANGE}&chart=table&by=terms:10:service`,
    read: (page) => cell(page, "payment", 0),
    ask: (rest) => countOf(rest, "service:payment"),
  },
  {
    name: "Visualise, a formula in percent",
    path: `visualise?from=${FROM}&to=${TO}&index=${INDEX}&chart=number&metric=${metric}&unit=percent`,
    read: (page) => first(page, "tr-chart .number b"),
    ask: async (rest) => {
      const range = `@timestamp:[${FROM} TO ${TO}}`;
      const share = async (query: string): Promise<number> =>
        Number((await rest(`/${INDEX}/_count?q=${encodeURIComponent(query)}`))["count"]);
      const part = (await share(`log.level:error AND ${range}`)) / (await share(range));
      // As the page writes it: five digits, three of them fractions at most.
      return Math.round(Number((part * 100).toPrecision(5)) * 1_000) / 1_000;
    },
  },
  {
    name: "a dashboard, requests",
    path: `dashboards?id=access-logs&${RANGE}&to=now`,
    read: (page) => panel(page, "Requests"),
    ask: (rest) => countOf(rest, "http.response.status_code:*"),
  },
  {
    name: "a dashboard, server errors",
    path: `dashboards?id=access-logs&${RANGE}&to=now`,
    read: (page) => panel(page, "Server errors"),
    ask: (rest) => countOf(rest, "http.response.status_code:>=500"),
  },
  {
    name: "Indices, documents",
    path: "indices",
    read: (page) => cell(page, INDEX, 2),
    ask: docsOf,
  },
  {
    name: "Cluster, unassigned copies",
    path: "cluster",
    read: async (page) => {
      const shown = await page.getByRole("img", { name: /^Primary of shard/ }).count();
      return shown === 0 ? null : String(await page.getByRole("img", { name: /: unassigned$/ }).count());
    },
    ask: async (rest) => Number((await rest("/_cluster/health"))["unassigned_shards"]),
  },
  {
    name: "Console, a count",
    path: `console?request=${encodeURIComponent("GET logs-*/_count")}`,
    read: async (page) => {
      const answer = page.locator("article tr-json-view");
      if ((await answer.count()) === 0)
        await page.getByRole("textbox", { name: "Requests" }).press("Control+Enter");
      // The answer's first number.
      const number = answer.getByText(/^\d+$/).first();
      return number.textContent({ timeout: 2_000 }).catch(() => null);
    },
    ask: async (rest) => Number((await rest("/logs-*/_count"))["count"]),
  },
];

async function putLines(url: string, lines: number): Promise<void> {
  const endMs = Date.now();
  for (let from = 0; from < lines; from += BODY_LINES) {
    const count = Math.min(BODY_LINES, lines - from);
    const body = Array.from({ length: count }, (_, at) => lineOf(from + at, lines, endMs)).join("");
    const { errors } = await ask<{ errors: boolean }>("POST", `${url}/${INDEX}/_doc/_bulk`, body);
    if (errors) throw new Error("a bulk request had errors");
  }
  await ask("POST", `${url}/${INDEX}/_refresh`);
}

/** The line of a number, the same in each run except for its time. */
function lineOf(number: number, lines: number, endMs: number): string {
  const source = {
    "@timestamp": new Date(endMs - Math.floor(((lines - number) / lines) * SPAN_MS)).toISOString(),
    message: `request ${number} of ${SERVICES[number % SERVICES.length]} took ${number % 997} ms`,
    service: SERVICES[(number * 7) % SERVICES.length],
    log: { level: LEVELS[((number * 5) % 31) % LEVELS.length] },
    http: { response: { status_code: STATUSES[((number * 3) % 17) % STATUSES.length] } },
    duration_ms: number % 997,
  };
  return `{"index":{}}\n${JSON.stringify(source)}\n`;
}

function liveLine(): string {
  const level = LEVELS[Date.now() % LEVELS.length];
  return `${JSON.stringify({ "@timestamp": new Date().toISOString(), level, service: "payment", message: "a live line" })}\n`;
}
