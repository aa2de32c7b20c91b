/** Far more keys than a page holds: those that are dropped on the way must be none of the page. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Random } from "#hub/engine/random.test-support.ts";
import type { JsonObject } from "../json.ts";
import { IndexFixture } from "../shard-fixture.ts";

const random = new Random(3);
const DOCS = Array.from({ length: 4000 }, () => ({ k: `k${random.below(3000)}`, n: random.below(50) }));

const index = new IndexFixture({
  mapping: { properties: { k: { type: "keyword" } } },
  docs: DOCS,
  segmentDocs: 1500,
});
after(() => index.close());

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
