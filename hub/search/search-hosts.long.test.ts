/** Searches over the same documents on one, two and three hosts have equal answers, byte for byte. */

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { AGGREGATION_TYPES } from "#hub/search/aggregations/all.ts";
import { PIPELINES_BY_NAME } from "#hub/search/aggregations/pipeline/all.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { assertSameOverHosts, hostsOf, searchOver, type TestShard } from "#test/support/search/hosts.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { parseCollapse, searchCollapsed } from "./collapse.ts";
import { countOnHosts, countShards } from "./count.ts";
import { collectShards } from "./phases/collect.ts";
import type { SearchOptions, SearchResponse } from "./phases/contract.ts";
import type { SearchHost } from "./phases/scatter.ts";
import { filterQuery } from "./phases/search-call.ts";
import { parseQueryRequest, parseSearchRequest } from "./request/search-request.ts";
import { searchShards } from "./search.ts";

const WORDS = ["error", "disk", "full", "slow", "request", "user", "login", "timeout", "café", "𝄞"];
const NOW_MS = Date.UTC(2024, 5, 1);

/** Documents that depend on `seed` alone: most fields are missing here and there, `list` has several values. */
function document(seed: number): JsonObject {
  const part = (of: number): number =>
    Math.floor(((Math.sin(seed * 12.9898 + of) * 43758.5453) % 1) * 1000) + 1000;
  const [a, b, c] = [part(1), part(2), part(3)];
  return {
    message: [WORDS[a % 10], WORDS[b % 10], WORDS[c % 10], WORDS[(a + b) % 10]].join(" "),
    host: `host-${a % 23}`,
    many: `value-${(a * 31 + b) % 900}`,
    n: b % 50,
    big: seed % 3 === 0 ? `${9_007_199_254_740_993n + BigInt(c % 5)}` : c % 5,
    x: (a * 0.1 + b * 0.01 - c * 1e-5) * (seed % 7 === 0 ? 1e9 : 1),
    w: 0.1 * (1 + (c % 3)),
    at: NOW_MS - ((a * 977 + b) % 5000) * 3_600_000 - c,
    ip: `10.0.${a % 4}.${b % 20}`,
    ok: a % 2 === 0,
    ...(seed % 5 !== 0 && { place: { lat: (a % 120) - 60, lon: (b % 300) - 150 } }),
    parts: [{ name: `p${a % 3}` }, { name: `p${b % 4}` }].slice(c % 3),
    ...(seed % 4 !== 0 && { list: [`t${a % 5}`, `t${b % 7}`] }),
  };
}

const MAPPING = {
  properties: {
    message: { type: "text", fielddata: true },
    host: { type: "keyword" },
    many: { type: "keyword" },
    n: { type: "long" },
    big: { type: "long" },
    x: { type: "double" },
    w: { type: "double" },
    at: { type: "date" },
    ip: { type: "ip" },
    ok: { type: "boolean" },
    place: { type: "geo_point" },
    list: { type: "keyword" },
    parts: { type: "nested", properties: { name: { type: "keyword" } } },
  },
};

const logs = new IndexFixture({
  mapping: MAPPING,
  index: "logs",
  docs: Array.from({ length: 500 }, (_, at) => document(at)),
  shards: 5,
  segmentDocs: 202,
  deleted: ["3", "77", "400"],
});
/** Has no `host`, and dates of another format. */
const { host: _, ...others } = MAPPING.properties;
const audit = new IndexFixture({
  mapping: { properties: { ...others, at: { type: "date", format: "epoch_millis" } } },
  index: "audit",
  docs: Array.from({ length: 120 }, (_, at) => {
    const { host: __, ...rest } = document(5000 + at);
    return rest;
  }),
  shards: 2,
});
after(() => {
  logs.close();
  audit.close();
});

const FILTER = { anyOf: [{ term: { ok: true } }, { range: { n: { gt: 40 } } }] };
const ALL: readonly TestShard[] = [
  ...audit.shards,
  ...logs.shards.map((shard, at): TestShard => {
    if (at !== 2) return shard;
    return { ...shard, ...filterQuery(FILTER), sentFilter: FILTER };
  }),
];
const OPTIONS: SearchOptions = {
  signal: new AbortController().signal,
  limits: DEFAULT_LIMITS,
  nowMs: NOW_MS,
};

