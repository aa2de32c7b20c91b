/**
 * Date formats of ingest pipelines: those of the filter date, named formats, and patterns in the letters of Joda-Time or
 * java.time, whose optional parts stand in brackets.
 */

import { type DateParser, dateParser } from "#hub/pipeline/formats/date-parser.ts";
import { JODA, type PatternDialect } from "#proto/kit/dates/date-pattern.ts";
import { compilePrinter } from "#proto/kit/dates/date-printer.ts";
import { NAMED_FORMATS } from "#proto/kit/dates/named-formats.ts";
import type { TimeZone } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Optional parts of a pattern; each doubles what is tried. */
const MAX_OPTIONAL = 6;

/** Printers are made for each offset; there are some forty. */
const MAX_PRINTERS = 100;

const DIALECT: PatternDialect = { ...JODA, letters: `${JODA.letters}uX` };

/** Named formats that mean what ISO8601 means. */
const ISO_NAMES =
  /^(?:iso8601|iso_instant|iso_(?:offset_|zoned_)?date_time|(?:strict_)?date_optional_time(?:_nanos)?|dateOptionalTime)$/i;

/** Compiles a format. Throws settings_invalid naming the letter it doesn't know. */
export function ingestDateParser(format: string, locale: string): DateParser {
  if (/^(?:ISO8601|UNIX|UNIX_MS|TAI64N)$/.test(format)) return dateParser(format, locale, DIALECT);
  if (ISO_NAMES.test(format)) return dateParser("ISO8601", locale, DIALECT);
  if (format === "epoch_millis") return dateParser("UNIX_MS", locale, DIALECT);
  if (format === "epoch_second") return dateParser("UNIX", locale, DIALECT);
  const pattern = NAMED_FORMATS[format.replace(/^strict_/, "")] ?? format;
  const parsers = optionalParts(jodaLetters(pattern)).map((each) => dateParser(each, locale, DIALECT));
  return (value, zone, now) => {
    for (const parse of parsers) {
      const time = parse(value, zone, now);
      if (time !== undefined) return time;
    }
    return undefined;
  };
}

/** Returns what prints a time as the wall clock of a zone shows it. Throws settings_invalid. */
export function ingestDatePrinter(format: string): (timeMs: number, zone: TimeZone) => string {
  const pattern = jodaLetters(NAMED_FORMATS[format.replace(/^strict_/, "")] ?? format);
  const printers = new Map<string, (timeMs: number) => string>();
  const printerOf = (suffix: string, name: string): ((timeMs: number) => string) => {
    const key = `${suffix} ${name}`;
    const known = printers.get(key);
    if (known !== undefined) return known;
    const utc = (letter: string, count: number): string => zoneText(suffix, name, letter, count);
    const made = compilePrinter(pattern, { ...DIALECT, utc });
    if (printers.size < MAX_PRINTERS) printers.set(key, made);
    return made;
  };
  printerOf("Z", "UTC");
  return (timeMs, zone) => printerOf(zone.suffix(timeMs), zone.name)(zone.toLocal(timeMs));
}

function zoneText(suffix: string, name: string, letter: string, count: number): string {
  if (letter === "z" || (letter === "Z" && count > 2)) return name;
  if (letter === "X" && suffix === "Z") return "Z";
  const offset = suffix === "Z" ? "+00:00" : suffix;
  if (letter === "X")
    return count === 1 ? offset.replace(":00", "") : count === 2 ? offset.replace(":", "") : offset;
  return count === 1 ? offset.replace(":", "") : offset;
}

/** Letters of java.time that mean what another letter of Joda-Time means. */
const SAME: Readonly<Record<string, string>> = { u: "y", L: "M", V: "z", O: "z", x: "X" };

/** Writes a pattern in Joda-Time's letters; what stands in quotes stays. */
function jodaLetters(pattern: string): string {
  return pattern
    .split(/('[^']*')/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[uLVOx]/g, (letter) => SAME[letter]!)))
    .join("");
}

/** Returns the patterns that a pattern with parts in brackets stands for, the longest first. */
function optionalParts(pattern: string): string[] {
  const found = /\[([^[\]]*)\]/.exec(pattern);
  if (found === null) return [pattern];
  if (pattern.split("[").length > MAX_OPTIONAL + 1)
    throw new AppError(
      "settings_invalid",
      `time pattern "${pattern}": at most ${MAX_OPTIONAL} parts in brackets`,
    );
  const [head, tail] = [pattern.slice(0, found.index), pattern.slice(found.index + found[0].length)];
  return [...optionalParts(`${head}${found[1]}${tail}`), ...optionalParts(`${head}${tail}`)];
}
