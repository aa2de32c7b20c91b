import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Analysis, type PartSpec } from "#hub/engine/analysis/analysis.ts";

const SYNONYMS = ["dns, domain name system", "i-pod, i pod => ipod", "foo => foo bar, baz"];
const COMMON = ["the", "is", "a", "brown"];

interface Row {
  readonly filter: PartSpec;
  readonly text: string;
  /** `term@position`, `x` and the length of longer tokens, as Lucene 7.5 has them. */
  readonly tokens: string;
  readonly tokenizer?: PartSpec;
}

const ROWS: readonly Row[] = [
  { filter: "standard", tokenizer: "standard", text: "The fox", tokens: "The@0 fox@1" },
  {
    filter: "cjk_bigram",
    tokenizer: "standard",
    text: "多くの学生 abc 한국경제",
    tokens: "多く@0 くの@1 の学@2 学生@3 abc@4 한국@5 국경@6 경제@7",
  },
  {
    filter: { type: "cjk_bigram", output_unigrams: true },
    tokenizer: "standard",
    text: "多く a 学",
    tokens: "多@0 多く@0x2 く@1 a@2 学@3",
  },
  { filter: "cjk_width", text: "Ｔｅｓｔ１２ ｶﾞｷﾞ", tokens: "Test12@0 ガギ@1" },
  {
    filter: "word_delimiter",
    text: "Wi-Fi PowerShot500 O'Neil's wi_fi",
    tokens: "Wi@0 Fi@1 Power@2 Shot@3 500@4 O@5 Neil@6 wi@7 fi@8",
  },
  {
    filter: { type: "word_delimiter", preserve_original: true, catenate_words: true, catenate_numbers: true },
    text: "Wi-Fi PowerShot500 2000-30-x",
    tokens:
      "Wi-Fi@0 Wi@0 WiFi@0 Fi@1 PowerShot500@2 Power@2 PowerShot@2 Shot@3 500@4 2000-30-x@5 2000@5 200030@5 30@6 x@7",
  },
  {
    filter: {
      type: "word_delimiter",
      split_on_case_change: false,
      generate_word_parts: false,
      catenate_words: true,
    },
    text: "wi-fi",
    tokens: "wifi@0",
  },
  {
    filter: { type: "word_delimiter_graph", preserve_original: true },
    text: "Wi-Fi PowerShot500 x",
    tokens: "Wi-Fi@0x2 Wi@0 Fi@1 PowerShot500@2x3 Power@2 Shot@3 500@4 x@5",
  },
  {
    filter: { type: "word_delimiter_graph", catenate_all: true },
    text: "Wi-Fi PowerShot500 a",
    tokens: "WiFi@0x2 Wi@0 Fi@1 PowerShot500@2x3 Power@2 Shot@3 500@4 a@5",
  },
  {
    filter: { type: "common_grams", common_words: COMMON },
    text: "the quick fox is",
    tokens: "the@0 the_quick@0x2 quick@1 fox@2 fox_is@2x2 is@3",
  },
  {
    filter: { type: "common_grams", common_words: COMMON, query_mode: true },
    text: "the quick fox",
    tokens: "the_quick@0 quick@1 fox@2",
  },
  {
    filter: { type: "synonym", synonyms: SYNONYMS },
    text: "a dns x domain name system i-pod i pod foo",
    tokens:
      "a@0 dns@1 domain@1 x@2 name@2 domain@3 system@3 dns@3x3 name@4 system@5 ipod@6 ipod@7 foo@8 baz@8 bar@9",
  },
  {
    filter: { type: "synonym_graph", synonyms: SYNONYMS },
    text: "a dns x domain name system i pod foo",
    tokens:
      "a@0 domain@1 dns@1x3 name@2 system@3 x@4 dns@5x3 domain@5 name@6 system@7 ipod@8 foo@9 baz@9x2 bar@10",
  },
  {
    filter: { type: "synonym", synonyms: SYNONYMS, expand: false },
    text: "dns domain name system",
    tokens: "dns@0 dns@1",
  },
  {
    filter: {
      type: "synonym",
      format: "wordnet",
      synonyms: ["s(1,1,'abstain',v,1,0).", "s(1,2,'refrain',v,1,0)."],
    },
    text: "abstain",
    tokens: "abstain@0 refrain@0",
  },
  {
    filter: "german_normalization",
    text: "Straße käse boerse quelle aue ueber",
    tokens: "Strasse@0 kase@1 borse@2 quelle@3 aue@4 uber@5",
  },
  { filter: "scandinavian_folding", text: "Räksmörgås øre aa AE", tokens: "Raksmorgas@0 ore@1 a@2 A@3" },
  {
    filter: "scandinavian_normalization",
    text: "räksmörgås oere AE ao",
    tokens: "ræksmørgås@0 øre@1 Æ@2 å@3",
  },
  { filter: "serbian_normalization", text: "ђурђевдан žena", tokens: "djurdjevdan@0 zena@1" },
  { filter: "persian_normalization", text: "ۀ ے", tokens: "ه@0 ي@1" },
  { filter: "indic_normalization", text: "अाॅअाे", tokens: "ऑओ@0" },
  { filter: "bengali_normalization", text: "ক্ষমা বিদ্যা দুঃখ", tokens: "ক্সমা@0 বিদা@1 দুখখ@2" },
  { filter: "decimal_digit", text: "١٢٣ ४५६", tokens: "123@0 456@1" },
  { filter: "fingerprint", tokenizer: "standard", text: "the quick a the quick", tokens: "a quick the@0" },
  {
    filter: { type: "pattern_capture", patterns: ["([a-z]+)(\\d*)"] },
    text: "abc123def456 xx",
    tokens: "abc123def456@0 abc@0 123@0 def@0 456@0 xx@1",
  },
  { filter: { type: "keep", keep_words: COMMON }, text: "the quick brown", tokens: "the@0 brown@2" },
  {
    filter: { type: "keep_types", types: ["<NUM>"], mode: "exclude" },
    tokenizer: "standard",
    text: "abc 123 def",
    tokens: "abc@0 def@2",
  },
  { filter: "classic", tokenizer: "classic", text: "I.B.M. cat's AT&T", tokens: "IBM@0 cat@1 AT&T@2" },
  {
    filter: { type: "elision", articles: ["l", "jusqu"] },
    text: "l'avion L'eau jusqu'au",
    tokens: "avion@0 L'eau@1 au@2",
  },
  { filter: "elision", text: "l'avion L’eau", tokens: "avion@0 eau@1" },
  { filter: { type: "lowercase", language: "turkish" }, text: "DIŞ İSTANBUL", tokens: "dış@0 istanbul@1" },
  {
    filter: { type: "lowercase", language: "irish" },
    text: "nAthair hÉireann",
    tokens: "n-athair@0 héireann@1",
  },
  { filter: { type: "lowercase", language: "greek" }, text: "Μία ΟΔΟΣ", tokens: "μια@0 οδοσ@1" },
  {
    filter: { type: "shingle", min_shingle_size: 2, max_shingle_size: 3, output_unigrams: false },
    text: "a b c",
    tokens: "a b@0 a b c@0x2 b c@1",
  },
  {
    filter: { type: "stemmer_override", rules: ["running, runs => run"] },
    text: "running x",
    tokens: "run@0 x@1",
  },
  {
    filter: { type: "dictionary_decompounder", word_list: ["log", "logs", "server", "rot"] },
    text: "logserver rotated logs logserverlogs",
    tokens:
      "logserver@0 log@0 logs@0 server@0 rotated@1 rot@1 logs@2 logserverlogs@3 log@3 logs@3 server@3 log@3 logs@3",
  },
  {
    filter: {
      type: "dictionary_decompounder",
      word_list: ["log", "logs", "server"],
      only_longest_match: true,
      min_subword_size: 4,
    },
    text: "logserver logsx",
    tokens: "logserver@0 logs@0 server@0 logsx@1 logs@1",
  },
  {
    filter: { type: "multiplexer", filters: ["lowercase, porter_stem", "reverse"] },
    text: "Cars",
    tokens: "Cars@0 car@0 sraC@0",
  },
];