function same(body: JsonObject, options: Partial<SearchOptions> = {}): Promise<void> {
  const all = { ...OPTIONS, ...options };
  const collapse = parseCollapse(body);
  const search = async (): Promise<SearchResponse> =>
    collapse === undefined
      ? searchShards(parseSearchRequest(body, all.limits), ALL, all)
      : searchCollapsed(body, collapse, all.limits, ALL, all);
  return assertSameOverHosts(ALL, body, all, search());
}

/** Aggregations that stand below others. */
const BELOW: JsonObject = {
  sum: { sum: { field: "x" } },
  stats: { extended_stats: { field: "x" } },
  top: { top_hits: { size: 2, _source: ["host", "n"], sort: ["n"] } },
  hosts: { terms: { field: "host", size: 3 } },
};

/** One or more of each type, named by it and a letter. */
const AGGREGATIONS: Readonly<Record<string, JsonObject>> = {
  adjacency_matrix: { filters: { a: { term: { ok: true } }, b: { range: { n: { lt: 20 } } } } },
  auto_date_histogram: { field: "at", buckets: 7 },
  avg: { field: "x" },
  cardinality: { field: "many" },
  "cardinality b": { field: "many", precision_threshold: 100 },
  composite: {
    size: 40,
    sources: [
      { l: { terms: { field: "list" } } },
      { d: { date_histogram: { field: "at", calendar_interval: "1M" } } },
    ],
  },
  date_histogram: { field: "at", calendar_interval: "week", time_zone: "Europe/Berlin" },
  "date_histogram b": { field: "at", fixed_interval: "30d", extended_bounds: { min: "2023-01-01" } },
  date_range: { field: "at", ranges: [{ to: "2024-01-01||/M" }, { from: "now-90d/d" }] },
  diversified_sampler: { shard_size: 20, field: "list" },
  extended_stats: { field: "x", sigma: 3 },
  filter: { term: { list: "t1" } },
  filters: {
    filters: { a: { match: { message: "error" } }, b: { match: { message: "disk" } } },
    other_bucket: true,
  },
  geo_bounds: { field: "place" },
  geo_centroid: { field: "place" },
  geo_distance: {
    field: "place",
    origin: "10,10",
    unit: "km",
    ranges: [{ to: 3000 }, { from: 3000, to: 9000 }],
  },
  geohash_grid: { field: "place", precision: 2 },
  geotile_grid: { field: "place", precision: 3 },
  global: {},
  histogram: { field: "n", interval: 7 },
  "histogram b": { field: "x", interval: 5, min_doc_count: 2, order: { _count: "desc" } },
  ip_range: { field: "ip", ranges: [{ to: "10.0.1.5" }, { mask: "10.0.2.0/25" }] },
  max: { field: "x" },
  median_absolute_deviation: { field: "x" },
  min: { field: "at" },
  missing: { field: "list" },
  nested: { path: "parts" },
  percentile_ranks: { field: "x", values: [10, 100, 1000] },
  percentiles: { field: "x", percents: [1, 50, 99], tdigest: { compression: 20 } },
  "percentiles b": { field: "n", hdr: { number_of_significant_value_digits: 2 } },
  range: { field: "x", ranges: [{ to: 50 }, { from: 50, to: 150 }, { from: 120 }] },
  rare_terms: { field: "many", max_doc_count: 2 },
  sampler: { shard_size: 15 },
  scripted_metric: {
    init_script: "state.sum = 0",
    map_script: "if (doc['n'].size() > 0) { state.sum += doc['n'].value }",
    combine_script: "return state.sum",
    reduce_script: "def all = 0; for (each in states) { all += each } return all",
  },
  significant_terms: { field: "list", min_doc_count: 1 },
  significant_text: { field: "message", min_doc_count: 1 },
  stats: { field: "at" },
  sum: { field: "x" },
  terms: { field: "many", size: 15 },
  "terms b": { field: "n", size: 5, order: [{ below_sum: "desc" }] },
  "terms c": { field: "big", size: 9 },
  "terms d": { field: "message", size: 5 },
  "terms e": { field: "at", size: 4, order: { _key: "asc" } },
  "terms f": { field: "ip", size: 20, order: { _key: "desc" }, show_term_doc_count_error: true },
  multi_terms: { terms: [{ field: "host" }, { field: "n" }], size: 12 },
  "multi_terms b": { terms: [{ field: "ok" }, { field: "list" }], size: 5, order: { below_sum: "desc" } },
  top_hits: { size: 5 },
  "top_hits b": { size: 7, sort: [{ ok: "asc" }], version: true, highlight: { fields: { message: {} } } },
  top_metrics: { metrics: [{ field: "host" }, { field: "x" }], sort: { n: "desc" }, size: 3 },
  "top_metrics b": { metrics: { field: "at" }, sort: { at: "asc" } },
  value_count: { field: "list" },
  boxplot: { field: "x" },
  string_stats: { field: "list" },
  weighted_avg: { value: { field: "x" }, weight: { field: "w" } },
};

