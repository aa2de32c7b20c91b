/** `date` reads a time out of a field; `date_index_name` sends a document to the index of its time. */

import type { DateParser } from "#hub/pipeline/formats/date-parser.ts";
import { valueText } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { findTimeZone, type TimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { ingestDateParser, ingestDatePrinter } from "./date-formats.ts";
import { ProcessorFault } from "./ingest-document.ts";
import { type ProcessorKind, type ProcessorSettings, readField } from "./processor.ts";
import { compileTemplate } from "./template.ts";

/** Languages come out of documents; formats are kept compiled for so many. */
const MAX_LOCALES = 100;

const DEFAULT_OUTPUT = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX";

/** Reads a text by the first format that fits. Throws ProcessorFault. */
type ReadTime = (text: string, zone: TimeZone, locale: string) => number;

function timeReader(
  settings: ProcessorSettings,
  name: string,
  formats: readonly string[],
  clock: Clock,
): ReadTime {
  const compiled = new Map<string, readonly DateParser[]>();
  const parsersOf = (locale: string): readonly DateParser[] => {
    const known = compiled.get(locale);
    if (known !== undefined) return known;
    const made = formats.map((format) => ingestDateParser(format, locale));
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
  const read = timeReader(settings, "formats", settings.texts("formats"), clock);
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
  const read = timeReader(
    settings,
    "date_formats",
    settings.texts("date_formats", ["yyyy-MM-dd'T'HH:mm:ss.SSSXX"]),
    clock,
  );
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
