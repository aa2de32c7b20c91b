import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({ docs: [{ n: 1 }, { n: 2 }, { n: 3, text: "word" }] });
after(() => index.close());

async function scores(body: JsonObject): Promise<unknown[]> {
  const { hits } = await index.search({ query: { script_score: body } });
  return hits.map((hit) => [hit["_id"], hit["_score"]]);
}

test("a script makes the scores of a query's documents, from theirs or from fields", async () => {
  const script = { source: "_score * 10 + doc['n'].value * params.by", params: { by: 2 } };
  const query = { range: { n: { lte: 2 } } };
  assert.deepEqual(await scores({ query, script }), [
    ["1", 14],
    ["0", 12],
  ]);
  assert.deepEqual(await scores({ query, script, boost: 2, min_score: 13 }), [["1", 28]]);
});

test("a query and a script are needed", async () => {
  await assert.rejects(scores({ script: "1" }), /Required \[query\]/);
  await assert.rejects(scores({ query: { match_all: {} } }), /Required \[script\]/);
});

test("a negative score is refused", async () => {
  await assert.rejects(scores({ query: { match_all: {} }, script: "1 - doc['n'].value" }), (error: Error) =>
    /returned an invalid score \[-1\] for doc \[\d\]/.test(inspect(error, { depth: 9 })),
  );
});
