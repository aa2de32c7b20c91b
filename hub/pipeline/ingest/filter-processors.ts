/** Processors that do their work with a filter of the pipelines. */

import { parseDissection } from "#hub/pipeline/formats/dissection.ts";
import type { Filter } from "#hub/pipeline/plugins/filter.ts";
import { csvFilter } from "#hub/pipeline/plugins/filters/csv.ts";
import { dateFilter } from "#hub/pipeline/plugins/filters/date.ts";
import { grokFilter } from "#hub/pipeline/plugins/filters/grok.ts";
import { Timestamp } from "#proto/event.ts";
import { findTimeZone } from "#proto/kit/dates/time-zone.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { compileTemplate, type IngestDocument, ProcessorFault } from "./ingest-document.ts";
import { kv } from "./kv-processor.ts";
import { LOOKUP_PROCESSORS } from "./lookup-processors.ts";
import { type ProcessorKind, readField, readText } from "./processor.ts";
import { applied, FOUND, makeFilter, runFilter } from "./processor-filter.ts";

/** Time an expression of a document may take. */
const EXPRESSION_MS = 1_000;

const grok: ProcessorKind = (settings, context) => {
  const field = settings.text("field");
  const ignoreMissing = settings.flag("ignore_missing");
  const definitions = settings.table("pattern_definitions");
  const traces = settings.flag("trace_match");
  const patterns = settings.texts("patterns");
  if (patterns.length === 0) throw settings.fault("patterns", "List of patterns must not be empty");
  const filters = patterns.map((pattern) =>
    makeFilter(settings, "patterns", grokFilter, context, {
      match: { "[value]": longNames(pattern) },
      pattern_definitions: definitions,
      target: "found",
      keep_empty_captures: true,
      timeout_millis: EXPRESSION_MS,
    }),
  );
  return (document) => {
    const value = readText(document, { field, target: field, ignoreMissing });
    if (value === undefined) return;
    for (const [at, filter] of filters.entries()) {
      const found = runFilter(filter, value, context);
      if (found === undefined) continue;
      setAll(document, "", found);
      if (traces) document.ingest["_grok_match_index"] = String(at);
      return;
    }
    throw new ProcessorFault(`Provided Grok expressions do not match field value: [${value}]`);
  };
};

const dissect: ProcessorKind = (settings) => {
  const field = settings.text("field");
  const ignoreMissing = settings.flag("ignore_missing");
  const dissection = parseDissection(settings.text("pattern"), settings.text("append_separator", ""));
  if (typeof dissection === "string") throw settings.fault("pattern", dissection);
  return (document) => {
    const value = readText(document, { field, target: field, ignoreMissing });
    if (value === undefined) return;
    const found = dissection(value);
    if (found === undefined)
      throw new ProcessorFault(`Unable to find match for dissect pattern against source: ${value}`);
    for (const [path, text] of found) document.set(path, text);
  };
};

const date: ProcessorKind = (settings, context) => {
  const field = settings.text("field");
  const target = settings.text("target_field", "@timestamp");
  const formats = settings.texts("formats");
  const timezone = compileTemplate(settings.text("timezone", "UTC"));
  const locale = compileTemplate(settings.text("locale", "en"));
  const filters = new Map<string, Filter>();
  const filterOf = (zone: string, language: string): Filter => {
    const key = `${zone} ${language}`;
    const known = filters.get(key);
    if (known !== undefined) return known;
    const made = makeFilter(settings, "formats", dateFilter, context, {
      match: ["[value]", ...formats],
      timezone: zone,
      locale: language,
      target: "[found]",
    });
    // Zones may come out of documents.
    if (filters.size < 1_000) filters.set(key, made);
    return made;
  };
  // What formats can't be is told when the pipeline is stored.
  filterOf("UTC", "en");
  return (document) => {
    const value = readField(document, { field, target, ignoreMissing: false });
    const zone = timezone(document);
    const event = applied(filterOf(zone, locale(document)), value, context);
    const found = event?.get(FOUND);
    if (!(found instanceof Timestamp)) throw new ProcessorFault(`unable to parse date [${String(value)}]`);
    document.set(target, inZone(found, zone));
  };
};

/** Returns a time as the wall clock of a zone shows it, with its offset: 2010-06-12T11:05:15.000+02:00. */
function inZone(time: Timestamp, name: string): string {
  const zone = findTimeZone(name);
  const offsetMs = zone?.offsetAt(time.ms) ?? 0;
  if (zone === undefined || offsetMs === 0) return time.toString();
  return new Timestamp(time.ms + offsetMs).toString().replace(/Z$/, zone.suffix(time.ms));
}

const csv: ProcessorKind = (settings, context) => {
  const field = settings.text("field");
  const ignoreMissing = settings.flag("ignore_missing");
  const columns = settings.texts("target_fields");
  const trims = settings.flag("trim");
  const empty = settings.take("empty_value");
  const filter = makeFilter(settings, "separator", csvFilter, context, {
    source: "[value]",
    target: "[found]",
    columns: columns.map((_, index) => String(index)),
    separator: settings.text("separator", ","),
    quote_char: settings.text("quote", '"'),
    autogenerate_column_names: false,
  });
  return (document) => {
    const value = readText(document, { field, target: field, ignoreMissing });
    if (value === undefined || value === "") return;
    const found = runFilter(filter, value, context);
    if (found === undefined) throw new ProcessorFault(`field [${field}] holds no line of separated values`);
    for (const [index, column] of columns.entries()) {
      const item = found[String(index)];
      const text = trims && typeof item === "string" ? item.trim() : item;
      if (text === undefined || text === null) continue;
      if (text !== "") document.set(column, text);
      else if (empty !== undefined) document.set(column, empty);
    }
  };
};

export const FILTER_PROCESSORS: Readonly<Record<string, ProcessorKind>> = {
  grok,
  dissect,
  date,
  kv,
  csv,
  ...LOOKUP_PROCESSORS,
};

function setAll(document: IngestDocument, prefix: string, found: JsonObject): void {
  for (const [path, value] of Object.entries(found)) document.set(`${prefix}${path}`, value);
}

/** `%{A:b:long}` and `:double` are the wider kinds of int and float; numbers here have one width. */
function longNames(pattern: string): string {
  return pattern.replaceAll(
    /(%\{\w+:[^:}]+):(long|double)\}/g,
    (_, head: string, type: string) => `${head}:${type === "long" ? "int" : "float"}}`,
  );
}
