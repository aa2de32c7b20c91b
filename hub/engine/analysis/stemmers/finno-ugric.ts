/**
 * Light stemmers of Finnish and Hungarian after J. Savoy: "Report on CLEF-2003 Monolingual Tracks" and "Light Stemming
 * Approaches for the French, Portuguese, German and Hungarian Languages" (2006).
 */

import { firstRule, replaceCharacters, type Stemmer } from "./suffixes.ts";

const finnishVowels = replaceCharacters("äåö", "aao");

const FINNISH_PARTICLE = firstRule([
  [11, "dellinen"],
  [11, "dellisuus"],
]);

const FINNISH_DERIVATION = firstRule([
  [5, "lla tse sti"],
  [5, "ni"],
  [5, "aa", "a"],
]);

const FINNISH_CASE_LONG = firstRule([
  [8, "nnen", "s"],
  [8, "ntena", "s"],
  [8, "tten"],
  [8, "eiden"],
  [6, "neen niin seen teen inen"],
]);

const FINNISH_CASE = firstRule([
  [6, "han hen hin hon hun hyn"],
  [6, "den", "s"],
  [6, "ksen", "s"],
  [6, "ssa sta lla lta tta ksi lle"],
  [5, "na ne"],
  [5, "nei"],
  [4, "ja ta"],
  [4, "a"],
  [4, "an en in on un yn"],
  [4, "n"],
]);

const FINNISH_END = firstRule([
  [4, "ei at"],
  [3, "t s j e a i"],
]);

function finnish(word: string): string {
  if (word.length < 4) return word;
  let stem = finnishVowels(word);
  while (stem.length > 8 && /(?:kin|ko)$/.test(stem)) stem = stem.replace(/(?:kin|ko)$/, "");
  stem = FINNISH_DERIVATION(FINNISH_PARTICLE(stem));
  const long = FINNISH_CASE_LONG(stem);
  stem = long === stem ? FINNISH_CASE(stem) : long;
  if (stem.length > 5 && stem.endsWith("hde")) stem = `${stem.slice(0, -3)}ksi`;
  stem = FINNISH_END(stem);
  if (stem.length > 8) stem = stem.replace(/[eou]$/, "");
  if (stem.length <= 4) return stem;
  stem = stem.replace(/i$/, "");
  return stem.length > 4 ? stem.replace(/([kpt])\1+/g, "$1") : stem;
}

const hungarianVowels = replaceCharacters("áëéíóőõöúűũûü", "aeeioooouuuuu");

const HUNGARIAN_CASE_LONG = firstRule([
  [6, "kent"],
  [5, "nak nek val vel ert rol ban ben bol nal nel hoz hez tol"],
]);

const HUNGARIAN_CASE = firstRule([[4, "at et ot va ve ra re ba be ul ig"]]);

const CONSONANT = "[^aeiouy]";
const DOUBLED_BEFORE_AL = new RegExp(`(${CONSONANT})\\1[ae]l$`);
const CONSONANT_BEFORE_ON = new RegExp(`${CONSONANT}[oe]n$`);
const DOUBLED_BEFORE_A = new RegExp(`(${CONSONANT})\\1[ae]$`);

function hungarianCase(word: string): string {
  const long = HUNGARIAN_CASE_LONG(word);
  if (long !== word) return long;
  if (word.length > 5 && DOUBLED_BEFORE_AL.test(word)) return word.slice(0, -3);
  const stem = HUNGARIAN_CASE(word);
  if (stem !== word || word.length <= 4) return stem;
  if (CONSONANT_BEFORE_ON.test(word)) return word.slice(0, -2);
  if (/[tn]$/.test(word)) return word.slice(0, -1);
  return DOUBLED_BEFORE_A.test(word) ? word.slice(0, -2) : word;
}

/**
 * Endings of possession: the word must be longer than the number, and the pattern's ending of this many letters is cut.
 */
const HUNGARIAN_POSSESSION: readonly (readonly [number, number, RegExp])[] = [
  [6, 4, /[^aeiouy](?:atok|otok|etek)$/],
  [6, 4, /(?:itek|itok)$/],
  [5, 3, /[^aeiouy](?:unk|tok|tek)$/],
  [5, 3, /[aeiouy]juk$/],
  [5, 3, /ink$/],
  [4, 2, /[^aeiouy](?:am|em|om|ad|ed|od|uk)$/],
  [4, 2, /[aeiouy](?:nk|ja|je)$/],
  [4, 2, /(?:im|id|ik)$/],
  [3, 1, /[^aeiouy][ae]$/],
  [3, 1, /[aeiouy][md]$/],
  [3, 1, /i$/],
];

function hungarianPossession(word: string): string {
  const rule = HUNGARIAN_POSSESSION.find(
    ([longerThan, , pattern]) => word.length > longerThan && pattern.test(word),
  );
  return rule === undefined ? word : word.slice(0, -rule[1]);
}

const HUNGARIAN_PLURAL = firstRule([
  [4, "ak ok ek"],
  [3, "k"],
]);

const HUNGARIAN_END = firstRule([[3, "a e i o"]]);

function hungarian(word: string): string {
  return HUNGARIAN_END(HUNGARIAN_PLURAL(hungarianPossession(hungarianCase(hungarianVowels(word)))));
}

/** The stemmers of this file by the names that settings have for them. */
export const FINNO_UGRIC: Readonly<Record<string, Stemmer>> = {
  light_finnish: finnish,
  light_hungarian: hungarian,
};
