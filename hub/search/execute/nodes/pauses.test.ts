/** Scorers that look long for a document give what they have, and continue where they were. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/default-limits.ts";
import { NO_MORE_DOCS, ShardContext } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

/** One in two is more than a scorer looks at in one fill. */
const DOCS = 70_000;
/** Documents with all there is to find; between them nothing is. */
const WHOLE: ReadonlySet<number> = new Set([7, DOCS - 5]);

const index = new IndexFixture({
  mapping: { properties: { even: { type: "keyword" }, odd: { type: "keyword" }, all: { type: "keyword" } } },
  docs: Array.from({ length: DOCS }, (_, at) => ({
    all: "x",
    ...((at % 2 === 0 || WHOLE.has(at)) && { even: "x" }),
    ...((at % 2 === 1 || WHOLE.has(at)) && { odd: "x" }),
    ...(!WHOLE.has(at) && { most: "x" }),
  })),
});
after(() => index.close());

const CASES: readonly (readonly [name: string, query: JsonObject])[] = [
  ["two terms that hardly meet", { bool: { must: [{ term: { even: "x" } }, { term: { odd: "x" } }] } }],
  [
    "a term without another",
    { bool: { must: [{ term: { all: "x" } }], must_not: [{ term: { "most.keyword": "x" } }] } },
  ],
];

for (const [name, query] of CASES) {
  test(`${name}: no fill takes all documents in one step, and none is missed`, () => {
    const [shard] = index.shards;
    const context = new ShardContext(shard!.index, 0, shard!.searcher, 0);
    const { query: parsed } = parseSearchRequest({ query }, DEFAULT_LIMITS);
    const [segment] = shard!.searcher.segments;
    const scorer = parsed.weight(context, { scores: true, boost: 1 }).scorer(segment!)!;
    const docs = new Int32Array(1024);
    const scores = new Float32Array(1024);
    const found: number[] = [];
    let fills = 0;
    do {
      const length = scorer.fill(docs, scores);
      found.push(...docs.subarray(0, length));
      assert.ok(scores.subarray(0, length).every((score) => score > 0));
      fills++;
    } while (scorer.doc !== NO_MORE_DOCS);
    assert.deepEqual(found, [...WHOLE]);
    assert.ok(fills > 1, "it gave what it had in between");
    assert.equal(scorer.fill(docs, scores), 0);
  });
}
