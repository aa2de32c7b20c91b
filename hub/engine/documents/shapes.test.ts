/** Fields of type geo_shape: GeoJSON or a text in WKT is kept, and found by `exists` and by its kind. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { IndexFixture } from "#test/support/search/shards.ts";

const mapping = {
  properties: {
    area: { type: "geo_shape" },
    many: { type: "nested", properties: { area: { type: "geo_shape" } } },
  },
};

describe("a geo_shape", () => {
  test("may be GeoJSON or WKT, alone or several, below nested objects too", async () => {
    const index = new IndexFixture({
      mapping,
      docs: {
        json: { area: { type: "point", coordinates: [13.4, 52.5] } },
        text: { area: "POINT (13.4 52.5)" },
        several: { area: ["point(13.4 52.5)", { type: "linestring", coordinates: [] }] },
        box: { area: "BBOX (1, 2, 4, 3)" },
        empty: { area: " MultiPolygon EMPTY" },
        nested: { many: [{ area: "POINT (1 2)" }] },
        none: { area: null },
      },
    });
    try {
      const kinds = async (kind: string): Promise<string[]> =>
        (await index.ids({ query: { term: { "area.type": kind } } })).toSorted();
      assert.deepEqual(await kinds("point"), ["json", "several", "text"]);
      assert.deepEqual(await kinds("envelope"), ["box"]);
      assert.deepEqual((await index.ids({ query: { exists: { field: "area" } } })).toSorted(), [
        "box",
        "empty",
        "json",
        "several",
        "text",
      ]);
      const query = { nested: { path: "many", query: { term: { "many.area.type": "point" } } } };
      assert.deepEqual(await index.ids({ query }), ["nested"]);
    } finally {
      index.close();
    }
  });

  test("refuses other texts", () => {
    for (const area of ["somewhere", "POINTS (1 2)", ""]) {
      assert.throws(
        () => new IndexFixture({ mapping, docs: [{ area }] }),
        /field \[area\] of type \[geo_shape\]/,
      );
    }
  });
});
