/** `numeric_type` of a sort: one order over fields of several types of numbers. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const PLAIN = new IndexFixture({
  index: "plain",
  segmentDocs: 2,
  mapping: {
    properties: {
      at: { type: "date" },
      n: { type: "long" },
      text: { type: "keyword" },
      o: { type: "nested", properties: { at: { type: "date" } } },
    },
  },
  docs: {
    a: { at: "2020-01-01T00:00:00.001Z", n: 3, o: [{ at: 5 }, { at: 2 }] },
    b: { at: ["2019-01-01", "2022-01-01"], n: "9007199254740993" },
    c: { text: "without numbers" },
  },
});
const FINE = new IndexFixture({
  index: "fine",
  mapping: {
    properties: {
      at: { type: "date_nanos" },
      n: { type: "double" },
      o: { type: "nested", properties: { at: { type: "date_nanos" } } },
    },
  },
  docs: {
    d: { at: "2020-01-01T00:00:00.000123456Z", n: 2.9, o: [{ at: "1970-01-01T00:00:00.003000001Z" }] },
    e: { at: "2021-01-01T00:00:00.999999999Z", n: -2.9 },
  },
});
after(() => {
  PLAIN.close();
  FINE.close();
});

/** Hits over both indices, as "id value". */
async function order(sort: JsonObject, body: JsonObject = {}): Promise<string[]> {
  const request = parseSearchRequest({ sort, ...body }, DEFAULT_LIMITS);
  const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS, nowMs: 0 };
  const { hits } = await searchShards(request, [...PLAIN.shards, ...FINE.shards], options);
  return hits.map((hit) => `${String(hit["_id"])} ${writeJson((hit["sort"] as unknown[])[0])}`);
}

const NANOS = { at: { order: "asc", numeric_type: "date_nanos" } };
const MILLIS = { at: { order: "desc", numeric_type: "date" } };

describe("a sort with a numeric_type", () => {
  test("compares milliseconds and nanoseconds as nanoseconds", async () => {
    assert.deepEqual(await order(NANOS), [
      "b 1546300800000000000",
      "d 1577836800000123456",
      "a 1577836800001000000",
      "e 1609459200999999999",
      "c 9223372036854775807",
    ]);
    assert.deepEqual(await order(NANOS, { search_after: [1_577_836_800_000_123_456n] }), [
      "a 1577836800001000000",
      "e 1609459200999999999",
      "c 9223372036854775807",
    ]);
    const before = { search_after: ["2020-01-01T00:00:00.000123456Z"], size: 1 };
    assert.deepEqual(await order(NANOS, before), ["a 1577836800001000000"]);
  });

  test("compares them as milliseconds", async () => {
    assert.deepEqual(await order(MILLIS), [
      "b 1640995200000",
      "e 1609459200999",
      "a 1577836800001",
      "d 1577836800000",
      "c -9223372036854775808",
    ]);
    assert.deepEqual(await order(MILLIS, { search_after: [1_609_459_200_999], size: 1 }), [
      "a 1577836800001",
    ]);
  });

  test("compares numbers with their fraction, or without", async () => {
    assert.deepEqual((await order({ n: { order: "asc", numeric_type: "long" } })).slice(0, 3), [
      "e -2",
      "d 2",
      "a 3",
    ]);
    assert.deepEqual((await order({ n: { order: "asc", numeric_type: "double" } })).slice(0, 3), [
      "e -2.9",
      "d 2.9",
      "a 3.0",
    ]);
  });

  test("has numbers beyond 64 bits at their ends, and all digits of those within", async () => {
    const far = new IndexFixture({
      index: "far",
      mapping: { properties: { n: { type: "double" } } },
      docs: { f: { n: 1e300 }, g: { n: -1e300 }, h: { n: 2 ** 62 }, i: { n: 7.5 }, j: { n: 2 ** 63 }, k: {} },
    });
    const sort = { n: { order: "asc", numeric_type: "long", missing: 8 } };
    const sorted = async (body: JsonObject = {}): Promise<string[]> => {
      const { hits } = await far.search({ sort, ...body });
      return hits.map((hit) => `${String(hit["_id"])} ${writeJson((hit["sort"] as unknown[])[0])}`);
    };
    try {
      const all = [
        "g -9223372036854775808",
        "i 7",
        "k 8",
        "h 4611686018427387904",
        "f 9223372036854775807",
        "j 9223372036854775807",
      ];
      assert.deepEqual(await sorted(), all);
      for (const [at, after] of [-(2n ** 63n), 7, 8, 2n ** 62n].entries())
        assert.deepEqual(await sorted({ search_after: [after] }), all.slice(at + 1), String(after));
      assert.deepEqual(await sorted({ search_after: [2n ** 63n - 1n] }), []);
    } finally {
      far.close();
    }
  });

  test("takes values of nested objects, and of fields that aren't mapped", async () => {
    const nested = { order: "asc", numeric_type: "date_nanos", nested: { path: "o" } };
    assert.deepEqual((await order({ "o.at": nested })).slice(0, 2), ["a 2000000", "d 3000001"]);
    const unmapped = { unmapped_type: "date", numeric_type: "date_nanos" };
    assert.equal((await order({ nothing: unmapped })).length, 5);
  });

  test("is refused for texts, and for types of no numbers", async () => {
    await assert.rejects(
      order({ text: { numeric_type: "long", unmapped_type: "keyword" } }),
      (error: Error) =>
        /\[numeric_type\] option cannot be set on a non-numeric field, got keyword/.test(
          JSON.stringify([error.message, (error.cause as Error | undefined)?.message]),
        ),
    );
    await assert.rejects(order({ n: { numeric_type: "float" } }), /numeric_type/);
  });
});
