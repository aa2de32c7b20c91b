/** Aggregations below one of buckets. */

import type { Aggregation } from "./aggregation.ts";
import type { Item, Json } from "./documents.ts";

export interface SubAggregations {
  /** With `aggs`, unless there are none. */
  readonly body: Json;
  /** What they return for the documents of a bucket, and how many these are. */
  readonly expectBucket: (items: readonly Item[]) => Json;
}

/** Returns aggregations by their names as one. */
export function subOf(made: Readonly<Record<string, Aggregation>>): SubAggregations {
  const named = Object.entries(made);
  if (named.length === 0) return { body: {}, expectBucket: (items) => ({ doc_count: items.length }) };
  return {
    body: { aggs: Object.fromEntries(named.map(([name, { body }]) => [name, body])) },
    expectBucket: (items) => ({
      doc_count: items.length,
      ...Object.fromEntries(named.map(([name, { expect }]) => [name, expect(items)])),
    }),
  };
}
