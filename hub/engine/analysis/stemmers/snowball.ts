/**
 * The Snowball stemmers (M. F. Porter, snowballstem.org) from a package that is loaded on first use, except Lithuanian,
 * which it lacks: the package is large, and most hubs don't need it. Stems of frequent words are cached, because a call
 * takes 5 to 50 µs.
 */

import { createRequire } from "node:module";
import { lithuanianStem } from "./lithuanian.ts";
import type { Stemmer } from "./suffixes.ts";

/** Words whose stems are kept per language. */
const KEPT_WORDS = 8192;
/** Longer words are rare and would fill the store. */
const KEPT_LENGTH = 32;

const LANGUAGES: ReadonlySet<string> = new Set([
  "armenian",
  "basque",
  "catalan",
  "danish",
  "dutch",
  "english",
  "finnish",
  "french",
  "german",
  "hungarian",
  "irish",
  "italian",
  "norwegian",
  "porter",
  "portuguese",
  "romanian",
  "russian",
  "spanish",
  "swedish",
  "turkish",
]);

const require = createRequire(import.meta.url);
const made = new Map<string, Stemmer>();

/** Returns the stemmer of a language, in lower case; undefined if there is none. */
export function snowballStemmer(language: string): Stemmer | undefined {
  const known = made.get(language);
  if (known !== undefined) return known;
  const stem = uncachedStemmer(language);
  if (stem === undefined) return undefined;
  const stemmer = cached(stem);
  made.set(language, stemmer);
  return stemmer;
}

function uncachedStemmer(language: string): Stemmer | undefined {
  if (language === "lithuanian") return lithuanianStem;
  if (!LANGUAGES.has(language)) return undefined;
  const { newStemmer } = require("snowball-stemmers") as {
    newStemmer: (language: string) => { stem: (word: string) => string };
  };
  const stemmer = newStemmer(language);
  return (word) => stemmer.stem(word);
}

function cached(stem: Stemmer): Stemmer {
  const kept = new Map<string, string>();
  return (word) => {
    const known = kept.get(word);
    if (known !== undefined) return known;
    const result = stem(word);
    if (word.length <= KEPT_LENGTH) {
      if (kept.size >= KEPT_WORDS) kept.clear();
      kept.set(word, result);
    }
    return result;
  };
}
