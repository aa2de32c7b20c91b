/** Names of months and days of the week in the languages that dates are written in. */

/** Spellings of the months (from January) or of the days (from Sunday). */
export interface DateNames {
  readonly long: readonly string[];
  /** Without the dot of an abbreviation. */
  readonly short: readonly string[];
  /** All spellings of each, without the dot of an abbreviation. */
  readonly spellings: readonly (readonly string[])[];
}

const months = (): number[] => Array.from({ length: 12 }, (_, index) => Date.UTC(2024, index, 15));
/** 7 January 2024 was a Sunday. */
const days = (): number[] => Array.from({ length: 7 }, (_, index) => Date.UTC(2024, 0, 7 + index));

/** Returns the names of months in the language of `locale` ("en", "de-DE", "fr_FR"). Throws a RangeError for no locale. */
export function monthNames(locale: string): DateNames {
  return namesOf(locale, "month", months());
}

/** Returns the names of the days of the week, see monthNames. */
export function dayNames(locale: string): DateNames {
  return namesOf(locale, "weekday", days());
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
