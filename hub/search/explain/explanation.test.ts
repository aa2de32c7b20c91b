import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ShardContext } from "#hub/search/query/query.ts";
import { parseQueryBody } from "#hub/search/request/search-request.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { describeQuery, explainQuery, type PrintedExplanation, printExplanation } from "./explanation.ts";

const fixture = new IndexFixture({
  mapping: {
    properties: {
      message: { type: "text" },
      title: { type: "text" },
      host: { type: "keyword" },
      n: { type: "long" },
    },
  },
  docs: [
    { message: "quick brown fox", title: "dog", host: "a", n: 1 },
    { message: "quick quick dog", host: "b", n: 2 },
    { message: "lazy dog and a brown cow", title: "quick cow", host: "a", n: 3 },
  ],
});
after(() => fixture.close());
const [{ index, shard, searcher }] = fixture.shards as [(typeof fixture.shards)[number]];
const context = new ShardContext(index, shard, searcher, 0);

const match = { match: { message: "quick" } };
const QUERIES: readonly (readonly [text: string, query: JsonObject])[] = [
  ["*:*", { match_all: {} }],
  ["message:quick", match],
  ["message:quick message:dog", { match: { message: "quick dog" } }],
  ['message:"brown fox"', { match_phrase: { message: "brown fox" } }],
  ['message:"quick fox"~2', { match_phrase: { message: { query: "quick fox", slop: 2 } } }],
  ["host:a", { term: { host: "a" } }],
  ["n:[2 TO 9]", { range: { n: { gte: 2, lte: 9 } } }],
  ["ConstantScore(message:quick)", { constant_score: { filter: match } }],
  ["(message:quick)^2.0", { match: { message: { query: "quick", boost: 2 } } }],
  [
    "+message:quick #host:b message:dog -n:[3 TO 3]",
    {
      bool: {
        must: match,
        filter: { term: { host: "b" } },
        must_not: { term: { n: 3 } },
        should: { match: { message: "dog" } },
      },
    },
  ],
  [
    "(message:quick | message:dog)~0.5",
    { dis_max: { queries: [match, { match: { message: "dog" } }], tie_breaker: 0.5 } },
  ],
  ["function score (message:quick)", { function_score: { query: match, weight: 3 } }],
  [
    "(message:quick | title:quick)",
    { multi_match: { query: "quick", fields: ["message", "title"], type: "cross_fields" } },
  ],
  ["_id:(0 2)", { ids: { values: ["0", "2"] } }],
];

for (const [text, query] of QUERIES) {
  test(`${text}: every document's explanation is its score, and shows whether it matches`, async () => {
    const parsed = parseQueryBody({ query });
    assert.equal(describeQuery(parsed, context).text, text);
    const { hits } = await fixture.search({ query });
    for (const [doc, segment] of [0, 1, 2].map((each) => [each, searcher.segments[0]!] as const)) {
      const hit = hits.find((each) => each["_id"] === String(doc));
      const { matches, value } = explainQuery(parsed, { shard: context, segment, doc, boost: 1 });
      assert.equal(matches, hit !== undefined, `document ${doc}`);
      const score = (hit?.["_score"] as number | undefined) ?? 0;
      assert.ok(Math.abs(value - score) < 1e-6 * Math.max(1, score), `${value} is ${score}`);
    }
  });
}

test("a term is explained by its frequency, its rarity and the length of the field", async () => {
  const { hits } = await fixture.search({ query: match, explain: true, size: 1 }, { nodeId: "node-1" });
  assert.deepEqual(Object.keys(hits[0]!).slice(0, 3), ["_shard", "_node", "_index"]);
  assert.deepEqual([hits[0]!["_shard"], hits[0]!["_node"]], ["[logs][0]", "node-1"]);
  const explained = hits[0]!["_explanation"] as PrintedExplanation;
  assert.equal(explained.description, "weight(message:quick in 1) [PerFieldSimilarity], result of:");
  const [score] = explained.details;
  assert.equal(score!.description, "score(doc=1,freq=2.0 = termFreq=2.0\n), product of:");
  const [idf, frequency] = score!.details;
  assert.match(idf!.description, /^idf, computed as log/);
  assert.deepEqual(
    idf!.details.map(({ value, description }) => [description, value]),
    [
      ["docFreq", 2],
      ["docCount", 3],
    ],
  );
  assert.deepEqual(
    frequency!.details.map(({ value, description }) => [description, value]),
    [
      ["termFreq=2.0", 2],
      ["parameter k1", 1.2],
      ["parameter b", 0.75],
      ["avgFieldLength", 4],
      ["fieldLength", 3],
    ],
  );
});

test("what doesn't match names the condition that fails", () => {
  const query = parseQueryBody({ query: { bool: { must: match, must_not: { term: { host: "b" } } } } });
  const place = { shard: context, segment: searcher.segments[0]!, boost: 1 };
  const forbidden = printExplanation(explainQuery(query, { ...place, doc: 1 }));
  assert.equal(forbidden.description, "Failure to meet condition(s) of required/prohibited clause(s)");
  assert.equal(forbidden.details[0]!.description, "match on prohibited clause (host:b)");
  const missing = printExplanation(explainQuery(query, { ...place, doc: 2 }));
  assert.equal(missing.details[0]!.description, "no match on required clause (message:quick)");
});
