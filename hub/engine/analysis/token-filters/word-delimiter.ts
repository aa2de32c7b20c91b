/** `word_delimiter` and `word_delimiter_graph`: the parts of words, and what they are joined to. */

import { type Options, readBoolean } from "#hub/engine/analysis/parts/options.ts";
import type { Token, TokenFilter } from "#hub/engine/analysis/parts/token.ts";
import { readRules, type Subword, WordCutter } from "./word-cutter.ts";

/** What one word becomes: texts with their offsets in it and the positions that they span. */
interface WordPart {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
  readonly isOriginal: boolean;
}

/** Makes the parts of a word as `word_delimiter_graph` does; undefined for a word that stays as it is. */
function partsOf(cutter: WordCutter, text: string): WordPart[] | undefined {
  const { rules } = cutter;
  if (rules.protectedWords.has(text)) return undefined;
  const subwords = cutter.subwords(text);
  if (subwords.length === 1 && subwords[0]!.from === 0 && subwords[0]!.to === text.length) return undefined;
  const parts: WordPart[] = [];
  let place = 0;
  let lastRun = 0;
  const catenate = (run: readonly Subword[], start: number): void => {
    lastRun = run.length;
    if (run.length === 0 || (run.length === 1 && cutter.isGenerated(run[0]!.type))) return;
    if (place === start) place++;
    parts.push({ ...joined(text, run), start, end: place, isOriginal: false });
  };
  let run: Subword[] = [];
  let runStart = 0;
  for (const subword of subwords) {
    if (run.length > 0 && (run[0]!.type & subword.type) === 0) {
      catenate(run, runStart);
      run = [];
    }
    if (cutter.isCatenated(subword.type)) {
      if (run.length === 0) runStart = place;
      run.push(subword);
    }
    if (cutter.isGenerated(subword.type)) {
      parts.push({ ...joined(text, [subword]), start: place, end: place + 1, isOriginal: false });
      place++;
    }
  }
  if (run.length > 0) catenate(run, runStart);
  if (rules.catenateAll && subwords.length > lastRun && subwords.length > 0) {
    if (place === 0) place++;
    const isDouble = subwords.length === 1 && cutter.isGenerated(subwords[0]!.type);
    if (!isDouble) parts.push({ ...joined(text, subwords), start: 0, end: place, isOriginal: false });
  }
  if (rules.preserveOriginal)
    parts.push({ text, from: 0, to: text.length, start: 0, end: Math.max(place, 1), isOriginal: true });
  return parts.sort((a, b) => a.start - b.start || b.end - a.end);
}

function joined(text: string, run: readonly Subword[]): { text: string; from: number; to: number } {
  return {
    text: run.map(({ from, to }) => text.slice(from, to)).join(""),
    from: run[0]!.from,
    to: run.at(-1)!.to,
  };
}

/** `word_delimiter_graph`: tokens span the positions of the parts that they are made of. */
export function wordDelimiterGraph(options: Options): TokenFilter {
  const adjusts = readBoolean(options, "adjust_offsets", true);
  return splitWords(options, (token, parts, base) =>
    parts.map((part) => placed(token, part, base + part.start, part.end - part.start, adjusts)),
  );
}

/** `place` makes the tokens of a word's parts; `base` is the position of the first. */
function splitWords(
  options: Options,
  place: (token: Token, parts: readonly WordPart[], base: number) => Token[],
): TokenFilter {
  const cutter = new WordCutter(readRules(options));
  return (tokens) => {
    let shift = 0;
    return tokens.flatMap((token) => {
      const base = token.position + shift;
      const parts = partsOf(cutter, token.text);
      if (parts === undefined) return [{ ...token, position: base }];
      if (parts.length === 0) {
        shift--;
        return [];
      }
      shift += Math.max(...parts.map(({ end }) => end)) - 1;
      return place(token, parts, base);
    });
  };
}

/** A filter before may have changed the word's length: then all parts have the whole word's offsets. */
function placed(
  token: Token,
  part: WordPart,
  position: number,
  positionLength: number,
  adjustsOffsets = true,
): Token {
  const hasOffsets = adjustsOffsets && token.endOffset - token.startOffset === token.text.length;
  const offsets = hasOffsets
    ? { startOffset: token.startOffset + part.from, endOffset: token.startOffset + part.to }
    : {};
  const { positionLength: _, ...rest } = token;
  return {
    ...rest,
    ...offsets,
    text: part.text,
    position,
    ...(positionLength > 1 ? { positionLength } : {}),
  };
}

/** `word_delimiter`: like the graph, but joined parts are at the position of the first one. */
export function wordDelimiter(options: Options): TokenFilter {
  return splitWords(options, (token, parts, base) =>
    flatOrder(parts).map((part) => placed(token, part, base + part.start, 1)),
  );
}

/** The original first, then by the position, single parts before those that are joined. */
function flatOrder(parts: readonly WordPart[]): WordPart[] {
  return [...parts].sort(
    (a, b) =>
      a.start - b.start || Number(b.isOriginal) - Number(a.isOriginal) || a.end - b.end || a.from - b.from,
  );
}
