/** States that take long must be made in steps, at every level, and be those that are made at once. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFAULT_LIMITS, ShardContext } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { type AggregationTree, BucketBudget, CollectBudget, type TreeState } from "./aggregation.ts";
import { mergeTree, renderTree, TreeCollector } from "./aggregation-tree.ts";
import { atOnce, type Steps, sortedSteps } from "./steps.ts";

const DOCS = 6000;
/** A pause must be possible after this many values. */
const VALUES_A_STEP = 1024;

const index = new IndexFixture({
  mapping: { properties: { id: { type: "keyword" }, at: { type: "date" } } },
  docs: Array.from({ length: DOCS }, (_, at) => ({
    id: `d${at * 7919}`,
    n: at,
    half: at % 2,
    at: 1_767_000_000_000 + at * 60_000,
  })),
  segmentDocs: 2500,
});
after(() => index.close());

const terms: JsonObject = { terms: { field: "id", size: 20 } };
const ROWS: readonly (readonly [name: string, aggregation: JsonObject])[] = [
  ["terms", terms],
  ["terms in another order", { terms: { field: "id", order: { _key: "desc" } } }],
  [
    "terms by a metric",
    { terms: { field: "id", order: { m: "desc" } }, aggs: { m: { max: { field: "n" } } } },
  ],
  ["terms of numbers", { terms: { field: "n" } }],
  ["terms below terms", { terms: { field: "half" }, aggs: { terms } }],
  ["terms below a histogram", { histogram: { field: "half", interval: 1 }, aggs: { terms } }],
  ["terms below days", { date_histogram: { field: "at", interval: "day" }, aggs: { terms } }],
  ["terms below a filter", { filter: { range: { n: { gte: 0 } } }, aggs: { terms } }],
  ["terms below ranges", { range: { field: "n", ranges: [{ from: 0 }] }, aggs: { terms } }],
];

for (const [name, aggregation] of ROWS) {
  test(`${name} of many values are put in order with pauses`, () => {
    const collector = collected(treeOf(aggregation));
    const known = collector.state(0);
    const { made, pauses } = counted(collector.steps(0));
    assert.deepEqual(firstKeys(made), firstKeys(known));
    assert.ok(pauses >= DOCS / VALUES_A_STEP, `${pauses} pauses`);
  });
}

/** Aggregations whose answers have many buckets. */
const MANY: readonly (readonly [name: string, aggregation: JsonObject])[] = [
  ["terms", { terms: { field: "id", size: DOCS } }],
  ["rare terms", { rare_terms: { field: "id", max_doc_count: 2 } }],
  ["multi terms", { multi_terms: { terms: [{ field: "id" }, { field: "n" }], size: DOCS } }],
  ["a histogram", { histogram: { field: "n", interval: 1 } }],
  ["a histogram by count", { histogram: { field: "n", interval: 1, order: { _count: "desc" } } }],
  ["minutes", { date_histogram: { field: "at", interval: "minute" } }],
  ["times", { auto_date_histogram: { field: "at", buckets: 999 } }],
  ["ranges", { range: { field: "n", ranges: many((from) => ({ from, to: from + 1 })) } }],
  ["filters", { filters: { filters: many(() => ({ match_all: {} })).slice(0, 1000) } }],
  [
    "a composite",
    {
      composite: {
        size: DOCS,
        sources: [{ id: { terms: { field: "id" } } }, { n: { terms: { field: "n" } } }],
      },
    },
  ],
  [
    "terms below a filter",
    { filter: { match_all: {} }, aggs: { all: { terms: { field: "id", size: DOCS } } } },
  ],
];

for (const [name, aggregation] of MANY) {
  test(`${name} of many buckets are merged and rendered with pauses`, () => {
    const tree = treeOf(aggregation);
    const state = collected(tree).state(0);
    const merged = counted(mergeTree(tree, [state, state]));
    assert.ok(merged.pauses >= 8, `${merged.pauses} pauses while merging`);
    const rendered = counted(renderTree(tree, merged.made, new BucketBudget(4 * DOCS, false)));
    assert.ok(rendered.pauses >= 500, `${rendered.pauses} pauses while rendering`);
    const known = atOnce(
      renderTree(tree, atOnce(mergeTree(tree, [state, state])), new BucketBudget(4 * DOCS, false)),
    );
    assert.deepEqual(rendered.made, known);
  });
}

test("steps sort like the whole, and leave equal items in their order", () => {
  const items = Array.from({ length: 10_000 }, (_, at) => ({ key: (at * 7919) % 613, at }));
  const compare = (a: { key: number }, b: { key: number }): number => a.key - b.key;
  const { made, pauses } = counted(sortedSteps(items, compare));
  assert.deepEqual(made, items.toSorted(compare));
  assert.ok(pauses >= items.length / VALUES_A_STEP, `${pauses} pauses`);
  assert.deepEqual(atOnce(sortedSteps([], compare)), []);
});

function many<T>(make: (at: number) => T): T[] {
  return Array.from({ length: DOCS }, (_, at) => make(at));
}

/** Runs steps to their end and counts where pauses may be made. */
function counted<T>(steps: Steps<T>): { readonly made: T; readonly pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done === true) return { made: value, pauses };
  }
}

function treeOf(aggregation: JsonObject): AggregationTree {
  const limits = { ...DEFAULT_LIMITS, maxBuckets: 4 * DOCS };
  return parseSearchRequest({ aggs: { it: aggregation } }, limits).aggregations;
}

/** A tree of one aggregation that has seen all documents. */
function collected(aggregations: AggregationTree): TreeCollector {
  const [{ index: name, searcher }] = index.shards as [(typeof index.shards)[0]];
  const collector = new TreeCollector(
    aggregations,
    new ShardContext(name, 0, searcher, 0),
    new CollectBudget(),
  );
  for (const segment of searcher.segments) {
    collector.segment(segment);
    const docs = Int32Array.from({ length: segment.docCount }, (_, doc) => doc);
    for (let from = 0; from < docs.length; from += 1000) {
      const part = docs.subarray(from, from + 1000);
      collector.collect(part, new Int32Array(part.length), part.length);
    }
  }
  return collector;
}

/** Keys and counts of a state, as far as they are data. */
function firstKeys(state: TreeState): string {
  return JSON.stringify(state, (key, value: unknown) => (key === "format" ? undefined : value));
}
