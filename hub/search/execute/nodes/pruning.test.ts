/** Documents that can't become hits are skipped: the hits must be those of a walk over all documents. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { NO_MORE_DOCS } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { Random } from "#test/support/engine/random.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { AllScorer } from "./block-scorer.ts";
import { DisjunctionScorer } from "./disjunction.ts";

const DOCS = 6000;
const WORDS = Array.from({ length: 40 }, (_, at) => `w${at}`);

const random = new Random(31);

/** Few words are in most documents, most in few; some documents are long, some repeat words. */
function text(): string {
  const length = random.oneIn(40) ? 60 : 1 + random.below(8);
  return Array.from({ length }, () => WORDS[Math.floor(40 * (random.below(1000) / 1000) ** 3)]!).join(" ");
}

const index = new IndexFixture({
  mapping: { properties: { a: { type: "text" }, b: { type: "text" } } },
  docs: Array.from({ length: DOCS }, () => ({ a: text(), b: text() })),
  segmentDocs: 4000,
  deleted: Array.from({ length: 300 }, (_, at) => String(7 * at)),
});

after(() => index.close());

const words = (count: number): string => Array.from({ length: count }, () => random.pick(WORDS)).join(" ");
const match = (field: string, count: number): JsonObject => ({ match: { [field]: words(count) } });

const QUERIES: readonly (readonly [name: string, make: () => JsonObject])[] = [
  ["any of some words", () => match("a", 2 + random.below(4))],
  ["any of many words", () => match("a", 12)],
  ["words of two fields", () => ({ bool: { should: [match("a", 2), match("b", 2)] } })],
  [
    "boosted words",
    () => ({ bool: { should: [match("a", 1), { match: { a: { query: words(2), boost: 3 } } }] } }),
  ],
  [
    "some words required",
    () => ({ bool: { must: [match("a", 1)], should: [match("a", 2), match("b", 1)] } }),
  ],
  ["any within all", () => ({ bool: { must: [match("a", 3), match("b", 3)] } })],
  ["any but some", () => ({ bool: { should: [match("a", 3)], must_not: [match("b", 1)] } })],
  ["at least two", () => ({ match: { a: { query: words(4), minimum_should_match: 2 } } })],
  ["the best of", () => ({ dis_max: { queries: [match("a", 2), match("b", 2)], tie_breaker: 0.3 } })],
  ["all words", () => ({ match: { a: { query: words(2), operator: "and" } } })],
  ["a phrase", () => ({ match_phrase: { a: words(2) } })],
  ["a phrase of three words", () => ({ match_phrase: { a: words(3) } })],
  ["a phrase with moved words", () => ({ match_phrase: { a: { query: words(2), slop: 2 } } })],
  ["all but some", () => ({ bool: { must_not: [match("a", 1)] } })],
  ["a filter", () => ({ constant_score: { filter: match("a", 1), boost: 2 } })],
  [
    "a prefix but not a word",
    () => ({ bool: { must: [{ prefix: { a: "w1" } }], must_not: [match("b", 1)] } }),
  ],
];

for (const [name, make] of QUERIES) {
  test(`${name}: the best hits and the total are those of a walk over all documents`, async () => {
    for (let round = 0; round < 8; round++) {
      const query = make();
      const size = random.pick([1, 10, 40]);
      const pruned = await index.search({ query, size });
      // A lowest score makes that every document is looked at.
      const walked = await index.search({ query, size, min_score: 1e-9 });
      const hits = ({ hits: found }: typeof pruned): unknown[] =>
        found.map((hit) => [hit["_id"], hit["_score"]]);
      assert.deepEqual(hits(pruned), hits(walked), JSON.stringify(query));
      assert.equal(pruned.total, walked.total);
      assert.equal(pruned.maxScore, walked.maxScore);
    }
  });
}

test("documents that score alike end where one more can't become a hit", () => {
  const all = new AllScorer(10_000, 1);
  const docs = new Int32Array(100);
  assert.equal(all.fill(docs, null), 100);
  all.setMinScore(0.5);
  assert.equal(all.fill(docs, null), 100);
  all.setMinScore(1);
  assert.equal(all.fill(docs, null), 0);
  assert.equal(all.doc, NO_MORE_DOCS);
});

test("bounds of any of several scorers reach at least to the requested document, after the last document too", () => {
  const any = new DisjunctionScorer([new AllScorer(10, 1), new AllScorer(10, 2)], 1, 10, true);
  for (const target of [0, 9, 10, 11]) {
    assert.equal(any.maxScoreFrom(target), 3);
    assert.ok(any.impactEnd >= target, `${any.impactEnd} for ${target}`);
  }
});
