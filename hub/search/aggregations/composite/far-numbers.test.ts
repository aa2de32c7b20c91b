/** Keys of whole numbers beyond 2^53, of which several share the nearest double. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const FAR = 2n ** 62n;
const mapping = { properties: { n: { type: "long" }, u: { type: "unsigned_long" }, k: { type: "keyword" } } };
/** Three neighbours, one of them twice, and a small one; a document with two. */
const DOCS = [
  `{"k":"a","n":${FAR - 1n},"u":${2n * FAR + 5n}}`,
  `{"k":"a","n":${FAR},"u":${2n * FAR + 6n}}`,
  `{"k":"b","n":${FAR},"u":7}`,
  `{"k":"a","n":[${FAR + 1n},${-FAR}],"u":7}`,
  '{"k":"b","n":5}',
];
const one = new IndexFixture({ mapping, docs: DOCS });
const many = new IndexFixture({ mapping, docs: DOCS, segmentDocs: 1, shards: 2 });
after(() => {
  one.close();
  many.close();
});

interface Answer {
  readonly buckets: readonly { readonly key: unknown; readonly doc_count: number }[];
  readonly after_key?: JsonObject;
}

async function aggregate(aggregation: JsonObject): Promise<Answer> {
  const body = { size: 0, aggs: { a: aggregation } };
  const result = (await one.search(body)).aggregations!["a"];
  assert.deepEqual((await many.search(body)).aggregations!["a"], result, "merged over shards");
  return result as unknown as Answer;
}

const N = [
  [-FAR, 1],
  [5, 1],
  [FAR - 1n, 1],
  [FAR, 2],
  [FAR + 1n, 1],
] as const;

describe("whole numbers beyond 2^53 are keys of their own", () => {
  for (const order of ["asc", "desc"]) {
    for (const size of [1, 2, 3, 10]) {
      test(`in pages of ${size} of composite, ${order}`, async () => {
        const sources = [{ n: { terms: { field: "n", order } } }];
        const found: unknown[] = [];
        for (let page: Answer | undefined; page?.buckets.length !== 0; ) {
          const behind = page === undefined ? {} : { after: page.after_key! };
          page = await aggregate({ composite: { sources, size, ...behind } });
          found.push(...page.buckets.map(({ key, doc_count }) => [(key as JsonObject)["n"], doc_count]));
        }
        assert.deepEqual(found, order === "asc" ? N : N.toReversed());
      });
    }
  }

  test("after one that is a text", async () => {
    const sources = [{ u: { terms: { field: "u" } } }];
    const { buckets } = await aggregate({ composite: { sources, after: { u: String(2n * FAR + 5n) } } });
    assert.deepEqual(buckets, [{ key: { u: 2n * FAR + 6n }, doc_count: 1 }]);
  });

  test("in multi_terms", async () => {
    const terms = [{ field: "k" }, { field: "n" }];
    const { buckets } = await aggregate({ multi_terms: { terms, order: { _key: "asc" } } });
    assert.deepEqual(
      buckets.map(({ key }) => key),
      [
        ["a", -FAR],
        ["a", FAR - 1n],
        ["a", FAR],
        ["a", FAR + 1n],
        ["b", 5],
        ["b", FAR],
      ],
    );
    const filled = [{ field: "k" }, { field: "u", missing: String(2n * FAR + 6n) }];
    const more = await aggregate({ multi_terms: { terms: filled, order: { _count: "desc" } } });
    assert.deepEqual(
      more.buckets.map(({ key, doc_count }) => [key, doc_count]),
      [
        [["a", 7], 1],
        [["a", 2n * FAR + 5n], 1],
        [["a", 2n * FAR + 6n], 1],
        [["b", 7], 1],
        [["b", 2n * FAR + 6n], 1],
      ],
    );
  });

  test("in multi_terms of doubles as doubles are", async () => {
    const doubles = new IndexFixture({
      mapping: { properties: { d: { type: "double" }, k: { type: "keyword" } } },
      docs: ['{"k":"a","d":1234567890123456789}', '{"k":"a","d":123456789012345678901}'],
    });
    const terms = [{ field: "k" }, { field: "d" }];
    const text = await doubles.printed({ size: 0, aggs: { a: { multi_terms: { terms } } } });
    doubles.close();
    assert.ok(
      text.includes('{"key":["a",1.2345678901234568E18],"key_as_string":"a|1.2345678901234568E18"'),
      text,
    );
    assert.ok(text.includes('"key":["a",1.2345678901234568E20]'), text);
  });
});
