/** The tokenizer `uax_url_email`: standard words, with addresses of pages and mailboxes kept whole. */

import { makeToken, type Token, type Tokenizer } from "#hub/engine/analysis/parts/token.ts";
import { standardTokenizer } from "./standard-tokenizer.ts";

/** What the search for addresses needs of a text: a string, or what counts how often a test is made. */
export type Characters = Pick<string, "length" | "charCodeAt" | "indexOf">;

/** An address within a text; `end` is exclusive. */
export interface Address {
  readonly start: number;
  readonly end: number;
  readonly type: "<URL>" | "<EMAIL>";
}

const SCHEMES = ["https", "http", "ftp", "file"];
const SCHEME_END = "://";

/** Characters of a mailbox's name, of its host, of a page's address, and those that don't end one. */
const MAILBOX = charSet(/[\w.!#$%&'*+/=?^`{|}~-]/);
const HOST = charSet(/[a-zA-Z0-9-]/);
const NOT_IN_URL = /[\s"<>]/;
const NOT_LAST_IN_URL = charSet(/[\s"<>.,;:!?)\]}]/);
const DOT = 0x2e;

/** Returns the tokenizer whose words have at most `maxLength` UTF-16 units. */
export function urlEmailTokenizer(maxLength: number): Tokenizer {
  const words = standardTokenizer(maxLength);
  return (text) => {
    const tokens: Token[] = [];
    const addWords = (from: number, to: number): void => {
      for (const { startOffset, endOffset, type } of words(text.slice(from, to)))
        tokens.push(makeToken(text, from + startOffset, from + endOffset, tokens.length, type));
    };
    let done = 0;
    for (const { start, end, type } of findAddresses(text)) {
      addWords(done, start);
      tokens.push(makeToken(text, start, end, tokens.length, type));
      done = end;
    }
    addWords(done, text.length);
    return tokens;
  };
}

/**
 * Finds the addresses of a text in order. Looks for what every address has (`@`, `://`) and from there to both sides, never
 * beyond the next one, so that the work grows with the text's length alone.
 */
export function* findAddresses(text: Characters): Generator<Address> {
  let done = 0;
  let email = nextEmail(text, 0);
  let url = nextUrl(text, 0);
  while (email !== null || url !== null) {
    // Where both begin at the same offset the mailbox counts.
    const next = url === null || (email !== null && email.start <= url.start) ? email! : url;
    yield next;
    done = next.end;
    if (email !== null && email.start < done) email = nextEmail(text, done);
    if (url !== null && url.start < done) url = nextUrl(text, done);
  }
}

function nextEmail(text: Characters, from: number): Address | null {
  let floor = from;
  for (let at = text.indexOf("@", from); at >= 0; at = text.indexOf("@", at + 1)) {
    let start = at;
    while (start > floor && isIn(MAILBOX, text.charCodeAt(start - 1))) start--;
    const end = start < at ? hostEnd(text, at + 1) : -1;
    if (end >= 0) return { start, end, type: "<EMAIL>" };
    floor = at + 1;
  }
  return null;
}

/** Returns where a host of at least two labels ends; -1 for none. */
function hostEnd(text: Characters, from: number): number {
  let end = -1;
  for (let at = from; ; at++) {
    const start = at;
    while (at < text.length && isIn(HOST, text.charCodeAt(at))) at++;
    if (at === start) return end;
    if (start > from) end = at;
    if (at >= text.length || text.charCodeAt(at) !== DOT) return end;
  }
}

function nextUrl(text: Characters, from: number): Address | null {
  for (let at = text.indexOf(SCHEME_END, from); at >= 0; at = text.indexOf(SCHEME_END, at + 1)) {
    const start = schemeStart(text, from, at);
    const end = start < 0 ? -1 : urlEnd(text, at + SCHEME_END.length);
    if (end >= 0) return { start, end, type: "<URL>" };
  }
  return null;
}

/** Returns where the scheme that ends at `to` begins; -1 for none. */
function schemeStart(text: Characters, from: number, to: number): number {
  for (const scheme of SCHEMES) {
    const start = to - scheme.length;
    if (start < from) continue;
    let at = 0;
    // Bit 5 is what lower-case letters have beyond upper-case ones.
    while (at < scheme.length && (text.charCodeAt(start + at) | 0x20) === scheme.charCodeAt(at)) at++;
    if (at === scheme.length) return start;
  }
  return -1;
}

/** Returns where the address whose part after the scheme starts at `from` ends; -1 if nothing follows. */
function urlEnd(text: Characters, from: number): number {
  let end = -1;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (NOT_IN_URL.test(String.fromCharCode(code))) break;
    if (!isIn(NOT_LAST_IN_URL, code)) end = at + 1;
  }
  return end;
}

/** The characters of ASCII that fit. */
function charSet(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => Number(pattern.test(String.fromCharCode(code))));
}

function isIn(set: Uint8Array, code: number): boolean {
  return code < 128 && set[code] === 1;
}
