/** Terms of very many values must be those of few, collected with a bucket each. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Bitset } from "#hub/engine/bytes/bitset.ts";
import {
  renderTerms,
  type TermsContext,
  type TermsState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import {
  type AggregationTree,
  BucketBudget,
  CollectBudget,
  type Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import type { BucketOrder } from "#hub/search/aggregations/tree/bucket-order.ts";
import { atOnce, withPauses } from "#hub/search/aggregations/tree/steps.ts";
import { SetBlocks } from "#hub/search/columns/set-blocks.ts";
import { DEFAULT_LIMITS, ShardContext } from "#hub/search/query/query.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { Random } from "#test/support/engine/random.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { knownTerms } from "./merged-terms.ts";
import { KeywordTermsCollector } from "./terms-keyword.ts";
import { keywordTerms } from "./terms-many.ts";

const DOCS = 5000;
/** Most terms have one document, some have many. */
const random = new Random(5);
const word = (): string =>
  random.oneIn(3) ? `${random.pick(["ä", "b", "日本", ""])}${random.below(30)}` : `x${random.below(40_000)}`;

const index = new IndexFixture({
  mapping: {
    properties: {
      k: { type: "keyword" },
      tags: { type: "keyword" },
      ip: { type: "ip" },
      n: { type: "double" },
      w: { type: "long" },
      at: { type: "date" },
      labels: { type: "flattened" },
    },
  },
  docs: Array.from({ length: DOCS }, () => ({
    ...(random.oneIn(9) ? {} : { k: word() }),
    tags: [word(), word()],
    ...(random.oneIn(7) ? {} : { n: random.below(1000) / 8 }),
    ...(random.oneIn(5) ? {} : { w: random.below(100) - 20 }),
    at: 1_767_000_000_000 + random.below(20) * 600_000,
    ip: `10.0.${random.below(200)}.${random.below(200)}`,
  })),
  segmentDocs: 1300,
  deleted: Array.from({ length: 200 }, (_, at) => String(13 * at)),
});
after(() => index.close());

const [found] = index.shards;
const { segments } = found!.searcher;
const shard = new ShardContext(found!.index, 0, found!.searcher, 0);

const by = (what: "count" | "key", descending: boolean): BucketOrder => ({
  by: what,
  name: "",
  part: "",
  descending,
});
const FREQUENT = [by("count", true), by("key", false)];
const KEYS = [by("key", false)];

const treeOf = (aggs: unknown): AggregationTree => parseSearchRequest({ aggs }, DEFAULT_LIMITS).aggregations;

/** Aggregations that get their documents after all are counted; those that ask queries get them at once. */
const LATE = treeOf({
  sum: { stats: { field: "n" } },
  most: { max: { field: "n" } },
  whole: { extended_stats: { field: "w" } },
});
const AT_ONCE = treeOf({ sum: { stats: { field: "n" } }, some: { filter: { term: { k: "b1" } } } });

function contextOf(
  order: readonly BucketOrder[],
  filter?: TermsContext["filter"],
  below: AggregationTree = new Map(),
): TermsContext {
  const shape = { below, size: 10, minDocCount: 1, order, showError: false };
  return { shard, budget: new CollectBudget(), shape, shardSize: 20, filter };
}

/** Hands all live documents to a collector, in batches; `ownerOf` says whose each is. */
function collect(collector: Collector<TermsState>, ownerOf: (doc: number) => number): void {
  const [docs, owners] = [new Int32Array(700), new Int32Array(700)];
  for (const segment of segments) {
    collector.segment(segment);
    for (let doc = 0; doc < segment.docCount; ) {
      let length = 0;
      for (; length < docs.length && doc < segment.docCount; doc++) {
        if (!segment.isLive(doc)) continue;
        docs[length] = doc;
        owners[length++] = ownerOf(doc);
      }
      collector.collect(docs, owners, length);
    }
  }
}

