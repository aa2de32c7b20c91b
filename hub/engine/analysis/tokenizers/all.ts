/** The tokenizers other than the standard one, each made from its 6.5 settings. */

import {
  type Options,
  readBoolean,
  readInteger,
  readList,
  readString,
} from "#hub/engine/analysis/parts/options.ts";
import { compilePattern, compileSimplePattern, type Pattern } from "#hub/engine/analysis/parts/pattern.ts";
import { MAX_VALUE_TOKENS, makeToken, type Token, type Tokenizer } from "#hub/engine/analysis/parts/token.ts";
import { gramSizes } from "#hub/engine/analysis/token-filters/grams.ts";
import { classicTokenizer } from "./classic-tokenizer.ts";
import { standardTokenizer } from "./standard-tokenizer.ts";
import { urlEmailTokenizer } from "./url-email-tokenizer.ts";

/** Longest token in UTF-16 units of tokenizers without a limit of their own. */
const MAX_TOKEN_LENGTH = 255;

/** Makes a tokenizer of its settings. Throws settings_invalid. */
export const TOKENIZERS: Readonly<Record<string, (options: Options) => Tokenizer>> = {
  standard: (options) => standardTokenizer(readInteger(options, "max_token_length", MAX_TOKEN_LENGTH)),
  classic: (options) => classicTokenizer(readInteger(options, "max_token_length", MAX_TOKEN_LENGTH)),
  uax_url_email: (options) => urlEmailTokenizer(readInteger(options, "max_token_length", MAX_TOKEN_LENGTH)),
  whitespace: (options) =>
    runs(/[^\p{White_Space}]+/gu, readInteger(options, "max_token_length", MAX_TOKEN_LENGTH)),
  letter: () => runs(/\p{L}+/gu, MAX_TOKEN_LENGTH),
  lowercase: () => lowercased(runs(/\p{L}+/gu, MAX_TOKEN_LENGTH)),
  keyword: () => keywordTokenizer,
  pattern: patternTokenizer,
  ngram: ngramTokenizer,
  nGram: ngramTokenizer,
  edge_ngram: edgeNgramTokenizer,
  edgeNGram: edgeNgramTokenizer,
  path_hierarchy: pathTokenizer,
  PathHierarchy: pathTokenizer,
  char_group: charGroupTokenizer,
  simple_pattern: (options) =>
    patternRuns(compileSimplePattern(readString(options, "pattern", "")), MAX_TOKEN_LENGTH),
  simple_pattern_split: (options) =>
    splitTokenizer(compileSimplePattern(readString(options, "pattern", "")), -1),
  thai: () => thaiTokenizer,
};

/** Thai has no spaces between words: the platform's dictionary finds them. */
function thaiTokenizer(text: string): Token[] {
  const tokens: Token[] = [];
  for (const { segment, index, isWordLike } of new Intl.Segmenter("th", { granularity: "word" }).segment(
    text,
  ))
    if (isWordLike === true) tokens.push(makeToken(text, index, index + segment.length, tokens.length));
  return tokens;
}

function keywordTokenizer(text: string): Token[] {
  return text === "" ? [] : [makeToken(text, 0, text.length, 0)];
}

/** What finds the parts of a text. */
interface MatchFinder {
  matches(text: string): Iterable<{ readonly index: number; readonly 0: string }>;
}

/** Tokens are the matches of `pattern`, cut at `maxLength`. */
function runs(pattern: RegExp, maxLength: number): Tokenizer {
  return patternRuns({ matches: (text) => text.matchAll(pattern) }, maxLength);
}

function patternRuns(pattern: MatchFinder, maxLength: number): Tokenizer {
  return (text) => {
    const tokens: Token[] = [];
    for (const match of pattern.matches(text)) {
      const end = match.index + match[0].length;
      for (let from = match.index; from < end; from += maxLength) {
        tokens.push(makeToken(text, from, Math.min(end, from + maxLength), tokens.length));
      }
    }
    return tokens;
  };
}

function lowercased(tokenizer: Tokenizer): Tokenizer {
  return (text) => tokenizer(text).map((token) => ({ ...token, text: token.text.toLowerCase() }));
}

function patternTokenizer(options: Options): Tokenizer {
  const group = readInteger(options, "group", -1);
  return splitTokenizer(
    compilePattern(readString(options, "pattern", "\\W+"), readString(options, "flags", "")),
    group,
  );
}

/** Tokens are the texts between the matches or, from `group` 0 on, the group of each match. */
function splitTokenizer(pattern: Pattern, group: number): Tokenizer {
  return (text) => {
    const tokens: Token[] = [];
    const add = (from: number, to: number): void => {
      if (to > from) tokens.push(makeToken(text, from, to, tokens.length));
    };
    let done = 0;
    for (const match of pattern.matches(text)) {
      if (group >= 0) {
        const [from, to] = match.spans[group] ?? [0, 0];
        add(from, to);
        continue;
      }
      add(done, match.index);
      done = match.index + match[0].length;
    }
    if (group < 0) add(done, text.length);
    return tokens;
  };
}

