import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { parseSuggest, suggest } from "#hub/search/suggest.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const shingle = { type: "shingle", min_shingle_size: 2, max_shingle_size: 3 };
const OPTIONS = {
  analysis: {
    filter: { grams: shingle, pairs: { type: "shingle", output_unigrams: false } },
    analyzer: {
      grams: { tokenizer: "standard", filter: ["lowercase", "grams"] },
      pairs: { tokenizer: "standard", filter: ["lowercase", "pairs"] },
      backwards: { tokenizer: "standard", filter: ["lowercase", "reverse"] },
    },
  },
  mapping: {
    properties: {
      body: {
        type: "text",
        fields: {
          grams: { type: "text", analyzer: "grams" },
          pairs: { type: "text", analyzer: "pairs" },
          backwards: { type: "text", analyzer: "backwards" },
        },
      },
    },
  },
  docs: ["noble prize", "nobel prize", "nobel prize", "noble metals", "the nobel prize for peace"].map(
    (body) => ({ body }),
  ),
};
const fixture = new IndexFixture(OPTIONS);
const spread = new IndexFixture({ ...OPTIONS, shards: 2 });
after(() => {
  fixture.close();
  spread.close();
});

/** What a phrase suggestion gives for a text. */
async function phrases(text: string, phrase: JsonObject, index = fixture): Promise<JsonObject[]> {
  const body = { s: { text, phrase: { field: "body.grams", ...phrase } } };
  const options = { signal: new AbortController().signal };
  const { suggest: found } = await suggest(
    parseSuggest({ suggest: body }, { maxRegexLength: 20 }),
    index.shards,
    options,
  );
  const [{ text: whole, offset, length, options: all }] = found["s"] as [JsonObject];
  assert.deepEqual([whole, offset, length], [text, 0, text.length]);
  return all as JsonObject[];
}

/** e to the sum of the logarithms to base 10, as the 6.5 server scores. */
const score = (...likelihoods: number[]): number =>
  Math.exp(likelihoods.reduce((sum, each) => sum + Math.log10(each), 0));

/** Texts of the suggestions. */
const texts = (options: readonly JsonObject[]): unknown[] => options.map(({ text }) => text);

const LINEAR = { trigram_lambda: 0.2, bigram_lambda: 0.5, unigram_lambda: 0.3 };

/** Why a search failed: where all shards did, the reason of one. */
function reasonOf(error: unknown): string {
  return error instanceof AppError ? ((error.cause as AppError | undefined) ?? error).message : String(error);
}

