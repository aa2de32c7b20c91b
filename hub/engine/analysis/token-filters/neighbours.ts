/** Filters that join adjacent words: shingles and common grams. */

import { type Options, readBoolean, readInteger, readString } from "#hub/engine/analysis/parts/options.ts";
import { words } from "#hub/engine/analysis/parts/stop-words.ts";
import type { Token, TokenFilter } from "#hub/engine/analysis/parts/token.ts";

/** Most sizes of `shingle` beyond the least: every word begins a shingle of each size. */
export const MAX_SHINGLE_DIFFERENCE = 6;

/** A word, or a filler where a filter has taken one out. */
interface Slot {
  readonly token: Token;
  readonly isFiller: boolean;
}

/** Words of the shingles that the filter `shingle` makes. Throws RangeError. */
export function shingleSizes(options: Options): { min: number; max: number; hasUnigrams: boolean } {
  return {
    min: readInteger(options, "min_shingle_size", 2),
    max: readInteger(options, "max_shingle_size", 2),
    hasUnigrams: readBoolean(options, "output_unigrams", true),
  };
}

/** `shingle`. Throws RangeError. */
export function shingleFilter(options: Options): TokenFilter {
  const { min, max, hasUnigrams: unigrams } = shingleSizes(options);
  if (min < 2 || max < min)
    throw new RangeError(
      `[min_shingle_size] must be 2 or more and not above [max_shingle_size], but are ${min} and ${max}`,
    );
  const whereNone = readBoolean(options, "output_unigrams_if_no_shingles", false);
  const separator = readString(options, "token_separator", " ");
  const filler = readString(options, "filler_token", "_");
  return (tokens) => {
    const slots = slotsOf(tokens, filler);
    const isShort = slots.length < min;
    const withUnigrams = unigrams || (whereNone && isShort);
    let skipped = 0;
    return slots.flatMap(({ token, isFiller }, at) => {
      const result: Token[] =
        withUnigrams && !isFiller ? [{ ...token, position: token.position - skipped }] : [];
      for (let size = min; size <= max && at + size <= slots.length; size++) {
        const parts = slots.slice(at, at + size);
        if (parts.every((part) => part.isFiller)) continue;
        const span = withUnigrams ? size : size - min + 1;
        result.push({
          ...token,
          text: parts.map((part) => part.token.text).join(separator),
          endOffset: parts.at(-1)!.token.endOffset,
          type: "shingle",
          position: token.position - skipped,
          ...(span > 1 ? { positionLength: span } : {}),
        });
      }
      if (result.length === 0 && !withUnigrams) skipped++;
      return result;
    });
  };
}

/** Puts a filler at each position that no token has; its offset is the start of the next token. */
function slotsOf(tokens: readonly Token[], filler: string): Slot[] {
  const slots: Slot[] = [];
  let place = -1;
  for (const token of tokens) {
    for (place++; place < token.position; place++) {
      const { startOffset } = token;
      slots.push({
        token: { text: filler, startOffset, endOffset: startOffset, type: "word", position: place },
        isFiller: true,
      });
    }
    place = token.position;
    slots.push({ token, isFiller: false });
  }
  return slots;
}

/**
 * `common_grams`: pairs of words of which one is common, beside the words; in `query_mode` instead of them. Throws
 * RangeError.
 */
export function commonGramsFilter(options: Options): TokenFilter {
  const ignoreCase = readBoolean(options, "ignore_case", false);
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const common = new Set(words(options, "common_words", []).map(fold));
  if (Object.keys(options).length > 0 && common.size === 0)
    throw new RangeError(
      "missing or empty [common_words] or [common_words_path] configuration for common_grams token filter",
    );
  const isQuery = readBoolean(options, "query_mode", false);
  return (tokens) => {
    const isCommon = tokens.map(({ text }) => common.has(fold(text)));
    return tokens.flatMap((token, at) => {
      const next = tokens[at + 1];
      const isPair = next !== undefined && (isCommon[at]! || isCommon[at + 1]!);
      const gram: Token[] = isPair
        ? [
            {
              ...token,
              text: `${token.text}_${next.text}`,
              endOffset: next.endOffset,
              type: "gram",
              ...(isQuery ? {} : { positionLength: 2 }),
            },
          ]
        : [];
      if (!isQuery) return [token, ...gram];
      if (isPair) return gram;
      // A word that the pair before it holds needs no token of its own.
      return at > 0 && at === tokens.length - 1 && (isCommon[at - 1]! || isCommon[at]!) ? [] : [token];
    });
  };
}
