import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sort } from "./discover-state.ts";
import { readFields } from "./fields.ts";
import { chooseInterval } from "./interval.ts";
import { buildQuery, histogramRequest, levelFieldOf, rowsRequest } from "./search-request.ts";

const RANGE = { fromMs: 1_000, toMs: 61_000 };
const EVERYTHING = { query: "", filters: [] };

test("query, filters and range become clauses; disabled filters don't", () => {
  const query = buildQuery(
    {
      query: " error ",
      filters: [
        { field: "host.name", value: "web", exclude: false, disabled: false },
        { field: "tags", value: undefined, exclude: true, disabled: false },
        { field: "off", value: "x", exclude: false, disabled: true },
      ],
    },
    RANGE,
  );
  assert.deepEqual(query, {
    bool: {
      must: [
        { query_string: { query: "error", type: "cross_fields", default_operator: "AND", lenient: false } },
      ],
      filter: [
        { match_phrase: { "host.name": "web" } },
        { range: { "@timestamp": { gte: 1_000, lt: 61_000, format: "epoch_millis" } } },
      ],
      must_not: [{ exists: { field: "tags" } }],
    },
  });
});

test("filters that are joined by or are one clause of which one must hold", () => {
  const filter = { exclude: false, disabled: false };
  const filters = [
    { ...filter, field: "a", value: "1" },
    { ...filter, field: "b", value: "2", exclude: true, isOr: true },
    { ...filter, field: "c", value: "3" },
  ];
  assert.deepEqual(buildQuery({ query: "", filters }, undefined), {
    bool: {
      must: [],
      filter: [
        { match_phrase: { c: "3" } },
        {
          bool: {
            should: [{ match_phrase: { a: "1" } }, { bool: { must_not: [{ match_phrase: { b: "2" } }] } }],
            minimum_should_match: 1,
          },
        },
      ],
      must_not: [],
    },
  });
});

test("an empty query and a star ask for everything", () => {
  for (const query of ["", "  ", "*"])
    assert.deepEqual(buildQuery({ query, filters: [] }, undefined), {
      bool: { must: [], filter: [], must_not: [] },
    });
});

test("lines that share a time stand in the order of their file, also where another field is sorted by", () => {
  const byTime = (order: string) => [
    { "@timestamp": { order, unmapped_type: "date" } },
    { "log.offset": { order, unmapped_type: "long" } },
  ];
  assert.deepEqual(rowsRequest(EVERYTHING, RANGE)["sort"], byTime("desc"));
  const oldestFirst = { field: "@timestamp", isDescending: false };
  assert.deepEqual(rowsRequest({ ...EVERYTHING, sort: oldestFirst }, RANGE)["sort"], byTime("asc"));
  const byField = { field: "took", isDescending: false };
  assert.deepEqual(rowsRequest({ ...EVERYTHING, sort: byField }, RANGE)["sort"], [
    { took: { order: "asc", unmapped_type: "keyword" } },
    ...byTime("desc"),
  ]);
});

/** What the hub gives for the offset of a line that has none; JSON rounds it. */
const NO_OFFSET = JSON.parse("9223372036854775807") as number;
const NEXT_PAGES: readonly {
  sort?: Sort;
  after: readonly unknown[];
  searchAfter: readonly unknown[];
}[] = [
  { after: [5_000, 70], searchAfter: [5_000, 71] },
  { after: [5_000, -NO_OFFSET], searchAfter: [5_000, Number.MIN_SAFE_INTEGER] },
  {
    sort: { field: "@timestamp", isDescending: false },
    after: [5_000, 70],
    searchAfter: [5_000, 69],
  },
  {
    sort: { field: "@timestamp", isDescending: false },
    after: [5_000, NO_OFFSET],
    searchAfter: [5_000, Number.MAX_SAFE_INTEGER],
  },
  { sort: { field: "took", isDescending: true }, after: [30, 5_000, 70], searchAfter: [30, 5_000, 71] },
];

test("the next page begins at the last time and offset once more, with a size that covers the rows that are there", () => {
  assert.equal(rowsRequest(EVERYTHING, RANGE)["search_after"], undefined);
  for (const { sort, after, searchAfter } of NEXT_PAGES) {
    const state = { ...EVERYTHING, ...(sort === undefined ? {} : { sort }) };
    const next = rowsRequest(state, RANGE, { after, rowsAtLast: 7 });
    assert.deepEqual([next["search_after"], next["size"]], [searchAfter, 107]);
  }
});

test("the histogram is split by the level that can be counted", () => {
  const fields = readFields({
    fields: {
      "log.level": { text: { aggregatable: false } },
      "log.level.keyword": { keyword: { aggregatable: true } },
      _id: { _id: { aggregatable: true } },
      mixed: { long: { aggregatable: true }, keyword: { aggregatable: true } },
      message: { text: { aggregatable: false } },
      log: { object: {} },
    },
  });
  assert.deepEqual([...fields.keys()], ["log.level", "message", "mixed"]);
  assert.equal(fields.get("mixed")?.type, "conflict");
  assert.equal(levelFieldOf(fields), "log.level.keyword");
  assert.equal(levelFieldOf(undefined), undefined);
  const body = histogramRequest(EVERYTHING, RANGE, chooseInterval(RANGE, 120), "log.level.keyword", "UTC");
  assert.deepEqual(body["aggs"], {
    times: {
      date_histogram: {
        field: "@timestamp",
        interval: "1s",
        min_doc_count: 0,
        extended_bounds: { min: 1_000, max: 60_999 },
        time_zone: "UTC",
      },
      aggs: { levels: { terms: { field: "log.level.keyword", size: 20 } } },
    },
  });
});

test("an interval never cuts a range into more buckets than wanted", () => {
  for (const lengthMs of [1, 5_000, 900_000, 86_400_000, 30 * 86_400_000, 3_650 * 86_400_000]) {
    const { ms } = chooseInterval({ fromMs: 0, toMs: lengthMs }, 120);
    assert.ok(lengthMs / ms <= 120, `${lengthMs} by ${ms}`);
  }
});
