/**
 * Light stemmers of Germanic languages after J. Savoy ("Light Stemming Approaches for the French, Portuguese, German and
 * Hungarian Languages", 2006; "Report on CLEF-2003 Monolingual Tracks"); Norwegian is made by the Swedish pattern.
 */

import { endsWithAny, firstRule, replaceCharacters, type Stemmer } from "./suffixes.ts";

const germanAccents = replaceCharacters("äàáâöòóôïìíîüùúû", "aaaaooooiiiiuuuu");
const germanUmlauts = replaceCharacters("äöü", "aou");

const GERMAN_FIRST = firstRule([
  [5, "ern"],
  [4, "em en er es"],
  [3, "e"],
]);
const GERMAN_SECOND = firstRule([
  [5, "est"],
  [4, "er en"],
]);

/** German, light: case, number and comparison. */
export function lightGerman(word: string): string {
  const plain = germanAccents(word);
  let stem = GERMAN_FIRST(plain);
  if (stem === plain && stem.length > 3 && /[bdfghklmnt]s$/.test(stem)) stem = stem.slice(0, -1);
  const second = GERMAN_SECOND(stem);
  if (second === stem && stem.length > 4 && /[bdfghklmnt]st$/.test(stem)) return stem.slice(0, -2);
  return second;
}

const GERMAN_MINIMAL = firstRule([
  [6, "nen"],
  [5, "en se es er"],
  [0, "n e s r"],
]);

/** German, minimal: number. */
export function minimalGerman(word: string): string {
  return word.length < 5 ? word : GERMAN_MINIMAL(germanUmlauts(word));
}

const SWEDISH = firstRule([
  [7, "elser heten"],
  [6, "arne erna ande else aste orna aren"],
  [5, "are ast het"],
  [4, "ar er or en at te et"],
  [3, "t a e n"],
]);

/** Swedish, light. */
export function lightSwedish(word: string): string {
  return SWEDISH(withoutGenitive(word));
}

const BOKMAAL = firstRule([
  [7, "heter heten"],
  [5, "dom het"],
  [7, "elser elsen"],
  [6, "ende else este eren"],
  [5, "ere est ene"],
  [4, "er en et st te"],
  [3, "a e n"],
]);

const NYNORSK = firstRule([
  [7, "heita"],
  [8, "heiter leiken leikar"],
  [5, "dom"],
  [6, "heit semd leik"],
  [7, "elser elsen"],
  [6, "ande else aste aren"],
  [5, "are ast ene ane"],
  [4, "er en et ar te"],
  [3, "a e n"],
]);

const BOKMAAL_MINIMAL = firstRule([
  [5, "ene"],
  [4, "er en et"],
  [3, "a e"],
]);

const NYNORSK_MINIMAL = firstRule([
  [5, "ene ane"],
  [4, "er en et ar"],
  [3, "a e"],
]);

function withoutGenitive(word: string): string {
  return word.length > 4 && word.endsWith("s") ? word.slice(0, -1) : word;
}

/** English, minimal: plurals in -s, -es and -ies. */
export function minimalEnglish(word: string): string {
  if (word.length < 3 || !word.endsWith("s") || endsWithAny(word, "us ss")) return word;
  if (!word.endsWith("es")) return word.slice(0, -1);
  if (word.length > 3 && word.endsWith("ies") && !endsWithAny(word, "aies eies"))
    return `${word.slice(0, -3)}y`;
  return endsWithAny(word, "ies aes oes ees") ? word : word.slice(0, -1);
}

/** English: the possessive ending. */
export function possessiveEnglish(word: string): string {
  return word.replace(/['\u2019\uff07][sS]$/, "");
}

/** The stemmers of this file by the names that settings have for them. */
export const GERMANIC: Readonly<Record<string, Stemmer>> = {
  light_german: lightGerman,
  minimal_german: minimalGerman,
  light_swedish: lightSwedish,
  light_norwegian: (word) => BOKMAAL(withoutGenitive(word)),
  light_nynorsk: (word) => NYNORSK(withoutGenitive(word)),
  minimal_norwegian: (word) => BOKMAAL_MINIMAL(withoutGenitive(word)),
  minimal_nynorsk: (word) => NYNORSK_MINIMAL(withoutGenitive(word)),
  minimal_english: minimalEnglish,
  possessive_english: possessiveEnglish,
};