const QUERIES: readonly JsonObject[] = [
  { match_all: {} },
  { match: { message: "error disk" } },
  { bool: { filter: [{ range: { n: { gte: 10 } } }], must_not: [{ term: { list: "t2" } }] } },
];

function typeOf(name: string): string {
  return name.replace(/ .$/, "");
}

suite("aggregations over several hosts", () => {
  test("are tested for every type", () => {
    const tested = new Set(Object.keys(AGGREGATIONS).map(typeOf));
    assert.deepEqual(
      AGGREGATION_TYPES.map(({ name }) => name).filter((name) => !tested.has(name)),
      // The moments of matrix_stats are equal up to rounding: matrix-moments.test.ts. reverse_nested stands below nested
      // alone: nested.test.ts; rate below date_histogram: later-aggregations.test.ts.
      ["matrix_stats", "rate", "reverse_nested"],
    );
  });

  for (const [name, options] of Object.entries(AGGREGATIONS)) {
    test(`${name} is the same as on one`, async () => {
      const type = typeOf(name);
      const { buckets } = AGGREGATION_TYPES.find((each) => each.name === type)!;
      const aggs = buckets ? { ...BELOW, below_sum: { sum: { field: "x" } } } : undefined;
      const one = { [type]: options, ...(aggs !== undefined && { aggs }) };
      await same({ size: 0, query: QUERIES[0], aggs: { one } }, { typedKeys: true });
      if (type === "composite" || type === "global") return;
      const days = { histogram: { field: "n", interval: 20 }, aggs: { one } };
      await same({ size: 2, query: QUERIES[1], aggs: { days } });
      await same({
        size: 0,
        query: QUERIES[2],
        aggs: { lists: { terms: { field: "list" }, aggs: { one } } },
      });
    });
  }

  test("in pipelines are the same as on one", async () => {
    const path = { buckets_path: "sum" };
    const parents: JsonObject = {};
    for (const name of PIPELINES_BY_NAME.keys()) {
      if (["derivative", "cumulative_sum", "moving_avg", "serial_diff"].includes(name))
        parents[name] = { [name]: path };
    }
    parents["script"] = { bucket_script: { buckets_path: { s: "sum" }, script: "params.s * 2" } };
    const days = { histogram: { field: "n", interval: 5 }, aggs: { ...BELOW, ...parents } };
    const siblings: JsonObject = {};
    for (const name of ["avg_bucket", "max_bucket", "stats_bucket", "percentiles_bucket"])
      siblings[name] = { [name]: { buckets_path: "days>sum" } };
    await same({ size: 0, aggs: { days, ...siblings } });
  });

  test("of more buckets than are made at once are the same as on one", async () => {
    const inner = { stats: { stats: { field: "x" } }, lists: { terms: { field: "list" } } };
    for (const order of [{ _count: "desc" }, { "stats.max": "asc" }, { _key: "asc" }]) {
      const terms = { field: "at", size: 500, order };
      await same({ size: 0, aggs: { times: { terms, aggs: inner } } });
    }
  });

  test("beyond the limit of buckets fail as on one", async () => {
    const limits = { ...DEFAULT_LIMITS, maxBuckets: 10 };
    await same({ size: 0, aggs: { a: { terms: { field: "many", size: 50 } } } }, { limits });
  });
});

