/** The level that a line of text begins with, where it says one plainly. */

/** Looked for in this many bytes behind the time. */
const WINDOW_BYTES = 64;

const LEVELS = [
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
];

/** Bits that tell the letters of ASCII apart, the same for both cases. */
const LETTER_BITS = 31;

/** Levels by their first letter's bits. */
const BY_LETTER: readonly (readonly string[])[] = Array.from({ length: LETTER_BITS + 1 }, (_, bits) =>
  LEVELS.filter((level) => (level.charCodeAt(0) & LETTER_BITS) === bits),
);

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
      const level = levelOf(bytes, wordStart, length);
      if (level !== "") return level;
    }
    while (at < limit && isLetter(bytes[at]!)) at++;
  }
  return "";
}

/** The level that `length` letters spell, "" for none. */
function levelOf(bytes: Uint8Array, start: number, length: number): string {
  for (const level of BY_LETTER[bytes[start]! & LETTER_BITS]!) {
    let same = level.length === length ? 1 : 0;
    while (same > 0 && same < length && ((bytes[start + same]! ^ level.charCodeAt(same)) & LETTER_BITS) === 0)
      same++;
    if (same === length) return level;
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
