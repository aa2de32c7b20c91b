import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { parseLogQl } from "#hub/api/logql/parser.ts";
import type { LogQuery, MetricQuery } from "#hub/api/logql/syntax.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { SearchRoutesFixture } from "#test/support/api/search-routes.ts";
import { LogSource } from "./log-source.ts";
import { lokiRoutes } from "./loki.ts";
import { evaluate } from "./metric-query.ts";

const START_MS = Date.UTC(2026, 0, 2, 10);
const SPAN = { startMs: START_MS, endMs: START_MS + 60_000 };
const DOCS: JsonObject[] = [
  { message: "an error in it" },
  { event: { original: "the error of another" } },
  { note: "error without a message" },
  { message: ["first", "second error"] },
  { message: `${"x".repeat(252)}error${"y".repeat(20)}` },
  { message: "nothing" },
].map((doc, n) => ({
  "@timestamp": new Date(START_MS + n * 1000).toISOString(),
  labels: { job: "a" },
  ...doc,
}));
const MAPPING = {
  properties: {
    "@timestamp": { type: "date" },
    message: { type: "text" },
    labels: { properties: { job: { type: "keyword" } } },
  },
};

let parts: ApiContext | undefined;
const fixture = new SearchRoutesFixture({
  docs: DOCS,
  mapping: MAPPING,
  routes: (given) => {
    parts = given;
    return lokiRoutes(given);
  },
});
after(() => fixture.close());

/** Searches that a source made, as bodies. */
async function sourceWith(limits?: {
  lines: number;
  timeMs: number;
}): Promise<{ source: LogSource; bodies: JsonObject[] }> {
  await fixture.send("GET", "/loki/api/v1/labels");
  const bodies: JsonObject[] = [];
  const { shards } = parts!;
  const counted = {
    check: shards.check.bind(shards),
    search: (...call: Parameters<typeof shards.search>) => {
      bodies.push(call[0].body as JsonObject);
      return shards.search(...call);
    },
  } as unknown as ApiContext["shards"];
  const request = { signal: new AbortController().signal } as ApiRequest;
  return { source: new LogSource({ ...parts!, shards: counted }, request, limits), bodies };
}

async function linesOf(source: LogSource, query: string, pageSize?: number): Promise<number[]> {
  const found: number[] = [];
  const add = ({ timeMs }: { timeMs: number }): boolean => found.push((timeMs - START_MS) / 1000) > 0;
  await source.read(parseLogQl(query) as LogQuery, SPAN, "asc", add, pageSize);
  return found;
}

test("a word is found in each line that has it, whatever the line is made of", async () => {
  const { source, bodies } = await sourceWith();
  assert.deepEqual(await linesOf(source, '{job="a"} |= "error"'), [0, 1, 2, 3, 4]);
  assert.match(JSON.stringify(bodies[0]), /\*error\*/, "the index is asked for the word");
  assert.deepEqual(await linesOf(source, `{job="a"} |= "${"x".repeat(252)}error${"y".repeat(9)}"`), [4]);
});

test("matchers are resolved once for all pages", async () => {
  const { source, bodies } = await sourceWith();
  assert.deepEqual(await linesOf(source, '{job=~"a.*"}', 2), [0, 1, 2, 3, 4, 5]);
  assert.equal(bodies.filter(({ aggs }) => aggs !== undefined).length, 1);
});

test("all reads of a request share its limit of lines and its deadline", async () => {
  const steps = [SPAN.endMs];
  const query = (text: string): MetricQuery => parseLogQl(text) as MetricQuery;
  const once = 'sum(bytes_over_time({job="a"}[1m]))';
  const limits = { lines: 11, timeMs: 60_000 };
  await evaluate((await sourceWith(limits)).source, query(once), steps);
  await assert.rejects(
    evaluate((await sourceWith(limits)).source, query(`${once} + ${once} + ${once}`), steps),
    /read more than 11 lines/,
  );
  const late = evaluate((await sourceWith({ lines: 11, timeMs: 0 })).source, query(once), steps);
  await assert.rejects(late, (error) => error instanceof AppError && error.code === "timeout");
});