const SORTS: readonly unknown[] = [
  ["_doc"],
  ["_id"],
  [{ _id: "desc" }],
  [{ n: "asc" }],
  [{ n: { order: "desc", missing: "_first" } }, { at: "asc" }],
  [{ x: "desc" }],
  [{ big: "asc" }, "_score"],
  [{ many: "asc" }],
  [{ list: { order: "desc", mode: "max", missing: "_last" } }],
  [{ list: { order: "asc", missing: "_first" } }, { ok: "desc" }],
  [{ ip: "desc" }],
  [{ message: "asc" }],
  [{ host: { order: "asc", unmapped_type: "keyword" } }],
  [{ _geo_distance: { place: "10,10", unit: "km", order: "asc" } }],
  [{ _geo_distance: { place: ["10,10", "-20,5"], order: "desc", mode: "min" } }],
  ["_score", { n: "asc" }],
];

suite("hits over several hosts", () => {
  for (const sort of SORTS) {
    test(`sorted by ${JSON.stringify(sort)} are the same as on one`, async () => {
      await same({ query: QUERIES[1], sort, size: 30 });
      await same({ query: QUERIES[2], sort, from: 25, size: 20, track_scores: true });
    });
  }

  const query = QUERIES[1]!;
  const fields = { docvalue_fields: ["n", "at", "ip", "big"], version: true, seq_no_primary_term: true };
  const bodies: readonly JsonObject[] = [
    { query },
    { query, size: 500, ...fields },
    { query, explain: true, size: 5 },
    { query, highlight: { fields: { message: {} } } },
    { query, _source: ["h*", "n"], stored_fields: ["_source"] },
    { query, _source: false, script_fields: { double: { script: "doc['n'].value * 2" } } },
    { query, min_score: 1.2, track_total_hits: 5 },
    { query, terminate_after: 20 },
    { query, track_total_hits: false },
    { query, post_filter: { term: { ok: true } }, aggs: BELOW },
    { query, indices_boost: [{ audit: 3 }] },
    { query, profile: true, aggs: BELOW },
    { query, size: 0 },
    { query: { match_none: {} }, aggs: BELOW },
    { query, timeout: "1h" },
    { query: { match: { message: { query: "café", _name: "first" } } } },
    {
      query,
      rescore: {
        window_size: 30,
        query: { rescore_query: { match: { message: "full" } }, rescore_query_weight: 2 },
      },
    },
    {
      query,
      rescore: [
        { query: { rescore_query: { term: { ok: true } }, score_mode: "multiply" } },
        { window_size: 3, query: { rescore_query: { match: { message: "slow" } } } },
      ],
      explain: true,
    },
    { query, collapse: { field: "list" } },
    {
      query,
      sort: [{ n: "asc" }],
      collapse: { field: "many", inner_hits: { name: "more", size: 2, sort: ["_id"] } },
      size: 4,
      from: 1,
    },
    { query: { function_score: { query, random_score: { seed: 7, field: "_seq_no" } } } },
    // Not all shards have the field, or can sort by it.
    { query, sort: [{ host: "asc" }] },
    { query, sort: [{ nothing: "asc" }] },
    { query: { range: { at: { gte: "2024-01-01" } } } },
    { collapse: { field: "nothing" } },
    { aggs: { a: { sum: { field: "many" } } } },
    { query, sort: [{ place: "asc" }] },
  ];
  for (const body of bodies)
    test(`of ${JSON.stringify(body)} are the same as on one`, () => same(body, { nodeId: "node" }));

  test("behind a page are the same as on one", async () => {
    for (const sort of [["_doc"], [{ n: "asc" }], undefined]) {
      const body = { query, size: 90, ...(sort !== undefined && { sort }) };
      let { cursor } = await searchShards(parseSearchRequest(body, DEFAULT_LIMITS), ALL, OPTIONS);
      for (let page = 0; cursor !== undefined; page++) {
        assert.ok(page < 40);
        await same(body, { cursor });
        const options = { ...OPTIONS, cursor };
        ({ cursor } = await searchShards(parseSearchRequest(body, DEFAULT_LIMITS), ALL, options));
      }
    }
    await same({ query, sort: [{ n: "desc" }, { many: "asc" }], search_after: [30, "value-5"] });
  });
});

suite("counts over several hosts", () => {
  test("are the same as on one", async () => {
    const { signal } = OPTIONS;
    for (const query of [...QUERIES, { term: { n: "no number" } }, { bogus: {} }]) {
      const demand = { body: { query }, limits: DEFAULT_LIMITS, version: 605, nowMs: NOW_MS };
      const [wanted, found] = await Promise.allSettled([
        (async () => countShards(parseQueryRequest({ query }), ALL, signal))(),
        countOnHosts(demand, hostsOf(ALL, 3), signal),
      ]);
      assert.deepEqual(found, wanted, JSON.stringify(query));
    }
  });
});

