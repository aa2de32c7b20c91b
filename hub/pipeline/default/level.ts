/** The level that a line of text begins with, where it says one plainly. */

/** Looked for in this many bytes behind the time. */
const WINDOW_BYTES = 64;

const LEVELS = new Set([
  "trace",
  "debug",
  "info",
  "notice",
  "warn",
  "warning",
  "error",
  "err",
  "crit",
  "critical",
  "alert",
  "emerg",
  "emergency",
  "fatal",
  "panic",
  "severe",
]);

const MIN_LENGTH = 3;
const MAX_LENGTH = 9;

/**
 * Returns the level in lower case, or "" where none is plain: an upper-case word (`ERROR`), or one in brackets or
 * before a colon (`[error]`, `warning:`).
 */
export function levelAt(bytes: Uint8Array, start: number, end: number): string {
  const limit = Math.min(end, start + WINDOW_BYTES);
  for (let at = start; at < limit; at++) {
    if (!isLetter(bytes[at]!)) continue;
    const wordStart = at;
    let isUpper = true;
    for (; at < end && isLetter(bytes[at]!) && at - wordStart <= MAX_LENGTH; at++) {
      isUpper &&= bytes[at]! < 0x61;
    }
    const length = at - wordStart;
    if (length >= MIN_LENGTH && length <= MAX_LENGTH && (isUpper || isMarked(bytes, wordStart, at, end))) {
      const word = Buffer.from(bytes.buffer, bytes.byteOffset + wordStart, length)
        .toString("latin1")
        .toLowerCase();
      if (LEVELS.has(word)) return word;
    }
    while (at < limit && isLetter(bytes[at]!)) at++;
  }
  return "";
}

function isMarked(bytes: Uint8Array, start: number, end: number, limit: number): boolean {
  const next = end < limit ? bytes[end] : 0;
  return next === 0x3a || (next === 0x5d && (bytes[start - 1] === 0x5b || bytes[start - 1] === 0x3a));
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
