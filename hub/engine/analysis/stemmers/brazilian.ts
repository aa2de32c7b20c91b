/** The stemmer of Brazilian Portuguese: Porter's scheme of regions with a list of endings for nouns and one for verbs. */

import { replaceCharacters } from "./suffixes.ts";

const accents = replaceCharacters("áâãéêíóôõúüçñ", "aaaeeiooouucn");

/**
 * Endings of nouns and adjectives with their replacements, in order; they must lie in R2, except for -amente, in R1.
 */
const NOUNS: readonly (readonly [string, string])[] = [
  ["uciones", "u"],
  ...cuts("imentos amentos adores adoras"),
  ["logias", "logias"],
  ["encias", "ente"],
  ...cuts("amente idades acoes imento amento adora ismos istas"),
  ["logia", "log"],
  ["ucion", "u"],
  ["encia", "ente"],
  ...cuts("mente idade acao ezas icos icas ismo avel ivel ista osos osas ador ivas ivos"),
  ["eiras", "eir"],
  ...cuts("eza ico ica oso osa iva ivo"),
  ["eira", "eir"],
];

const VERBS =
  `issemos essemos assemos ariamos eriamos iriamos iremos eremos aremos avamos iramos eramos aramos asseis esseis isseis
  arieis erieis irieis irmos iamos armos ermos areis ereis ireis asses esses isses astes assem essem issem ardes erdes irdes ariam
  eriam iriam arias erias irias estes istes aveis aria eria iria asse esse isse aste este iste arei erei irei aram eram iram avam
  arem erem irem ando endo indo arao erao irao adas idas aras eras iras avas ares eres ires ados idos amos emos imos ieis ada ida
  ara era ira iam ado ido ias ais eis ear ia ei am em ar er ir as es is eu iu ou`.split(/\s+/);

function cuts(endings: string): (readonly [string, string])[] {
  return endings.split(" ").map((ending) => [ending, ""] as const);
}

/** Returns the stem; words of other than 3 to 29 letters stay. */
export function brazilianStem(word: string): string {
  const text = accents(word.toLowerCase())
    .replace(/^["'\-,;.?!](?=.)/, "")
    .replace(/(?<=.)["'\-,;.?!]$/, "");
  if (text.length < 3 || text.length > 29) return word;
  if (!/^\p{L}+$/u.test(text)) return text;
  const r1 = regionAfterVowel(text);
  const r2 = regionAfterVowel(r1);
  const rv = verbRegion(text);
  const noun = withoutNounEnding(text, r1, r2, rv);
  const verb = noun ?? withoutVerbEnding(text, rv);
  const stem =
    verb === undefined ? withoutResidue(text, rv) : rv.endsWith("ci") ? verb.replace(/i$/, "") : verb;
  return withoutE(stem, rv);
}

/** The part after the first consonant that follows a vowel; "" if it would begin at the last letter. */
function regionAfterVowel(text: string): string {
  const last = text.length - 1;
  let at = 0;
  while (at < last && !isVowel(text[at]!)) at++;
  while (at < last && isVowel(text[at]!)) at++;
  return at < last ? text.slice(at + 1) : "";
}

function verbRegion(text: string): string {
  const last = text.length - 1;
  const after = (from: number, wanted: boolean): string | undefined => {
    for (let at = from; at < last; at++) if (isVowel(text[at]!) === wanted) return text.slice(at + 1);
    return undefined;
  };
  if (last > 0 && !isVowel(text[1]!)) {
    const region = after(2, true);
    if (region !== undefined) return region;
  }
  if (last > 1 && isVowel(text[0]!) && isVowel(text[1]!)) {
    const region = after(2, false);
    if (region !== undefined) return region;
  }
  return last > 2 ? text.slice(3) : "";
}

function isVowel(letter: string): boolean {
  return "aeiou".includes(letter);
}

function withoutNounEnding(text: string, r1: string, r2: string, rv: string): string | undefined {
  for (const [ending, replacement] of NOUNS) {
    if (!text.endsWith(ending)) continue;
    const isIn = ending.startsWith("eira")
      ? rv.endsWith(ending.slice(1))
      : (ending === "amente" ? r1 : r2).endsWith(ending);
    if (isIn) return text.slice(0, -ending.length) + replacement;
  }
  return undefined;
}

function withoutVerbEnding(text: string, rv: string): string | undefined {
  const ending = VERBS.find((each) => rv.endsWith(each));
  if (ending === undefined) return undefined;
  // The reference implementation cuts another ending here, so that the word stays.
  return ending === "ira" ? text : text.slice(0, -ending.length);
}

function withoutResidue(text: string, rv: string): string {
  const ending = ["os", "a", "i", "o"].find((each) => rv.endsWith(each));
  return ending === undefined || !text.endsWith(ending) ? text : text.slice(0, -ending.length);
}

/** Cuts -e that lies in RV, with the u of -gue and the i of -cie. */
function withoutE(text: string, rv: string): string {
  if (!rv.endsWith("e")) return text;
  const stem = text.replace(/e$/, "");
  if (rv.endsWith("gue")) return stem.replace(/u$/, "");
  return rv.endsWith("cie") ? stem.replace(/i$/, "") : stem;
}