test("a deadline leaves what was found until then, in all shards that were begun", async () => {
  // Each look at the clock takes 5 ms.
  let nowMs = 0;
  const clock = { ...systemClock, monotonic: () => (nowMs += 5) };
  const request = parseSearchRequest({ query: QUERIES[1] }, DEFAULT_LIMITS);
  const { partial } = await collectShards(request, ALL, { ...OPTIONS, clock, timeLeftMs: 20 });
  assert.equal(partial.timedOut, true);
  assert.equal(partial.searched.length, ALL.length);
  const whole = await collectShards(request, ALL, OPTIONS);
  assert.ok(partial.total < whole.partial.total);
});

suite("a host that doesn't answer", () => {
  const demand = { limits: DEFAULT_LIMITS, version: 605, nowMs: NOW_MS };
  const failing = (error: Error): SearchHost => ({
    search: () => Promise.reject(error),
    partial: () => Promise.reject(error),
    collect: () => Promise.reject(error),
  });

  test("leaves the answer partial with its shards as failures", async () => {
    const hosts = hostsOf(ALL, 2);
    const lost = new AppError("unavailable", "the host ended");
    const targets = [hosts[0]!, { ...hosts[1]!, host: failing(lost) }];
    const { shards, total } = await searchOver(targets, {}, demand);
    assert.equal(shards.successful, 4);
    assert.deepEqual(
      shards.failures.map(({ index, shard, error }) => [index, shard, error]),
      [
        ["audit", 1, lost],
        ["logs", 1, lost],
        ["logs", 3, lost],
      ],
    );
    const own = ALL.filter((_each, at) => at % 2 === 0);
    const alone = await searchShards(parseSearchRequest({}, DEFAULT_LIMITS), own, OPTIONS);
    assert.equal(total, alone.total);
  });

  test("fails the search where there is no other", async () => {
    const lost = new AppError("unavailable", "the host ended");
    const targets = hostsOf(ALL, 3).map((each) => ({ ...each, host: failing(lost) }));
    for (const some of [targets, targets.slice(0, 1)])
      await assert.rejects(searchOver(some, {}, demand), {
        code: "unavailable",
        message: "all shards failed",
      });
  });

  test("leaves no snapshot open, nor does one whose hits can't be fetched, nor a client that goes", async () => {
    const open = { count: 0 };
    const body = { size: 20, sort: ["_doc"] };
    await searchOver(hostsOf(ALL, 3, open), body, demand);
    assert.equal(open.count, 0);
    const [first, ...others] = hostsOf(ALL, 3, open);
    const unfetched: SearchHost = {
      ...failing(new Error()),
      collect: async (call, signal) => ({
        ...(await first!.host.collect(call, signal)),
        fetch: () => Promise.reject(new AppError("unavailable", "the host ended")),
      }),
    };
    const lost = [
      { ...others[0]!, host: failing(new AppError("unavailable", "the host ended")) },
      others[1]!,
    ];
    await searchOver([first!, ...lost], body, demand);
    await assert.rejects(searchOver([{ ...first!, host: unfetched }, ...others], body, demand), {
      code: "unavailable",
    });
    const gone = AbortSignal.abort();
    await assert.rejects(searchOver(hostsOf(ALL, 3, open), body, demand, gone), { code: "cancelled" });
    await setImmediate();
    assert.equal(open.count, 0);
  });

  test("cancels the others where the request is at fault", async () => {
    const hosts = hostsOf(ALL, 2);
    let cancelled = false;
    const waiting: SearchHost = {
      ...failing(new Error()),
      collect: (_call, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            cancelled = true;
            reject(new AppError("cancelled", "cancelled"));
          });
        }),
    };
    const targets = [
      { ...hosts[0]!, host: waiting },
      { ...hosts[1]!, host: failing(new AppError("request_invalid", "wrong")) },
    ];
    await assert.rejects(searchOver(targets, {}, demand), { code: "request_invalid", message: "wrong" });
    assert.ok(cancelled);
  });
});
