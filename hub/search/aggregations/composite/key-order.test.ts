import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

/** In the order of the addresses; IPv4 as ::ffff:a.b.c.d. */
const ADDRESSES = ["::1", "9.0.0.1", "10.0.0.2", "10.0.0.10", "100.0.0.1", "2001:db8::9", "2001:db8::10"];
const mapping = { properties: { ip: { type: "ip" }, k: { type: "keyword" } } };
/** One document for each address, in another order than theirs, two with the last, and one with two addresses. */
const DOCS = [...ADDRESSES.toSorted(), "2001:db8::10", ["10.0.0.2", "9.0.0.1"]].map((ip) => ({ ip, k: "a" }));

const one = new IndexFixture({ mapping, docs: DOCS });
const single = new IndexFixture({ mapping, docs: DOCS.slice(0, -1) });
const many = new IndexFixture({ mapping, docs: DOCS, segmentDocs: 2, shards: 3 });
after(() => {
  for (const fixture of [one, single, many]) fixture.close();
});

interface Page {
  readonly buckets: readonly { readonly key: JsonObject; readonly doc_count: number }[];
  readonly after_key?: JsonObject;
}

async function pageOf(fixture: IndexFixture, composite: JsonObject): Promise<Page> {
  const { aggregations } = await fixture.search({ size: 0, aggs: { it: { composite } } });
  return aggregations!["it"] as unknown as Page;
}

describe("keys of addresses come in the order of the addresses", () => {
  for (const [name, fixture] of Object.entries({ one, single, many }))
    for (const order of ["asc", "desc"])
      for (const size of [1, 2, 100])
        test(`${name}, ${order}, pages of ${size}`, async () => {
          const sources = [{ k: { terms: { field: "k" } } }, { ip: { terms: { field: "ip", order } } }];
          const found: unknown[] = [];
          for (let page: Page | undefined; page?.buckets.length !== 0; ) {
            const behind = page === undefined ? {} : { after: page.after_key! };
            page = await pageOf(fixture, { sources, size, ...behind });
            found.push(...page.buckets.map(({ key }) => key["ip"]));
          }
          assert.deepEqual(found, order === "asc" ? ADDRESSES : ADDRESSES.toReversed());
        });
});

test("the documents of an address are counted over shards", async () => {
  const { buckets } = await pageOf(many, { sources: [{ ip: { terms: { field: "ip" } } }] });
  assert.deepEqual(
    buckets.map(({ doc_count: count }) => count),
    [1, 2, 2, 1, 1, 1, 2],
  );
});

test("the address of after may be written in another way", async () => {
  for (const ip of ["::ffff:10.0.0.10", "::FFFF:a00:a"]) {
    const { buckets } = await pageOf(many, { sources: [{ ip: { terms: { field: "ip" } } }], after: { ip } });
    assert.deepEqual(
      buckets.map(({ key }) => key["ip"]),
      ADDRESSES.slice(4),
    );
  }
});

describe("multi_terms has the keys of addresses in the order of the addresses", () => {
  for (const [name, fixture] of Object.entries({ one, single, many }))
    for (const order of ["asc", "desc"])
      test(`${name}, ${order}`, async () => {
        const terms = [{ field: "k" }, { field: "ip" }];
        const wanted = order === "asc" ? ADDRESSES : ADDRESSES.toReversed();
        for (const size of [3, 100]) {
          const body = { terms, order: { _key: order }, size };
          const { aggregations } = await fixture.search({ size: 0, aggs: { it: { multi_terms: body } } });
          const { buckets } = aggregations!["it"] as { buckets: JsonObject[] };
          assert.deepEqual(
            buckets.map(({ key }) => (key as string[])[1]),
            wanted.slice(0, size),
          );
        }
      });
});
