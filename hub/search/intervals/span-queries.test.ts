import assert from "node:assert/strict";
import { after, test } from "node:test";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import { Bm25, inverseDocumentFrequency } from "#hub/search/scoring/bm25.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  mapping: {
    properties: {
      n: { type: "long" },
      text: { type: "text", fields: { stems: { type: "text", analyzer: "english" } } },
      other: { type: "text" },
      word: { type: "keyword" },
      bare: { type: "text", index_options: "docs" },
    },
  },
  docs: [
    { n: 1, text: "the quick brown fox jumps over the lazy dog" },
    { n: 2, text: "the quick fox" },
    { n: 3, text: "a fox is quick, and the dog is quicker" },
    { n: 4, text: "quick quick fox fox" },
    { n: 5, text: "dogs barked at foxes", other: "quick fox" },
    { n: 6, word: "quick", bare: "quick" },
  ],
  segmentDocs: 2,
});
after(() => fixture.close());

async function found(query: JsonObject): Promise<unknown[]> {
  const { hits } = await fixture.search({ query, sort: ["n"] });
  return hits.map((hit) => (JSON.parse(JSON.stringify(hit.sort)) as unknown[])[0]);
}

const term = (value: string, field = "text"): JsonObject => ({ span_term: { [field]: value } });
const near = (clauses: JsonObject[], options: JsonObject = {}): JsonObject => ({
  span_near: { clauses, slop: 0, ...options },
});
const quickFox = [term("quick"), term("fox")];

/** [query, documents] */
const FOUND: readonly (readonly [query: JsonObject, documents: number[]])[] = [
  [term("quick"), [1, 2, 3, 4]],
  [{ span_term: { text: { value: "fox", boost: 2 } } }, [1, 2, 3, 4]],
  [term("quick", "nowhere"), []],
  [near(quickFox), [2, 4]],
  [near(quickFox, { slop: 1 }), [1, 2, 4]],
  [near(quickFox, { slop: 1, in_order: false }), [1, 2, 3, 4]],
  [near(quickFox, { in_order: false }), [2, 4]],
  [near([term("quick")]), [1, 2, 3, 4]],
  [near([term("quick"), { span_gap: { text: 1 } }, term("fox")]), [1, 4]],
  [{ span_or: { clauses: [term("jumps"), term("barked")] } }, [1, 5]],
  [near([{ span_or: { clauses: [term("brown"), term("quick")] } }, term("fox")]), [1, 2, 4]],
  [{ span_not: { include: term("fox"), exclude: near(quickFox) } }, [1, 3, 4]],
  [{ span_not: { include: term("fox"), exclude: term("quick"), pre: 1 } }, [1, 3, 4]],
  [{ span_not: { include: term("fox"), exclude: term("quick"), dist: 2 } }, []],
  [{ span_not: { include: term("fox"), exclude: term("quick"), post: 2 } }, [1, 2, 4]],
  [{ span_first: { match: term("quick"), end: 1 } }, [4]],
  [{ span_first: { match: near(quickFox, { slop: 1 }), end: 3 } }, [2, 4]],
  [
    {
      span_containing: { big: near([term("the"), term("dog")], { slop: 9 }), little: term("fox") },
    },
    [1],
  ],
  [{ span_within: { big: near([term("fox"), term("dog")], { slop: 9 }), little: term("quick") } }, [3]],
  [{ span_multi: { match: { prefix: { text: "fox" } } } }, [1, 2, 3, 4, 5]],
  [{ span_multi: { match: { wildcard: { text: { value: "*ox*" } } } } }, [1, 2, 3, 4, 5]],
  [{ span_multi: { match: { wildcard: { text: "*" } } } }, [1, 2, 3, 4, 5]],
  [{ span_multi: { match: { regexp: { text: "dogs?" } } } }, [1, 3, 5]],
  [{ span_multi: { match: { fuzzy: { text: "brwn" } } } }, [1]],
  [{ span_multi: { match: { range: { text: { gte: "b", lt: "br" } } } } }, [5]],
  [near([{ span_multi: { match: { prefix: { text: "qui" } } } }, term("fox")]), [2, 4]],
  [
    near([
      term("barked"),
      term("at"),
      { field_masking_span: { query: term("fox", "text.stems"), field: "text" } },
    ]),
    [5],
  ],
  [{ bool: { must: [term("fox")], must_not: [near(quickFox)] } }, [1, 3]],
];
for (const [query, documents] of FOUND) {
  test(`${JSON.stringify(query)} is found`, async () => {
    assert.deepEqual(await found(query), documents);
  });
}

/** Scores by the field n. */
async function scores(query: JsonObject): Promise<Map<unknown, number>> {
  const { hits } = await fixture.search({ query });
  return new Map(
    hits.map((hit) => [
      (JSON.parse(JSON.stringify(hit["_source"])) as JsonObject)["n"],
      Math.fround(Number(hit["_score"])), // single precision, printed as few digits
    ]),
  );
}

