/** Reads times by date patterns. */

import type { DateFields } from "./civil-time.ts";
import {
  dayNames,
  monthNames,
  namesIn,
  type PatternDialect,
  type PatternToken,
  parsePattern,
} from "./date-pattern.ts";
import { fixedOffset } from "./time-zone.ts";

/** Reads at `at`; returns the offset after it, or -1. */
type FieldReader = (text: string, at: number, fields: DateFields) => number;

/** Returns the fields of a text, or undefined if it doesn't fit the pattern. */
export type DateReader = (text: string) => DateFields | undefined;

/**
 * Compiles `pattern`. `pivotYear`: years of two digits are in the hundred years from it on. Throws what the dialect refuses
 * a pattern with.
 */
export function compileReader(pattern: string, dialect: PatternDialect, pivotYear: number): DateReader {
  const tokens = parsePattern(pattern, dialect);
  const readers = tokens.map((token, index) =>
    readerOf(token, { pattern, dialect, pivotYear, following: tokens.slice(index + 1) }),
  );
  return (text) => {
    const fields: DateFields = {
      year: undefined,
      isBeforeChrist: false,
      month: 1,
      day: 1,
      dayOfYear: undefined,
      week: undefined,
      weekday: undefined,
      hour: 0,
      minute: 0,
      second: 0,
      millisecond: 0,
      isPm: undefined,
      offsetMs: undefined,
      zone: undefined,
    };
    let at = 0;
    for (const read of readers) {
      at = read(text, at, fields);
      if (at < 0) return undefined;
    }
    return at === text.length ? fields : undefined;
  };
}

/** What a field's reader depends on beside its own letters. */
interface FieldContext {
  readonly pattern: string;
  readonly dialect: PatternDialect;
  readonly pivotYear: number;
  readonly following: readonly PatternToken[];
}

function readerOf(token: PatternToken, context: FieldContext): FieldReader {
  const { letter, count, literal } = token;
  const { pattern, dialect, following } = context;
  // A dot that the pattern has itself belongs to no abbreviation.
  const takesDot = following[0]?.literal.startsWith(".") !== true;
  const number = (most: number, set: (fields: DateFields, value: number) => void): FieldReader =>
    numberReader(widthsOf(token, most, context), set);
  switch (letter) {
    case "":
      return literalReader(literal);
    case "y":
    case "Y":
    case "u":
    case "x":
      return yearReader(token, context);
    case "M": {
      if (count < 3) return number(2, (fields, value) => (fields.month = value));
      const { spellings } = namesIn(monthNames, pattern, dialect);
      return nameReader(spellings, takesDot, (fields, index) => (fields.month = index + 1));
    }
    case "d":
      return number(2, (fields, value) => (fields.day = value));
    case "D":
      return number(3, (fields, value) => (fields.dayOfYear = value));
    case "w":
      return number(2, (fields, value) => (fields.week = value));
    case "e":
      return number(1, (fields, value) => (fields.weekday = value));
    case "H":
    case "h":
    case "K":
      return number(2, (fields, value) => (fields.hour = value));
    case "k":
      return number(2, (fields, value) => (fields.hour = value % 24));
    case "m":
      return number(2, (fields, value) => (fields.minute = value));
    case "s":
      return number(2, (fields, value) => (fields.second = value));
    case "S":
      return fractionReader(fractionWidths(token, context));
    case "a":
      return nameReader([["AM"], ["PM"]], false, (fields, index) => (fields.isPm = index === 1));
    case "E": {
      const { spellings } = namesIn(dayNames, pattern, dialect);
      return nameReader(spellings, takesDot, (fields, index) => (fields.weekday = index || 7));
    }
    case "G":
      return nameReader(ERAS, false, (fields, index) => (fields.isBeforeChrist = index === 1));
    case "X":
      return readOffset;
    case "Z":
      return count >= 3 ? readZoneName : readOffset;
    case "z":
      return readZoneName;
    default:
      // The century, which the year contains.
      return number(4, () => undefined);
  }
}

const ERAS = [
  ["AD", "CE"],
  ["BC", "BCE"],
];

/** Number of digits of a field, and of the digits after it that belong to the next fields. */
interface Widths {
  readonly least: number;
  readonly most: number;
  readonly reserved: number;
}

function widthsOf({ count }: PatternToken, most: number, { dialect, following }: FieldContext): Widths {
  const isFollowed = following[0] !== undefined && isNumeric(following[0]);
  if (!dialect.exactWidths) {
    // Adjacent numbers: each field takes as many digits as it has letters.
    return isFollowed ? fixed(count) : { least: 1, most: Math.max(most, count), reserved: 0 };
  }
  if (dialect.strict || count >= 2) return fixed(count);
  return { least: 1, most, reserved: digitsOf(following) };
}

function fixed(count: number): Widths {
  return { least: count, most: count, reserved: 0 };
}

/** Digits that the number fields directly at the start of `tokens` need. */
function digitsOf(tokens: readonly PatternToken[]): number {
  let total = 0;
  for (const token of tokens) {
    if (!isNumeric(token)) break;
    total += token.count;
  }
  return total;
}

