/** Scorers that look long for a document give what they have, and continue where they were. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { prepareNested } from "#hub/search/phases/prepare-search.ts";
import { DEFAULT_LIMITS, NO_MORE_DOCS, ShardContext } from "#hub/search/query/query.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

/** One in two is more than a scorer looks at in one fill. */
const DOCS = 70_000;
/** Documents with all there is to find; between them nothing is. */
const WHOLE: ReadonlySet<number> = new Set([7, DOCS - 5]);

const index = new IndexFixture({
  mapping: {
    properties: {
      even: { type: "keyword" },
      odd: { type: "keyword" },
      all: { type: "keyword" },
      text: { type: "text" },
      objects: { type: "nested", properties: { text: { type: "text" } } },
    },
  },
  docs: Array.from({ length: DOCS }, (_, at) => ({
    all: "x",
    text: textOf(at),
    objects: [{ text: textOf(at) }],
    ...((at % 2 === 0 || WHOLE.has(at)) && { even: "x" }),
    ...((at % 2 === 1 || WHOLE.has(at)) && { odd: "x" }),
    ...(!WHOLE.has(at) && { most: "x" }),
  })),
});
after(() => index.close());

/** Both words, hardly ever in the order that is looked for. */
function textOf(at: number): string {
  return WHOLE.has(at) ? "b a" : "a b";
}

function spans(field: string): JsonObject {
  const clauses = ["b", "a"].map((word) => ({ span_term: { [field]: word } }));
  return { span_near: { clauses, slop: 0, in_order: true } };
}

const CASES: readonly (readonly [name: string, query: JsonObject])[] = [
  ["two terms that hardly meet", { bool: { must: [{ term: { even: "x" } }, { term: { odd: "x" } }] } }],
  [
    "a term without another",
    { bool: { must: [{ term: { all: "x" } }], must_not: [{ term: { "most.keyword": "x" } }] } },
  ],
  ...inPlaces("spans that hardly match", spans("text")),
  ["nested spans that hardly match", { nested: { path: "objects", query: spans("objects.text") } }],
  [
    "nested spans, as one of two choices",
    { bool: { should: [{ nested: { path: "objects", query: spans("objects.text") } }, spans("text")] } },
  ],
  ...inPlaces("scores that are hardly high enough", {
    script_score: {
      query: { match_all: {} },
      script: { source: "doc['all'].size() - doc['most.keyword'].size()" },
      min_score: 0.5,
    },
  }),
];

/** A query alone and within others. */
function inPlaces(name: string, query: JsonObject): [name: string, query: JsonObject][] {
  const none = { term: { even: "nothing" } };
  return [
    [name, query],
    [`${name}, in a constant score`, { constant_score: { filter: query } }],
    [`${name}, as one of two choices`, { bool: { should: [query, none, query] } }],
    [`${name}, as the best of two`, { dis_max: { queries: [query, query] } }],
    [
      `${name}, as a choice beside what is required`,
      { bool: { must: [{ bool: { should: [query, query] } }] } },
    ],
    [
      `${name}, with others`,
      { bool: { must: [{ constant_score: { filter: query } }, { term: { all: "x" } }] } },
    ],
    [`${name}, without others`, { bool: { must: [query], must_not: [none] } }],
    [
      `${name}, nearly all without them`,
      {
        bool: {
          must: [{ term: { all: "x" } }],
          must_not: [{ bool: { must: [{ match_all: {} }], must_not: [query] } }],
        },
      },
    ],
    [`${name}, scored by a function`, { function_score: { query, boost: 2 } }],
  ];
}

for (const [name, query] of CASES) {
  test(`${name}: no fill takes all documents in one step, and none is missed`, async () => {
    const [shard] = index.shards;
    const context = new ShardContext(shard!.index, 0, shard!.searcher, 0);
    const { query: parsed, nestedPaths } = parseSearchRequest({ query }, DEFAULT_LIMITS);
    const control = new SearchControl(systemClock, new AbortController().signal, undefined);
    await prepareNested(context, control, nestedPaths);
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
