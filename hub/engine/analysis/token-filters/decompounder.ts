/** `dictionary_decompounder`: the words of a list that a compound word holds, beside it. */

import { type Options, readBoolean, readInteger } from "#hub/engine/analysis/parts/options.ts";
import { words } from "#hub/engine/analysis/parts/stop-words.ts";
import { MAX_VALUE_TOKENS, type Token, type TokenFilter } from "#hub/engine/analysis/parts/token.ts";

/**
 * As Lucene's DictionaryCompoundWordTokenFilter: parts have the position and the offsets of the whole word. Throws
 * RangeError.
 */
export function decompounder(options: Options): TokenFilter {
  const dictionary = new Set(words(options, "word_list", []));
  if (dictionary.size === 0)
    throw new RangeError("word_list must be provided for [dictionary_decompounder], as a list of words");
  let longestWord = 0;
  for (const { length } of dictionary) longestWord = Math.max(longestWord, length);
  const minWord = readInteger(options, "min_word_size", 5);
  const minPart = readInteger(options, "min_subword_size", 2);
  const maxPart = readInteger(options, "max_subword_size", 15);
  const onlyLongest = readBoolean(options, "only_longest_match", false);
  if (minPart < 1 || maxPart < minPart)
    throw new RangeError(
      `[min_subword_size] must be 1 or more and not above [max_subword_size], but are ${minPart} and ${maxPart}`,
    );
  const partsAt = (text: string, from: number): string[] => {
    const found: string[] = [];
    const longest = Math.min(maxPart, longestWord, text.length - from);
    for (let length = minPart; length <= longest; length++) {
      const part = text.slice(from, from + length);
      if (dictionary.has(part)) found.push(part);
    }
    return onlyLongest ? found.slice(-1) : found;
  };
  return (tokens, most = MAX_VALUE_TOKENS) => {
    const found: Token[] = [];
    for (const token of tokens) {
      found.push(token);
      if (token.text.length < minWord) continue;
      for (let from = 0; from <= token.text.length - minPart && found.length < most; from++)
        for (const text of partsAt(token.text, from)) found.push({ ...token, text });
    }
    return found;
  };
}
