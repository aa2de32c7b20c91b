/** Documents of every kind of field, in one segment and over many shards, for tests of hits. */

import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "./shards.ts";

const MAPPING = {
  properties: {
    name: { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } },
    host: { type: "keyword" },
    n: { type: "long" },
    x: { type: "double" },
    at: { type: "date" },
    coordinates: { type: "geo_point" },
    ip: { type: "ip" },
  },
};

/** The documents by id, one as it is sent. */
export const DOCS: Record<string, JsonObject | string> = {
  a: {
    name: "The quick brown fox is brown.",
    host: "b",
    n: 3,
    x: 1.5,
    at: "2018-01-03",
    coordinates: { lat: 52.52, lon: 13.405 },
    ip: "10.0.0.10",
  },
  b: {
    name: "lazy dogs",
    host: "a",
    n: [1, 9],
    at: "2018-01-01",
    coordinates: { lat: 48.137, lon: 11.575 },
    ip: "9.0.0.1",
  },
  c: {
    name: "quick",
    host: "ü",
    n: 2,
    x: -4,
    at: "2018-01-02",
    coordinates: [
      { lat: 53.55, lon: 9.99 },
      { lat: 0, lon: 0 },
    ],
  },
  d: '{"name": "nothing  here", "n": 9007199254740993, "price": 1.0, "a": {"b": [{"c": 1, "d": 2}, {"c": 3}], "e": null}}',
};

/** Both hold the same documents; whoever makes them closes them. */
export interface HitsFixture {
  readonly one: IndexFixture;
  readonly many: IndexFixture;
  close(): void;
}

/** Returns the documents a to d in one segment, and in segments of one over two shards. */
export function hitsFixture(): HitsFixture {
  const one = new IndexFixture({ mapping: MAPPING, docs: DOCS });
  const many = new IndexFixture({ mapping: MAPPING, docs: DOCS, segmentDocs: 1, shards: 2 });
  return {
    one,
    many,
    close() {
      one.close();
      many.close();
    },
  };
}
