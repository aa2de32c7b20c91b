/** Token filters, each made from its 6.5 settings. Positions stay as they are, so removed tokens leave gaps. */

import { type Options, readBoolean, readInteger, readList, readString } from "./options.ts";
import { porterStem } from "./porter.ts";
import type { Token, TokenFilter } from "./token.ts";
import { compilePattern } from "./tokenizers.ts";

/** Lucene's English stop words. */
const ENGLISH_STOP_WORDS: readonly string[] =
  `a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
  to was will with`.split(/\s+/);

/** Makes a token filter of its settings. Throws settings_invalid. */
export const TOKEN_FILTERS: Readonly<Record<string, (options: Options) => TokenFilter>> = {
  lowercase: () => mapText(lowercase),
  uppercase: () => mapText((text) => text.toUpperCase()),
  asciifolding: () => mapText(foldToAscii),
  stop: stopFilter,
  unique: uniqueFilter,
  trim: () => mapText((text) => text.trim()),
  length: (options) => {
    const min = readInteger(options, "min", 0);
    const max = readInteger(options, "max", 0x7fff_ffff);
    return (tokens) => tokens.filter((token) => token.text.length >= min && token.text.length <= max);
  },
  limit: (options) => {
    const max = readInteger(options, "max_token_count", 1);
    return (tokens) => tokens.slice(0, max);
  },
  truncate: (options) => {
    const max = readInteger(options, "length", 10);
    return mapText((text) => text.slice(0, max));
  },
  reverse: () => mapText((text) => Array.from(text).reverse().join("")),
  stemmer: stemmerFilter,
  porter_stem: () => mapText(porterStem),
  snowball: stemmerFilter,
  ngram: ngramFilter,
  nGram: ngramFilter,
  edge_ngram: edgeNgramFilter,
  edgeNGram: edgeNgramFilter,
  shingle: shingleFilter,
  apostrophe: () => mapText((text) => text.split(/['\u2019]/)[0]!),
  decimal_digit: () => mapText(asciiDigits),
  pattern_replace: (options) => {
    const pattern = compilePattern(readString(options, "pattern", ""), readString(options, "flags", ""));
    const replacement = readString(options, "replacement", "");
    const all = readBoolean(options, "all", true);
    return mapText((text) =>
      all ? text.replaceAll(pattern, replacement) : text.replace(pattern, replacement),
    );
  },
};

/** Lower case by code point, as Java does: no context, one code point for one. */
export function lowercase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length && !text.includes("\u03a3")) return lower;
  let result = "";
  for (const character of text) result += String.fromCodePoint(character.toLowerCase().codePointAt(0)!);
  return result;
}

/** Removes marks from Latin letters and spells out what Unicode's decomposition doesn't (ß, æ, ø …). */
function foldToAscii(text: string): string {
  let result = "";
  for (const character of text.normalize("NFKD").replace(/\p{M}+/gu, "")) {
    result += FOLDINGS[character] ?? character;
  }
  return result;
}

const FOLDINGS: Readonly<Record<string, string>> = {
  ß: "ss",
  ẞ: "SS",
  æ: "ae",
  Æ: "AE",
  œ: "oe",
  Œ: "OE",
  ø: "o",
  Ø: "O",
  đ: "d",
  Đ: "D",
  ð: "d",
  Ð: "D",
  þ: "th",
  Þ: "TH",
  ł: "l",
  Ł: "L",
  ħ: "h",
  Ħ: "H",
  ı: "i",
  ĸ: "q",
  ŋ: "n",
  Ŋ: "N",
  ŧ: "t",
  Ŧ: "T",
  ƒ: "f",
  "‘": "'",
  "’": "'",
  "“": '"',
  "”": '"',
  "–": "-",
  "—": "-",
  "‹": "'",
  "›": "'",
  "«": '"',
  "»": '"',
};

function asciiDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const point = digit.codePointAt(0)!;
    let zero = point;
    // Decimal digits come in runs of ten from zero upwards.
    while (point - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
    return String(point - zero);
  });
}

function mapText(change: (text: string) => string): TokenFilter {
  return (tokens) => tokens.map((token) => ({ ...token, text: change(token.text) }));
}

/** Stop words of `stopwords`: a list, `_english_` or `_none_`. */
export function stopWords(options: Options, fallback: string): ReadonlySet<string> {
  const words = readList(options, "stopwords", [fallback]);
  return new Set(
    words.flatMap((word) => (word === "_english_" ? ENGLISH_STOP_WORDS : word === "_none_" ? [] : [word])),
  );
}

function stopFilter(options: Options): TokenFilter {
  const ignoreCase = readBoolean(options, "ignore_case", false);
  const words = stopWords(options, "_english_");
  const folded = ignoreCase ? new Set([...words].map((word) => word.toLowerCase())) : words;
  return (tokens) =>
    tokens.filter((token) => !folded.has(ignoreCase ? token.text.toLowerCase() : token.text));
}

/** What is left out takes its step with it, so that no gap is left for phrases to fall into. */
function uniqueFilter(options: Options): TokenFilter {
  const samePosition = readBoolean(options, "only_on_same_position", false);
  return (tokens) => {
    const seen = new Set<string>();
    let before = -1;
    let leftOut = 0;
    return tokens.flatMap((token) => {
      const step = token.position - before;
      before = token.position;
      const key = samePosition ? `${token.position} ${token.text}` : token.text;
      if (seen.has(key)) {
        leftOut += step;
        return [];
      }
      seen.add(key);
      return [leftOut === 0 ? token : { ...token, position: token.position - leftOut }];
    });
  };
}

function stemmerFilter(options: Options): TokenFilter {
  const language = readString(options, "language", readString(options, "name", "english")).toLowerCase();
  if (!["english", "porter", "light_english", "porter2"].includes(language)) {
    throw new RangeError(`stemmer language [${language}] is not offered; use english`);
  }
  return mapText(porterStem);
}

function ngramFilter(options: Options): TokenFilter {
  const min = readInteger(options, "min_gram", 1);
  const max = readInteger(options, "max_gram", 2);
  return (tokens) => tokens.flatMap((token) => [...grams(token, min, max)]);
}

function* grams(token: Token, min: number, max: number): Generator<Token> {
  for (let from = 0; from < token.text.length; from++) {
    for (let size = min; size <= max && from + size <= token.text.length; size++) {
      yield { ...token, text: token.text.slice(from, from + size) };
    }
  }
}

function edgeNgramFilter(options: Options): TokenFilter {
  const min = readInteger(options, "min_gram", 1);
  const max = readInteger(options, "max_gram", 2);
  return (tokens) =>
    tokens.flatMap((token) => {
      const result: Token[] = [];
      for (let size = min; size <= max && size <= token.text.length; size++) {
        result.push({ ...token, text: token.text.slice(0, size) });
      }
      return result;
    });
}

function shingleFilter(options: Options): TokenFilter {
  const min = readInteger(options, "min_shingle_size", 2);
  const max = readInteger(options, "max_shingle_size", 2);
  const unigrams = readBoolean(options, "output_unigrams", true);
  const separator = readString(options, "token_separator", " ");
  return (tokens) =>
    tokens.flatMap((token, index) => {
      const result: Token[] = unigrams ? [token] : [];
      for (let size = min; size <= max && index + size <= tokens.length; size++) {
        const parts = tokens.slice(index, index + size);
        result.push({
          ...token,
          text: parts.map((part) => part.text).join(separator),
          endOffset: parts.at(-1)!.endOffset,
          type: "shingle",
        });
      }
      return result;
    });
}
