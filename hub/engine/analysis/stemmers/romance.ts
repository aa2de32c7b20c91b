/**
 * Light stemmers of Romance languages after J. Savoy: "Light Stemming Approaches for the French, Portuguese, German and
 * Hungarian Languages" (2006) and "Report on CLEF-2001 Experiments".
 */

import { endsWithAny, firstRule, replaceCharacters, type Stemmer } from "./suffixes.ts";

const plainVowels = replaceCharacters("àáâäòóôöèéêëùúûüìíîï", "aaaaooooeeeeuuuuiiii");

/** French, light: endings of nouns, adjectives and some derivations; accents and doubled letters go. */
export function lightFrench(word: string): string {
  let stem = word;
  if (stem.length > 5 && stem.endsWith("x"))
    stem = /[^e]aux$/.test(stem) ? `${stem.slice(0, -2)}l` : stem.slice(0, -1);
  if (stem.length > 3 && stem.endsWith("x")) stem = stem.slice(0, -1);
  if (stem.length > 3 && stem.endsWith("s")) stem = stem.slice(0, -1);
  return frenchNorm(frenchDerivation(stem));
}

const FRENCH_FIRST = firstRule([
  [9, "issement", "ir"],
  [8, "issant", "ir"],
  [6, "ement", "e"],
  [11, "ficatrice", "fier"],
  [10, "ficateur", "fier"],
  [9, "catrice", "quer"],
  [8, "cateur", "quer"],
  [8, "atrice", "er"],
  [7, "ateur", "er"],
]);

const FRENCH_SECOND = firstRule([
  [5, "ième"],
  [7, "teuse", "ter"],
  [6, "teur", "ter"],
  [5, "euse", "eu"],
  [8, "ère", "er"],
  [7, "ive", "if"],
  [4, "folle", "fou"],
  [4, "molle", "mou"],
  [9, "nnelle nnel", "n"],
]);

const FRENCH_LAST = firstRule([
  [8, "esse", "e"],
  [7, "inage", "in"],
  [9, "isation"],
  [9, "isateur"],
  [8, "ation ition"],
]);

function frenchDerivation(word: string): string {
  let stem = FRENCH_FIRST(word);
  if (stem !== word) {
    // -ivement: the adjective's masculine form.
    return word.endsWith("ement") && stem.length > 3 && stem.endsWith("ive") ? `${stem.slice(0, -2)}f` : stem;
  }
  if (stem.length > 6 && stem.endsWith("trice")) stem = `${stem.slice(0, -5)}teur`;
  const second = FRENCH_SECOND(stem);
  if (second !== stem) return second;
  if (stem.length > 4 && stem.endsWith("ète")) stem = `${stem.slice(0, -3)}et`;
  if (stem.length > 8 && stem.endsWith("ique")) stem = stem.slice(0, -4);
  const last = FRENCH_LAST(stem);
  return stem.endsWith("isation") && last !== stem && last.length > 5 && last.endsWith("ual")
    ? `${last.slice(0, -2)}el`
    : last;
}

const frenchAccents = replaceCharacters("àáâôèéêùûîç", "aaaoeeeuuic");

function frenchNorm(word: string): string {
  let stem = word;
  if (stem.length > 4) stem = frenchAccents(stem).replace(/(\p{L})\1+/gu, "$1");
  if (stem.length > 4 && stem.endsWith("ie")) stem = stem.slice(0, -2);
  if (stem.length > 4) {
    if (stem.endsWith("r")) stem = stem.slice(0, -1);
    if (stem.endsWith("e")) stem = stem.slice(0, -1);
    if (stem.endsWith("e")) stem = stem.slice(0, -1);
    stem = stem.replace(/(\p{L})\1$/u, "$1");
  }
  return stem;
}

/** French, minimal: plural, feminine and the endings of infinitives. */
export function minimalFrench(word: string): string {
  if (word.length < 6) return word;
  if (word.endsWith("x")) return word.endsWith("aux") ? `${word.slice(0, -2)}l` : word.slice(0, -1);
  let stem = word;
  for (const letter of ["s", "r", "e", "é"]) if (stem.endsWith(letter)) stem = stem.slice(0, -1);
  return stem.replace(/(\p{L})\1$/u, "$1");
}

const ITALIAN = firstRule([
  [0, "ie he"],
  [0, "e"],
  [0, "hi ii"],
  [0, "i"],
  [0, "ia io"],
  [0, "a o"],
]);

/** Italian, light: gender and number. */
export function lightItalian(word: string): string {
  return word.length < 6 ? word : ITALIAN(plainVowels(word));
}

const SPANISH = firstRule([
  [0, "o a e"],
  [0, "eses", "es"],
  [0, "ces", "z"],
  [0, "os as es"],
]);

/** Spanish, light: gender and number. */
export function lightSpanish(word: string): string {
  return word.length < 5 ? word : SPANISH(plainVowels(word));
}

const PORTUGUESE_ENDING = firstRule([
  [3, "ns", "m"],
  [4, "eis éis", "el"],
  [4, "ais", "al"],
  [4, "óis", "ol"],
  [4, "is", "il"],
  [3, "ões ães", "ão"],
  [6, "mente"],
  [3, "s"],
]);

const PORTUGUESE_FEMININE = firstRule([
  [7, "inha", "inho"],
  [7, "iaca", "iaco"],
  [7, "eira", "eiro"],
  [6, "osa", "oso"],
  [6, "ica", "ico"],
  [6, "ida", "ido"],
  [6, "ada", "ado"],
  [6, "iva", "ivo"],
  [6, "ama", "amo"],
  [6, "ona", "ão"],
  [6, "ora", "or"],
  [6, "esa", "ês"],
  [6, "na", "no"],
]);

const portugueseAccents = replaceCharacters("àáâäãòóôöõèéêëùúûüìíîïç", "aaaaaoooooeeeeuuuuiiiic");

/** Portuguese, light: number, gender and -mente. */
export function lightPortuguese(word: string): string {
  if (word.length < 4) return word;
  let stem = portugueseNumber(word);
  if (stem.length > 3 && stem.endsWith("a")) stem = PORTUGUESE_FEMININE(stem);
  if (stem.length > 4 && endsWithAny(stem, "e a o")) stem = stem.slice(0, -1);
  return portugueseAccents(stem);
}

/** -res, -ses, -les and -zes lose -es; other endings follow the rules. */
function portugueseNumber(word: string): string {
  return word.length > 4 && endsWithAny(word, "res ses les zes")
    ? word.slice(0, -2)
    : PORTUGUESE_ENDING(word);
}

/** The stemmers of this file by the names that settings have for them. */
export const ROMANCE: Readonly<Record<string, Stemmer>> = {
  light_french: lightFrench,
  minimal_french: minimalFrench,
  light_italian: lightItalian,
  light_spanish: lightSpanish,
  light_portuguese: lightPortuguese,
};
