import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  mapping: { properties: { at: { type: "geo_point" }, kind: { type: "keyword" } } },
  docs: [
    { at: "52.374081,4.912350", kind: "a" },
    { at: "52.369219,4.901618", kind: "b" },
    { at: "52.371667,4.914722", kind: "a" },
    { at: "51.222900,4.405200", kind: "a" },
    { at: ["48.861111,2.336389", "48.861112,2.336389"], kind: "b" },
    { at: "48.860000,2.327000", kind: "b" },
    { kind: "c" },
  ],
  segmentDocs: 2,
  shards: 2,
});
after(() => fixture.close());

async function aggregate(aggregation: JsonObject): Promise<JsonObject> {
  const { aggregations } = await fixture.search({ size: 0, aggs: { a: aggregation } });
  return JSON.parse(JSON.stringify(aggregations!["a"])) as JsonObject;
}

/** True for what a shard refused for this reason. */
function because(reason: RegExp): (error: Error) => boolean {
  return (error) => reason.test(String(error.cause));
}

async function cells(aggregation: JsonObject): Promise<unknown> {
  const { buckets } = (await aggregate(aggregation)) as { buckets: JsonObject[] };
  return buckets.map(({ key, doc_count: count }) => [key, count]);
}

test("documents are counted by tiles, those with two points in one once", async () => {
  assert.deepEqual(await cells({ geotile_grid: { field: "at", precision: 8 } }), [
    ["8/131/84", 3],
    ["8/129/88", 2],
    ["8/131/85", 1],
  ]);
  assert.deepEqual(await cells({ geotile_grid: { field: "at", precision: 0 } }), [["0/0/0", 6]]);
});

test("a box keeps points outside of it from making cells", async () => {
  const bounds = { top_left: "53,4.5", bottom_right: "52,5" };
  assert.deepEqual(await cells({ geotile_grid: { field: "at", precision: 8, bounds } }), [["8/131/84", 3]]);
  assert.deepEqual(await cells({ geohash_grid: { field: "at", precision: 3, bounds } }), [["u17", 3]]);
});

test("the precision of geohashes may be a distance", async () => {
  assert.deepEqual(
    await cells({ geohash_grid: { field: "at", precision: "100km" } }),
    await cells({ geohash_grid: { field: "at", precision: 4 } }),
  );
  await assert.rejects(
    cells({ geohash_grid: { field: "at", precision: "1cm" } }),
    /precision too high \[1cm\]/,
  );
  await assert.rejects(cells({ geohash_grid: { field: "at", precision: 13 } }), /Must be between 1 and 12/);
});

test("a zoom that no map has is refused", async () => {
  await assert.rejects(cells({ geotile_grid: { field: "at", precision: 30 } }), /Must be between 0 and 29/);
  await assert.rejects(cells({ geotile_grid: { field: "kind" } }), because(/Expected geo_point type/));
});

test("tiles are a source of composite keys, in the order of the map", async () => {
  const sources = [
    { tile: { geotile_grid: { field: "at", precision: 12 } } },
    { kind: { terms: { field: "kind" } } },
  ];
  const all = await aggregate({ composite: { sources } });
  const buckets = all["buckets"] as { key: JsonObject; doc_count: number }[];
  assert.deepEqual(
    buckets.map(({ key, doc_count: count }) => [key["tile"], key["kind"], count]),
    [
      ["12/2074/1409", "b", 2],
      ["12/2098/1367", "a", 1],
      ["12/2103/1346", "a", 2],
      ["12/2103/1346", "b", 1],
    ],
  );
  assert.deepEqual(all["after_key"], { tile: "12/2103/1346", kind: "b" });
  const after = { tile: "12/2098/1367", kind: "a" };
  const rest = await aggregate({ composite: { sources, after } });
  assert.deepEqual(rest["buckets"], buckets.slice(2));
});

test("a place in composite keys that isn't a tile of the zoom is refused", async () => {
  const sources = [{ tile: { geotile_grid: { field: "at", precision: 12 } } }];
  for (const tile of ["11/1/1", "12/4096/0", "nowhere", 5])
    await assert.rejects(
      aggregate({ composite: { sources, after: { tile } } }),
      because(/Invalid geotile_grid hash string/),
    );
});
