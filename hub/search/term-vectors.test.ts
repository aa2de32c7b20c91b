import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ShardContext } from "#hub/search/query/query.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { type TermVectorFilter, type TermVectorOptions, termVectors } from "./term-vectors.ts";

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
  filter: undefined,
};
const ANY: readonly [number, number] = [0, Number.MAX_SAFE_INTEGER];
const NO_BOUNDS: TermVectorFilter = { maxTerms: 25, termFreq: ANY, docFreq: ANY, length: ANY };

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

test("a filter returns the terms that tell most of the document, with scores", () => {
  const source = { text: "the fox the fox brown unseen" };
  const filtered = (filter: Partial<TermVectorFilter>): Record<string, number> => {
    const asked = { ...OPTIONS, positions: false, offsets: false, filter: { ...NO_BOUNDS, ...filter } };
    const { text } = termVectors(context, source, asked) as {
      text: { terms: Record<string, { score: number }> };
    };
    return Object.fromEntries(Object.entries(text.terms).map(([term, { score }]) => [term, score]));
  };
  // tf * (ln((2 + 1) / (documents + 1)) + 1)
  const [rare, unknown] = [2.8109302520751953, 2.0986123085021973];
  assert.deepEqual(filtered({}), { brown: 1, fox: rare, the: rare, unseen: unknown });
  assert.deepEqual(filtered({ maxTerms: 2 }), { fox: rare, the: rare });
  assert.deepEqual(filtered({ maxTerms: 1 }), { fox: rare });
  assert.deepEqual(filtered({ termFreq: [2, 2], length: [0, 2] }), {});
  assert.deepEqual(filtered({ docFreq: [2, 9] }), { brown: 1 });
  assert.deepEqual(filtered({ docFreq: [0, 0], length: [6, 9] }), { unseen: unknown });
});
