/** Times and numbers as people read them. */

import { msg } from "@lit/localize";
import { isUtcPreferred } from "#ui/services/browser/preferences.ts";
import { DAY_MS } from "./time-units.ts";

/** Of the page, which is chosen before this is loaded; English in tests. */
const LANGUAGE = globalThis.document?.documentElement.lang || "en";
const COUNT = new Intl.NumberFormat(LANGUAGE);
const SHORT = new Intl.NumberFormat(LANGUAGE, { notation: "compact", maximumFractionDigits: 1 });
const SCALE = new Intl.NumberFormat(LANGUAGE, { notation: "compact", maximumSignificantDigits: 4 });
const TENTHS = new Intl.NumberFormat(LANGUAGE, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** 12,345 */
export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** 12.3K */
export function formatShort(count: number): string {
  return SHORT.format(count);
}

/** `12.3K/s`; of less than one a second `6/min`. */
export function formatRate(perSecond: number): string {
  if (perSecond <= 0 || perSecond >= 1) return `${formatShort(perSecond)}/s`;
  return `${formatCount(Math.max(1, Math.round(60 * perSecond)))}/min`;
}

/** 12.35K: for numbers of a scale, which are round and mustn't look rounder. */
export function formatScale(value: number): string {
  return SCALE.format(value);
}

/** Whole numbers below are written out: a sum of a billion mustn't look rounder than it is. */
const WRITTEN_OUT = 1e12;

/** A measured number: 12,345 or 1.2346 or 12.3M. */
export function formatMeasure(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < WRITTEN_OUT) return formatCount(value);
  return Math.abs(value) >= 1e6 ? formatShort(value) : formatCount(Number(value.toPrecision(5)));
}

/** `1.4 MB` of bytes, in powers of 1,000. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  for (; value >= 1_000 && unit < units.length - 1; unit++) value /= 1_000;
  return `${unit === 0 || value >= 100 ? Math.round(value) : TENTHS.format(value)} ${units[unit]}`;
}

/** `12 %` of 0.12; small shares with a tenth. */
export function formatShare(part: number): string {
  if (part > 0 && part < 0.001) return `< ${TENTHS.format(0.1)} %`;
  return `${part > 0 && part < 0.1 ? TENTHS.format(part * 100) : Math.round(part * 100)} %`;
}

/** `2.5 s` */
export function formatSeconds(lengthMs: number): string {
  return `${TENTHS.format(lengthMs / 1_000)} s`;
}

/** `2026-01-31 14:05:09.123`, in the browser's zone or UTC. Sliced from ISO: thousands of rows a second need it. */
export function formatTime(atMs: number, isUtc: boolean): string {
  if (atMs === 0) return msg("no time");
  const shiftedMs = isUtc ? atMs : atMs - offsetMinutes(atMs) * 60_000;
  const iso = new Date(shiftedMs).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}`;
}

/** `2026-01-31 14:05:09` in the zone that the reader prefers: for what no address gives another zone. */
export function formatMoment(atMs: number): string {
  return formatTime(atMs, isUtcPreferred()).slice(0, 19);
}

/** A time on an axis, as exactly as steps of `stepMs` need it: `2026`, `2026-03`, `03-31` also at midnight, `14:05`. */
export function formatTick(atMs: number, stepMs: number, isUtc: boolean): string {
  const text = formatTime(atMs, isUtc);
  if (stepMs >= 365 * DAY_MS) return text.slice(0, 4);
  if (stepMs >= 28 * DAY_MS) return text.slice(0, 7);
  if (stepMs >= DAY_MS || text.endsWith("00:00:00.000")) return text.slice(5, 10);
  if (stepMs >= 60_000) return text.slice(11, 16);
  return stepMs >= 1_000 ? text.slice(11, 19) : text.slice(14);
}

/** `UTC+01:00`, the zone at a time. */
export function formatZone(atMs: number, isUtc: boolean): string {
  const minutes = isUtc ? 0 : -offsetMinutes(atMs);
  if (minutes === 0) return "UTC";
  const size = Math.abs(minutes);
  const pad = (value: number): string => String(value).padStart(2, "0");
  return `UTC${minutes < 0 ? "−" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

/** `3 d 4 h`, `12 min 5 s`: the two largest units. */
export function formatDuration(lengthMs: number): string {
  const units: readonly (readonly [string, number])[] = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ];
  let seconds = Math.floor(lengthMs / 1_000);
  const parts: string[] = [];
  for (const [unit, size] of units) {
    if (seconds >= size) parts.push(`${Math.floor(seconds / size)} ${unit}`);
    seconds %= size;
  }
  return parts.slice(0, 2).join(" ") || "0 s";
}

/** `3 days ago`, `in 5 minutes` */
export function formatAgo(atMs: number, nowMs: number): string {
  const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
    ["year", 31_536_000],
    ["month", 2_592_000],
    ["day", 86_400],
    ["hour", 3_600],
    ["minute", 60],
    ["second", 1],
  ];
  const seconds = (atMs - nowMs) / 1_000;
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return new Intl.RelativeTimeFormat(LANGUAGE, { numeric: "auto" }).format(
    Math.trunc(seconds / length),
    unit,
  );
}

/** The zone offset of the current quarter hour: asking for each line's costs more than the line. */
let offsetQuarter = -1;
let offsetOfQuarter = 0;

function offsetMinutes(atMs: number): number {
  const quarter = Math.floor(atMs / 900_000);
  if (quarter !== offsetQuarter) {
    offsetQuarter = quarter;
    offsetOfQuarter = new Date(atMs).getTimezoneOffset();
  }
  return offsetOfQuarter;
}

/**
 * Returns a dotted name of at most `length` characters: as many of its first parts as needed are shortened to their
 * first letter, so that names which differ late stay distinct. A name that is still too long loses its middle.
 */
export function shortenName(name: string, length: number): string {
  const parts = name.split(".");
  let short = name;
  for (let at = 0; at < parts.length - 1 && short.length > length; at++) {
    parts[at] = parts[at]!.slice(0, 1);
    short = parts.join(".");
  }
  return shorten(short, length);
}

/** Returns a text of at most `length` characters, its middle left out: both ends of an address are informative. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = Math.ceil((length - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (length - 1 - head))}`;
}