const sorted = ({ buckets, others, errorBound }: TermsState): unknown => ({
  buckets: buckets
    .map(({ key, count, below }) => ({ key, count, below }))
    .sort((a, b) => (a.key < b.key ? -1 : 1)),
  others,
  errorBound,
});

for (const [name, field, order, filter] of [
  ["the most frequent", "k", FREQUENT, undefined],
  ["the first", "k", KEYS, undefined],
  ["the most frequent of several values", "tags", FREQUENT, undefined],
  ["the first of those that a filter leaves", "tags", KEYS, (text: string) => text.endsWith("7")],
  ["the most frequent of those that a filter leaves", "k", FREQUENT, (text: string) => text.includes("2")],
] as const) {
  test(`${name}: many terms are counted as few are`, async () => {
    const few = new KeywordTermsCollector(contextOf(order, filter), field, undefined);
    const many = keywordTerms(contextOf(order, filter), field, undefined, 100);
    assert.ok(!(many instanceof KeywordTermsCollector));
    collect(few, () => 0);
    collect(many, () => 0);
    const expected = sorted(few.state(0));
    assert.deepEqual(sorted(many.state(0)), expected);
    const control = new SearchControl(systemClock, new AbortController().signal, undefined);
    assert.deepEqual(sorted(await withPauses(many.steps!(0), control)), expected);
  });
}

test("terms below several buckets are counted by bucket", () => {
  const few = new KeywordTermsCollector(contextOf(FREQUENT), "k", undefined);
  const many = keywordTerms(contextOf(FREQUENT), "k", undefined, 100);
  // The second owner comes in the middle of the second segment.
  let met = 0;
  const ownerOf = (): number => (met++ > 2000 ? met % 3 : 0);
  collect(few, ownerOf);
  met = 0;
  collect(many, ownerOf);
  for (const owner of [0, 1, 2]) assert.deepEqual(sorted(many.state(owner)), sorted(few.state(owner)));
});

for (const [name, field, order, filter] of [
  ["the most frequent", "k", FREQUENT, undefined],
  ["the most frequent of several values", "tags", FREQUENT, undefined],
  ["the first of those that a filter leaves", "tags", KEYS, (text: string) => text.endsWith("7")],
] as const)
  test(`${name}: metrics below many terms are those below few`, () => {
    for (const ownerOf of [() => 0, (doc: number) => doc % 3]) {
      const few = new KeywordTermsCollector(contextOf(order, filter, LATE), field, undefined);
      const many = keywordTerms(contextOf(order, filter, LATE), field, undefined, 100);
      assert.ok(!(many instanceof KeywordTermsCollector));
      for (const collector of [few, many]) collect(collector, ownerOf);
      for (const owner of [0, 1, 2]) {
        assert.deepEqual(sorted(many.state(owner)), sorted(few.state(owner)));
        assert.deepEqual(sorted(many.state(owner)), sorted(few.state(owner)), "asked again");
      }
    }
  });

for (const field of ["k", "tags"])
  test(`runs of blocks are collected as their documents are: ${field}`, () => {
    const [half, all] = [new Bitset(DOCS), new Bitset(DOCS)];
    for (let doc = 0; doc < DOCS; doc++) {
      all.add(doc);
      if (random.oneIn(2)) half.add(doc);
    }
    for (const set of [half, all]) {
      const few = new KeywordTermsCollector(contextOf(FREQUENT, undefined, LATE), field, undefined);
      const many = keywordTerms(contextOf(FREQUENT, undefined, LATE), field, undefined, 100);
      for (const segment of segments) {
        const chosen = new Bitset(segment.docCount);
        for (let doc = 0; doc < segment.docCount; doc++) if (set.has(doc)) chosen.add(doc);
        const live = Int32Array.from({ length: segment.docCount }, (_, doc) => doc).filter(
          (doc) => chosen.has(doc) && segment.isLive(doc),
        );
        few.segment(segment);
        few.collect(live, new Int32Array(live.length), live.length);
        const blocks = new SetBlocks(segment, chosen);
        many.segment(segment);
        if (many.collectRun!(blocks.run(0, 1), 0) && many.collectRun!(blocks.run(1, blocks.blockCount), 0))
          continue;
        // Documents of several values come one by one.
        assert.equal(field, "tags");
        many.collect(live, new Int32Array(live.length), live.length);
      }
      assert.deepEqual(sorted(many.state(0)), sorted(few.state(0)));
    }
  });

