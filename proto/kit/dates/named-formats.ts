/** Formats with a name, as mappings and requests write them: `basic_date`, `strict_week_date_time`, `yearMonthDay`. */

/** By name the pattern of Joda-Time that is printed. */
const PATTERNS: Readonly<Record<string, string>> = {
  basic_date: "yyyyMMdd",
  basic_date_time: "yyyyMMdd'T'HHmmss.SSSZ",
  basic_date_time_no_millis: "yyyyMMdd'T'HHmmssZ",
  basic_ordinal_date: "yyyyDDD",
  basic_ordinal_date_time: "yyyyDDD'T'HHmmss.SSSZ",
  basic_ordinal_date_time_no_millis: "yyyyDDD'T'HHmmssZ",
  basic_time: "HHmmss.SSSZ",
  basic_time_no_millis: "HHmmssZ",
  basic_t_time: "'T'HHmmss.SSSZ",
  basic_t_time_no_millis: "'T'HHmmssZ",
  basic_week_date: "xxxx'W'wwe",
  basic_week_date_time: "xxxx'W'wwe'T'HHmmss.SSSZ",
  basic_week_date_time_no_millis: "xxxx'W'wwe'T'HHmmssZ",
  date: "yyyy-MM-dd",
  date_hour: "yyyy-MM-dd'T'HH",
  date_hour_minute: "yyyy-MM-dd'T'HH:mm",
  date_hour_minute_second: "yyyy-MM-dd'T'HH:mm:ss",
  date_hour_minute_second_fraction: "yyyy-MM-dd'T'HH:mm:ss.SSS",
  date_hour_minute_second_millis: "yyyy-MM-dd'T'HH:mm:ss.SSS",
  date_time: "yyyy-MM-dd'T'HH:mm:ss.SSSZZ",
  date_time_no_millis: "yyyy-MM-dd'T'HH:mm:ssZZ",
  hour: "HH",
  hour_minute: "HH:mm",
  hour_minute_second: "HH:mm:ss",
  hour_minute_second_fraction: "HH:mm:ss.SSS",
  hour_minute_second_millis: "HH:mm:ss.SSS",
  ordinal_date: "yyyy-DDD",
  ordinal_date_time: "yyyy-DDD'T'HH:mm:ss.SSSZZ",
  ordinal_date_time_no_millis: "yyyy-DDD'T'HH:mm:ssZZ",
  time: "HH:mm:ss.SSSZZ",
  time_no_millis: "HH:mm:ssZZ",
  t_time: "'T'HH:mm:ss.SSSZZ",
  t_time_no_millis: "'T'HH:mm:ssZZ",
  week_date: "xxxx-'W'ww-e",
  week_date_time: "xxxx-'W'ww-e'T'HH:mm:ss.SSSZZ",
  week_date_time_no_millis: "xxxx-'W'ww-e'T'HH:mm:ssZZ",
  week_year: "xxxx",
  weekyear: "xxxx",
  weekyear_week: "xxxx-'W'ww",
  weekyear_week_day: "xxxx-'W'ww-e",
  year: "yyyy",
  year_month: "yyyy-MM",
  year_month_day: "yyyy-MM-dd",
};

/** Digits of a second's fraction: those of milliseconds, and of nanoseconds. */
const MILLIS_DIGITS = 3;
const NANOS_DIGITS = 9;

/** A format that has a name. */
export interface NamedFormat {
  /** What is printed. */
  readonly pattern: string;
  /** What is read: a single letter stands for numbers of any width. */
  readonly reading: string;
  /** Numbers have as many digits as their letters. */
  readonly isStrict: boolean;
  /** A fraction of a second is read with one digit up to so many. */
  readonly fractionDigits: number;
}

/** Returns the format of a name, in snake or camel case; undefined if there is none. */
export function namedFormat(name: string): NamedFormat | undefined {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const isStrict = snake.startsWith("strict_");
  const plain = isStrict ? snake.slice("strict_".length) : snake;
  if (!Object.hasOwn(PATTERNS, plain)) return undefined;
  const pattern = PATTERNS[plain]!;
  const fractionDigits = plain.endsWith("_second_millis") ? MILLIS_DIGITS : NANOS_DIGITS;
  return { pattern, reading: isStrict ? pattern : lenient(pattern), isStrict, fractionDigits };
}

/** Numbers without another one beside them need no fixed width. */
function lenient(pattern: string): string {
  return pattern.replace(/'[^']*'|[yxMdDweHms]+/g, (run) =>
    run.startsWith("'") || new Set(run).size > 1 ? run : run[0]!,
  );
}
