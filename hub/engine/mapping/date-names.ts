/** Names of months and days of the week, as people write them in dates. */

import { AppError } from "#proto/kit/errors.ts";

/** Names of a language; months from January, days from Sunday. */
export interface DateNames {
  readonly months: readonly string[];
  readonly longMonths: readonly string[];
  readonly days: readonly string[];
  readonly longDays: readonly string[];
  /** Source of a regular expression that fits one of them. */
  readonly word: string;
}

const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const ENGLISH: DateNames = {
  months: MONTHS.map((name) => name.slice(0, 3)),
  longMonths: MONTHS,
  days: DAYS.map((name) => name.slice(0, 3)),
  longDays: DAYS,
  word: "[a-z]{3,9}",
};
/** Letters of any language, with the dot of an abbreviation. */
const ANY_WORD = "[^\\s\\d,;:/+-]{1,30}";

/** Returns the names of `locale` ("de", "fr_FR"), English without one. Throws mapping_parse for what is no locale. */
export function dateNames(locale: string | undefined, pattern: string): DateNames {
  if (locale === undefined) return ENGLISH;
  try {
    return { ...namesOf(locale.replaceAll("_", "-")), word: ANY_WORD };
  } catch (error) {
    throw new AppError("mapping_parse", `Invalid locale [${locale}] of the format [${pattern}]`, {
      cause: error,
    });
  }
}

/** Returns which month a name means, 0..11; -1 for none. Abbreviations may have their dot or not. */
export function monthOf(text: string, { months, longMonths }: DateNames): number {
  const wanted = plain(text);
  const exact = longMonths.findIndex((name) => plain(name) === wanted);
  if (exact >= 0) return exact;
  const short = months.findIndex((name) => plain(name) === wanted);
  return short >= 0 ? short : months.findIndex((name) => wanted.startsWith(plain(name)));
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(".", "");
}

function namesOf(locale: string): Omit<DateNames, "word"> {
  const printer = (style: Intl.DateTimeFormatOptions): ((timeMs: number) => string) => {
    const format = new Intl.DateTimeFormat(locale, { ...style, timeZone: "UTC" });
    return (timeMs) => format.format(timeMs).replace(/\.$/, "");
  };
  const months = Array.from({ length: 12 }, (_, at) => Date.UTC(1970, at, 1));
  // 4 January 1970 was a Sunday.
  const days = Array.from({ length: 7 }, (_, at) => Date.UTC(1970, 0, 4 + at));
  return {
    months: months.map(printer({ month: "short" })),
    longMonths: months.map(printer({ month: "long" })),
    days: days.map(printer({ weekday: "short" })),
    longDays: days.map(printer({ weekday: "long" })),
  };
}
