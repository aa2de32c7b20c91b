/**
 * Lists of stop words. `stop-words/*.txt` has one for each language, one word a line: those of the Snowball project, of
 * J. Savoy and of Apache Lucene (see NOTICE). A list is read when an analyzer first needs it.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Options, readList } from "./options.ts";

const ENGLISH: readonly string[] =
  `a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
  to was will with`.split(/\s+/);

const LANGUAGES: ReadonlySet<string> = new Set(
  `arabic armenian basque bengali brazilian bulgarian catalan cjk czech danish dutch finnish french galician german greek hindi
  hungarian indonesian irish italian latvian lithuanian norwegian persian portuguese romanian russian sorani spanish swedish thai
  turkish`.split(/\s+/),
);

const read = new Map<string, readonly string[]>();

/** Returns the words of a list such as `_french_`; undefined if there is none of that name. */
export function stopList(name: string): readonly string[] | undefined {
  if (name === "_none_") return [];
  if (name === "_english_") return ENGLISH;
  const language = /^_(\w+)_$/.exec(name)?.[1];
  if (language === undefined || !LANGUAGES.has(language)) return undefined;
  let words = read.get(language);
  if (words === undefined) {
    const file = join(import.meta.dirname, "..", "stop-words", `${language}.txt`);
    words = readFileSync(file, "utf8").trimEnd().split("\n");
    read.set(language, words);
  }
  return words;
}

/** Returns the words of `stopwords`: a list of words and of lists such as `_english_` or `_none_`. Throws RangeError. */
export function stopWords(options: Options, fallback: string): ReadonlySet<string> {
  return new Set(words(options, "stopwords", [fallback]).flatMap((word) => stopList(word) ?? [word]));
}

/** Returns the words of an option. Throws RangeError if they are in a file: files beside the server aren't read. */
export function words(options: Options, name: string, fallback: readonly string[]): readonly string[] {
  if (options[`${name}_path`] !== undefined)
    throw new RangeError(`[${name}_path] is not offered: files aren't read; write the words into [${name}]`);
  return readList(options, name, fallback);
}
