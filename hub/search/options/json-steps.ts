/** Parses long JSON texts in steps, so that other work is done between them. */

import { setMember } from "#proto/kit/json.ts";
import { MAX_NESTING, parseJson } from "./json.ts";

/** Characters that are parsed at a time: about a millisecond. */
const PIECE_LENGTH = 32_768;

/** Returns what parseJson returns, in steps. Throws parsing. */
export function* parseJsonSteps(text: string): Generator<void, unknown> {
  if (text.length <= PIECE_LENGTH) return parseJson(text);
  const found = yield* new PieceParser(text).run();
  // Errors and their positions are reported by the parser of whole texts.
  return found === undefined ? parseJson(text) : found;
}

/** An object or a list that was opened and isn't closed yet. */
interface Container {
  readonly isList: boolean;
  /** Start of the container. */
  readonly open: number;
  /** What was parsed of it; undefined while all of it still is text. */
  value: unknown[] | Record<string, unknown> | undefined;
  /** First character that isn't parsed yet. */
  from: number;
  /** First character of the current member. */
  member: number;
  /** True: the current member is already in `value`. */
  isAttached: boolean;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LEFT_BRACKET = 0x5b;
const RIGHT_BRACKET = 0x5d;
const LEFT_BRACE = 0x7b;
const RIGHT_BRACE = 0x7d;

/** Cuts a text between members of its objects and lists; the pieces are parsed natively. */
class PieceParser {
  readonly #text: string;
  readonly #open: Container[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the value; undefined if the text isn't JSON, or a scalar. */
  *run(): Generator<void, unknown> {
    try {
      return yield* this.#parse();
    } catch {
      return undefined;
    }
  }

  *#parse(): Generator<void, unknown> {
    const text = this.#text;
    let rested = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) at = this.#stringEnd(at);
      else if (code === LEFT_BRACE || code === LEFT_BRACKET) this.#begin(at, code === LEFT_BRACKET);
      else if (code === COMMA) this.#separate(at);
      else if (code === RIGHT_BRACE || code === RIGHT_BRACKET) {
        const closed = this.#end(at, code === RIGHT_BRACKET);
        if (closed !== undefined) return isBlank(text, at + 1, text.length) ? closed : undefined;
      }
      if (at - rested < PIECE_LENGTH) continue;
      rested = at;
      yield;
    }
    return undefined;
  }

  #stringEnd(from: number): number {
    for (let end = this.#text.indexOf('"', from + 1); end > 0; end = this.#text.indexOf('"', end + 1)) {
      let escapes = 0;
      while (this.#text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
      if (escapes % 2 === 0) return end;
    }
    throw new SyntaxError("a text without an end");
  }

  #begin(at: number, isList: boolean): void {
    if (this.#open.length === 0 && !isBlank(this.#text, 0, at)) throw new SyntaxError("no JSON");
    if (this.#open.length >= MAX_NESTING) throw new SyntaxError("nested too deeply");
    const next = at + 1;
    this.#open.push({ isList, open: at, value: undefined, from: next, member: next, isAttached: false });
  }

  #separate(at: number): void {
    const container = this.#open.at(-1);
    if (container === undefined) throw new SyntaxError("no JSON");
    if (container.isAttached) {
      if (!isBlank(this.#text, container.from, at)) throw new SyntaxError("no JSON");
      container.isAttached = false;
      container.from = at + 1;
    } else if (at - container.from > PIECE_LENGTH) {
      this.#take(container, this.#open.length - 1, at);
      container.from = at + 1;
    }
    container.member = at + 1;
  }

  /** Returns the value of the whole text if that ends here. */
  #end(at: number, isList: boolean): unknown {
    const container = this.#open.at(-1);
    if (container?.isList !== isList) throw new SyntaxError("no JSON");
    const depth = this.#open.length - 1;
    if (depth === 0 && container.value === undefined)
      return parseJson(this.#text.slice(container.open, at + 1));
    if (container.value !== undefined) {
      if (!container.isAttached) this.#take(container, depth, at);
      else if (!isBlank(this.#text, container.from, at)) throw new SyntaxError("no JSON");
    }
    this.#open.pop();
    const parent = this.#open.at(-1);
    if (parent !== undefined && container.value !== undefined) parent.from = at + 1;
    return parent === undefined ? container.value : undefined;
  }

  /** Parses the members of a container up to `end`. */
  #take(container: Container, depth: number, end: number): void {
    this.#materialise(depth);
    const piece = this.#text.slice(container.from, end);
    // The parser would take nothing at all for an empty list.
    if (isBlank(piece, 0, piece.length)) throw new SyntaxError("no JSON");
    const { value } = container;
    if (Array.isArray(value)) for (const each of parseJson(`[${piece}]`) as unknown[]) value.push(each);
    else {
      const members = parseJson(`{${piece}}`) as Record<string, unknown>;
      for (const key of Object.keys(members)) setMember(value!, key, members[key]);
    }
  }

  /** Makes the values of the open containers down to `depth`, each in the one around it. */
  #materialise(depth: number): void {
    for (let at = 0; at <= depth; at++) {
      const container = this.#open[at]!;
      if (container.value !== undefined) continue;
      container.value = container.isList ? [] : {};
      if (at > 0) this.#attach(this.#open[at - 1]!, at - 1, container);
    }
  }

  #attach(parent: Container, depth: number, { open, value }: Container): void {
    if (parent.member > parent.from) this.#take(parent, depth, parent.member - 1);
    const before = this.#text.slice(parent.member, open);
    if (Array.isArray(parent.value)) {
      if (!isBlank(before, 0, before.length)) throw new SyntaxError("no JSON");
      parent.value.push(value);
    } else {
      // With a value the key is a whole member: with one that nothing before it can be a part of, such as the 1 of `"a":1[`.
      const [key] = Object.keys(parseJson(`{${before}[]}`) as object);
      setMember(parent.value!, key!, value);
    }
    parent.isAttached = true;
  }
}

function isBlank(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return false;
  }
  return true;
}