for (const field of ["k", "tags", "ip"])
  test(`a state that isn't merged has the buckets of the answer alone: ${field}`, () => {
    for (const order of [FREQUENT, KEYS, [by("count", false)]])
      for (const minDocCount of [1, 2]) {
        const whole = contextOf(order, undefined, LATE);
        const context = { ...whole, shape: { ...whole.shape, minDocCount } };
        const [all, first] = [false, true].map((isFinal) => {
          const collector = keywordTerms({ ...context, isFinal }, field, undefined, 100);
          collect(collector, () => 0);
          const state = collector.state(0);
          const answer = atOnce(renderTerms(state, context.shape, new BucketBudget(10_000, false)));
          return { answer, length: state.buckets.length };
        });
        assert.deepEqual(first!.answer, all!.answer);
        assert.equal(first!.answer.buckets.length, 10);
        assert.ok(all!.length > 100);
        const isCut = minDocCount === 1 && field !== "ip";
        assert.equal(first!.length, isCut ? 10 : all!.length);
      }
  });

test("documents that are kept for metrics below are charged to the search", () => {
  const values = segments.reduce((sum, segment) => sum + segment.keywordColumn("k")!.cardinality, 0);
  const open = (below: AggregationTree): void => {
    // Four bytes for each count, of the hundred of a bucket.
    const budget = new CollectBudget(0.04 * values + 1);
    const many = keywordTerms({ ...contextOf(FREQUENT, undefined, below), budget }, "k", undefined, 100);
    for (const segment of segments) many.segment(segment);
  };
  assert.doesNotThrow(() => open(new Map()));
  assert.throws(() => open(LATE), { code: "memory_limit" });
});

/** What gets its documents late beside LATE. */
const KINDS: readonly (readonly [kind: string, aggs: JsonObject])[] = [
  ["value_count", { it: { value_count: { field: "tags" } } }],
  ["cardinality", { it: { cardinality: { field: "ip" } } }],
  ["percentiles", { it: { percentiles: { field: "n" } } }],
  [
    "histogram",
    { it: { histogram: { field: "n", interval: 20 }, aggs: { least: { min: { field: "w" } } } } },
  ],
  ["date_histogram", { it: { date_histogram: { field: "at", interval: "hour" } } }],
  ["range", { it: { range: { field: "n", ranges: [{ to: 60 }, { from: 50 }] } } }],
  ["terms of numbers", { it: { terms: { field: "w" }, aggs: { mean: { avg: { field: "w" } } } } }],
  ["terms", { it: { terms: { field: "k", size: 3 }, aggs: { mean: { avg: { field: "n" } } } } }],
];

for (const [kind, aggs] of KINDS)
  test(`${kind} below many terms is that below few, of keywords and of several values`, () => {
    const below = treeOf(aggs);
    for (const field of ["k", "tags"]) {
      const [few, many] = [Number.POSITIVE_INFINITY, 100].map((least) => {
        const context = { ...contextOf(FREQUENT, undefined, below), isFinal: true };
        const collector = keywordTerms(context, field, undefined, least);
        assert.equal(collector instanceof KeywordTermsCollector, least > 100);
        collect(collector, () => 0);
        return atOnce(renderTerms(collector.state(0), context.shape, new BucketBudget(10_000, false)));
      });
      assert.deepEqual(many, few);
    }
  });

