/** Aggregations over runs of blocks must be those over documents one by one. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { Random } from "#test/support/engine/random.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const random = new Random(77);
const START_MS = Date.UTC(2026, 2, 28);

/** As logs are: times ascend, some fields are missing in some documents. */
function doc(at: number): JsonObject {
  return {
    at: START_MS + at * 20_000 + random.below(5000),
    host: `host-${random.below(12)}`,
    ...(random.oneIn(3)
      ? {}
      : { status: random.pick([200, 200, 301, 404, 500]), user: `u${random.below(900)}` }),
    ...(random.oneIn(2) ? {} : { tags: ["a", "b", "c"].slice(random.below(3)) }),
    load: random.below(4000) / 4,
    size: random.below(5000),
    ip: `10.0.${random.below(3)}.${random.below(250)}`,
    ...(at > 3000 ? { late: random.below(2_000_000) - 5 } : {}),
  };
}

const index = new IndexFixture({
  mapping: {
    properties: {
      at: { type: "date" },
      host: { type: "keyword" },
      user: { type: "keyword" },
      tags: { type: "keyword" },
      ip: { type: "ip" },
    },
  },
  docs: Array.from({ length: 6000 }, (_, at) => doc(at)),
  segmentDocs: 3500,
  deleted: Array.from({ length: 100 }, (_, at) => String(11 * at)),
});

after(() => index.close());

const hosts: JsonObject = { terms: { field: "host", size: 20 } };
const perHour = (aggs?: JsonObject): JsonObject => ({
  date_histogram: { field: "at", interval: "hour", time_zone: "Europe/Berlin" },
  ...(aggs === undefined ? {} : { aggs }),
});

const AGGREGATIONS: Readonly<Record<string, JsonObject>> = {
  hosts,
  users: { terms: { field: "user", size: 1000 } },
  "few users": { terms: { field: "user", size: 5 } },
  tags: { terms: { field: "tags" } },
  addresses: { terms: { field: "ip", size: 15, order: { _key: "asc" } } },
  "hosts of the unknown": { terms: { field: "user", missing: "nobody", size: 3 } },
  "load by host": {
    ...hosts,
    aggs: { load: { stats: { field: "load" } }, status: { max: { field: "status" } } },
  },
  "numbers by some hosts": {
    terms: { field: "host", include: "host-[0-5]", size: 20 },
    aggs: { status: { extended_stats: { field: "status" } }, late: { sum: { field: "late" } } },
  },
  "numbers by user": {
    terms: { field: "user", size: 1000 },
    aggs: { status: { avg: { field: "status" } }, at: { min: { field: "at" } } },
  },
  "numbers by host, and more": {
    ...hosts,
    aggs: { status: { avg: { field: "status" } }, users: { cardinality: { field: "user" } } },
  },
  "numbers by host, a missing one stands for 200": {
    ...hosts,
    aggs: { status: { sum: { field: "status", missing: 200 } } },
  },
  "status of hosts by hour": perHour({
    hosts: { ...hosts, aggs: { status: { stats: { field: "status" } } } },
  }),
  hours: perHour(),
  "hosts by hour": perHour({ hosts }),
  "load of hosts by hour": perHour({ hosts: { ...hosts, aggs: { load: { avg: { field: "load" } } } } }),
  "percentiles by hour": perHour({ size: { percentiles: { field: "size" } } }),
  "users by hour": perHour({ users: { cardinality: { field: "user" } } }),
  load: { extended_stats: { field: "load" } },
  status: { stats: { field: "status" } },
  late: { stats: { field: "late", missing: 3 } },
  "high percentiles": { percentiles: { field: "status", hdr: {} } },
  "different users": { cardinality: { field: "user" } },
  "different addresses": { cardinality: { field: "ip", precision_threshold: 10 } },
};

const QUERIES: readonly JsonObject[] = [
  { match_all: {} },
  { term: { host: "host-3" } },
  { range: { load: { gte: 200, lt: 900 } } },
  { range: { at: { gte: START_MS + 10_000_000, format: "epoch_millis" } } },
];

for (const [name, aggregation] of Object.entries(AGGREGATIONS)) {
  test(`${name}: runs of blocks give what documents one by one give`, async () => {
    for (const query of QUERIES) {
      const body = { size: 0, aggs: { it: aggregation } };
      const runs = await index.search({ ...body, query });
      // With a lowest score each document is looked at by itself.
      const scored = { constant_score: { filter: query } };
      const single = await index.search({ ...body, query: scored, min_score: 0.5 });
      assert.deepEqual(runs.aggregations, single.aggregations, JSON.stringify(query));
      assert.equal(runs.total, single.total);
    }
  });
}

test("percentiles of runs are as near to the truth as those of documents one by one", async () => {
  for (const query of QUERIES) {
    const percents = [1, 25, 50, 75, 99];
    const body = { size: 0, query, aggs: { it: { percentiles: { field: "size", percents, keyed: false } } } };
    const { aggregations } = await index.search(body);
    const { hits } = await index.search({ query, size: 10_000, sort: ["size"], _source: false });
    const sizes = hits.map((hit) => (hit["sort"] as number[])[0]!);
    for (const { key, value } of (aggregations!["it"] as { values: { key: number; value: number }[] })
      .values) {
      const rank = (100 * sizes.findIndex((size) => size >= value)) / sizes.length;
      assert.ok(Math.abs(rank - key) < 1.5, `${value} is at ${rank}, not ${key}`);
    }
  }
});
