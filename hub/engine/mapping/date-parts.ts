/** From the parts of a written date to a time. */

/** Parts of a date as they are written; `month` and `day` from 1. */
export interface DateParts {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  milli: number;
  zoneMs: number;
}

/** Returns ms since 1970-01-01 UTC; NaN where a part is out of range (month 13, 30 February, minute 60). */
export function assemble(parts: DateParts): number {
  const { year, month, day, hour, minute, second } = parts;
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return Number.NaN;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1) return Number.NaN;
  return date.getTime() + hour * 3_600_000 + minute * 60_000 + second * 1000 + parts.milli - parts.zoneMs;
}

/** Returns how far a written zone is before UTC, ms; `+02:00`, `-0800`, `Z`. */
export function zoneOffset(text: string | undefined): number {
  if (text === undefined || text === "Z" || text === "UTC" || text === "GMT") return 0;
  const digits = text.slice(1).replace(":", "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || 0);
  return (text.startsWith("-") ? -minutes : minutes) * 60_000;
}
