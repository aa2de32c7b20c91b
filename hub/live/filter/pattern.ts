/** Matching of wildcard patterns in time linear in the text for each piece, so that no filter can stall the hub. */

import { LITERAL_QUESTION_MARK, type Pattern } from "./parser.ts";

/** Returns a test whether `pattern` is anywhere in a lower-case text. */
export function compileContains(pattern: Pattern): (text: string) => boolean {
  const pieces = pattern.filter((piece) => piece !== "").map(compilePiece);
  if (pieces.length === 0) return () => true;
  if (pieces.length === 1) {
    const only = pieces[0]!;
    return (text) => only.find(text, 0) >= 0;
  }
  return (text) => findInOrder(pieces, text, 0) >= 0;
}

/** Returns a test whether a lower-case value matches `pattern` or, without wildcards, contains it as whole words. */
export function compileValue(pattern: Pattern): (value: string) => boolean {
  if (pattern.length === 1) return compileWords(compilePiece(pattern[0]!));
  const first = compilePiece(pattern[0]!);
  const last = compilePiece(pattern.at(-1)!);
  const middle = pattern.slice(1, -1).map(compilePiece);
  return (value) => {
    const end = value.length - last.length;
    if (!first.at(value, 0) || end < first.length || !last.at(value, end)) return false;
    const reached = findInOrder(middle, value, first.length);
    return reached >= 0 && reached <= end;
  };
}

interface Piece {
  readonly length: number;
  /** Returns the first offset from `from` on, or -1. */
  find(text: string, from: number): number;
  at(text: string, offset: number): boolean;
}

function compilePiece(source: string): Piece {
  const text = source.replaceAll(LITERAL_QUESTION_MARK, "?");
  if (!source.includes("?"))
    return {
      length: text.length,
      find: (value, from) => value.indexOf(text, from),
      at: (value, offset) => value.startsWith(text, offset),
    };
  const at = (value: string, offset: number): boolean => {
    if (offset + source.length > value.length) return false;
    for (let i = 0; i < source.length; i++)
      if (source[i] !== "?" && text[i] !== value[offset + i]) return false;
    return true;
  };
  const find = (value: string, from: number): number => {
    for (let offset = from; offset + source.length <= value.length; offset++)
      if (at(value, offset)) return offset;
    return -1;
  };
  return { length: source.length, find, at };
}

/** Returns the offset after the last piece if all are found one after another, else -1. */
function findInOrder(pieces: readonly Piece[], text: string, from: number): number {
  let offset = from;
  for (const piece of pieces) {
    const found = piece.find(text, offset);
    if (found < 0) return -1;
    offset = found + piece.length;
  }
  return offset;
}

function compileWords(piece: Piece): (value: string) => boolean {
  return (value) => {
    if (value.length === piece.length) return piece.at(value, 0);
    for (let offset = piece.find(value, 0); offset >= 0; offset = piece.find(value, offset + 1)) {
      if (piece.length === 0) return false;
      if (!isWord(value, offset - 1) && !isWord(value, offset + piece.length)) return true;
    }
    return false;
  };
}

/** Returns the words of a lower-case text: its runs of letters and digits, whose ends are word boundaries of a value. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let start = 0;
  for (let offset = 0; offset <= text.length; offset++) {
    if (isWord(text, offset)) continue;
    if (offset > start) words.push(text.slice(start, offset));
    start = offset + 1;
  }
  return words;
}

/** Letters and digits; everything outside ASCII counts as a letter. */
function isWord(text: string, offset: number): boolean {
  const code = text.charCodeAt(offset);
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || code > 0x7f;
}
