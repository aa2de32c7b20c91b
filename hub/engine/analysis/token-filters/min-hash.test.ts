import assert from "node:assert/strict";
import { test } from "node:test";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { makeToken } from "#hub/engine/analysis/parts/token.ts";
import { minHashFilter } from "./min-hash.ts";

const [WOOF, PUFF] = ["woof woof woof woof woof", "woof woof woof woof puff"];
const BOTH = `${WOOF} ${PUFF}`;
const TOKENS = [makeToken(BOTH, 0, 24, 0), makeToken(BOTH, 25, 49, 1)];

type Settings = Readonly<Record<string, unknown>>;
const settings = (hashes: number, buckets: number, size: number, rotates = false): Settings => ({
  hash_count: hashes,
  bucket_count: buckets,
  hash_set_size: size,
  with_rotation: rotates,
});
const termsOf = (given: Settings, tokens = TOKENS): string[] =>
  minHashFilter(given)(tokens).map(({ text }) => text);
const units = (text: string): number[] => Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));

test("hashes are those of Lucene", () => {
  // The rows are expectations of its TestMinHashFilter.
  const [woof, puff] = termsOf(settings(1, 1, 100));
  assert.equal(woof, "\u2101\ud33d\ufa85\u8059\u219d\ua1c1\ud671\u676f");
  assert.deepEqual(units(puff!), [36347, 63457, 43013, 56843, 52284, 34231, 57934, 42302]);
  assert.deepEqual(termsOf(settings(2, 1, 1), TOKENS.slice(0, 1)).map(units), [
    [0, 0, 8449, 54077, 64133, 32857, 8605, 41409],
    [0, 1, 16887, 58164, 39536, 14926, 6529, 17276],
  ]);
  assert.deepEqual(
    [
      settings(100, 1, 1),
      settings(10, 1, 10),
      settings(10, 10, 1),
      settings(10, 10, 1, true),
      settings(1, 100, 1),
    ].map((each) => termsOf(each).length),
    [100, 20, 20, 100, 2],
  );
});

test("with rotation an empty bucket has the hash of the next one", () => {
  const terms = termsOf(settings(1, 100, 1, true));
  const [first, second] = [...new Set(terms)] as [string, string];
  const turn = terms.indexOf(second);
  assert.deepEqual(
    terms,
    terms.map((_, at) => (at < turn || at > terms.lastIndexOf(second) ? first : second)),
  );
  assert.equal(terms.length, 100);
});

test("a text has 512 terms at one place by default, which span it, and none without words", () => {
  const analysis = new Analysis({
    filter: {
      hashes: { type: "min_hash" },
      words: { type: "shingle", min_shingle_size: 2, max_shingle_size: 2, output_unigrams: false },
    },
    analyzer: { alike: { tokenizer: "whitespace", filter: ["words", "hashes"] } },
  });
  const tokens = analysis.analyzer("alike")!.tokens("one two three four");
  assert.equal(tokens.length, 512);
  assert.ok(
    tokens.every(
      ({ position, startOffset, endOffset }) => position === 0 && startOffset === 0 && endOffset === 18,
    ),
  );
  assert.deepEqual(analysis.analyzer("alike")!.tokens(""), []);
});

test("settings of no terms, or of too many, are refused", () => {
  assert.throws(() => minHashFilter(settings(0, 1, 1)), /must be greater than zero/);
  assert.throws(() => minHashFilter(settings(100, 1000, 1)), /more than 10000 terms/);
});

test("settings that hash each word hundreds of times are refused", () => {
  assert.equal(termsOf(settings(128, 1, 1)).length, 128);
  assert.throws(() => minHashFilter(settings(129, 1, 1)), /hash_count must be at most 128/);
});

test("a bucket keeps the least hashes of many words, ascending", () => {
  const tokens = Array.from({ length: 500 }, (_, at) => makeToken(`word${at % 300}`, 0, 7, at));
  const all = termsOf(settings(1, 1, 1000), tokens);
  assert.equal(all.length, 300);
  assert.deepEqual(all, all.toSorted());
  assert.deepEqual(termsOf(settings(1, 1, 20), tokens), all.slice(0, 20));
});
