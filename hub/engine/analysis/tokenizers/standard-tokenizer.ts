/**
 * The standard tokenizer: words by the rules of UAX #29 as Lucene 7 applies them. Ideographs and hiragana are
 * tokens of one character; runs of scripts without spaces are one token. Works on any text; the writer's fast path
 * for ASCII is ascii-tokenizer.ts, which this one judges in tests.
 */

import type { Token, Tokenizer } from "#hub/engine/analysis/parts/token.ts";
import * as wb from "./word-break.ts";

/** Tokens of more UTF-16 units are cut there, as Lucene does. */
export const MAX_TOKEN_LENGTH = 255;

const TYPE_NAMES = new Map([
  [wb.HAN, "<IDEOGRAPHIC>"],
  [wb.HIRAGANA, "<HIRAGANA>"],
  [wb.SOUTHEAST_ASIAN, "<SOUTHEAST_ASIAN>"],
]);

/** Returns a tokenizer whose tokens have at most `maxLength` UTF-16 units. */
export function standardTokenizer(maxLength = MAX_TOKEN_LENGTH): Tokenizer {
  return (text) => {
    const scanner = new WordScanner(text, maxLength);
    const tokens: Token[] = [];
    while (scanner.next()) {
      tokens.push({
        text: text.slice(scanner.start, scanner.end),
        startOffset: scanner.start,
        endOffset: scanner.end,
        type: scanner.type,
        position: tokens.length,
      });
    }
    return tokens;
  };
}

/** Walks the words of a text; `start`, `end` and `type` speak of the current one. */
class WordScanner {
  start = 0;
  end = 0;
  type = "";
  readonly #text: string;
  readonly #maxLength: number;

  constructor(text: string, maxLength: number) {
    this.#text = text;
    this.#maxLength = maxLength;
  }

  next(): boolean {
    const text = this.#text;
    let at = this.end;
    while (at < text.length) {
      const point = text.codePointAt(at)!;
      const kind = wb.wordBreakClass(point);
      const width = point > 0xffff ? 2 : 1;
      this.start = at;
      if (kind === wb.HAN || kind === wb.HIRAGANA) {
        this.end = this.#skipMarks(at + width);
        this.type = TYPE_NAMES.get(kind)!;
        return true;
      }
      if (kind === wb.SOUTHEAST_ASIAN) return this.#run(at);
      if (isWordPart(kind) && this.#word(at)) return true;
      at = Math.max(at + width, this.end);
    }
    this.end = text.length;
    return false;
  }

  /** A run of a script without spaces. */
  #run(from: number): boolean {
    let at = from;
    while (at < this.#text.length && at - from < this.#maxLength) {
      const kind = this.#classAt(at);
      if (kind !== wb.SOUTHEAST_ASIAN && kind !== wb.EXTEND) break;
      at += this.#widthAt(at);
    }
    this.end = at;
    this.type = "<SOUTHEAST_ASIAN>";
    return true;
  }

  /** A word from `from`; false if it has neither letter nor digit. `end` is moved in either case. */
  #word(from: number): boolean {
    const limit = Math.min(this.#text.length, from + this.#maxLength);
    let last = this.#classAt(from);
    let seen = 1 << last;
    let at = this.#step(from, limit);
    while (at < limit) {
      const kind = this.#classAt(at);
      if (joins(last, kind)) {
        last = kind;
        seen |= 1 << kind;
        at = this.#step(at, limit);
        continue;
      }
      const behind = this.#joinedByMiddle(last, kind, at, limit);
      if (behind < 0) break;
      at = behind;
      if (at < limit && kind !== wb.SINGLE_QUOTE) last = this.#classAt(at);
    }
    this.end = Math.min(at, limit);
    this.type = typeOf(seen);
    return this.type !== "";
  }

  /** Where a letter or digit continues after the punctuation at `at`; -1 if the word ends before it. */
  #joinedByMiddle(last: number, kind: number, at: number, limit: number): number {
    const behind = this.#step(at, limit);
    const next = behind < limit ? this.#classAt(behind) : wb.OTHER;
    const both = kind === wb.MID_BOTH || kind === wb.SINGLE_QUOTE;
    if ((both || kind === wb.MID_LETTER) && isLetter(last) && isLetter(next)) return behind;
    if ((both || kind === wb.MID_NUMBER) && last === wb.NUMERIC && next === wb.NUMERIC) return behind;
    if (kind === wb.DOUBLE_QUOTE && last === wb.HEBREW && next === wb.HEBREW) return behind;
    return kind === wb.SINGLE_QUOTE && last === wb.HEBREW ? behind : -1;
  }

  #step(at: number, limit: number): number {
    return Math.min(limit, this.#skipMarks(at + this.#widthAt(at)));
  }

  #skipMarks(from: number): number {
    let at = from;
    while (at < this.#text.length && this.#classAt(at) === wb.EXTEND) at += this.#widthAt(at);
    return at;
  }

  #classAt(at: number): number {
    return wb.wordBreakClass(this.#text.codePointAt(at)!);
  }

  #widthAt(at: number): number {
    return this.#text.codePointAt(at)! > 0xffff ? 2 : 1;
  }
}

function isLetter(kind: number): boolean {
  return kind === wb.LETTER || kind === wb.HEBREW || kind === wb.HANGUL;
}

function isWordPart(kind: number): boolean {
  return isLetter(kind) || kind === wb.NUMERIC || kind === wb.KATAKANA || kind === wb.CONNECTOR;
}

function joins(last: number, kind: number): boolean {
  if (last === wb.CONNECTOR || kind === wb.CONNECTOR) return isWordPart(last) && isWordPart(kind);
  if (last === wb.KATAKANA || kind === wb.KATAKANA) return last === kind;
  return (isLetter(last) || last === wb.NUMERIC) && (isLetter(kind) || kind === wb.NUMERIC);
}

function typeOf(seen: number): string {
  const letters = seen & ((1 << wb.LETTER) | (1 << wb.HEBREW));
  if (letters !== 0) return "<ALPHANUM>";
  if (seen & (1 << wb.HANGUL)) return seen & (1 << wb.NUMERIC) ? "<ALPHANUM>" : "<HANGUL>";
  if (seen & (1 << wb.KATAKANA)) return "<KATAKANA>";
  return seen & (1 << wb.NUMERIC) ? "<NUM>" : "";
}
