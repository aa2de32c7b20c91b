import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { type Query, ShardContext } from "#hub/search/query/query.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { FunctionScoreNode } from "./function-score.ts";
import { TermNode } from "./term.ts";
import { BoostingNode, BoostNode, ConstantNode, MappedNode } from "./wrapped-query.ts";

const fixture = new IndexFixture({
  mapping: { properties: { host: { type: "keyword" }, text: { type: "text" }, needed: { type: "long" } } },
  docs: Array.from({ length: 200 }, (_, at) => ({
    host: at === 7 ? "rare" : "often",
    text: "a b",
    needed: 2,
  })),
});
after(() => fixture.close());
const [{ index, searcher }] = fixture.shards as [(typeof fixture.shards)[0]];
const shard = new ShardContext(index, 0, searcher, 0);
const segment = searcher.segments[0]!;

const inner = new TermNode("host", "rare");
const FUNCTIONS = {
  functions: [],
  scoreMode: "multiply",
  boostMode: "multiply",
  maxBoost: 1,
  minScore: undefined,
} as const;

const WRAPPED: readonly (readonly [name: string, query: Query])[] = [
  ["a constant score", new ConstantNode(inner)],
  ["a boost", new BoostNode(inner, 2)],
  ["a choice by mapping", new MappedNode(() => inner)],
  ["a boosting query", new BoostingNode(inner, new TermNode("host", "often"), 0.5)],
  ["a function score", new FunctionScoreNode(inner, FUNCTIONS)],
];

describe("a query around another one", () => {
  for (const [name, query] of WRAPPED) {
    test(`is planned like the query inside: ${name}`, () => {
      for (const scores of [true, false]) {
        const own = query.weight(shard, { scores, boost: 1 });
        const other = inner.weight(shard, { scores: false, boost: 1 });
        assert.equal(own.cost?.(segment), 1);
        assert.equal(own.count(segment), 1);
        assert.equal(own.key, other.key);
        assert.deepEqual(own.set?.(segment), other.set?.(segment));
        assert.equal(own.scorer(segment)?.advance(0), 7);
      }
    });
  }
});

test("terms_set marks the terms it found", async () => {
  const { hits } = await fixture.search({
    size: 1,
    query: { terms_set: { text: { terms: ["a", "b"], minimum_should_match_field: "needed" } } },
    highlight: { fields: { text: {} } },
  });
  assert.deepEqual(hits[0]!["highlight"], { text: ["<em>a</em> <em>b</em>"] });
});
