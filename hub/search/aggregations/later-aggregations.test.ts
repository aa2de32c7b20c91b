import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({
  mapping: {
    properties: {
      at: { type: "date" },
      price: { type: "double" },
      kind: { type: "keyword" },
      open: { type: "boolean" },
      n: { type: "long" },
    },
  },
  docs: [
    { at: "2024-01-05T10:00:00Z", price: 100, kind: "hat", open: true, n: 10 },
    { at: "2024-01-20T10:00:00Z", price: 50, kind: ["bag", "hat"], open: false, n: 9 },
    { at: "2024-02-02T10:00:00Z", price: 29, kind: "hat", open: true, n: 10 },
    { at: "2024-02-03T10:00:00Z", price: [1, 2], kind: "bag", n: 9 },
    { at: "2024-04-01T10:00:00Z", kind: "hat", open: true, n: 1 },
  ],
  segmentDocs: 2,
  shards: 2,
});
after(() => index.close());

async function answer(aggregation: JsonObject, query: JsonObject = { match_all: {} }): Promise<JsonObject> {
  const { aggregations } = await index.search({ size: 0, query, aggs: { a: aggregation } });
  return JSON.parse(JSON.stringify(aggregations!["a"])) as JsonObject;
}

suite("rate", () => {
  async function rates(rate: JsonObject, histogram: JsonObject): Promise<unknown[]> {
    const { buckets } = await answer({
      date_histogram: { field: "at", ...histogram },
      aggs: { r: { rate } },
    });
    return (buckets as JsonObject[]).map((bucket) => (bucket["r"] as JsonObject)["value"]);
  }
  const months = { calendar_interval: "month" };

  test("counts documents in units of time, by the length of each bucket", async () => {
    assert.deepEqual(await rates({ unit: "day" }, months), [2 / 31, 2 / 29, 0, 1 / 30]);
    assert.deepEqual(await rates({ unit: "year" }, months), [24, 24, 0, 12]);
    assert.deepEqual(await rates({}, months), [2, 2, 0, 1]);
    assert.deepEqual(await rates({ unit: "month" }, { calendar_interval: "year" }), [5 / 12]);
  });

  test("adds values, or counts them", async () => {
    assert.deepEqual(await rates({ field: "price", unit: "quarter" }, months), [450, 96, 0, 0]);
    assert.deepEqual(await rates({ field: "price", mode: "value_count" }, months), [2, 3, 0, 0]);
    assert.deepEqual(await rates({ field: "price", unit: "hour" }, { fixed_interval: "60d" }), [
      100 / 1440,
      82 / 1440,
      0,
    ]);
  });

  test("is that of the date_histogram above, also below other buckets, and is printed", async () => {
    const { buckets } = await answer({
      date_histogram: { field: "at", ...months },
      aggs: { k: { terms: { field: "kind" }, aggs: { r: { rate: { unit: "year", format: "0.0" } } } } },
    });
    const [first] = (buckets as { k: { buckets: JsonObject[] } }[])[0]!.k.buckets;
    assert.deepEqual(first!["r"], { value: 24, value_as_string: "24.0" });
  });

  test("is refused without a date_histogram, and for months where buckets aren't months long", async () => {
    await assert.rejects(answer({ rate: {} }), /only be used inside a date histogram/);
    await assert.rejects(
      rates({ unit: "month" }, { calendar_interval: "day" }),
      /Cannot use month-based rate unit/,
    );
  });
});

suite("top_metrics", () => {
  test("shows values of the first documents, times as the field prints them", async () => {
    const metrics = [{ field: "price" }, { field: "kind" }, { field: "open" }];
    assert.deepEqual(await answer({ top_metrics: { metrics, sort: { at: "desc" }, size: 2 } }), {
      top: [
        { sort: ["2024-04-01T10:00:00.000Z"], metrics: { price: null, kind: "hat", open: true } },
        { sort: ["2024-02-03T10:00:00.000Z"], metrics: { price: 1, kind: "bag", open: null } },
      ],
    });
    assert.deepEqual(await answer({ top_metrics: { metrics: { field: "n" }, sort: "price" } }), {
      top: [{ sort: [1], metrics: { n: 9 } }],
    });
    assert.deepEqual(
      await answer({ top_metrics: { metrics: { field: "n" }, sort: "_score" } }, { term: { n: 1 } }),
      {
        top: [{ sort: [1], metrics: { n: 1 } }],
      },
    );
    assert.deepEqual(await answer({ top_metrics: { metrics: { field: "n" } } }, { match_none: {} }), {
      top: [],
    });
  });

  test("can be what buckets are ordered by", async () => {
    const latest = { top_metrics: { metrics: { field: "n" }, sort: { at: "desc" } } };
    const { buckets } = await answer({
      terms: { field: "kind", order: { "t.n": "asc" } },
      aggs: { t: latest },
    });
    assert.deepEqual(
      (buckets as JsonObject[]).map(({ key }) => key),
      ["hat", "bag"],
    );
  });

  for (const [body, why] of [
    [{ metrics: [], sort: "n" }, /must name 1 to 100 fields/],
    [{ metrics: { field: "n" }, sort: ["n", "price"] }, /only one sort key/],
    [{ metrics: { field: "n" }, size: 11 }, /must not be more than \[10\]/],
    [{ sort: "n" }, /Required \[metrics\]/],
  ] as const) {
    test(`is refused for ${JSON.stringify(body)}`, async () => {
      await assert.rejects(answer({ top_metrics: body }), why);
    });
  }
});

