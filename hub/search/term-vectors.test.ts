import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ShardContext } from "#hub/search/query/query.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { type TermVectorOptions, termVectors } from "./term-vectors.ts";

const fixture = new IndexFixture({
  mapping: {
    properties: {
      text: { type: "text", term_vector: "with_positions_offsets" },
      plain: { type: "text" },
      tag: { type: "keyword" },
    },
  },
  docs: [{ text: "The quick brown fox is brown." }, { text: "brown", plain: "a", tag: "x" }],
});
after(() => fixture.close());
const [{ index, shard, searcher }] = fixture.shards as [(typeof fixture.shards)[number]];
const context = new ShardContext(index, shard, searcher, 0);
const OPTIONS: TermVectorOptions = {
  fields: undefined,
  positions: true,
  offsets: true,
  fieldStatistics: true,
  termStatistics: true,
  analyzers: new Map(),
};

test("terms have their places in the document and their frequencies in the shard", () => {
  const source = { text: ["a brown", "Brown"], plain: "unseen", tag: "x" };
  assert.deepEqual(termVectors(context, source, OPTIONS), {
    text: {
      field_statistics: { sum_doc_freq: 6, doc_count: 2, sum_ttf: 7 },
      terms: {
        a: { term_freq: 1, tokens: [{ position: 0, start_offset: 0, end_offset: 1 }] },
        brown: {
          doc_freq: 2,
          ttf: 3,
          term_freq: 2,
          tokens: [
            { position: 1, start_offset: 2, end_offset: 7 },
            { position: 102, start_offset: 8, end_offset: 13 },
          ],
        },
      },
    },
  });
});

test("fields, analyzers and details are those of the request", () => {
  const bare = { positions: false, offsets: false, fieldStatistics: false, termStatistics: false };
  const source = { text: "A b", plain: "C d", tag: ["y", "x"] };
  const asked = {
    ...OPTIONS,
    ...bare,
    fields: ["plain", "ta*", "none"],
    analyzers: new Map([["plain", "keyword"]]),
  };
  assert.deepEqual(termVectors(context, source, asked), {
    plain: { terms: { "C d": { term_freq: 1 } } },
    tag: { terms: { x: { term_freq: 1 }, y: { term_freq: 1 } } },
  });
  const unknown = { ...asked, analyzers: new Map([["plain", "martian"]]) };
  assert.throws(
    () => termVectors(context, source, unknown),
    /failed to find analyzer \[martian\] of \[plain\]/,
  );
});
