/**
 * Stemmers of Arabic (L. Larkey, "Light stemming for Arabic information retrieval"), Sorani, Hindi (A. Ramanathan, D.
 * Rao, "A Lightweight Stemmer for Hindi"), Bengali (P. Sengupta, B. Chaudhuri; J. Savoy) and Indonesian (F. Z. Tala,
 * "A Study of Stemming Effects on Information Retrieval in Bahasa Indonesia", 2003). They expect normalised words.
 */

import { firstRule, type Stemmer } from "./suffixes.ts";

/** A prefix, its replacement, and the pattern that the word must begin with. */
type Prefix = readonly [name: string, pattern: RegExp, replacement: string];

const FIRST_ORDER: readonly Prefix[] = [
  ["meng", /^meng/, ""],
  ["meng", /^meny(?=[aeiou])/, "s"],
  ["meng", /^me[nm]?/, ""],
  ["peng", /^peng/, ""],
  ["peng", /^peny(?=[aeiou])/, "s"],
  ["peng", /^peny/, ""],
  ["peng", /^pen(?=[aeiou])/, "t"],
  ["peng", /^pe[nm]/, ""],
  ["di", /^di/, ""],
  ["ter", /^ter/, ""],
  ["ke", /^ke/, ""],
];

const SECOND_ORDER: readonly Prefix[] = [
  ["ber", /^ber/, ""],
  ["ber", /^bel(?=ajar$)/, ""],
  ["ber", /^be(?=[^aeiou]er)/, ""],
  ["per", /^per/, ""],
  ["per", /^pel(?=ajar$)/, ""],
  ["pe", /^pe/, ""],
];

/** Endings, each with the prefixes whose words keep it. */
const ENDINGS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/kan$/, ["ke", "peng", "pe"]],
  [/an$/, ["di", "meng", "ter"]],
  [/(?<!s)i$/, ["ber", "ke", "peng"]],
];

/** What a word has left: each removal counts one syllable, and a word keeps two. */
class Word {
  text: string;
  #syllables: number;
  readonly #prefixes = new Set<string>();

  constructor(text: string) {
    this.text = text;
    this.#syllables = text.match(/[aeiou]/g)?.length ?? 0;
  }

  cut(pattern: RegExp, replacement = ""): boolean {
    if (this.#syllables <= 2 || !pattern.test(this.text)) return false;
    this.text = this.text.replace(pattern, replacement);
    this.#syllables--;
    return true;
  }

  cutPrefix(prefixes: readonly Prefix[]): boolean {
    const found = prefixes.find(([, pattern, replacement]) => this.cut(pattern, replacement));
    if (found !== undefined) this.#prefixes.add(found[0]);
    return found !== undefined;
  }

  cutEnding(): boolean {
    return ENDINGS.some(
      ([pattern, kept]) => !kept.some((name) => this.#prefixes.has(name)) && this.cut(pattern),
    );
  }
}

const ARABIC_PREFIXES = ["ال", "وال", "بال", "كال", "فال", "لل", "و"];
const ARABIC_ENDINGS = ["ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي"];
/** Letters that stay of a word at least; the prefix of one letter leaves one more. */
const ARABIC_LETTERS = 2;

function arabic(word: string): string {
  const prefix = ARABIC_PREFIXES.find(
    (each) =>
      word.startsWith(each) &&
      word.length >= (each.length === 1 ? ARABIC_LETTERS + 2 : each.length + ARABIC_LETTERS),
  );
  let stem = word.slice(prefix?.length ?? 0);
  for (const ending of ARABIC_ENDINGS)
    if (stem.endsWith(ending) && stem.length >= ending.length + ARABIC_LETTERS)
      stem = stem.slice(0, -ending.length);
  return stem;
}

const SORANI_POSTPOSITION = firstRule([
  [5, "دا"],
  [4, "نا", "ن"],
  [6, "ەوە"],
]);
const SORANI_POSSESSIVE = firstRule([[6, "مان یان تان"]]);
const SORANI_ENDING = firstRule([
  [6, "ێکی"],
  [7, "یەکی"],
  [5, "ێک"],
  [6, "یەک"],
  [6, "ەکە"],
  [5, "کە"],
  [7, "ەکان"],
  [6, "کان"],
  [7, "یانی"],
  [6, "انی"],
  [6, "یان"],
  [5, "ان"],
  [7, "یانە"],
  [6, "انە"],
  [5, "ایە", "ا"],
  [5, "ەیە", "ە"],
  [4, "ە"],
  [4, "ی"],
]);

const HINDI = firstRule([
  [6, "ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयाँ ाइयों ाइयां"],
  [5, "ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा ातीं नाओं नाएं ताओं ताएं ियाँ ियों ियां"],
  [4, "ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं ुआं"],
  [3, "कर ाओ िए ाई ाए ने नी ना ते ीं ती ता ाँ ां ों ें"],
  [2, "ो े ू ु ी ि ा"],
]);

const BENGALI = firstRule([
  [9, "িয়াছিলাম িতেছিলাম িতেছিলেন ইতেছিলেন িয়াছিলেন ইয়াছিলেন"],
  [8, "িতেছিলি িতেছিলে িয়াছিলা িয়াছিলে িতেছিলা িয়াছিলি য়েদেরকে"],
  [7, "িতেছিস িতেছেন িয়াছিস িয়াছেন েছিলাম েছিলেন েদেরকে"],
  [6, "িতেছি িতেছা িতেছে ছিলাম ছিলেন িয়াছি িয়াছা িয়াছে েছিলে েছিলা য়েদের দেরকে"],
  [5, "িলাম িলেন িতাম িতেন িবেন ছিলি ছিলে ছিলা তেছে িতেছ খানা খানি গুলো গুলি য়েরা েদের"],
  [4, "লাম িলি ইলি িলে ইলে লেন িলা ইলা তাম িতি ইতি িতে ইতে তেন িতা িবা ইবা িবি ইবি বেন িবে ইবে ছেন য়োন য়ের েরা দের"],
  [3, "িস েন লি লে লা তি তে তা বি বে বা ছি ছা ছে ুন ুক টা টি নি ের রা কে"],
  [2, "ি ী া ো ে ব ত"],
]);

/** The stemmers of this file by the names that settings have for them. */
export const ASIAN: Readonly<Record<string, Stemmer>> = {
  arabic,
  sorani: (word) => SORANI_ENDING(SORANI_POSSESSIVE(SORANI_POSTPOSITION(word))),
  hindi: HINDI,
  bengali: BENGALI,
};

/** Returns the stem; `isDerivational` false leaves prefixes and derivations. */
export function indonesianStem(text: string, isDerivational = true): string {
  const word = new Word(text);
  word.cut(/(?:kah|lah|pun)$/);
  word.cut(/(?:ku|mu|nya)$/);
  if (!isDerivational) return word.text;
  if (word.cutPrefix(FIRST_ORDER)) {
    if (word.cutEnding()) word.cutPrefix(SECOND_ORDER);
  } else {
    word.cutPrefix(SECOND_ORDER);
    word.cutEnding();
  }
  return word.text;
}
