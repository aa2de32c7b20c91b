/**
 * Filter date: texts are written from a time by a pattern, so that the time is known.
 *
 * Not expected: local times that a change of the clocks repeats or skips; short names of other languages than English.
 */

import type { Dice } from "#test/fuzz/oracle/dice.ts";
import type { PlainFilter } from "../configuration.ts";
import { ENGLISH, FRENCH, GERMAN, type Names, offsetAt, written } from "../times.ts";
import { Time, Unspecified } from "../values.ts";

interface Zone {
  readonly option: string | undefined;
  readonly offsetAt: (ms: number) => number;
}

const ZONES: readonly Zone[] = [
  { option: "UTC", offsetAt: () => 0 },
  { option: "+05:30", offsetAt: () => 330 },
  { option: "-0800", offsetAt: () => -480 },
  ...["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"].map((option) => ({
    option,
    offsetAt: (ms: number) => offsetAt(option, ms),
  })),
];

const LOCALES: readonly [option: string | undefined, names: Names][] = [
  [undefined, ENGLISH],
  ["en", ENGLISH],
  ["de", GERMAN],
  ["fr-FR", FRENCH],
];

interface Format {
  readonly pattern: string;
  /** ms that it can tell apart. */
  readonly unitMs: number;
  readonly hasZone?: boolean;
  readonly isEnglish?: boolean;
  readonly hasNoYear?: boolean;
}

const SECOND = 1000;
const FORMATS: readonly Format[] = [
  { pattern: "yyyy-MM-dd HH:mm:ss", unitMs: SECOND },
  { pattern: "yyyy-MM-dd'T'HH:mm:ss.SSSZ", unitMs: 1, hasZone: true },
  { pattern: "yyyy/MM/dd HH:mm:ss.SSS ZZ", unitMs: 1, hasZone: true },
  { pattern: "dd/MMM/yyyy:HH:mm:ss Z", unitMs: SECOND, hasZone: true, isEnglish: true },
  { pattern: "EEE MMM dd HH:mm:ss yyyy", unitMs: SECOND, isEnglish: true },
  { pattern: "d MMMM yyyy HH:mm", unitMs: 60_000 },
  { pattern: "EEEE, d. MMMM yyyy H:m:s", unitMs: SECOND },
  { pattern: "MM/dd/yy hh:mm:ss a", unitMs: SECOND },
  { pattern: "yyyyMMddHHmmss", unitMs: SECOND },
  { pattern: "yyyy-DDD HH:mm", unitMs: 60_000 },
  { pattern: "YYYY.MM.dd HH", unitMs: 3_600_000 },
  { pattern: "HH:mm:ss.SS dd.MM.yyyy", unitMs: 10 },
  { pattern: "MMM dd HH:mm:ss", unitMs: SECOND, isEnglish: true, hasNoYear: true },
  { pattern: "MMM  d HH:mm:ss", unitMs: SECOND, isEnglish: true, hasNoYear: true },
];

/** Later times aren't seconds. */
const MAX_UNIX_MS = 2 ** 31 * SECOND;

const OTHERS: Readonly<Record<string, (ms: number) => string>> = {
  ISO8601: (ms) => new Date(ms).toISOString(),
  UNIX: (ms) => (ms / SECOND).toFixed(3),
  UNIX_MS: String,
};

export function date(dice: Dice): PlainFilter {
  const zone = dice.pick(ZONES);
  const [locale, names] = dice.pick(LOCALES);
  const formats = dice.some(FORMATS, dice.between(1, 2));
  const others = dice.chance(0.4) ? [dice.pick(Object.keys(OTHERS))] : [];
  const into = dice.chance(0.4) ? dice.pick(["when", "[n][when]", "[@metadata][when]"]) : undefined;
  const field = "message";
  const isUsable = formats.every(({ isEnglish }) => isEnglish !== true || names === ENGLISH);
  const texts = new Map<string, number | undefined>();
  return {
    name: "date",
    options: {
      match: [field, ...formats.map(({ pattern }) => pattern), ...others],
      timezone: zone.option,
      locale,
      target: into,
    },
    message: (dice) => {
      if (dice.chance(0.15)) return dice.pick(["no date", "", "2024-13-45 00:00:00", "1", "2024"]);
      const ms = Date.UTC(
        dice.between(1971, 2060),
        dice.below(12),
        dice.between(1, 28),
        dice.below(24),
        dice.below(60),
        dice.below(60),
        dice.below(1000),
      );
      if (others.length > 0 && dice.chance(0.5)) {
        const text = OTHERS[others[0]!]!(ms % MAX_UNIX_MS);
        texts.set(text, ms % MAX_UNIX_MS);
        return text;
      }
      const format = dice.pick(formats);
      const { text, said } = writtenIn(format, ms, zone, names);
      texts.set(text, formats.length > 1 && formats.some(({ hasNoYear }) => hasNoYear) ? undefined : said);
      return text;
    },
    apply(event, { matched }) {
      const value = event.get(field);
      if (!isUsable) throw new Unspecified("short names of other languages");
      if (value === undefined || value === null) return;
      if (typeof value !== "string") throw new Unspecified("values that aren't texts");
      if (!texts.has(value)) {
        if (/[0-9]/.test(value)) throw new Unspecified("a text of another filter");
        event.tag("_dateparsefailure");
        return;
      }
      const ms = texts.get(value);
      if (ms === undefined) throw new Unspecified("several readings");
      event.set(into ?? "@timestamp", new Time(ms));
      matched(event);
    },
  };
}

/** Returns a text and the time it says; undefined: a time that the clocks show twice or never. */
function writtenIn(
  { pattern, unitMs, hasZone, hasNoYear }: Format,
  anyMs: number,
  zone: Zone,
  names: Names,
): { text: string; said: number | undefined } {
  let ms = anyMs - (anyMs % unitMs);
  if (hasNoYear)
    ms =
      Date.UTC(new Date().getUTCFullYear(), new Date(ms).getUTCMonth(), 1) +
      (ms % 86_400_000) +
      10 * 86_400_000;
  const offset = zone.offsetAt(ms);
  // Half an hour is the smallest unit of zones, so that whole hours of local time aren't whole ones of UTC.
  const local = ms + offset * 60_000;
  const rounded = local - (((local % unitMs) + unitMs) % unitMs) - offset * 60_000;
  const text = written(pattern, rounded, offset, names);
  if (hasZone) return { text, said: rounded };
  const isPlain = [-3, 3].every((hours) => zone.offsetAt(rounded + hours * 3_600_000) === offset);
  if (hasNoYear && [0, 11].includes(new Date(local).getUTCMonth())) return { text, said: undefined };
  const isNear =
    !pattern.includes("yy ") ||
    /yyyy/.test(pattern) ||
    (ms > Date.UTC(1977, 0, 2) && ms < Date.UTC(2045, 0, 1));
  return { text, said: isPlain && isNear ? rounded : undefined };
}
