/** `ngram`, `edge_ngram`: the parts of a word. */

import { type Options, readInteger, readString } from "#hub/engine/analysis/parts/options.ts";
import { MAX_VALUE_TOKENS, type Token, type TokenFilter } from "#hub/engine/analysis/parts/token.ts";

/** Most sizes of `ngram` beyond the least: every letter begins a gram of each size. */
export const MAX_GRAM_DIFFERENCE = 50;

/** Letters of all grams of a value: a word of a million letters has long ones. */
const MAX_GRAM_LETTERS = 32 * 1024 * 1024;

/** `ngram`. */
export function ngramFilter(options: Options): TokenFilter {
  const { min, max } = gramSizes(options);
  return upTo((token) => grams(token, min, max));
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
  return upTo((token) => edgeGrams(token, min, max, side));
}

function* edgeGrams(token: Token, min: number, max: number, side: "front" | "back"): Generator<Token> {
  const letters = Array.from(token.text);
  for (let size = min; size <= max && size <= letters.length; size++) {
    const part = side === "front" ? letters.slice(0, size) : letters.slice(-size);
    yield { ...token, text: part.join("") };
  }
}

function upTo(gramsOf: (token: Token) => Iterable<Token>): TokenFilter {
  return (tokens, most = MAX_VALUE_TOKENS) => {
    const found: Token[] = [];
    let letters = 0;
    for (const token of tokens) {
      for (const gram of gramsOf(token)) {
        letters += gram.text.length;
        if (found.length >= most || letters > MAX_GRAM_LETTERS) return found;
        found.push(gram);
      }
    }
    return found;
  };
}

/** Returns the sizes of grams. Throws RangeError. */
export function gramSizes(options: Options): { readonly min: number; readonly max: number } {
  const min = readInteger(options, "min_gram", 1);
  const max = readInteger(options, "max_gram", 2);
  if (min < 1) throw new RangeError("minGram must be greater than zero");
  if (min > max) throw new RangeError("minGram must not be greater than maxGram");
  return { min, max };
}
