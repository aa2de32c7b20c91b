/** States that take long must be made in steps, at every level, and be those that are made at once. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/default-limits.ts";
import { ShardContext } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { CollectBudget, TreeCollector, type TreeState } from "./aggregation.ts";

const DOCS = 6000;
/** A pause must be possible after so many values. */
const VALUES_A_STEP = 1024;

const index = new IndexFixture({
  mapping: { properties: { id: { type: "keyword" } } },
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
    const collector = collected(aggregation);
    const atOnce = collector.state(0);
    const steps = collector.steps(0);
    let pauses = 0;
    let state: TreeState | undefined;
    while (state === undefined) {
      const step = steps.next();
      if (step.done === true) state = step.value;
      else pauses++;
    }
    assert.deepEqual(firstKeys(state), firstKeys(atOnce));
    assert.ok(pauses >= DOCS / VALUES_A_STEP, `${pauses} pauses`);
  });
}

/** A tree of one aggregation that has seen all documents. */
function collected(aggregation: JsonObject): TreeCollector {
  const [{ index: name, searcher }] = index.shards as [(typeof index.shards)[0]];
  const { aggregations } = parseSearchRequest({ aggs: { it: aggregation } }, DEFAULT_LIMITS);
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
