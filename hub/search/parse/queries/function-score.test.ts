import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({ docs: [{ n: 1 }, { n: 2 }, { n: 3 }] });
after(() => index.close());

async function scores(body: JsonObject): Promise<unknown[]> {
  const { hits } = await index.search({ query: { function_score: body }, sort: ["_score", "n"] });
  return hits.map((hit) => [hit["_id"], hit["_score"]]);
}

test("a list as the filter of a function counts for its last query", async () => {
  const last = [{ term: { n: 1 } }, { term: { n: 2 } }];
  assert.deepEqual(await scores({ functions: [{ filter: last, weight: 5 }] }), [
    ["1", 5],
    ["0", 1],
    ["2", 1],
  ]);
  assert.deepEqual(await scores({ functions: [{ filter: [], weight: 5 }] }), [
    ["0", 5],
    ["1", 5],
    ["2", 5],
  ]);
});

test("options that are null are as good as left out", async () => {
  const value = { field: "n", factor: null, modifier: null, missing: null };
  assert.deepEqual(
    await scores({ query: null, max_boost: null, functions: [{ filter: null, field_value_factor: value }] }),
    [
      ["2", 3],
      ["1", 2],
      ["0", 1],
    ],
  );
});