function isNumeric({ letter, count }: PatternToken): boolean {
  return letter !== "" && !"aEzZGX".includes(letter) && !(letter === "M" && count >= 3);
}

function fractionWidths(token: PatternToken, context: FieldContext): Widths {
  const { exactWidths, strict, fractionDigits } = context.dialect;
  if (fractionDigits !== undefined) return { least: 1, most: fractionDigits, reserved: 0 };
  if (!exactWidths) return widthsOf(token, 9, context);
  return token.count === 3 && !strict ? { least: 1, most: 9, reserved: 0 } : fixed(token.count);
}

function yearReader(token: PatternToken, context: FieldContext): FieldReader {
  const { pivotYear, dialect } = context;
  if (token.count === 2) {
    const century = pivotYear - (pivotYear % 100);
    return numberReader(fixed(2), (fields, value) => {
      fields.year = century + value < pivotYear ? century + 100 + value : century + value;
    });
  }
  const isFixed = dialect.exactWidths && (token.count > 1 || dialect.strict);
  const widths = isFixed ? fixed(4) : widthsOf(token, 9, context);
  return numberReader(widths, (fields, value) => (fields.year = value));
}

/** Literal text counts in any case, as Joda-Time reads it. */
function literalReader(literal: string): FieldReader {
  const lower = literal.toLowerCase();
  return (text, at) => {
    const end = at + literal.length;
    return text.startsWith(literal, at) || text.slice(at, end).toLowerCase() === lower ? end : -1;
  };
}

function numberReader(
  { least, most, reserved }: Widths,
  set: (fields: DateFields, value: number) => void,
): FieldReader {
  return (text, at, fields) => {
    const limit =
      at + (reserved === 0 ? most : Math.min(most, Math.max(least, digitRun(text, at) - reserved)));
    let value = 0;
    let end = at;
    for (; end < limit; end++) {
      const digit = text.charCodeAt(end) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
    }
    if (end - at < least) return -1;
    set(fields, value);
    return end;
  };
}

function digitRun(text: string, at: number): number {
  let end = at;
  while (text.charCodeAt(end) >= 0x30 && text.charCodeAt(end) <= 0x39) end++;
  return end - at;
}

/** Digits after the point; finer than ms is cut off. */
function fractionReader({ least, most }: Widths): FieldReader {
  return (text, at, fields) => {
    let weight = 100;
    let value = 0;
    let end = at;
    for (; end < at + most; end++) {
      const digit = text.charCodeAt(end) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      value += Math.floor(digit * weight);
      weight = weight > 1 ? weight / 10 : 0;
    }
    if (end - at < least) return -1;
    fields.millisecond = value;
    return end;
  };
}

/** `names`: the spellings of each; the longest that fits is taken, in any case, with the dot of an abbreviation. */
function nameReader(
  names: readonly (readonly string[])[],
  takesDot: boolean,
  set: (fields: DateFields, index: number) => void,
): FieldReader {
  const all = names.flatMap((spellings, index) =>
    spellings.map((name) => [name.toLowerCase(), index] as const),
  );
  all.sort((a, b) => b[0].length - a[0].length);
  const longest = all[0]?.[0].length ?? 0;
  const find = remembered((part: string) => {
    const lower = part.toLowerCase();
    return all.find(([name]) => lower.startsWith(name));
  });
  return (text, at, fields) => {
    const found = find(text.slice(at, at + longest));
    if (found === undefined) return -1;
    const [name, index] = found;
    set(fields, index);
    const end = at + name.length;
    return takesDot && text[end] === "." ? end + 1 : end;
  };
}

/** Returns ms of "Z", "+01:00" and the like, as fixedOffset does. */
export const offsetOf = remembered(fixedOffset);

const readOffset: FieldReader = (text, at, fields) => {
  const end = at + offsetLength(text, at);
  const offset = offsetOf(text.slice(at, end));
  if (offset === undefined) return -1;
  fields.offsetMs = offset;
  return end;
};

function offsetLength(text: string, at: number): number {
  switch (text[at]) {
    case "Z":
    case "z":
      return 1;
    case "+":
    case "-":
      return text[at + 3] === ":" ? 6 : digitRun(text, at + 1) >= 4 ? 5 : 3;
    default:
      return 3;
  }
}

/** Keeps the last answer: times that follow one another mostly have the same month and offset. */
function remembered<T>(answer: (text: string) => T): (text: string) => T {
  let last: string | undefined;
  let known: T;
  return (text) => {
    if (text !== last) {
      known = answer(text);
      last = text;
    }
    return known;
  };
}

const readZoneName: FieldReader = (text, at, fields) => {
  const name = /^[A-Za-z][A-Za-z0-9_+/-]*|^[+-]\d{2}:?\d{2}/.exec(text.slice(at, at + 48))?.[0];
  if (name === undefined) return -1;
  fields.zone = name;
  return at + name.length;
};
