/** `date` reads a time out of a field; `date_index_name` sends a document to the index of its time. */

import { type DateParser, dateParser } from "#hub/pipeline/formats/date-parser.ts";
import { valueText } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { JODA, type PatternDialect } from "#proto/kit/dates/date-pattern.ts";
import { compilePrinter } from "#proto/kit/dates/date-printer.ts";
import { namedFormat } from "#proto/kit/dates/named-formats.ts";
import { findTimeZone, type TimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import { ProcessorFault } from "./ingest-document.ts";
import { type ProcessorKind, type ProcessorSettings, readField } from "./processor.ts";
import { compileTemplate } from "./template.ts";

/** Languages come out of documents; formats are kept compiled for this many. */
const MAX_LOCALES = 100;

const DEFAULT_OUTPUT = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX";
/** Optional parts of a pattern; each doubles what is tried. */
const MAX_OPTIONAL = 6;
/** Printers are made for each offset; there are some forty. */
const MAX_PRINTERS = 100;
const DIALECT: PatternDialect = { ...JODA, letters: `${JODA.letters}uX` };
/** Named formats that mean what ISO8601 means. */
const ISO_NAMES =
  /^(?:iso8601|iso_instant|iso_(?:offset_|zoned_)?date_time|(?:strict_)?date_optional_time(?:_nanos)?|dateOptionalTime)$/i;

/** Reads a text by one of the formats that fit. Throws ProcessorFault. */
type ReadTime = (text: string, zone: TimeZone, locale: string) => number;

/** Formats that may read a text, which of them does, and the clock for what a text leaves out. */
interface Reading {
  readonly formats: readonly string[];
  readonly takes: "first" | "last";
  readonly clock: Clock;
}

function timeReader(settings: ProcessorSettings, name: string, { formats, takes, clock }: Reading): ReadTime {
  const compiled = new Map<string, readonly DateParser[]>();
  const parsersOf = (locale: string): readonly DateParser[] => {
    const known = compiled.get(locale);
    if (known !== undefined) return known;
    const made = formats.map((format) => ingestDateParser(format, locale));
    if (takes === "last") made.reverse();
    if (compiled.size < MAX_LOCALES) compiled.set(locale, made);
    return made;
  };
  guarded(settings, name, () => parsersOf("en"));
  const now = (): number => clock.now();
  return (text, zone, locale) => {
    for (const parse of parsersOf(locale.replace("_", "-"))) {
      const time = parse(text, zone, now);
      if (time !== undefined) return time;
    }
    throw new ProcessorFault(`unable to parse date [${text}]`);
  };
}

/** What formats can't be is a fault of the setting when the pipeline is stored. */
function guarded<T>(settings: ProcessorSettings, name: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw settings.fault(name, (error as Error).message);
  }
}

export const date: ProcessorKind = (settings, { clock }) => {
  const field = settings.text("field");
  const target = settings.text("target_field", "@timestamp");
  const read = timeReader(settings, "formats", { formats: settings.list("formats"), takes: "first", clock });
  const timezone = compileTemplate(settings.text("timezone", "UTC"));
  const locale = compileTemplate(settings.text("locale", "en"));
  const output = settings.text("output_format", DEFAULT_OUTPUT);
  const print = guarded(settings, "output_format", () => ingestDatePrinter(output));
  return (document) => {
    const value = readField(document, { field, target, ignoreMissing: false });
    const zone = zoneNamed(timezone(document));
    document.set(target, print(read(valueText(value), zone, locale(document)), zone));
  };
};

export const dateIndexName: ProcessorKind = (settings, { clock }) => {
  const field = settings.text("field");
  const prefix = compileTemplate(settings.text("index_name_prefix", ""));
  const rounding = compileTemplate(settings.text("date_rounding"));
  const format = settings.text("index_name_format", "yyyy-MM-dd");
  const formatOf = compileTemplate(format);
  const formats = settings.list("date_formats", ["yyyy-MM-dd'T'HH:mm:ss.SSSXX"]);
  // The original tries them all and keeps the last that fits.
  const read = timeReader(settings, "date_formats", { formats, takes: "last", clock });
  const zone = guarded(settings, "timezone", () => zoneNamed(settings.text("timezone", "UTC")));
  const locale = settings.text("locale", "en");
  const fixed = format.includes("{{")
    ? undefined
    : guarded(settings, "index_name_format", () => ingestDatePrinter(format));
  return (document) => {
    const value = readField(document, { field, target: field, ignoreMissing: false });
    const time = read(valueText(value), zone, locale);
    const pattern = formatOf(document);
    const print = fixed ?? ingestDatePrinter(pattern);
    const name = `${prefix(document)}{${print(time, zone)}||/${rounding(document)}{${pattern}|${zone.name}}}`;
    document.set("_index", `<${name}>`);
  };
};

function zoneNamed(name: string): TimeZone {
  const zone = name === "" ? UTC : findTimeZone(name);
  if (zone === undefined) throw new ProcessorFault(`The datetime zone id '${name}' is not recognised`);
  return zone;
}

/**
 * Compiles a date format of ingest pipelines: one of the filter date, a named one, or a pattern in the letters of
 * Joda-Time or java.time, whose optional parts are in brackets. Throws settings_invalid naming the letter it doesn't
 * know.
 */
function ingestDateParser(format: string, locale: string): DateParser {
  if (format === "UNIX_MS" || format === "epoch_millis") {
    const parse = dateParser("UNIX_MS", locale, DIALECT);
    return (value, zone, now) => (/^[-+]?\d+$/.test(value) ? parse(value, zone, now) : undefined);
  }
  if (/^(?:ISO8601|UNIX|TAI64N)$/.test(format)) return dateParser(format, locale, DIALECT);
  if (ISO_NAMES.test(format)) return dateParser("ISO8601", locale, DIALECT);
  if (format === "epoch_second") return dateParser("UNIX", locale, DIALECT);
  // An 8 says that the letters are those of java.time, which are read without it, too.
  const pattern = namedFormat(format)?.pattern ?? jodaLetters(format.replace(/^8/, ""));
  const parsers = optionalParts(pattern).map((each) => dateParser(each, locale, DIALECT));
  return (value, zone, now) => {
    for (const parse of parsers) {
      const time = parse(value, zone, now);
      if (time !== undefined) return time;
    }
    return undefined;
  };
}

/** Returns what prints a time as the wall clock of a zone shows it. Throws settings_invalid. */
function ingestDatePrinter(format: string): (timeMs: number, zone: TimeZone) => string {
  const pattern = namedFormat(format)?.pattern ?? jodaLetters(format);
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

/** Writes a pattern in Joda-Time's letters; what is in quotes stays. */
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