suite("token filters", () => {
  for (const { filter, text, tokens, tokenizer = "whitespace" } of ROWS) {
    test(`${JSON.stringify(filter)} makes the tokens of the reference implementation`, () => {
      const found = new Analysis().chain({ tokenizer, filters: [filter], charFilters: [] }).tokens(text);
      const printed = found.map(
        (token) =>
          `${token.text}@${token.position}${token.positionLength === undefined ? "" : `x${token.positionLength}`}`,
      );
      assert.equal(printed.join(" "), tokens);
    });
  }

  test("stemmers leave keywords, and keyword_repeat keeps the word beside its stem", () => {
    const terms = (filters: PartSpec[], text: string): string[] =>
      new Analysis()
        .chain({ tokenizer: "whitespace", filters, charFilters: [] })
        .tokens(text)
        .map((token) => token.text);
    assert.deepEqual(terms([{ type: "keyword_marker", keywords: ["cats"] }, "porter_stem"], "cats dogs"), [
      "cats",
      "dog",
    ]);
    assert.deepEqual(terms([{ type: "keyword_marker", keywords_pattern: "c.*" }, "stemmer"], "cats dogs"), [
      "cats",
      "dog",
    ]);
    assert.deepEqual(terms(["keyword_repeat", "porter_stem", "remove_duplicates"], "the cars"), [
      "the",
      "cars",
      "car",
    ]);
  });

  test("synonyms are analysed by the tokenizer and the filters before them", () => {
    const analysis = new Analysis({ filter: { s: { type: "synonym", synonyms: ["Kimchy => Shay"] } } });
    const trigrams = { type: "ngram", min_gram: 3, max_gram: 3 };
    const found = analysis
      .chain({ tokenizer: trigrams, filters: ["lowercase", "s"], charFilters: [] })
      .tokens("kimchy");
    assert.deepEqual(
      found.map((token) => token.text),
      ["sha", "hay"],
    );
  });

  test("synonyms are analysed by the char filters, too", () => {
    const synonyms = ["<b>kimchy</b> => shay", "dude => <i>elasticsearch</i>"];
    const analysis = new Analysis({ filter: { s: { type: "synonym", synonyms } } });
    const found = analysis
      .chain({ tokenizer: "whitespace", filters: ["s"], charFilters: ["html_strip"] })
      .tokens("kimchy is the <p>dude</p>");
    assert.deepEqual(
      found.map((token) => token.text),
      ["shay", "is", "the", "elasticsearch"],
    );
  });

  test("word_delimiter_graph gives parts the offsets of their word where they aren't to be adjusted", () => {
    const offsets = (adjusts: boolean): unknown[] => {
      const filter = { type: "word_delimiter_graph", adjust_offsets: adjusts };
      const chain = new Analysis().chain({ tokenizer: "standard", filters: [filter], charFilters: [] });
      return chain
        .tokens("the qu1ck")
        .map(({ text, startOffset, endOffset }) => [text, startOffset, endOffset]);
    };
    const [the, ...parts] = offsets(false);
    assert.deepEqual(the, ["the", 0, 3]);
    assert.deepEqual(
      parts,
      ["qu", "1", "ck"].map((text) => [text, 4, 9]),
    );
    assert.deepEqual(offsets(true).at(-1), ["ck", 7, 9]);
  });

  test("the old name of delimited_payload is warned of", () => {
    const filters = ["delimited_payload_filter"];
    const { warnings } = new Analysis().chain({ tokenizer: "keyword", filters, charFilters: [] });
    assert.deepEqual(warnings, [
      "Deprecated [delimited_payload_filter] used, replaced by [delimited_payload]",
    ]);
  });

  for (const [filter, message] of [
    [{ type: "hunspell" }, /token filter \[hunspell\] is not offered; use stemmer/],
    [{ type: "keyword_marker" }, /keyword filter requires either/],
    [{ type: "stop", stopwords_path: "x.txt" }, /\[stopwords_path\] is not offered/],
    [{ type: "synonym" }, /synonym requires either/],
    [{ type: "synonym", synonyms: ["a => b => c"] }, /more than one explicit mapping/],
    [{ type: "edge_ngram", min_gram: 3, max_gram: 2 }, /minGram must not be greater/],
    [{ type: "multiplexer", filters: ["m"] }, /failed to find global token filter/],
  ] as const) {
    test(`${JSON.stringify(filter)} is refused`, () => {
      assert.throws(
        () => new Analysis().chain({ tokenizer: "standard", filters: [filter], charFilters: [] }),
        message,
      );
    });
  }
});
