/**
 * Light stemmers of Slavic and Baltic languages: Bulgarian, Czech and Russian after J. Savoy and L. Dolamic ("Searching
 * Strategies for the Bulgarian Language", "Indexing and stemming approaches for the Czech language", "Indexing and Searching
 * Strategies for the Russian Language"), Latvian after K. Kreslins ("A stemming algorithm for Latvian").
 */

import { endsWithAny, firstRule, type Stemmer } from "./suffixes.ts";

const BULGARIAN_ARTICLE = firstRule([
  [6, "ият"],
  [5, "ът то те та ия"],
  [4, "ят"],
]);

const BULGARIAN_PLURAL = firstRule([
  [6, "овци", "о"],
  [6, "ове"],
  [6, "еве", "й"],
  [5, "ища"],
  [5, "та"],
  [5, "ци", "к"],
  [5, "зи", "г"],
]);

const BULGARIAN_PLURAL_2 = firstRule([
  [4, "си", "х"],
  [4, "и"],
]);

function bulgarian(word: string): string {
  if (word.length < 4) return word;
  if (word.length > 5 && word.endsWith("ища")) return word.slice(0, -3);
  let stem = bulgarianPlural(BULGARIAN_ARTICLE(word));
  if (stem.length > 3) stem = stem.replace(/я$/, "").replace(/[аое]$/, "");
  if (stem.length > 4 && stem.endsWith("ен")) stem = `${stem.slice(0, -2)}н`;
  return stem.length > 5 ? stem.replace(/ъ(.)$/, "$1") : stem;
}

function bulgarianPlural(word: string): string {
  const first = BULGARIAN_PLURAL(word);
  if (first !== word) return first;
  if (word.length > 5 && /е.и$/.test(word)) return word.replace(/е(.)и$/, "я$1");
  return BULGARIAN_PLURAL_2(word);
}

const CZECH_CASE = firstRule([
  [7, "atech"],
  [6, "ětem etem atům"],
  [5, "ech ich ích ého ěmi emi ému ěte ete ěti eti ího iho ími ímu imu ách ata aty ých ama ami ové ovi ými"],
  [4, "em es ém ím ům at ám os us ým mi ou"],
  [3, "a e i o u ů y á é í ý ě"],
]);

const CZECH_POSSESSIVE = firstRule([[5, "ov in ův"]]);

const CZECH_CONSONANT = firstRule([
  [0, "čt", "ck"],
  [0, "št", "sk"],
  [0, "c č", "k"],
  [0, "z ž", "h"],
]);

function czech(word: string): string {
  const stem = CZECH_POSSESSIVE(CZECH_CASE(word));
  const changed = CZECH_CONSONANT(stem);
  if (changed !== stem) return changed;
  if (/e.$/u.test(stem)) return stem.replace(/e(.)$/u, "$1");
  return stem.length > 2 ? stem.replace(/ů(.)$/u, "o$1") : stem;
}

const RUSSIAN_CASE = firstRule([
  [6, "иями оями"],
  [5, "иям иях оях ями оям оьв ами его ему ери ими ого ому ыми оев"],
  [4, "ая яя ях юю ах ею их ия ию ьв ою ую ям ых ея ам ем ей ём ев ий им ое ой ом ов ые ый ым ми"],
  [3, "а е и о у й ы я ь"],
]);

const RUSSIAN_END = firstRule([
  [3, "ь и"],
  [3, "нн", "н"],
]);

/** Endings in order, each with the vowels that it has and whether a palatalised consonant before it is turned back. */
const LATVIAN: readonly (readonly [string, number, boolean])[] = [
  ...latvianRules("ajiem ajai", 3),
  ...latvianRules("ajam ajām ajos ajās", 2),
  ["iem", 2, true],
  ...latvianRules("ajā ais ai ei", 2),
  ...latvianRules("ām am ēm īm im um", 1),
  ["us", 1, true],
  ...latvianRules("as ās es", 1),
  ["os", 1, true],
  ...latvianRules("ij īs ēs is ie", 1),
  ["u", 1, true],
  ["a", 1, true],
  ["i", 1, true],
  ...latvianRules("e ā ē ī ū o", 1),
  ...latvianRules("s š", 0),
];

function latvianRules(endings: string, vowels: number): (readonly [string, number, boolean])[] {
  return endings.split(" ").map((ending) => [ending, vowels, false] as const);
}

function latvian(word: string): string {
  const vowels = word.match(/[aeiouāīēū]/g)?.length ?? 0;
  for (const [ending, own, palatalises] of LATVIAN) {
    if (vowels <= own || word.length < ending.length + 3 || !word.endsWith(ending)) continue;
    const stem = word.slice(0, -ending.length);
    return palatalises ? unpalatalised(stem, ending) : stem;
  }
  return word;
}

const LATVIAN_CONSONANTS = firstRule([
  [0, "šņ", "sn"],
  [0, "žņ", "zn"],
  [0, "šļ", "sl"],
  [0, "žļ", "zl"],
  [0, "ļņ", "ln"],
  [0, "ļļ", "ll"],
  [0, "č", "c"],
  [0, "ļ", "l"],
  [0, "ņ", "n"],
]);

function unpalatalised(stem: string, ending: string): string {
  if (ending.startsWith("u")) {
    if (stem.endsWith("kš")) return `${stem.slice(0, -1)}st`;
    if (stem.endsWith("ņņ")) return `${stem.slice(0, -2)}nn`;
  }
  return endsWithAny(stem, "pj bj mj vj") ? stem.slice(0, -1) : LATVIAN_CONSONANTS(stem);
}

/** The stemmers of this file by the names that settings have for them. */
export const SLAVIC: Readonly<Record<string, Stemmer>> = {
  bulgarian,
  czech,
  light_russian: (word) => RUSSIAN_END(RUSSIAN_CASE(word)),
  latvian,
};
