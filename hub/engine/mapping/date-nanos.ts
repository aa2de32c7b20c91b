/** Times in nanoseconds since 1970-01-01 UTC, as fields of type `date_nanos` keep them: 1970 to 11 April 2262. */

import { dateFormat } from "./date-format.ts";

const NANOS_PER_MS = 1_000_000n;
/** Largest time that 64 bits hold. */
const MAX_NANOS = 2n ** 63n - 1n;
/** Digits of a second's fraction below its milliseconds. */
const DIGITS = 6;

/** Formats of a `date_nanos` field that names none. */
export const DEFAULT_NANOS_FORMAT = "strict_date_optional_time_nanos||epoch_millis";

/** Stands in a pattern for the digits that only nanoseconds have. */
const FRACTION_MARK = "\u0001";

/** Returns a text's time by the first format that fits, null if none does or 64 bits don't hold it. */
export function parseNanos(text: string, formats: string): bigint | null {
  const fitting = formats.split("||").find((format) => !Number.isNaN(dateFormat(format).parse(text)));
  if (fitting === undefined) return null;
  const nanos = nanosOf(dateFormat(fitting).parse(text), belowMillis(text, fitting) ?? 0);
  return nanos < 0n || nanos > MAX_NANOS ? null : nanos;
}

/** Returns a time of whole milliseconds and the nanoseconds (0..999,999) beyond them. */
export function nanosOf(timeMs: number, below: number): bigint {
  return BigInt(timeMs) * NANOS_PER_MS + BigInt(below);
}

/** Returns the whole milliseconds of a time. */
export function millisOf(nanos: bigint): number {
  return Number(nanos < 0n ? (nanos - NANOS_PER_MS + 1n) / NANOS_PER_MS : nanos / NANOS_PER_MS);
}

/**
 * Returns the nanoseconds beyond whole milliseconds that a text names; undefined if it names no fraction, so that a
 * range may end with its unit. `format`: the one format that the text fits.
 */
export function belowMillis(text: string, format: string): number | undefined {
  const isCount = /^-?\d+(?:\.\d+)?$/.test(text) && format.includes("epoch_");
  const fraction = isCount ? /\.(\d+)$/ : /(?::\d{2}|\d{6})[.,](\d+)/;
  const digits = fraction.exec(text)?.[1];
  if (digits === undefined) return undefined;
  // A count of milliseconds has none of them after its point.
  const below = isCount && format.includes("epoch_millis") ? digits : digits.slice(3);
  return Number(below.slice(0, DIGITS).padEnd(DIGITS, "0"));
}

/** Prints a time by the first of the formats, with as much of its fraction as that format has. */
export function printNanos(nanos: bigint, formats: string): string {
  const [format = ""] = formats.split("||");
  const timeMs = millisOf(nanos);
  const below = String(nanos - nanosOf(timeMs, 0)).padStart(DIGITS, "0");
  const written = below.replace(/0+$/, "");
  if (format === "epoch_millis") return written === "" ? String(timeMs) : `${timeMs}.${written}`;
  const printed = (pattern: string): string => dateFormat(pattern).print(timeMs);
  if (format.endsWith("_nanos")) return printed(format).replace(/(\.\d{3})/, `$1${written}`);
  const fraction = /S{4,9}/.exec(format)?.[0];
  if (fraction === undefined) return printed(format);
  const digits = String(timeMs - Math.floor(timeMs / 1000) * 1000).padStart(3, "0") + below;
  return printed(format.replace(fraction, `'${FRACTION_MARK}'`)).replace(
    FRACTION_MARK,
    digits.slice(0, fraction.length),
  );
}
