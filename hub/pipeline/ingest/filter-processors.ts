/**
 * Processors that do their work with a filter of the pipelines, which receives one value and returns the fields that
 * it extracts: among them the look-ups of the program of a user agent and the location of an address.
 */

import { parseCsvLine } from "#hub/pipeline/formats/csv-line.ts";
import { parseDissection } from "#hub/pipeline/formats/dissection.ts";
import { parseUserAgent } from "#hub/pipeline/formats/user-agents.ts";
import type { Filter, FilterDefinition } from "#hub/pipeline/plugins/filter.ts";
import { geoipFilter } from "#hub/pipeline/plugins/filters/geoip.ts";
import { Event, isHash } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { defaultsOf } from "#proto/kit/schema.ts";
import { date, dateIndexName } from "./date-processor.ts";
import { grok } from "./grok-processor.ts";
import { ProcessorFault } from "./ingest-document.ts";
import { kv } from "./parsing-processors.ts";
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

const GEOIP_NAMES: Readonly<Record<string, string>> = {
  country_code2: "country_iso_code",
  as_org: "organization_name",
};
const USER_AGENT_NAMES: readonly string[] = [
  "name",
  "major",
  "minor",
  "patch",
  "os",
  "os_name",
  "os_major",
  "os_minor",
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

/** Parts of a user agent in the Elastic Common Schema. */
const ECS_NAMES: readonly string[] = ["name", "version", "os", "device", "original"];

const userAgent: ProcessorKind = (settings, context) => {
  const change = fieldChange(settings, "user_agent");
  const isEcs = settings.flag("ecs", context.version >= 700);
  const properties = settings.texts("properties", isEcs ? ECS_NAMES : USER_AGENT_NAMES);
  // The rules are the hub's own.
  settings.take("regex_file");
  // The kind of device is left out: the rules here don't detect it.
  settings.flag("extract_device_type");
  return (document) => {
    const text = readText(document, change);
    if (text === undefined) return;
    if (isEcs) {
      document.set(change.target, picked(ecsUserAgent(text), properties));
      return;
    }
    const { name, version, os, osVersion, device } = parseUserAgent(text);
    const [major, minor, patch] = version;
    const result: JsonObject = {
      name,
      ...(major !== undefined && { major }),
      ...(minor !== undefined && { minor }),
      ...(patch !== undefined && { patch }),
      os: [os, osVersion.join(".")].filter((part) => part !== "").join(" "),
      os_name: os,
      ...(osVersion[0] !== undefined && { os_major: osVersion[0] }),
      ...(osVersion[1] !== undefined && { os_minor: osVersion[1] }),
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
  // The databases are the hub's own: there are no others to fall back to.
  settings.flag("fallback_to_default_databases", true);
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

const LOOKUP_PROCESSORS: Readonly<Record<string, ProcessorKind>> = { user_agent: userAgent, geoip };

const dissect: ProcessorKind = (settings) => {
  const field = settings.text("field");
  const ignoreMissing = settings.flag("ignore_missing");
  const pattern = settings.text("pattern");
  const dissection = parseDissection(pattern, settings.text("append_separator", ""));
  if (typeof dissection === "string")
    throw settings.fault("pattern", `Unable to parse pattern: ${pattern} Reason: ${dissection}`);
  return (document) => {
    const value = readText(document, { field, target: field, ignoreMissing });
    if (value === undefined) return;
    const found = dissection(value);
    if (found === undefined)
      throw new ProcessorFault(
        `Unable to find match for dissect pattern: ${pattern} against source: ${value}`,
      );
    for (const [path, text] of found) document.set(path, text);
  };
};

const csv: ProcessorKind = (settings) => {
  const field = settings.text("field");
  const ignoreMissing = settings.flag("ignore_missing");
  const columns = settings.texts("target_fields");
  const spacing = settings.flag("trim") ? "trimmed" : "around quotes";
  const empty = settings.take("empty_value");
  const separator = settings.text("separator", ",");
  const quote = settings.text("quote", '"');
  if (separator.length !== 1)
    throw settings.fault("separator", "separator has to be single character like , or ;");
  if (quote.length !== 1) throw settings.fault("quote", "quote has to be single character like \" or '");
  return (document) => {
    const value = readText(document, { field, target: field, ignoreMissing });
    if (value === undefined || value === "") return;
    const row = parseCsvLine(value, separator, quote, spacing);
    if (row === undefined) throw new ProcessorFault(`field [${field}] holds no line of separated values`);
    for (const [index, column] of columns.slice(0, row.length).entries()) {
      const text = row[index] ?? "";
      if (text !== "") document.set(column, text);
      else if (empty !== undefined) document.set(column, empty);
    }
  };
};

export const FILTER_PROCESSORS: Readonly<Record<string, ProcessorKind>> = {
  grok,
  dissect,
  date,
  date_index_name: dateIndexName,
  kv,
  csv,
  ...LOOKUP_PROCESSORS,
};

/** The user agent in the Elastic Common Schema, as servers from 7.0 on write it. */
function ecsUserAgent(text: string): JsonObject {
  const { name, version, os: system, osVersion, device } = parseUserAgent(text);
  const isRequests = name === "python-requests";
  const os = system === "Other" && /linux/i.test(text) ? "Linux" : system;
  return {
    name: isRequests ? "Python Requests" : name,
    // Those servers write a point after the two numbers of a Firefox.
    ...(version.length > 0 && {
      version: `${version.slice(0, isRequests ? 2 : undefined).join(".")}${name === "Firefox" && version.length === 2 ? "." : ""}`,
    }),
    ...(os !== "Other" && {
      os: {
        name: os,
        ...(osVersion.length > 0 && { version: osVersion.join("."), full: `${os} ${osVersion.join(".")}` }),
      },
    }),
    device: { name: device },
    original: text,
  };
}

function picked(all: JsonObject, names: readonly string[]): JsonObject {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(all).filter(([name]) => wanted.has(name)));
}

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
    definition.create({ ...defaultsOf(definition.options), ...given } as never, {
      clock,
      guard,
      random: Math.random,
      place: () => 0,
      shared: new Map(),
      ecs: false,
      isChecked: false,
      variable: () => undefined,
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

/** Returns what the filter found in `value`; undefined if it did not do its work. */
function runFilter(filter: Filter, value: unknown, context: ProcessorContext): JsonObject | undefined {
  const event = applied(filter, value, context);
  const found = event?.get(FOUND);
  return isHash(found) ? found : event === undefined ? undefined : {};
}
