/** Readable values of fields: sizes, durations and links, recognised by the fields' names or configured. */

import { formatBytes, formatCount } from "./format.ts";

export interface FormattedValue {
  readonly text: string;
  /** Where it leads; undefined if it isn't an address. */
  readonly href: string | undefined;
}

export const FORMAT_KINDS = ["plain", "bytes", "duration", "number", "link"] as const;
export type FormatKind = (typeof FORMAT_KINDS)[number];
export const LENGTH_UNITS = ["ns", "us", "ms", "s"] as const;
export type LengthUnit = (typeof LENGTH_UNITS)[number];

/** The format of a field, whatever its name suggests. */
export interface FieldFormat {
  readonly kind: FormatKind;
  /** Of a length of time: what the number counts. */
  readonly unit?: LengthUnit;
  /** Of a link: an address with `{value}` where the value goes. */
  readonly template?: string;
}

/** Chosen formats by field. */
export type FieldFormats = ReadonlyMap<string, FieldFormat>;

/** Part of a value that is an address, or isn't. */
export interface LinkPart {
  readonly text: string;
  readonly href: string | undefined;
}

const NANOSECONDS: Readonly<Record<LengthUnit, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
const UNITS: Readonly<Record<string, LengthUnit>> = {
  ns: "ns",
  nanos: "ns",
  nanoseconds: "ns",
  us: "us",
  micros: "us",
  microseconds: "us",
  ms: "ms",
  millis: "ms",
  milliseconds: "ms",
  s: "s",
  sec: "s",
  secs: "s",
  seconds: "s",
};
const SIZE = /(?:^|[._])bytes$/i;
const LAST_WORD = /(?:^|[._])([a-z]+)$/i;
/** A closing bracket or a full stop at its end belongs to the sentence around it. */
const ADDRESS = /https?:\/\/[^\s"'<>`\\]+[^\s"'<>`\\.,;:!?)\]}]/g;

/**
 * Returns a number of a field with its unit, an address with its link; undefined for a value that is shown unchanged.
 */
export function formatField(name: string, value: unknown, format?: FieldFormat): FormattedValue | undefined {
  if (format !== undefined) return formatAs(value, format);
  if (typeof value === "string") {
    const [match] = value.matchAll(ADDRESS);
    return match !== undefined && match[0] === value ? { text: value, href: value } : undefined;
  }
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  if (SIZE.test(name)) return value < 1_000 ? undefined : { text: formatBytes(value), href: undefined };
  const unit = name === "event.duration" ? "ns" : UNITS[LAST_WORD.exec(name)?.[1]?.toLowerCase() ?? ""];
  if (unit === undefined) return undefined;
  return { text: formatLength(value * NANOSECONDS[unit]), href: undefined };
}

/** Texts that are numbers are formatted as such: many programs write them so. */
function formatAs(
  value: unknown,
  { kind, unit = "ms", template = "" }: FieldFormat,
): FormattedValue | undefined {
  if (kind === "plain" || (typeof value !== "string" && typeof value !== "number")) return undefined;
  if (kind === "link")
    return {
      text: String(value),
      href: template.replaceAll("{value}", encodeURIComponent(String(value).toWellFormed())),
    };
  const number = typeof value === "string" && value.trim() === "" ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) return undefined;
  if (kind === "bytes") return { text: formatBytes(number), href: undefined };
  if (kind === "number") return { text: formatCount(number), href: undefined };
  return { text: formatLength(number * NANOSECONDS[unit]), href: undefined };
}

/** Returns a length of time with three digits: `1.23 ms`, `45.6 s`, `2 min 3 s`. */
export function formatLength(nanoseconds: number): string {
  const size = Math.abs(nanoseconds);
  if (size >= 60e9) {
    const seconds = Math.round(nanoseconds / 1e9);
    const minutes = Math.trunc(seconds / 60);
    if (Math.abs(minutes) < 60) return `${minutes} min ${Math.abs(seconds % 60)} s`;
    return `${Math.trunc(minutes / 60)} h ${Math.abs(minutes % 60)} min`;
  }
  for (const [unit, length] of [
    ["s", 1e9],
    ["ms", 1e6],
    ["µs", 1e3],
  ] as const)
    if (size >= length) return `${Number((nanoseconds / length).toPrecision(3))} ${unit}`;
  return `${Number(nanoseconds.toPrecision(3))} ns`;
}

/** Cuts a text into addresses and what is between. */
export function splitLinks(text: string): LinkPart[] {
  const parts: LinkPart[] = [];
  let at = 0;
  for (const match of text.matchAll(ADDRESS)) {
    if (match.index > at) parts.push({ text: text.slice(at, match.index), href: undefined });
    parts.push({ text: match[0], href: match[0] });
    at = match.index + match[0].length;
  }
  if (at < text.length || parts.length === 0) parts.push({ text: text.slice(at), href: undefined });
  return parts;
}
