/** Documents that fall into many buckets are collected a few at a time, and refused where they are too many. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { combinations } from "./composite-collector.ts";

const values = (count: number, by: number): number[] => Array.from({ length: count }, (_, at) => at * by);

const index = new IndexFixture({
  mapping: { properties: { size: { type: "integer_range" } } },
  docs: [
    { many: values(101, 1), others: values(100, 3), n: 1, size: { gte: 0, lt: 200_000 } },
    ...Array.from({ length: 100 }, (_, at) => ({
      a: values(20, 1),
      b: values(20, 2),
      n: at,
      size: { gte: at, lte: 2 * at },
    })),
  ],
});
after(() => index.close());

const fields = (...names: string[]): JsonObject => ({ terms: names.map((field) => ({ field })) });
const sources = (...names: string[]): JsonObject => ({
  size: 1000,
  sources: names.map((name) => ({ [name]: { terms: { field: name } } })),
});
const few = { range: { n: { gte: 2 } } };

async function counts(aggregation: JsonObject, query: JsonObject = { match_all: {} }): Promise<unknown> {
  const { aggregations } = await index.search({ size: 0, query, aggs: { it: aggregation } });
  const { buckets } = aggregations!["it"] as { buckets: JsonObject[] };
  return [buckets.length, new Set(buckets.map((each) => each["doc_count"]))];
}

async function refuses(aggregation: JsonObject, message: RegExp): Promise<void> {
  await assert.rejects(counts(aggregation), (error) => message.test(inspect(error, { depth: 9 })));
}

test("all combinations of a document's values are buckets, up to so many", async () => {
  assert.deepEqual(await counts({ multi_terms: { ...fields("a", "b"), size: 1000 } }), [400, new Set([100])]);
  assert.deepEqual(await counts({ composite: sources("a", "b") }), [400, new Set([100])]);
  assert.equal(combinations([values(100, 1), values(100, 1)]).length, 10_000);
  for (const it of [{ multi_terms: fields("many", "others") }, { composite: sources("many", "others") }])
    await refuses(it, /the values of a document have more than 10000 combinations/);
});

test("ranges are counted in the buckets between their ends without a look at each", async () => {
  const histogram = { field: "size", interval: 1 };
  const { aggregations } = await index.search({ size: 0, query: few, aggs: { it: { histogram } } });
  const { buckets } = aggregations!["it"] as { buckets: { key: number; doc_count: number }[] };
  for (const { key, doc_count: count } of buckets) {
    const inside = values(100, 1).filter((at) => at >= 2 && at <= key && key <= 2 * at);
    assert.equal(count, inside.length, `${key}`);
  }
  assert.equal(buckets.length, 197);
  const below = await counts({ histogram, aggs: { most: { max: { field: "n" } } } }, few);
  assert.deepEqual(below, [197, new Set(buckets.map((each) => each.doc_count))]);
  await refuses({ histogram }, /reaches into more than 100000 buckets; .*larger interval/);
  const over = { histogram: { ...histogram, interval: 10 }, aggs: { most: { max: { field: "n" } } } };
  await refuses(over, /reaches into more than 10000 buckets/);
});

test("buckets beyond the first of each document are charged to the search", () => {
  const budget = new CollectBudget();
  budget.chargeFurther(20_000_000);
  budget.chargeFurther(-1);
  assert.throws(() => budget.chargeFurther(1), /into buckets more than 20000000 times; narrow the query/);
});
