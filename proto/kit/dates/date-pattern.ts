/**
 * Date patterns of Joda-Time and java.time ("yyyy-MM-dd'T'HH:mm:ss.SSSZ") as tokens, and the names of months and days
 * of the week in the languages that dates are written in.
 */

import { AppError } from "../errors.ts";

/** Spellings of the months (from January) or of the days (from Sunday). */
interface DateNames {
  readonly long: readonly string[];
  /** Without the dot of an abbreviation. */
  readonly short: readonly string[];
  /** All spellings of each, without the dot of an abbreviation. */
  readonly spellings: readonly (readonly string[])[];
}

const months = (): number[] => Array.from({ length: 12 }, (_, index) => Date.UTC(2024, index, 15));
/** 7 January 2024 was a Sunday. */
const days = (): number[] => Array.from({ length: 7 }, (_, index) => Date.UTC(2024, 0, 7 + index));

/** A run of one pattern letter, or literal text (`letter` empty). */
export interface PatternToken {
  readonly letter: string;
  /** Number of letters. */
  readonly count: number;
  /** Text between letters; quotes resolved. */
  readonly literal: string;
}

/** Why a pattern is refused: a letter without a meaning, an unclosed quote, a language that doesn't exist. */
export type PatternProblem =
  | { readonly kind: "letter"; readonly letter: string }
  | { readonly kind: "quote"; readonly position: number }
  | { readonly kind: "locale"; readonly locale: string };

/** What differs between users of date patterns. */
export interface PatternDialect {
  /** Letters of the parts of a date. */
  readonly letters: string;
  /** The letters here that stand for letters of the dialect with another meaning. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Numbers have exactly as many digits as their letters; a single letter takes one or two, unless `strict`. */
  readonly exactWidths: boolean;
  readonly strict: boolean;
  /** Where set, a fraction of a second has one digit up to so many, whatever its letters. */
  readonly fractionDigits?: number;
  /** Language of months and weekdays: "en", "de-DE", "fr_FR". */
  readonly locale: string;
  /** Three letters or more of e and Q print names; five letters of these, of E and of M print one character. */
  readonly hasTextForms?: boolean;
  /** What a pattern's zone prints, of times in UTC. */
  readonly utc: (letter: string, count: number) => string;
  /** Makes the error that a pattern is refused with. */
  readonly refuse: (pattern: string, problem: PatternProblem) => AppError;
}

/** Letters of Joda-Time's DateTimeFormat. */
export const JODA_LETTERS = "GCYxywecEDMdaKhHkmsSzZ";

/** Patterns of pipelines: Joda-Time's. */
export const JODA: PatternDialect = {
  letters: JODA_LETTERS,
  exactWidths: false,
  strict: false,
  locale: "en",
  utc: (letter, count) => (letter !== "Z" || count > 2 ? "UTC" : count === 1 ? "+0000" : "+00:00"),
  refuse: (pattern, problem) =>
    new AppError("settings_invalid", `time pattern "${pattern}": ${describe(problem)}`),
};

/** Patterns of java.time, DateTimeFormatter.ofPattern; weeks are those of ISO 8601. */
export const JAVA: PatternDialect = {
  ...JODA,
  letters: "GuyYMLdDQqEewaHhKkmsSnAVzOXxZ",
  aliases: { Y: "x", L: "M", q: "Q", x: "X", X: "V" },
  hasTextForms: true,
  utc: javaUtc,
};

/** "V": zones that print UTC as Z. */
function javaUtc(letter: string, count: number): string {
  if (letter === "O") return "GMT";
  if (letter === "Z") return count < 4 ? "+0000" : count === 4 ? "GMT" : "Z";
  if (letter === "X") return count === 1 ? "+00" : count % 2 === 0 ? "+0000" : "+00:00";
  return "Z";
}

function describe(problem: PatternProblem): string {
  switch (problem.kind) {
    case "letter":
      return `unknown letter "${problem.letter}"; put text in quotes: '${problem.letter}'`;
    case "quote":
      return `the quote at ${problem.position} is never closed`;
    case "locale":
      return `there is no locale "${problem.locale}"`;
  }
}