test("aggregations that need their documents at once have them at once", () => {
  const rows: readonly JsonObject[] = [
    { it: { terms: { field: "labels.a" } } },
    { it: { value_count: { field: "labels.a" } } },
    { it: { histogram: { field: "n", interval: 1 }, aggs: { it: { cardinality: { field: "labels.a" } } } } },
    { it: { terms: { field: "w" }, aggs: { it: { top_hits: {} } } } },
    { it: { max: { script: "1" } } },
    { it: { date_histogram: { script: "1", interval: "day" } } },
  ];
  for (const below of [AT_ONCE, ...rows.map((aggs) => treeOf(aggs))]) {
    const context = contextOf(FREQUENT, undefined, below);
    assert.ok(keywordTerms(context, "k", undefined, 100) instanceof KeywordTermsCollector);
  }
});

test("what an order needs all buckets for, and addresses, have a bucket each", () => {
  for (const order of [[by("count", false)], [by("key", true)], [by("count", true), by("key", true)]])
    assert.ok(keywordTerms(contextOf(order), "k", undefined, 100) instanceof KeywordTermsCollector);
  assert.ok(keywordTerms(contextOf(FREQUENT), "ip", undefined, 100) instanceof KeywordTermsCollector);
  assert.ok(keywordTerms(contextOf(FREQUENT), "k", "none", 100) instanceof KeywordTermsCollector);
  assert.ok(keywordTerms(contextOf(FREQUENT), "k", undefined, 50_000) instanceof KeywordTermsCollector);
});

test("terms that an earlier search numbered have the buckets of those that are looked up", () => {
  const columns = segments.map((segment) => segment.keywordColumn("tags")!);
  for (const minDocCount of [1, 0]) {
    const statesOf = (filter?: TermsContext["filter"]): unknown[] => {
      const context = contextOf([by("count", false)], filter);
      const shape = { ...context.shape, minDocCount };
      const collector = new KeywordTermsCollector({ ...context, shape }, "tags", undefined);
      collect(collector, (doc) => doc % 3);
      return [0, 1, 2].map((owner) => sorted(collector.state(owner)));
    };
    // What a filter leaves is always looked up.
    const lookedUp = statesOf(() => true);
    statesOf();
    assert.notEqual(knownTerms({ index: found!.index.uuid, path: "tags", columns }), undefined);
    assert.deepEqual(statesOf(), lookedUp);
  }
});

test("a value for missing that isn't an address comes last", async () => {
  const docs = [{ ip: "10.0.0.2" }, { ip: "9.0.0.1" }, {}];
  const index = new IndexFixture({ mapping: { properties: { ip: { type: "ip" } } }, docs });
  const terms = { field: "ip", missing: "none", order: { _key: "asc" } };
  const { aggregations } = await index.search({ size: 0, aggs: { it: { terms } } });
  index.close();
  const { buckets } = aggregations!["it"] as { buckets: { key: string }[] };
  assert.deepEqual(
    buckets.map(({ key }) => key),
    ["9.0.0.1", "10.0.0.2", "none"],
  );
});

test("the first addresses are found among more than a shard returns", async () => {
  // In the order of their texts 9.0.0.0 comes behind 10.0.0.0 and all others of that network.
  const addresses = [9, 10].flatMap((network) =>
    Array.from({ length: 24_000 }, (_, at) => `${network}.0.${at >> 8}.${at & 255}`),
  );
  const docs = addresses.toSorted().map((ip) => ({ ip }));
  const index = new IndexFixture({ mapping: { properties: { ip: { type: "ip" } } }, docs, shards: 2 });
  try {
    for (const [order, expected] of [
      ["asc", addresses.slice(0, 300)],
      ["desc", addresses.slice(-300).toReversed()],
    ] as const) {
      const terms = { field: "ip", order: { _key: order }, size: 300 };
      const { aggregations } = await index.search({ size: 0, aggs: { it: { terms } } });
      const { buckets } = aggregations!["it"] as { buckets: { key: string }[] };
      assert.deepEqual(
        buckets.map(({ key }) => key),
        expected,
      );
    }
  } finally {
    index.close();
  }
});
