/** Documents for tests of aggregations, in one segment and over many shards, and what both make of them. */

import assert from "node:assert/strict";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "./shards.ts";

const MAPPING = {
  properties: {
    message: { type: "text" },
    status: { type: "long" },
    host: { type: "keyword" },
    at: { type: "date" },
    score: { type: "double" },
    ok: { type: "boolean" },
    ip: { type: "ip" },
    tags: { type: "keyword" },
  },
};

const DOCS: readonly JsonObject[] = [
  {
    message: "one",
    status: 200,
    host: "a",
    at: "2018-03-24T23:30:00Z",
    score: 10,
    ok: true,
    tags: ["x", "y"],
    ip: "10.0.0.1",
  },
  {
    message: "two",
    status: 200,
    host: "b",
    at: "2018-03-25T00:30:00Z",
    score: 20,
    ok: true,
    tags: ["x"],
    ip: "10.0.0.2",
  },
  { message: "one two", status: 404, host: "a", at: "2018-03-25T12:00:00Z", score: 30, ok: false },
  {
    message: "three",
    status: 500,
    host: "a",
    at: "2018-03-27T22:30:00Z",
    score: 50,
    ok: false,
    tags: ["y"],
    ip: "10.0.0.1",
  },
  { message: "none", host: "c", at: "2018-06-01T00:00:00Z" },
];

/** Both hold the same documents; whoever makes them closes them. */
export class AggregationsFixture {
  readonly one = new IndexFixture({ mapping: MAPPING, docs: DOCS });
  readonly many = new IndexFixture({ mapping: MAPPING, docs: DOCS, segmentDocs: 2, shards: 3 });

  /** Result of one aggregation named "a", the same over one segment and over many shards. */
  async aggregate(aggregation: JsonObject, query: JsonObject = { match_all: {} }): Promise<JsonObject> {
    const body = { size: 0, query, aggs: { a: aggregation } };
    const result = (await this.one.search(body)).aggregations!["a"] as JsonObject;
    const merged = (await this.many.search(body)).aggregations!["a"] as JsonObject;
    assert.deepEqual(merged, result, "merged over shards");
    return JSON.parse(JSON.stringify(result)) as JsonObject;
  }

  close(): void {
    this.one.close();
    this.many.close();
  }
}
