import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
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

test("a negative score is refused from 7.0 on", async () => {
  const rows: [body: JsonObject, refusal: RegExp][] = [
    [
      { script_score: { script: "1 - doc['n'].value" } },
      /script score function must not produce negative scores, but got: \[-[12]\.0\]/,
    ],
    [
      { field_value_factor: { field: "n", factor: -1 } },
      /field value function must not produce negative scores, but got: \[-([123])\.0\] for field value: \[\1\.0\]/,
    ],
    [{ functions: [{ weight: -2 }] }, /\[weight\] cannot be negative for a filtering function/],
  ];
  for (const [body, refusal] of rows) {
    assert.equal((await scores(body)).length, 3);
    await assert.rejects(
      gatherWarnings(new Set(), 700, () => scores(body)),
      (error) => refusal.test(inspect(error, { depth: 9 })),
    );
  }
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