test("one term as a span scores like the term", async () => {
  assert.deepEqual(await scores(term("fox")), await scores({ term: { text: "fox" } }));
  const boosted = { span_term: { text: { value: "fox", boost: 2 } } };
  assert.equal((await scores(boosted)).get(1), 2 * (await scores(term("fox"))).get(1)!);
});

test("words between spans lower the score, and each word counts once for rarity", async () => {
  const idf = inverseDocumentFrequency(4, 5);
  const bm25 = new Bm25(idf + idf, (9 + 3 + 9 + 4 + 4) / 5, 1);
  const all = await scores(near(quickFox, { slop: 1 }));
  assert.equal(all.get(1), bm25.score(1 / 2, 9));
  assert.equal(all.get(2), bm25.score(1, 3));
  assert.equal(all.get(4), bm25.score(1 / 2 + 1, 4));
  const anyOrder = await scores(near(quickFox, { slop: 0, in_order: false }));
  assert.equal(anyOrder.get(2), bm25.score(Math.fround(1 / 3), 3));
  const twice = await scores(near([term("quick"), term("quick")]));
  assert.equal(twice.get(4), new Bm25(idf, 29 / 5, 1).score(1, 4));
});

test("a score is explained by the spans of the document", async () => {
  const { hits } = await fixture.search({ query: near(quickFox, { slop: 1 }), explain: true });
  for (const hit of hits) {
    const text = JSON.stringify(hit["_explanation"]);
    assert.match(text, /weight\(spanNear\(\[text:quick, text:fox\], 1, true\) in/);
    assert.equal((JSON.parse(text) as { value: number }).value.toFixed(4), Number(hit["_score"]).toFixed(4));
  }
});

for (const [query, marked] of [
  [near(quickFox), "<em>quick</em> <em>fox</em> jumped, not that fox"],
  [
    { span_not: { include: term("fox"), exclude: near(quickFox) } },
    "quick fox jumped, not that <em>fox</em>",
  ],
  [{ span_multi: { match: { prefix: { text: "jump" } } } }, "quick fox <em>jumped</em>, not that fox"],
  [
    { intervals: { text: { match: { query: "that fox", max_gaps: 0 } } } },
    "quick fox jumped, not <em>that</em> <em>fox</em>",
  ],
] as const) {
  test(`${JSON.stringify(query)} marks its own words only`, async () => {
    const shown = new IndexFixture({ docs: [{ text: "quick fox jumped, not that fox" }] });
    try {
      const { hits } = await shown.search({ query, highlight: { fields: { text: {} } } });
      assert.deepEqual(hits[0]!["highlight"], { text: [marked] });
    } finally {
      shown.close();
    }
  });
}

test("a boost within a span query has no effect below 7.0, and is refused from there on", async () => {
  const query = near([term("quick"), { span_term: { text: { value: "fox", boost: 2 } } }]);
  assert.deepEqual(await found(query), await found(near([term("quick"), term("fox")])));
  await gatherWarnings(new Set(), 700, () =>
    assert.rejects(
      found(query),
      /span_near \[clauses\] as a nested span clause can't have non-default boost/,
    ),
  );
});

for (const [query, why] of [
  [near([]), /span_near must include \[clauses\]/],
  [near([{ term: { text: "x" } }]), /span_near \[clauses\] must be of type span query/],
  [near([{ span_gap: { text: 1 } }, term("x")]), /can't begin with a \[span_gap\]/],
  [
    near([term("x"), { span_gap: { text: 1 } }, term("y")], { in_order: false }),
    /only be added to ordered near queries/,
  ],
  [near([term("quick"), term("quick", "other")]), /Clauses must have same field/],
  [{ span_or: {} }, /span_or must include \[clauses\]/],
  [{ span_or: { clauses: [term("quick"), term("quick", "other")] } }, /Clauses must have same field/],
  [{ span_not: { include: term("x") } }, /span_not must have \[exclude\] span query clause/],
  [
    { span_not: { include: term("x"), exclude: { match_all: {} } } },
    /\[exclude\] must be of type span query/,
  ],
  [
    { span_not: { include: term("x"), exclude: term("y"), dist: 1, pre: 1 } },
    /can either use \[dist\] or \[pre\] & \[post\]/,
  ],
  [{ span_first: { match: term("x") } }, /span_first must have \[end\]/],
  [{ span_within: { big: term("x") } }, /span_within must have \[little\]/],
  [{ span_multi: { match: { term: { text: "x" } } } }, /must be of type MultiTermQueryBuilder/],
  [{ span_multi: {} }, /span_multi must have \[match\]/],
  [{ field_masking_span: { query: term("x") } }, /must have \[field\]/],
  [{ span_near: { clauses: [term("x")], sloop: 1 } }, /query does not support \[sloop\]/],
  [term("quick", "word"), /indexed without position data; cannot run SpanTermQuery/],
  [term("quick", "bare"), /indexed without position data/],
  [term("1", "n"), /indexed without position data/],
] as const) {
  test(`${JSON.stringify(query)} is refused`, async () => {
    await assert.rejects(found(query), (error: Error) => why.test(`${error.message} ${String(error.cause)}`));
  });
}
