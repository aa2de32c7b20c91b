/** Far more keys than a page holds: those that are dropped on the way must be none of the page. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { TermReader } from "#hub/engine/searcher/searcher.ts";
import { KeywordColumnView } from "#hub/engine/segment/columns.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { Random } from "#test/support/engine/random.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const random = new Random(3);
const DOCS = Array.from({ length: 4000 }, () => ({ k: `k${random.below(3000)}`, n: random.below(50) }));
/** Some segments have several tags a document, some one, and some documents none. */
const TAGGED = Array.from({ length: 3000 }, (_, at) => ({
  ...(random.oneIn(7)
    ? {}
    : {
        tag:
          at < 1000 ? `t${random.below(40)}` : [...new Set([`t${random.below(40)}`, `t${random.below(40)}`])],
      }),
  ...(random.oneIn(5) ? {} : { n: random.below(30) }),
}));

const index = new IndexFixture({
  mapping: { properties: { k: { type: "keyword" } } },
  docs: DOCS,
  segmentDocs: 1500,
});
const tagged = new IndexFixture({
  mapping: { properties: { tag: { type: "keyword" } } },
  docs: TAGGED,
  segmentDocs: 500,
});
after(() => {
  index.close();
  tagged.close();
});

interface Page {
  readonly after_key?: JsonObject;
  readonly buckets: readonly { readonly key: JsonObject; readonly doc_count: number }[];
}

for (const order of ["asc", "desc"] as const) {
  test(`pages of combined keys, ${order}ending, hold the keys that follow one another with all their documents`, async () => {
    const counts = new Map<string, number>();
    for (const { k, n } of DOCS) counts.set(`${k} ${n}`, (counts.get(`${k} ${n}`) ?? 0) + 1);
    const expected = [...counts].sort(([a], [b]) => {
      const [[ak, an], [bk, bn]] = [a.split(" "), b.split(" ")];
      const byText = ak === bk ? 0 : ak! < bk! ? -1 : 1;
      return (order === "asc" ? byText : -byText) || Number(an) - Number(bn);
    });
    const sources = [{ k: { terms: { field: "k", order } } }, { n: { terms: { field: "n" } } }];
    let behind: JsonObject | undefined;
    for (let page = 0; page < 3; page++) {
      const composite = { size: 30, sources, ...(behind !== undefined && { after: behind }) };
      const { aggregations } = await index.search({ size: 0, aggs: { it: { composite } } });
      const { buckets, after_key: last } = aggregations!["it"] as unknown as Page;
      assert.deepEqual(
        buckets.map(({ key, doc_count: count }) => [Object.values(key).join(" "), count]),
        expected.slice(30 * page, 30 * page + 30),
      );
      behind = last;
    }
  });
}

test("documents with one value, several and none have the keys that their values make", async () => {
  const counts = new Map<string, number>();
  for (const { tag, n } of TAGGED) {
    for (const each of typeof tag === "string" ? [tag] : (tag ?? []))
      counts.set(`${each} ${n ?? null}`, (counts.get(`${each} ${n ?? null}`) ?? 0) + 1);
  }
  const sources = [
    { tag: { terms: { field: "tag" } } },
    { n: { terms: { field: "n", missing_bucket: true } } },
  ];
  const { aggregations } = await tagged.search({
    size: 0,
    aggs: { it: { composite: { size: 5000, sources } } },
  });
  const { buckets } = aggregations!["it"] as unknown as Page;
  const found = buckets.map(
    ({ key, doc_count: count }) => [`${String(key["tag"])} ${String(key["n"])}`, count] as const,
  );
  assert.deepEqual(new Map(found), counts);
});

test("texts of keys after the page's last one aren't read", async (t) => {
  const reader = Reflect.get(KeywordColumnView.prototype, "reader") as (
    this: KeywordColumnView,
  ) => TermReader;
  let read = 0;
  t.mock.method(KeywordColumnView.prototype, "reader", function (this: KeywordColumnView): TermReader {
    const own = reader.call(this);
    return {
      bytes: (ordinal) => own.bytes(ordinal),
      text(ordinal) {
        read++;
        return own.text(ordinal);
      },
    };
  });
  const pageOf = async (source: JsonObject, behind?: string): Promise<number> => {
    read = 0;
    const sources = [{ k: { terms: { field: "k", ...source } } }];
    const composite = { size: 10, sources, ...(behind !== undefined && { after: { k: behind } }) };
    await index.search({ size: 0, aggs: { it: { composite } } });
    return read;
  };
  // The last key is known after two batches of a thousand documents; all segments have 3,200 texts, which are read twice.
  for (const order of ["asc", "desc"]) assert.ok((await pageOf({ order })) < 2500, order);
  // Few are left after the page before.
  assert.ok((await pageOf({}, "k99")) < 100);
  assert.ok((await pageOf({ order: "desc" }, "k11")) < 400);
});

test("keys come by their code points", async () => {
  const keys = ["a", "\uff5e", "\u{1f600}"];
  const odd = new IndexFixture({
    mapping: { properties: { k: { type: "keyword" } } },
    docs: keys.map((k) => ({ k })),
  });
  try {
    for (const order of ["asc", "desc"]) {
      const composite = { sources: [{ k: { terms: { field: "k", order } } }] };
      const { aggregations } = await odd.search({ size: 0, aggs: { it: { composite } } });
      const { buckets } = aggregations!["it"] as unknown as Page;
      const expected = order === "asc" ? keys : keys.toReversed();
      assert.deepEqual(
        buckets.map(({ key }) => key["k"]),
        expected,
      );
    }
  } finally {
    odd.close();
  }
});
