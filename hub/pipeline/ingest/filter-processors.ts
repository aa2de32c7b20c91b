/** Processors that do their work with a filter of the pipelines. */

import type { TObject } from "typebox";
import { Value } from "typebox/value";
import type { JsonObject } from "#proto/codec/json.ts";
import { Event, isObject, Timestamp } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import { csvFilter } from "../filters/csv.ts";
import { dateFilter } from "../filters/date.ts";
import { parseDissection } from "../filters/dissection.ts";
import type { Filter, FilterDefinition } from "../filters/filter.ts";
import { geoipFilter } from "../filters/geoip.ts";
import { grokFilter } from "../filters/grok/grok.ts";
import { kvFilter } from "../filters/kv.ts";
import { parseUserAgent } from "../filters/user-agents.ts";
import { compileTemplate, type IngestDocument, ProcessorFault } from "./ingest-document.ts";
import {
  fieldChange,
  type ProcessorContext,
  type ProcessorKind,
  type ProcessorSettings,
  readField,
  readText,
} from "./processor.ts";

/** Where a filter finds what it reads, and puts what it found. */
const VALUE = fieldReference("[value]");
const FOUND = fieldReference("[found]");

/** Time an expression of a document may take. */
const EXPRESSION_MS = 1_000;

const GEOIP_NAMES: Readonly<Record<string, string>> = {
  country_code2: "country_iso_code",
  as_org: "organization_name",
};
const USER_AGENT_NAMES: readonly string[] = [
  "name",
  "major",
  "minor",
  "patch",
  "version",
  "os",
  "os_name",
  "os_major",
  "device",
];
const GEOIP_DEFAULT: readonly string[] = [
  "continent_name",
  "country_iso_code",
  "region_iso_code",
  "region_name",
  "city_name",
  "location",
];

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
    const event = applied(filterOf(timezone(document), locale(document)), value, context);
    const found = event?.get(FOUND);
    if (!(found instanceof Timestamp)) throw new ProcessorFault(`unable to parse date [${String(value)}]`);
    document.set(target, found.toString());
  };
};

const kv: ProcessorKind = (settings, context) => {
  const field = settings.text("field");
  const target = settings.optionalText("target_field");
  const ignoreMissing = settings.flag("ignore_missing");
  const prefix = settings.text("prefix", "");
  const filter = makeFilter(settings, "field_split", kvFilter, context, {
    source: "[value]",
    target: "[found]",
    field_split_pattern: settings.text("field_split"),
    value_split_pattern: settings.text("value_split"),
    include_keys: settings.texts("include_keys", []),
    exclude_keys: settings.texts("exclude_keys", []),
    include_brackets: settings.flag("strip_brackets"),
    ...optionals(settings, { trim_key: "trim_key", trim_value: "trim_value" }),
  });
  return (document) => {
    const value = readText(document, { field, target: field, ignoreMissing });
    if (value === undefined) return;
    const found = runFilter(filter, value, context);
    if (found === undefined) throw new ProcessorFault(`field [${field}] does not contain value_split`);
    setAll(document, target === undefined ? prefix : `${target}.${prefix}`, found);
  };
};

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

const userAgent: ProcessorKind = (settings) => {
  const change = fieldChange(settings, "user_agent");
  const properties = settings.texts("properties", USER_AGENT_NAMES);
  // Both say how fields are named elsewhere; here there is one way.
  settings.take("ecs");
  settings.take("regex_file");
  return (document) => {
    const text = readText(document, change);
    if (text === undefined) return;
    const { name, version, os, osVersion, device } = parseUserAgent(text);
    const [major, minor, patch] = version;
    const result: JsonObject = {
      name,
      ...(major !== undefined && { major }),
      ...(minor !== undefined && { minor }),
      ...(patch !== undefined && { patch }),
      ...(version.length > 0 && { version: version.join(".") }),
      os: [os, osVersion.join(".")].filter((part) => part !== "").join(" "),
      os_name: os,
      ...(osVersion[0] !== undefined && { os_major: osVersion[0] }),
      device,
    };
    document.set(change.target, picked(result, properties));
  };
};

const geoip: ProcessorKind = (settings, context) => {
  const change = fieldChange(settings, "geoip");
  const firstOnly = settings.flag("first_only", true);
  const properties = settings.texts("properties", GEOIP_DEFAULT);
  const file = settings.optionalText("database_file");
  if (file !== undefined && !/^[\w-]+\.mmdb$/.test(file))
    throw settings.fault(
      "database_file",
      `The database file [${file}] must be a name of the kind GeoLite2-City.mmdb`,
    );
  const filter = makeFilter(settings, "database_file", geoipFilter, context, {
    source: "[value]",
    target: "found",
    ...(file?.includes("ASN") === true && { default_database_type: "ASN" }),
  });
  const locate = (address: unknown): JsonObject | undefined => {
    const found = runFilter(filter, address, context);
    if (found === undefined) return undefined;
    const named = Object.entries(found).map(([name, value]) => [GEOIP_NAMES[name] ?? name, value] as const);
    return picked(Object.fromEntries(named), properties);
  };
  return (document) => {
    const value = readField(document, change);
    if (value === undefined) return;
    const places = (Array.isArray(value) ? value : [value])
      .map(locate)
      .filter((place) => place !== undefined);
    if (places.length === 0) return;
    document.set(change.target, Array.isArray(value) && !firstOnly ? places : places[0]);
  };
};

export const FILTER_PROCESSORS: Readonly<Record<string, ProcessorKind>> = {
  grok,
  dissect,
  date,
  kv,
  csv,
  user_agent: userAgent,
  geoip,
};

/** Makes a filter whose faults are faults of a setting. Throws request_invalid. */
function makeFilter(
  settings: ProcessorSettings,
  name: string,
  definition: FilterDefinition,
  { clock, guard }: ProcessorContext,
  given: JsonObject,
): Filter {
  const faults: string[] = [];
  const make = (): Filter =>
    definition.create(Value.Default(definition.options as TObject, given) as never, {
      clock,
      guard,
      random: Math.random,
      place: () => 0,
      shared: new Map(),
      ecs: false,
      resolvePath: (path) => path,
      report: (severity, _option, message) => {
        if (severity === "error") faults.push(message);
      },
    });
  try {
    const filter = make();
    if (faults.length === 0) return filter;
  } catch (error) {
    if (error instanceof AppError) throw error;
    faults.push((error as Error).message);
  }
  throw settings.fault(name, faults.join("; "));
}

/** Returns the event once the filter did its work, else undefined. */
function applied(filter: Filter, value: unknown, { clock }: ProcessorContext): Event | undefined {
  const event = new Event({}, clock.now());
  event.set(VALUE, value);
  return filter.apply(event, () => undefined) ? event : undefined;
}

function runFilter(filter: Filter, value: unknown, context: ProcessorContext): JsonObject | undefined {
  const event = applied(filter, value, context);
  const found = event?.get(FOUND);
  return isObject(found) ? found : event === undefined ? undefined : {};
}

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

function optionals(settings: ProcessorSettings, names: Readonly<Record<string, string>>): JsonObject {
  const found = Object.entries(names).map(([name, option]) => [option, settings.optionalText(name)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

function picked(all: JsonObject, names: readonly string[]): JsonObject {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(all).filter(([name]) => wanted.has(name)));
}
