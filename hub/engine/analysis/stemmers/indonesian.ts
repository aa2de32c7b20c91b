/** The stemmer of F. Z. Tala, "A Study of Stemming Effects on Information Retrieval in Bahasa Indonesia" (2003). */

/** A prefix, what takes its place, and the pattern that the word must begin with. */
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
