/**
 * Access logs of web servers: the Common Log Format and the combined one of Apache httpd and nginx, with or without a
 * leading virtual host (Apache's vhost_combined). Text after the user agent stays in the message.
 */

import { clearSpan, noSpan, type Span, setSpan } from "./span.ts";
import { hasDay, isCivil, monthAt, twoDigits, utcMs } from "./time.ts";

const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const DASH = 0x2d;
const SLASH = 0x2f;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;

/** Longest distance from the line's start to the bracket of its time, bytes; user names may be long. */
const HEAD_LIMIT = 512;

/** "17/May/2015:10:05:03 +0000" */
const TIME_LENGTH = 26;

/** Longest number of body bytes, digits; below 2^53. */
const MAX_DIGITS = 15;

/** Reads a line; its fields are those of the last line that `read` returned true for. */
export class AccessLogLine {
  readonly host = noSpan();
  readonly client = noSpan();
  readonly user = noSpan();
  readonly method = noSpan();
  readonly url = noSpan();
  readonly httpVersion = noSpan();
  readonly status = noSpan();
  readonly bodyBytes = noSpan();
  readonly referrer = noSpan();
  readonly userAgent = noSpan();
  /** ms since 1970-01-01 UTC. */
  timeMs = 0;
  readonly #timeText = new Uint8Array(TIME_LENGTH);
  #at = 0;

  /** Returns true where `bytes` from `start` to `end` are a line of an access log. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    if (beginsWithTime(bytes, start)) return false;
    const bracket = this.#head(bytes, start, end);
    if (bracket < 0) return false;
    const timeEnd = bracket + 1 + TIME_LENGTH;
    if (timeEnd + 3 > end || bytes[timeEnd] !== 0x5d || bytes[timeEnd + 1] !== SPACE) return false;
    if (bytes[timeEnd + 2] !== QUOTE || !this.#time(bytes, bracket + 1)) return false;
    const requestEnd = closingQuote(bytes, timeEnd + 3, end);
    if (requestEnd < 0 || !this.#answer(bytes, requestEnd + 1, end)) return false;
    this.#request(bytes, timeEnd + 3, requestEnd);
    clearSpan(this.referrer);
    clearSpan(this.userAgent);
    if (this.#quoted(bytes, this.#at, end, this.referrer)) {
      this.#quoted(bytes, this.#at, end, this.userAgent);
    }
    return true;
  }

  /** Reads the fields before the time; returns the offset of its bracket, or -1. */
  #head(bytes: Uint8Array, start: number, end: number): number {
    const limit = Math.min(end, start + HEAD_LIMIT);
    let first = -1;
    let second = -1;
    let third = -1;
    let at = start;
    for (; at < limit; at++) {
      if (bytes[at] !== SPACE) continue;
      if (first < 0) first = at;
      else if (second < 0) second = at;
      else if (third < 0) third = at;
      if (bytes[at + 1] === BRACKET) break;
    }
    if (at >= limit || second < 0 || first === start) return -1;
    clearSpan(this.host);
    if (third > 0 && third < at && isHostAndPort(bytes, start, first)) {
      setSpan(this.host, bytes, start, first);
      setSpan(this.client, bytes, first + 1, second);
      setSpan(this.user, bytes, third + 1, at);
    } else {
      setSpan(this.client, bytes, start, first);
      setSpan(this.user, bytes, second + 1, at);
    }
    return at + 1;
  }

  /** Reads "17/May/2015:10:05:03 +0000" at `at`; the text read last is known already. */
  #time(bytes: Uint8Array, at: number): boolean {
    const text = this.#timeText;
    let same = 0;
    while (same < TIME_LENGTH && text[same] === bytes[at + same]) same++;
    if (same === TIME_LENGTH) return true;
    const day = twoDigits(bytes, at);
    const month = monthAt(bytes, at + 3);
    const century = twoDigits(bytes, at + 7);
    const year = century * 100 + twoDigits(bytes, at + 9);
    const hour = twoDigits(bytes, at + 12);
    const minute = twoDigits(bytes, at + 15);
    const second = twoDigits(bytes, at + 18);
    const offset = twoDigits(bytes, at + 22) * 60 + twoDigits(bytes, at + 24);
    if (!isCivil(month, day, hour, minute, second) || century < 0 || year < 0 || offset < 0) return false;
    if (!hasDay(year, month, day)) return false;
    if (bytes[at + 2] !== SLASH || bytes[at + 6] !== SLASH || bytes[at + 11] !== COLON) return false;
    const sign = bytes[at + 21] === DASH ? -1 : bytes[at + 21] === PLUS ? 1 : 0;
    if (sign === 0) return false;
    this.timeMs = utcMs(year, month, day, hour, minute, second) - sign * offset * 60_000;
    text.set(bytes.subarray(at, at + TIME_LENGTH));
    return true;
  }

  /** Splits `GET /path HTTP/1.1`; anything else leaves the three parts absent. */
  #request(bytes: Uint8Array, start: number, end: number): void {
    clearSpan(this.method);
    clearSpan(this.url);
    clearSpan(this.httpVersion);
    let methodEnd = start;
    while (methodEnd < end && isMethodByte(bytes[methodEnd]!)) methodEnd++;
    if (methodEnd === start || bytes[methodEnd] !== SPACE) return;
    const version = bytes.lastIndexOf(SPACE, end - 1);
    const hasVersion = version > methodEnd && isHttpVersion(bytes, version + 1, end);
    const urlEnd = hasVersion ? version : end;
    if (urlEnd <= methodEnd + 1) return;
    setSpan(this.method, bytes, start, methodEnd);
    setSpan(this.url, bytes, methodEnd + 1, urlEnd);
    if (hasVersion) setSpan(this.httpVersion, bytes, version + 6, end);
  }

  /** Reads ` 200 1234` after the request; sets its end. */
  #answer(bytes: Uint8Array, at: number, end: number): boolean {
    if (at + 6 > end || bytes[at] !== SPACE || bytes[at + 4] !== SPACE) return false;
    const status = bytes[at + 1] === DASH ? -1 : twoDigits(bytes, at + 1);
    if (status < 10 || twoDigits(bytes, at + 2) < 0) return false;
    setSpan(this.status, bytes, at + 1, at + 4);
    let digits = at + 5;
    while (digits < end && bytes[digits]! >= 0x30 && bytes[digits]! <= 0x39) digits++;
    clearSpan(this.bodyBytes);
    if (digits === at + 5) {
      if (bytes[digits] !== DASH) return false;
      digits++;
    } else {
      let first = at + 5;
      while (first < digits - 1 && bytes[first] === 0x30) first++;
      if (digits - first <= MAX_DIGITS) setSpan(this.bodyBytes, bytes, first, digits);
    }
    if (digits < end && bytes[digits] !== SPACE) return false;
    this.#at = digits;
    return true;
  }

  /** Reads ` "text"` at `at` into `target`. */
  #quoted(bytes: Uint8Array, at: number, end: number, target: Span): boolean {
    if (at + 2 >= end || bytes[at] !== SPACE || bytes[at + 1] !== QUOTE) return false;
    const close = closingQuote(bytes, at + 2, end);
    if (close < 0) return false;
    setSpan(target, bytes, at + 2, close);
    this.#at = close + 1;
    return true;
  }
}

