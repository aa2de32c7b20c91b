import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Analysis } from "./analysis.ts";

/** Analyzer, text, terms as Lucene 7.5 makes them. */
const ROWS: readonly (readonly [string, string, string])[] = [
  ["arabic", "كبيرة من", "كبير"],
  ["bengali", "বাড়ী", "বার"],
  ["catalan", "l'aigua llengües", "aigu llengu"],
  ["cjk", "多くの ﾊﾟﾝ Test", "多く くの パン test"],
  ["chinese", "only for old indices", "only old indices"],
  ["dutch", "fiets kind lidstaten", "fiets kinder lidstat"],
  ["english", "the dog's books", "dog book"],
  ["fingerprint", "A1 B2 A1 D4 C3", "a1 b2 c3 d4"],
  ["french", "l’eau sécuritaires", "eau securitair"],
  ["german", "Tischen Straße", "tisch strass"],
  ["greek", "Μία", "μια"],
  ["hindi", "हिन्दी", "हिंद"],
  ["irish", "d'fhear n-athair", "fear athair"],
  ["persian", "می‌خورد", "خورد"],
  ["snowball", "the brown foxes", "brown fox"],
  ["sorani", "پیاوە", "پیاو"],
  ["thai", "ภาษาไทย", "ภาษา ไทย"],
  ["turkish", "İstanbul'da", "istanbul"],
];

function terms(analysis: Analysis, name: string, text: string): string[] {
  return analysis
    .analyzer(name)
    .tokens(text)
    .map((token) => token.text);
}

suite("analyzers of languages", () => {
  for (const [name, text, expected] of ROWS) {
    test(`${name} makes terms of ${text}`, () => {
      assert.equal(terms(new Analysis(), name, text).join(" "), expected);
    });
  }

  test("stop words and words that aren't stemmed can be set", () => {
    const analysis = new Analysis({
      analyzer: {
        own: { type: "french", stopwords: ["eau"], stem_exclusion: ["avions"] },
        none: { type: "english", stopwords: "_none_" },
      },
    });
    assert.deepEqual(terms(analysis, "own", "l'eau le avions voitures"), ["le", "avions", "voitur"]);
    assert.deepEqual(terms(analysis, "none", "the books"), ["the", "book"]);
  });

  test("a normalizer takes filters that work character by character alone", () => {
    assert.throws(() => new Analysis({ normalizer: { n: { filter: ["word_delimiter"] } } }), {
      message: "Custom normalizer may not use filter [word_delimiter]",
    });
    const analysis = new Analysis({ normalizer: { n: { filter: ["lowercase", "german_normalization"] } } });
    assert.equal(analysis.normalize("n", "STRAßE"), "strasse");
  });
});