suite("phrase suggestions", () => {
  /** Likelihood of a word as it was given, and of nobel where nobl was given: one edit of four letters. */
  const [given, edited] = [Math.fround(0.95), 0.75];
  /** Occurrences of all terms: 13 words, 8 pairs, 3 of three words. Different ones: 7, 6 and 3. */
  const [all, distinct] = [24, 16];
  const unigram = (count: number): number => (1 + count) / (all + distinct);
  const rows: readonly (readonly [text: string, phrase: JsonObject, expected: number])[] = [
    ["nobl prize", {}, score(edited * unigram(3), (given * 3) / (3 + 1e-11))],
    ["nobl prize", { gram_size: 1 }, score(edited * unigram(3), given * unigram(4))],
    [
      "nobl prize peace",
      { smoothing: { stupid_backoff: { discount: 0.5 } } },
      score(edited * unigram(3), (given * 3) / (3 + 1e-11), given * 0.5 * unigram(1)),
    ],
    ["nobl prize for", {}, score(edited * unigram(3), (given * 3) / (3 + 1e-11), (given * 1) / (1 + 1e-11))],
    [
      "nobl prize",
      { smoothing: { laplace: { alpha: 0.7 } } },
      score((edited * 3.7) / (all + 0.7 * distinct), (given * 3.7) / (3 + 0.7 * distinct)),
    ],
    [
      "nobl prize",
      { smoothing: { linear_interpolation: LINEAR } },
      score(edited * unigram(3), given * (0.5 * (3 / 3.5) + 0.3 * unigram(4))),
    ],
    ["nobl prize", { real_word_error_likelihood: 0.5 }, score(edited * unigram(3), (0.5 * 3) / (3 + 1e-11))],
  ];
  for (const [text, phrase, expected] of rows) {
    test(`${text} with ${JSON.stringify(phrase)} scores ${expected}`, async () => {
      const [first] = await phrases(text, phrase);
      assert.equal(first!["text"], text.replace("nobl", "nobel"));
      assert.equal(Math.fround(first!["score"] as number), Math.fround(expected));
    });
  }

  const always = { field: "body.grams", suggest_mode: "always", max_term_freq: 1 };
  const found: readonly (readonly [text: string, phrase: JsonObject, expected: string[]])[] = [
    ["nobl prize", {}, ["nobel prize", "noble prize"]],
    ["nobl prize", { size: 1 }, ["nobel prize"]],
    ["nobel prize", {}, []],
    ["noble prize", { direct_generator: [{ ...always, max_term_freq: 5 }] }, ["nobel prize"]],
    ["noble prize", { confidence: 0 }, ["noble prize"]],
    ["nobl price", {}, ["nobl prize", "nobel price", "noble price", "nobl peace"]],
    [
      "nobl price",
      { max_errors: 2 },
      ["nobel prize", "noble prize", "nobl prize", "nobel peace", "nobel price"],
    ],
    ["nobl price", { max_errors: 2, token_limit: 2 }, []],
    ["nobl prize nobl prize", { size: 1 }, ["nobel prize nobel prize"]],
    ["onbel prize", { direct_generator: [{ field: "body.grams", prefix_length: 0 }] }, ["nobel prize"]],
    [
      "xobel prize",
      {
        direct_generator: [
          {
            field: "body.backwards",
            pre_filter: "backwards",
            post_filter: "backwards",
            prefix_length: 1,
          },
        ],
      },
      ["nobel prize"],
    ],
    [
      "nobl prize",
      { collate: { query: { source: { match: { body: "{{suggestion}} x" } } } } },
      ["nobel prize", "noble prize"],
    ],
    [
      "nobl prize",
      {
        collate: {
          query: { inline: '{"match_phrase":{"{{field}}":"the {{suggestion}}"}}' },
          params: { field: "body" },
        },
      },
      ["nobel prize"],
    ],
    ["nobl prize", { field: "body.pairs", force_unigrams: false }, ["nobel prize", "noble prize"]],
  ];
  for (const [text, phrase, expected] of found) {
    test(`${text} with ${JSON.stringify(phrase)} gives ${expected.join(", ") || "nothing"}`, async () => {
      assert.deepEqual(texts(await phrases(text, phrase)), expected);
    });
  }

  test("mark corrected words and those without a document", async () => {
    const collate = { query: { source: { match_phrase: { body: "the {{suggestion}}" } } }, prune: true };
    const highlight = { pre_tag: "<em>", post_tag: "</em>" };
    const options = await phrases("nobl prize", { collate, highlight });
    assert.deepEqual(
      options.map(({ highlighted, collate_match: matches }) => [highlighted, matches]),
      [
        ["<em>nobel</em> prize", true],
        ["<em>noble</em> prize", false],
      ],
    );
    const [both] = await phrases("nobl price", { max_errors: 2, highlight });
    assert.equal(both!["highlighted"], "<em>nobel prize</em>");
  });

  test("of several shards are those above the highest score of the text, each once", async () => {
    const options = await phrases("nobl prize", {}, spread);
    assert.deepEqual(texts(options), ["nobel prize", "noble prize"]);
  });

  test("end after a number of combinations, and say so", async () => {
    const letters = "abcdefghij";
    const words = Array.from(letters, (letter) => Array.from(letters, (last) => `word${letter}${last}`));
    const index = new IndexFixture({
      mapping: { properties: { body: { type: "text" } } },
      docs: [{ body: words.flat().join(" ") }],
    });
    after(() => index.close());
    const text = Array.from(letters.slice(0, 8), (letter) => `word${letter}`).join(" ");
    const phrase = { field: "body", max_errors: 8, confidence: 0, size: 100 };
    const generator = { field: "body", size: 100 };
    const body = { s: { text, phrase: { ...phrase, direct_generator: [generator] } } };
    const options = { signal: new AbortController().signal };
    const { isCut } = await suggest(
      parseSuggest({ suggest: body }, { maxRegexLength: 20 }),
      index.shards,
      options,
    );
    assert.equal(isCut, true);
  });

  const refused: readonly (readonly [phrase: JsonObject, message: RegExp])[] = [
    [{ field: "none" }, /no mapping found for field \[none\]/],
    [{ field: "body.pairs" }, /since it doesn't emit unigrams/],
    [{ analyzer: "nothing" }, /analyzer \[nothing\]/],
    [{ max_errors: 0 }, /max_error must be > 0.0/],
    [{ size: 1001 }, /\[size\] may be 1000 at most/],
    [{ token_limit: 101 }, /\[token_limit\] may be 100 at most/],
    [{ smoothing: { laplace: {}, stupid_backoff: {} } }, /only one smoothing model/],
    [{ smoothing: { laplace: null } }, /the options of \[laplace\] must be an object/],
    [{ smoothing: { lapalce: {} } }, /did you mean "laplace"/],
    [{ smoothing: { linear_interpolation: { ...LINEAR, bigram_lambda: 1 } } }, /must sum to 1/],
    [{ highlight: { pre_tag: "<em>" } }, /Pre and post tag/],
    [{ collate: { query: "{}", prune: "yes" } }, /prune must be either/],
    [{ collate: {} }, /needs \[query\]/],
    [{ direct_generator: [{ field: "body", max_edits: 3 }] }, /Illegal max_edits value 3/],
    [{ direct_generator: [{ field: "body", string_distance: "ngram" }] }, /must be one of internal/],
    [{ direct_generator: [{ field: "body", pre_filter: "nothing" }] }, /analyzer \[nothing\]/],
    [{ fields: ["body"] }, /does not support \[fields\]/],
  ];
  for (const [phrase, message] of refused) {
    test(`${JSON.stringify(phrase)} is refused`, async () => {
      await assert.rejects(
        async () => phrases("nobl prize", phrase),
        (error) => message.test(reasonOf(error)),
      );
    });
  }
});

test("where several corrections have too many combinations, those with fewer corrected words count", async () => {
  const words = [
    "barkers",
    "candles",
    "dangers",
    "falcons",
    "gardens",
    "hammers",
    "jackets",
    "kettles",
    "lanterns",
  ];
  const similar = (word: string): string[] => Array.from("qxyzvk", (end) => word.slice(0, -1) + end);
  const docs = [...Array(20).fill(words.join(" ")), ...words.flatMap(similar)].map((body) => ({ body }));
  const index = new IndexFixture({ mapping: { properties: { body: { type: "text" } } }, docs });
  const text = [similar("barkers")[0], ...words.slice(1)].join(" ");
  const direct_generator = [{ field: "body", suggest_mode: "always", max_term_freq: 1_000 }];
  try {
    const [best] = await phrases(text, { field: "body", size: 1, direct_generator }, index);
    assert.equal(best?.["text"], words.join(" "));
  } finally {
    index.close();
  }
});