/** Returns the tokens of `pattern`. Throws what the dialect refuses a pattern with. */
export function parsePattern(pattern: string, dialect: PatternDialect): PatternToken[] {
  const tokens: PatternToken[] = [];
  let at = 0;
  const literal = (text: string): void => {
    const last = tokens.at(-1);
    if (last !== undefined && last.letter === "")
      tokens[tokens.length - 1] = { ...last, literal: last.literal + text };
    else tokens.push({ letter: "", count: 0, literal: text });
  };
  while (at < pattern.length) {
    const letter = pattern[at]!;
    if (letter === "'") {
      const end = quoteEnd(pattern, at, dialect);
      literal(end === at + 2 ? "'" : pattern.slice(at + 1, end - 1).replaceAll("''", "'"));
      at = end;
    } else if (/[A-Za-z]/.test(letter)) {
      if (!dialect.letters.includes(letter)) throw dialect.refuse(pattern, { kind: "letter", letter });
      let end = at;
      while (pattern[end] === letter) end++;
      tokens.push({ letter: dialect.aliases?.[letter] ?? letter, count: end - at, literal: "" });
      at = end;
    } else {
      literal(letter);
      at++;
    }
  }
  return tokens;
}

/** Returns the offset after the quote that closes the one at `at`. */
function quoteEnd(pattern: string, at: number, dialect: PatternDialect): number {
  for (let end = at + 1; end < pattern.length; end++) {
    if (pattern[end] !== "'") continue;
    if (pattern[end + 1] === "'" && end > at + 1) end++;
    else return end + 1;
  }
  throw dialect.refuse(pattern, { kind: "quote", position: at + 1 });
}

/** Returns names in the dialect's language. Throws what the dialect refuses a pattern with. */
export function namesIn<T>(names: (locale: string) => T, pattern: string, dialect: PatternDialect): T {
  try {
    return names(dialect.locale);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw dialect.refuse(pattern, { kind: "locale", locale: dialect.locale });
  }
}

/** Languages whose names are kept. */
const MAX_LOCALES = 100;

/** Returns the names of months in the language of `locale` ("en", "de-DE", "fr_FR"). Throws a RangeError for no locale. */
export const monthNames = keptByLocale((locale) => namesOf(locale, "month", months()));

/** Returns the names of the days of the week, see monthNames. */
export const dayNames = keptByLocale((locale) => namesOf(locale, "weekday", days()));

/** Names take most of a millisecond, and a pattern of a request may ask for them in each of its letters. */
function keptByLocale(make: (locale: string) => DateNames): (locale: string) => DateNames {
  const kept = new Map<string, DateNames>();
  return (locale) => {
    let names = kept.get(locale);
    if (names === undefined) {
      names = make(locale);
      if (kept.size >= MAX_LOCALES) kept.clear();
      kept.set(locale, names);
    }
    return names;
  };
}

function namesOf(locale: string, part: "month" | "weekday", times: readonly number[]): DateNames {
  const language = locale.replaceAll("_", "-");
  const printer = (style: Intl.DateTimeFormatOptions): ((timeMs: number) => string) => {
    const format = new Intl.DateTimeFormat(language, { ...style, timeZone: "UTC" });
    return (timeMs) => format.formatToParts(timeMs).find(({ type }) => type === part)?.value ?? "";
  };
  const long = printer({ [part]: "long" });
  const short = printer({ [part]: "short" });
  // Beside the number of a day some languages write a month otherwise than alone.
  const within =
    part === "month"
      ? [printer({ month: "long", day: "numeric" }), printer({ month: "short", day: "numeric" })]
      : [];
  return {
    long: times.map(long),
    short: times.map((timeMs) => withoutDot(short(timeMs))),
    spellings: times.map((timeMs) => {
      const names = [long, short, ...within].map((print) => print(timeMs));
      if (language.startsWith("en")) names.push(names[0]!.slice(0, 3), names[0]!.slice(0, 4));
      return [...new Set(names.map(withoutDot))].filter((name) => name !== "");
    }),
  };
}

function withoutDot(name: string): string {
  return name.replace(/\.$/, "");
}
