/**
 * Stemmers whose rules are lists in a file: V. M. Orengo and C. Huyck, "A Stemming Algorithm for the Portuguese
 * Language" (RSLP, 2001), and its counterpart for Galician. `rules/*.txt` begins each step with a line `name length
 * whole|ending [condition …]`: words shorter than the length, or without one of the conditions as their ending, pass
 * by. A rule is an indented line `ending stem-length replacement exception …` (`-` for nothing): the first that fits is
 * applied. Exceptions are whole words or endings.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceCharacters, type Stemmer } from "./suffixes.ts";

interface Rule {
  readonly ending: string;
  readonly minStem: number;
  readonly replacement: string;
  readonly isException: (word: string) => boolean;
}

type Steps = ReadonlyMap<string, Stemmer>;

const accents = replaceCharacters("àáâãäåçèéêëìíîïñòóôõöùúûüýÿ", "aaaaaaceeeeiiiinooooouuuuyy");
const galicianAccents = replaceCharacters("áéêíóú", "aeeiou");

const loaded = new Map<string, Steps>();

function steps(language: "portuguese" | "galician"): Steps {
  let found = loaded.get(language);
  if (found === undefined) {
    found = parse(readFileSync(join(import.meta.dirname, "..", "rules", `${language}.txt`), "utf8"));
    loaded.set(language, found);
  }
  return found;
}

function parse(text: string): Steps {
  const result = new Map<string, Stemmer>();
  for (const block of text.split(/\n(?=\S)/)) {
    const [header, ...lines] = block.trimEnd().split("\n");
    const [name, length, kind, ...conditions] = header!.split(" ");
    const rules = lines.map((line) => ruleOf(line.trim().split(" "), kind === "whole"));
    const shortest = Math.min(...rules.map(({ ending, minStem }) => ending.length + minStem));
    result.set(name!, stepOf(rules, Number(length) === 0 ? shortest : Number(length), conditions));
  }
  return result;
}

function ruleOf([ending, minStem, replacement, ...exceptions]: string[], isWhole: boolean): Rule {
  const words = new Set(exceptions);
  return {
    ending: ending!,
    minStem: Number(minStem),
    replacement: replacement === "-" ? "" : replacement!,
    isException: isWhole
      ? (word) => words.has(word)
      : (word) => exceptions.some((each) => word.endsWith(each)),
  };
}

function stepOf(rules: readonly Rule[], minLength: number, conditions: readonly string[]): Stemmer {
  return (word) => {
    if (word.length < minLength) return word;
    if (conditions.length > 0 && !conditions.some((each) => word.endsWith(each))) return word;
    const rule = rules.find(
      ({ ending, minStem, isException }) =>
        word.length - ending.length >= minStem && word.endsWith(ending) && !isException(word),
    );
    return rule === undefined ? word : word.slice(0, word.length - rule.ending.length) + rule.replacement;
  };
}

/** Portuguese, RSLP. */
export function portugueseRslp(word: string): string {
  const all = steps("portuguese");
  let stem = word;
  for (const name of ["Plural", "Adverb", "Feminine", "Augmentative"]) stem = all.get(name)!(stem);
  for (const name of ["Noun", "Verb", "Vowel"]) {
    const next = all.get(name)!(stem);
    if (next !== stem) return accents(next);
  }
  return accents(stem);
}

/** Galician, by rules of the same form. */
export function galician(word: string): string {
  const all = steps("galician");
  let stem = word;
  for (const name of ["Plural", "Unification", "Adverb"]) stem = all.get(name)!(stem);
  for (let before = ""; before.length !== stem.length; ) {
    before = stem;
    stem = all.get("Augmentative")!(stem);
  }
  const noun = all.get("Noun")!(stem);
  stem = noun.length === stem.length ? all.get("Verb")!(noun) : noun;
  return galicianAccents(all.get("Vowel")!(stem));
}

/** The stemmers of this file by the names that settings have for them. */
export const RSLP: Readonly<Record<string, Stemmer>> = {
  portuguese_rslp: portugueseRslp,
  minimal_portuguese: (word) => steps("portuguese").get("Plural")!(word),
  galician,
  minimal_galician: (word) => steps("galician").get("Plural")!(word),
};