function ngramTokenizer(options: Options): Tokenizer {
  return gramTokenizer(options, false);
}

function edgeNgramTokenizer(options: Options): Tokenizer {
  return gramTokenizer(options, true);
}

/** Grams of the runs of the characters that belong to tokens; of the edge, those that begin a run. Throws RangeError. */
function gramTokenizer(options: Options, isEdge: boolean): Tokenizer {
  const { min, max } = gramSizes(options);
  const isTokenChar = tokenCharTest(options);
  return (text, most = MAX_VALUE_TOKENS) => {
    const tokens: Token[] = [];
    for (const [from, to] of tokenCharRuns(text, isTokenChar)) {
      const bounds = characterBounds(text, from, to);
      const last = isEdge ? 1 : bounds.length - 1;
      for (let start = 0; start < last; start++) {
        for (let size = min; size <= max && start + size < bounds.length; size++) {
          if (tokens.length >= most) return tokens;
          tokens.push(makeToken(text, bounds[start]!, bounds[start + size]!, tokens.length));
        }
      }
    }
    return tokens;
  };
}

/** Offsets of the characters from..to, and the end. */
function characterBounds(text: string, from: number, to: number): number[] {
  const bounds = [from];
  for (let at = from; at < to; bounds.push(at)) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return bounds;
}

const CHAR_CLASSES: Readonly<Record<string, RegExp>> = {
  letter: /\p{L}/u,
  digit: /\p{Nd}/u,
  whitespace: /\s/u,
  punctuation: /\p{P}/u,
  symbol: /\p{S}/u,
};

function tokenCharTest(options: Options): (character: string) => boolean {
  const names = readList(options, "token_chars", []);
  if (names.length === 0) return () => true;
  const tests = names.map((name) => {
    if (Object.hasOwn(CHAR_CLASSES, name)) return CHAR_CLASSES[name]!;
    throw new RangeError(
      `Unknown token type: '${name}', must be one of ${Object.keys(CHAR_CLASSES).join(", ")}`,
    );
  });
  return (character) => tests.some((test) => test.test(character));
}

function* tokenCharRuns(
  text: string,
  isTokenChar: (character: string) => boolean,
): Generator<readonly [number, number]> {
  let from = -1;
  let at = 0;
  for (const character of text) {
    if (isTokenChar(character)) {
      if (from < 0) from = at;
    } else if (from >= 0) {
      yield [from, at];
      from = -1;
    }
    at += character.length;
  }
  if (from >= 0) yield [from, at];
}

/** /a/b/c gives /a, /a/b, /a/b/c, all at one position. */
function pathTokenizer(options: Options): Tokenizer {
  const delimiter = readString(options, "delimiter", "/");
  const replacement = readString(options, "replacement", delimiter);
  const skip = readInteger(options, "skip", 0);
  const reverse = readBoolean(options, "reverse", false);
  return (text) => {
    if (text === "") return [];
    const bounds = delimiterOffsets(text, delimiter);
    const tokens: Token[] = [];
    const add = (from: number, to: number): void => {
      const value = text.slice(from, to).replaceAll(delimiter, replacement);
      tokens.push({ text: value, startOffset: from, endOffset: to, type: "word", position: 0 });
    };
    if (reverse) {
      const end = skip === 0 ? text.length : (bounds.at(-skip) ?? -1) + 1;
      if (end > 0) add(0, end);
      for (const bound of bounds) if (bound + 1 < end) add(bound + 1, end);
      return tokens;
    }
    const first = skip > 0 ? (bounds[skip - (bounds[0] === 0 ? 0 : 1)] ?? text.length) : 0;
    for (const bound of bounds) if (bound > first) add(first, bound);
    if (first < text.length) add(first, text.length);
    return tokens;
  };
}

function delimiterOffsets(text: string, delimiter: string): number[] {
  const offsets: number[] = [];
  for (let at = text.indexOf(delimiter); at >= 0; at = text.indexOf(delimiter, at + 1)) offsets.push(at);
  return offsets;
}

function charGroupTokenizer(options: Options): Tokenizer {
  const groups = readList(options, "tokenize_on_chars", []);
  const classes = groups.map((group) => CHAR_CLASSES[group]).filter((test) => test !== undefined);
  const characters = new Set(groups.filter((group) => CHAR_CLASSES[group] === undefined));
  const splits = (character: string): boolean =>
    characters.has(character) || classes.some((test) => test.test(character));
  return (text) => {
    const tokens: Token[] = [];
    for (const [from, to] of tokenCharRuns(text, (character) => !splits(character))) {
      tokens.push(makeToken(text, from, to, tokens.length));
    }
    return tokens;
  };
}
