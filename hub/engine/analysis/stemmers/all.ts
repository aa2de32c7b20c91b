/** The stemmers by the names that the settings of token filters have for them. */

import { ASIAN, indonesianStem } from "./asian.ts";
import { brazilianStem } from "./brazilian.ts";
import { FINNO_UGRIC } from "./finno-ugric.ts";
import { GERMANIC } from "./germanic.ts";
import { greekStem } from "./greek.ts";
import { porterStem } from "./porter.ts";
import { ROMANCE } from "./romance.ts";
import { RSLP } from "./rslp.ts";
import { SLAVIC } from "./slavic.ts";
import { snowballStemmer } from "./snowball.ts";
import type { Stemmer } from "./suffixes.ts";

const OWN: Readonly<Record<string, Stemmer>> = {
  ...ROMANCE,
  ...GERMANIC,
  ...SLAVIC,
  ...FINNO_UGRIC,
  ...ASIAN,
  ...RSLP,
  brazilian: brazilianStem,
  greek: greekStem,
  indonesian: indonesianStem,
  english: porterStem,
  porter: porterStem,
};

/** Other names for the same. */
const ALIASES: Readonly<Record<string, string>> = { porter2: "english" };

/** Stemmers that are known by name, and why they aren't offered. */
const REFUSED: Readonly<Record<string, string>> = {
  light_english: "use english or minimal_english",
  kstem: "use english or minimal_english",
  lovins: "use english",
  kp: "use dutch",
  dutch_kp: "use dutch",
};

/** Returns the stemmer that the filter `stemmer` calls so. Throws RangeError if there is none. */
export function stemmerOf(name: string): Stemmer {
  const language = name.toLowerCase();
  if (Object.hasOwn(OWN, language)) return OWN[language]!;
  if (language === "german2") return german2;
  const stemmer = snowballStemmer(Object.hasOwn(ALIASES, language) ? ALIASES[language]! : language);
  if (stemmer !== undefined) return stemmer;
  const reason = Object.hasOwn(REFUSED, language) ? REFUSED[language] : undefined;
  if (reason !== undefined) throw new RangeError(`stemmer language [${name}] is not offered; ${reason}`);
  throw new RangeError(`invalid stemmer class specified: ${name}`);
}

/**
 * Returns the stemmer that the filter `snowball` calls so (`English`, `German2` …). Throws RangeError if there is none.
 */
export function snowballStemmerOf(name: string): Stemmer {
  const language = name.toLowerCase();
  const stemmer = language === "german2" ? german2 : snowballStemmer(language);
  if (stemmer !== undefined) return stemmer;
  if (language === "lovins" || language === "kp")
    throw new RangeError(`snowball language [${name}] is not offered; ${REFUSED[language]!}`);
  throw new RangeError(`Can't find class for stemmer language specified: ${name}`);
}

const UMLAUTS: Readonly<Record<string, string>> = { ae: "ä", oe: "ö", ue: "ü" };

/** German with ae, oe and ue for umlauts: they are written as umlauts first, ue but after q or a vowel. */
function german2(word: string): string {
  const spelt = word.replace(/qu|[ao]e|(?<![aeiouyäöü])ue/g, (pair) => UMLAUTS[pair] ?? pair);
  return snowballStemmer("german")!(spelt);
}
