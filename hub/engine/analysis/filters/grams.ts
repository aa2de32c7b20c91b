/** `ngram`, `edge_ngram`: the parts of a word. */

import { type Options, readInteger, readString } from "#hub/engine/analysis/parts/options.ts";
import type { Token, TokenFilter } from "#hub/engine/analysis/parts/token.ts";

/** `ngram`. */
export function ngramFilter(options: Options): TokenFilter {
  const { min, max } = gramSizes(options);
  return (tokens) => tokens.flatMap((token) => [...grams(token, min, max)]);
}

function* grams(token: Token, min: number, max: number): Generator<Token> {
  const letters = Array.from(token.text);
  for (let from = 0; from < letters.length; from++) {
    for (let size = min; size <= max && from + size <= letters.length; size++)
      yield { ...token, text: letters.slice(from, from + size).join("") };
  }
}

/** `edge_ngram`: from the front, or the back. */
export function edgeNgramFilter(options: Options): TokenFilter {
  const { min, max } = gramSizes(options);
  const side = readString(options, "side", "front");
  if (side !== "front" && side !== "back") throw new RangeError(`invalid side: ${side}`);
  return (tokens) =>
    tokens.flatMap((token) => {
      const letters = Array.from(token.text);
      const result: Token[] = [];
      for (let size = min; size <= max && size <= letters.length; size++) {
        const part = side === "front" ? letters.slice(0, size) : letters.slice(-size);
        result.push({ ...token, text: part.join("") });
      }
      return result;
    });
}

/** Returns the sizes of grams. Throws RangeError. */
export function gramSizes(options: Options): { readonly min: number; readonly max: number } {
  const min = readInteger(options, "min_gram", 1);
  const max = readInteger(options, "max_gram", 2);
  if (min < 1) throw new RangeError("minGram must be greater than zero");
  if (min > max) throw new RangeError("minGram must not be greater than maxGram");
  return { min, max };
}
