/** `format` of a sort: times are shown, and read by search_after, as texts. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({
  shards: 2,
  segmentDocs: 2,
  mapping: {
    properties: {
      at: { type: "date", format: "epoch_millis" },
      fine: { type: "date_nanos" },
      n: { type: "long" },
      o: { type: "nested", properties: { at: { type: "date" }, fine: { type: "date_nanos" } } },
    },
  },
  docs: {
    a: { at: 1_577_836_800_001, fine: "2020-01-01T00:00:00.000123456Z", n: 1, o: [{ at: 5 }, { at: 3 }] },
    b: { at: 1_577_836_800_000, fine: "2020-01-01T00:00:00.000123455Z", n: 2, o: { fine: 7 } },
    c: { at: 1_609_459_200_000, n: 3 },
    d: { n: 4 },
  },
});
after(() => index.close());

async function order(key: string, options: JsonObject, body: JsonObject = {}): Promise<unknown[]> {
  const { hits } = await index.search({ sort: [{ [key]: options }, { n: "asc" }], ...body });
  return hits.map((hit) => [hit["_id"], (hit["sort"] as unknown[])[0]]);
}

const LAST = 2n ** 63n - 1n;
const DATE = { order: "asc", format: "strict_date_optional_time" };
const NANOS = { order: "asc", format: "strict_date_optional_time_nanos" };

describe("a sort with a format", () => {
  test("shows times as texts, and those that are missing as numbers", async () => {
    assert.deepEqual(await order("at", DATE), [
      ["b", "2020-01-01T00:00:00.000Z"],
      ["a", "2020-01-01T00:00:00.001Z"],
      ["c", "2021-01-01T00:00:00.000Z"],
      ["d", LAST],
    ]);
    assert.deepEqual(await order("at", { ...DATE, order: "desc", format: "yyyy/MM/dd||epoch_millis" }), [
      ["c", "2021/01/01"],
      ["a", "2020/01/01"],
      ["b", "2020/01/01"],
      ["d", -(2n ** 63n)],
    ]);
    assert.deepEqual((await order("fine", NANOS)).slice(0, 3), [
      ["b", "2020-01-01T00:00:00.000123455Z"],
      ["a", "2020-01-01T00:00:00.000123456Z"],
      ["c", LAST],
    ]);
  });

  test("is continued behind the texts that it shows, in the field's own format as well", async () => {
    for (const [key, options] of [
      ["at", DATE],
      ["fine", NANOS],
      ["fine", { ...NANOS, order: "desc" }],
      ["at", { ...NANOS, numeric_type: "date_nanos" }],
    ] as const) {
      const found: string[] = [];
      let behind: JsonObject = {};
      for (let page = 0; page < 5; page++) {
        const sort = [{ [key]: options }, { n: "asc" }];
        const { hits } = await index.search({ sort, size: 1, ...behind });
        if (hits.length === 0) break;
        found.push(String(hits[0]!["_id"]));
        behind = { search_after: hits[0]!["sort"] };
      }
      assert.deepEqual(found.toSorted(), ["a", "b", "c", "d"], JSON.stringify([key, options]));
    }
    const next = { size: 1, search_after: [1_577_836_800_000, 2] };
    assert.deepEqual(await order("at", DATE, next), [["a", "2020-01-01T00:00:00.001Z"]]);
  });

  test("shows times of nested objects", async () => {
    const nested = { path: "o" };
    assert.deepEqual((await order("o.at", { ...DATE, nested })).slice(0, 2), [
      ["a", "1970-01-01T00:00:00.003Z"],
      ["b", LAST],
    ]);
    assert.deepEqual((await order("o.fine", { ...NANOS, nested })).slice(0, 2), [
      ["b", "1970-01-01T00:00:00.007Z"],
      ["a", LAST],
    ]);
  });

  test("shows times that stand for missing ones, and those of documents that equal them", async () => {
    for (const key of ["at", "fine"]) {
      const found = await order(key, { ...NANOS, missing: "2020-01-01T00:00:00.000Z" });
      assert.ok(
        found.every((each) => typeof (each as unknown[])[1] === "string"),
        JSON.stringify(found),
      );
    }
    const equal = await order("fine", { ...NANOS, missing: "2020-01-01T00:00:00.000123456Z" });
    assert.deepEqual(equal[1], ["a", "2020-01-01T00:00:00.000123456Z"]);
    const nested = { path: "o" };
    const own = await order("o.fine", { ...NANOS, nested, missing: "2020-01-01T00:00:00.000000001Z" });
    assert.deepEqual(own[1], ["a", "2020-01-01T00:00:00.000000001Z"]);
  });

  test("is continued, and takes times for missing ones, where the field isn't mapped", async () => {
    const behind = { search_after: ["2021-01-01T00:00:00.000Z", 2] };
    for (const unmapped_type of ["date", "date_nanos", "boolean", "long"]) {
      const found = await order("other", { ...DATE, unmapped_type }, behind);
      assert.deepEqual(found[0], ["a", LAST], unmapped_type);
    }
    const found = await order("other", { ...DATE, unmapped_type: "date", missing: "2020-01-01" });
    assert.deepEqual(found[0], ["a", "2020-01-01T00:00:00.000Z"]);
    assert.deepEqual((await order("other", { order: "asc", unmapped_type: "date" }, behind))[0], ["a", LAST]);
  });

  test("warns where it has no effect", async () => {
    const warnings = new Set<string>();
    const found = await gatherWarnings(warnings, 717, () => order("n", { order: "asc", format: "000" }));
    assert.deepEqual(found[0], ["a", 1]);
    await gatherWarnings(warnings, 717, () => order("k", { unmapped_type: "keyword", format: "000" }));
    assert.match(
      [...warnings].join(),
      /\[format\] has no effect on \[n\].*\[format\] has no effect on \[k\]/,
    );
  });
});