/** Returns the offset of the quote that ends the text from `at`; a backslash escapes the byte after it. -1: none. */
function closingQuote(bytes: Uint8Array, at: number, end: number): number {
  for (let index = at; index < end; index++) {
    const byte = bytes[index];
    if (byte === QUOTE) return index;
    if (byte === BACKSLASH) index++;
  }
  return -1;
}

/**
 * Returns true if a line begins like 2026-01-02T03:04:05. Most lines of applications do and no client address does, so
 * this rejects them quickly.
 */
function beginsWithTime(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at + 4] === DASH && bytes[at + 7] === DASH && bytes[at + 13] === COLON && bytes[at + 16] === COLON
  );
}

/** "example.com:80": exactly one colon, digits after it. */
function isHostAndPort(bytes: Uint8Array, start: number, end: number): boolean {
  let colon = -1;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === COLON) {
      if (colon >= 0) return false;
      colon = at;
    } else if (colon >= 0 && (byte < 0x30 || byte > 0x39)) return false;
  }
  return colon > start && colon < end - 1;
}

function isHttpVersion(bytes: Uint8Array, start: number, end: number): boolean {
  return (
    end - start > 5 &&
    end - start <= 8 &&
    bytes[start] === 0x48 &&
    bytes[start + 1] === 0x54 &&
    bytes[start + 2] === 0x54 &&
    bytes[start + 3] === 0x50 &&
    bytes[start + 4] === 0x2f
  );
}

function isMethodByte(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || byte === DASH || byte === 0x5f;
}