suite("multi_terms", () => {
  async function keys(body: JsonObject, below?: JsonObject): Promise<unknown[]> {
    const { buckets } = await answer({ multi_terms: body, ...(below && { aggs: below }) });
    return (buckets as JsonObject[]).map((each) => [each["key"], each["key_as_string"], each["doc_count"]]);
  }

  test("counts combinations of values, the most frequent first", async () => {
    assert.deepEqual(
      await keys({ terms: [{ field: "kind" }, { field: "n" }] }),
      [
        [["hat", 10], "hat|10", 2],
        [["bag", 9], "bag|9", 2],
        [["hat", 1], "hat|1", 1],
        [["hat", 9], "hat|9", 1],
      ].sort((a, b) => Number(b[2]) - Number(a[2]) || (String(a[1]) < String(b[1]) ? -1 : 1)),
    );
  });

  test("numbers are ordered by their size, and booleans and times are printed", async () => {
    assert.deepEqual(
      await keys({
        terms: [{ field: "n" }, { field: "open", missing: true }],
        order: { _key: "asc" },
        size: 3,
      }),
      [
        [[1, true], "1|true", 1],
        [[9, false], "9|false", 1],
        [[9, true], "9|true", 1],
      ],
    );
    assert.deepEqual(
      await keys({ terms: [{ field: "at", format: "yyyy-MM" }, { field: "open" }], size: 1 }),
      [[["2024-01", false], "2024-01|false", 1]],
    );
  });

  test("takes metrics below, also to order by, and leaves out rare combinations", async () => {
    const price = { p: { sum: { field: "price" } } };
    assert.deepEqual(
      await keys(
        { terms: [{ field: "kind" }, { field: "n" }], min_doc_count: 2, order: { p: "desc" } },
        price,
      ),
      [
        [["hat", 10], "hat|10", 2],
        [["bag", 9], "bag|9", 2],
      ],
    );
  });

  test("needs two fields", async () => {
    await assert.rejects(keys({ terms: [{ field: "kind" }] }), /must have 2 to 100 fields/);
  });
});

test("variable_width_histogram is refused with what to use in its place", async () => {
  await assert.rejects(answer({ variable_width_histogram: { field: "n", buckets: 3 } }), /use histogram/);
});

suite("boxplot", () => {
  test("has the bounds and the quartiles of the values, and whiskers from 7.11 on", async () => {
    const box = await answer({ boxplot: { field: "n" } });
    assert.deepEqual([box["min"], box["q2"], box["max"], box["lower"]], [1, 9, 10, undefined]);
    const later = await gatherWarnings(new Set(), 717, () => answer({ boxplot: { field: "n" } }));
    assert.deepEqual([later["upper"], Number(later["lower"]) >= 1], [10, true]);
    assert.ok(Number(box["q1"]) <= 9 && Number(box["q3"]) >= 9);
  });

  test("of nothing has no numbers", async () => {
    const box = await answer({ boxplot: { field: "n" } }, { match_none: {} });
    assert.deepEqual(box, { min: "Infinity", max: "-Infinity", q1: "NaN", q2: "NaN", q3: "NaN" });
  });

  test("orders buckets by one of its numbers", async () => {
    const terms = { field: "kind", order: { "b.min": "desc" } };
    const { buckets } = await answer({ terms, aggs: { b: { boxplot: { field: "n" } } } });
    assert.deepEqual(
      (buckets as JsonObject[]).map(({ key }) => key),
      ["bag", "hat"],
    );
  });
});

suite("string_stats", () => {
  test("measures texts and the entropy of their characters", async () => {
    const { entropy, distribution, ...lengths } = await answer({
      string_stats: { field: "kind", show_distribution: true },
    });
    assert.deepEqual(lengths, { count: 6, min_length: 3, max_length: 3, avg_length: 3 });
    assert.ok(Math.abs(Number(entropy) - 2.19716) < 1e-4);
    assert.deepEqual(distribution, { a: 6 / 18, h: 4 / 18, t: 4 / 18, b: 2 / 18, g: 2 / 18 });
  });

  test("takes a text for documents without one, and refuses numbers", async () => {
    const found = await answer({ string_stats: { field: "other", missing: "none" } });
    assert.deepEqual([found["count"], found["max_length"]], [5, 4]);
    const none = await answer({ string_stats: { field: "kind" } }, { match_none: {} });
    assert.deepEqual([none["count"], none["min_length"], none["entropy"]], [0, null, 0]);
    await assert.rejects(answer({ string_stats: { field: "n" } }), (error) =>
      /string_stats/.test(String((error as Error).cause)),
    );
  });
});
