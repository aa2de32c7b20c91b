import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunCall } from "./run-call.ts";
import { searchInParts } from "./search-parts.ts";

interface Line {
  readonly index: string;
  readonly at: number;
  readonly level: string;
}

const NAMES = ["logs-1", "logs-2", "logs-3", "logs-4", "logs-5"];
const LINES: readonly Line[] = Array.from({ length: 50 }, (_, at) => ({
  index: NAMES[(at * 7) % 5]!,
  at: at % 23,
  level: at % 3 === 0 ? "error" : "info",
}));

const BODY = JSON.stringify({
  size: 4,
  query: {},
  sort: [{ "@timestamp": { order: "desc" } }],
  aggs: {
    times: {
      date_histogram: { field: "@timestamp", interval: "5ms", min_doc_count: 0 },
      aggs: { levels: { terms: { field: "level", size: 20 } } },
    },
  },
});

/** Answers as a search interface over LINES. */
function interfaceOver(lines: readonly Line[], asked: string[] = []): RunCall {
  return ({ path }) => {
    asked.push(path);
    if (path.includes("_search_shards"))
      return Promise.resolve({
        status: 200,
        body: JSON.stringify({ indices: Object.fromEntries(NAMES.map((name) => [name, {}])) }),
      });
    const [, names] = /^\/es\/([^/]+)\/_search\?/.exec(path)!;
    const found = lines.filter(({ index }) => names === "logs-*" || names!.split(",").includes(index));
    return Promise.resolve({ status: 200, body: JSON.stringify(answerOf(found)) });
  };
}

function answerOf(found: readonly Line[]): object {
  const buckets = [0, 5, 10, 15, 20].map((key) => {
    const inside = found.filter(({ at }) => at >= key && at < key + 5);
    const count = (level: string): number => inside.filter((line) => line.level === level).length;
    const levels = ["info", "error"].map((level) => ({ key: level, doc_count: count(level) }));
    return { key, doc_count: inside.length, levels: { buckets: levels.filter((one) => one.doc_count > 0) } };
  });
  const hits = found.toSorted((a, b) => b.at - a.at || (a.index < b.index ? 1 : -1)).slice(0, 4);
  return {
    took: 1,
    timed_out: false,
    _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
    hits: {
      total: found.length,
      max_score: null,
      hits: hits.map(({ index, at }) => ({ index, sort: [at] })),
    },
    aggregations: { times: { buckets } },
  };
}

interface Found {
  readonly hits: { readonly total: number; readonly hits: readonly { readonly sort: readonly number[] }[] };
  readonly aggregations: { readonly times: { readonly buckets: readonly object[] } };
}

const run = (over: RunCall, body: string, parts: [number, number][] = []) =>
  searchInParts(
    { run: over, index: "logs-*", body, partMinMs: 0, signal: new AbortController().signal },
    (_, done, of) => parts.push([done, of]),
  );

test("the parts of a search add up to the answer over all indices", async () => {
  const asked: string[] = [];
  const parts: [number, number][] = [];
  const { status, body } = await run(interfaceOver(LINES, asked), BODY, parts);
  const found = JSON.parse(body) as Found;
  const whole = JSON.parse(JSON.stringify(answerOf(LINES))) as Found;
  assert.equal(status, 200);
  assert.equal(found.hits.total, whole.hits.total);
  assert.deepEqual(
    found.hits.hits.map(({ sort }) => sort),
    whole.hits.hits.map(({ sort }) => sort),
  );
  assert.deepEqual(found.aggregations.times.buckets, whole.aggregations.times.buckets);
  assert.deepEqual(parts, [
    [1, 5],
    [3, 5],
  ]);
  assert.match(asked[1]!, /^\/es\/logs-5\//);
  assert.match(asked[2]!, /^\/es\/logs-4,logs-3\//);
});

const WHOLE: readonly (readonly [why: string, body: object])[] = [
  ["an aggregation of another kind", { size: 0, aggs: { values: { terms: { field: "a" } } } }],
  ["rows in no order of their own", { size: 3, query: {} }],
  ["a part that isn't known", { size: 0, highlight: {} }],
];

test("a search whose answers can't be joined runs in one piece", async () => {
  for (const [why, body] of WHOLE) {
    const asked: string[] = [];
    await run(interfaceOver(LINES, asked), JSON.stringify(body));
    assert.deepEqual(
      asked.map((path) => path.split("?")[0]),
      ["/es/logs-*/_search"],
      why,
    );
  }
});

test("a part that fails is the answer, and rows without a value come last", async () => {
  const failing: RunCall = (request, signal) =>
    request.path.includes("logs-4")
      ? Promise.resolve({ status: 400, body: "{}" })
      : interfaceOver(LINES)(request, signal);
  assert.equal((await run(failing, BODY)).status, 400);
  const values: Readonly<Record<string, number | null>> = { "logs-5": null, "logs-4": 3, "logs-3": 9 };
  const sorted: RunCall = (request, signal) => {
    if (request.path.includes("_search_shards")) return interfaceOver(LINES)(request, signal);
    const hits = Object.entries(values).filter(([name]) => request.path.includes(name));
    const answer = {
      ...answerOf([]),
      hits: { total: 0, hits: hits.map(([, value]) => ({ sort: [value] })) },
    };
    return Promise.resolve({ status: 200, body: JSON.stringify(answer) });
  };
  const found = JSON.parse((await run(sorted, BODY)).body) as Found;
  assert.deepEqual(
    found.hits.hits.map(({ sort }) => sort[0]),
    [9, 3, null],
  );
});
