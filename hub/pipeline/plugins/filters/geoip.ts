/**
 * Filter geoip: locations and networks of addresses, from a database in MaxMind's format (MMDB) that the user provides.
 */

import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { Reader, type Response } from "maxmind";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { decimal } from "#proto/codec/json.ts";
import { copyValue, isHash } from "#proto/event.ts";
import { bracketed, fieldReference } from "#proto/field-reference.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import { list, oneOf, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Where the update program of MaxMind and the distributions' packages put databases. */
const FOLDERS = ["/usr/share/GeoIP", "/var/lib/GeoIP", "/usr/local/share/GeoIP"];

/** A field of the result: its names, and where the database has it. */
interface Field {
  readonly name: string;
  readonly legacy: string;
  readonly ecs: string;
  readonly read: (record: JsonObject) => unknown;
}

const FIELDS: readonly Field[] = [
  { name: "city_name", legacy: "[city_name]", ecs: "[geo][city_name]", read: (r) => named(r, "city") },
  {
    name: "continent_code",
    legacy: "[continent_code]",
    ecs: "[geo][continent_code]",
    read: (r) => at(r, "continent", "code"),
  },
  {
    name: "continent_name",
    legacy: "[continent_name]",
    ecs: "[geo][continent_name]",
    read: (r) => named(r, "continent"),
  },
  {
    name: "country_name",
    legacy: "[country_name]",
    ecs: "[geo][country_name]",
    read: (r) => named(r, "country"),
  },
  {
    name: "country_code2",
    legacy: "[country_code2]",
    ecs: "[geo][country_iso_code]",
    read: (r) => at(r, "country", "iso_code"),
  },
  // The databases have no code of three letters any more; the code of two letters is given there too.
  { name: "country_code3", legacy: "[country_code3]", ecs: "", read: (r) => at(r, "country", "iso_code") },
  {
    name: "region_name",
    legacy: "[region_name]",
    ecs: "[geo][region_name]",
    read: (r) => named(r, "subdivisions"),
  },
  { name: "region_code", legacy: "[region_code]", ecs: "", read: (r) => at(r, "subdivisions", "iso_code") },
  { name: "region_iso_code", legacy: "[region_iso_code]", ecs: "[geo][region_iso_code]", read: regionCode },
  {
    name: "postal_code",
    legacy: "[postal_code]",
    ecs: "[geo][postal_code]",
    read: (r) => at(r, "postal", "code"),
  },
  {
    name: "dma_code",
    legacy: "[dma_code]",
    ecs: "[mmdb][dma_code]",
    read: (r) => at(r, "location", "metro_code"),
  },
  {
    name: "timezone",
    legacy: "[timezone]",
    ecs: "[geo][timezone]",
    read: (r) => at(r, "location", "time_zone"),
  },
  { name: "location", legacy: "[location]", ecs: "[geo][location]", read: location },
  { name: "latitude", legacy: "[latitude]", ecs: "", read: (r) => coordinate(r, "latitude") },
  { name: "longitude", legacy: "[longitude]", ecs: "", read: (r) => coordinate(r, "longitude") },
  { name: "asn", legacy: "[asn]", ecs: "[as][number]", read: (r) => at(r, "autonomous_system_number") },
  {
    name: "as_org",
    legacy: "[as_org]",
    ecs: "[as][organization][name]",
    read: (r) => at(r, "autonomous_system_organization"),
  },
  {
    name: "organization",
    legacy: "[organization]",
    ecs: "[mmdb][organization]",
    read: (r) => at(r, "organization"),
  },
  { name: "isp", legacy: "[isp]", ecs: "[mmdb][isp]", read: (r) => at(r, "isp") },
  { name: "domain", legacy: "[domain]", ecs: "[domain]", read: (r) => at(r, "domain") },
];

/** Other names of fields in the option `fields`. */
const ALIASES: Readonly<Record<string, string>> = {
  country_iso_code: "country_code2",
  autonomous_system_number: "asn",
  autonomous_system_organization: "as_org",
};

export const geoipFilter = defineFilter({
  name: "geoip",
  description: "adds the location or network of an address, from a database that you provide",
  options: options({
    source: text("field with the address"),
    target: optional(
      text("target field for the result; default: geoip, with ECS the object that contains source"),
    ),
    database: optional(
      text("file in MaxMind's format; default: the one in /usr/share/GeoIP or /var/lib/GeoIP"),
    ),
    default_database_type: oneOf(
      ["City", "ASN"],
      "which database is searched for without `database`",
      "City",
    ),
    fields: optional(list("fields to add; default: all fields of the database")),
    cache_size: Type.Integer({
      default: 1000,
      minimum: 1,
      description: "number of addresses whose result is cached",
    }),
    tag_on_failure: list("tags of events whose address isn't in the database", ["_geoip_lookup_failure"]),
  }),
  create(values, context) {
    const source = fieldReference(values.source);
    const root = targetOf(values.source, values.target, context);
    const reader = openDatabase(values.database, values.default_database_type, context);
    const fields = wantedFields(values.fields, context);
    const cache = new Map<string, readonly [string, unknown][] | undefined>();
    const look = (address: string): readonly [string, unknown][] | undefined => {
      if (cache.has(address)) return cache.get(address);
      const found = isIP(address) === 0 ? undefined : lookUp(reader, address, fields, context.ecs);
      setNewest(cache, address, found, values.cache_size);
      return found;
    };
    const fail = values.tag_on_failure;
    return {
      apply(event) {
        const value = event.get(source);
        const first: unknown = Array.isArray(value) ? value[0] : value;
        if (first === undefined || first === null) return false;
        const found = typeof first === "string" ? look(first.trim()) : undefined;
        if (found === undefined) {
          for (const tag of fail) event.tag(tag);
          return false;
        }
        for (const [path, item] of found) event.set(fieldReference(`${root}${path}`), copyValue(item));
        return true;
      },
    };
  },
});

function targetOf(source: string, target: string | undefined, { ecs, report }: FilterContext): string {
  if (target !== undefined && target !== "") return bracketed(target);
  if (!ecs) return "[geoip]";
  const parent = /^(\[.+\])\[ip\]$/.exec(source)?.[1];
  if (parent === undefined)
    report(
      "error",
      "source",
      "with ECS the result needs a target",
      `source isn't the [ip] of an object; write: target => "source"`,
    );
  return parent ?? "[geoip]";
}

/** Undefined: there is none, and every event is tagged so. */
function openDatabase(
  database: string | undefined,
  type: string,
  { resolvePath, report }: FilterContext,
): Reader<Response> | undefined {
  const known = FOLDERS.map((folder) => `${folder}/GeoLite2-${type}.mmdb`);
  const path = database === undefined ? known.find(existsSync) : resolvePath(database);
  if (path === undefined) {
    report(
      "warning",
      "database",
      `there is no database of places (looked for ${known[0]}), so events only get the tag of a failure`,
      `download GeoLite2-${type} from MaxMind and write: database => "/path/GeoLite2-${type}.mmdb"`,
    );
    return undefined;
  }
  try {
    return new Reader<Response>(readFileSync(path));
  } catch (error) {
    const reason = (error as { code?: string }).code === "ENOENT" ? "isn't there" : "is invalid or damaged";
    report("error", "database", `the database ${path} ${reason}`, "name a file in MaxMind's format (.mmdb)");
    return undefined;
  }
}

function wantedFields(names: readonly string[] | undefined, { report }: FilterContext): readonly Field[] {
  if (names === undefined || names.length === 0) return FIELDS;
  const wanted = new Set(names.map((name) => ALIASES[name.toLowerCase()] ?? name.toLowerCase()));
  for (const name of wanted) {
    if (name === "ip" || FIELDS.some((field) => field.name === name)) continue;
    report(
      "error",
      "fields",
      `"${name}" isn't a field of a place`,
      `fields are: ip, ${FIELDS.map((f) => f.name).join(", ")}`,
    );
  }
  return FIELDS.filter(({ name }) => wanted.has(name));
}

/** Returns the paths and values of an address; undefined if the database doesn't have it. */
function lookUp(
  reader: Reader<Response> | undefined,
  address: string,
  fields: readonly Field[],
  ecs: boolean,
): readonly [string, unknown][] | undefined {
  const record = reader?.get(address) as JsonObject | null | undefined;
  if (record === null || record === undefined) return undefined;
  const found: [string, unknown][] = [];
  for (const field of fields) {
    const path = ecs ? field.ecs : field.legacy;
    const value = path === "" ? undefined : field.read(record);
    if (value !== undefined && value !== null) found.push([path, value]);
  }
  if (found.length === 0) return undefined;
  return [["[ip]", address], ...found];
}

/** Returns a member; of a list (subdivisions) the first item's. */
function at(record: JsonObject, ...path: readonly string[]): unknown {
  let value: unknown = record;
  for (const key of path) {
    const container: unknown = Array.isArray(value) ? value[0] : value;
    if (!isHash(container) || !Object.hasOwn(container, key)) return undefined;
    value = container[key];
  }
  return value;
}

function named(record: JsonObject, member: string): unknown {
  return at(record, member, "names", "en");
}

function regionCode(record: JsonObject): unknown {
  const region = at(record, "subdivisions", "iso_code");
  const country = at(record, "country", "iso_code");
  return typeof region === "string" && typeof country === "string" ? `${country}-${region}` : undefined;
}

function location(record: JsonObject): unknown {
  const lat = coordinate(record, "latitude");
  const lon = coordinate(record, "longitude");
  return lat !== undefined && lon !== undefined ? { lat, lon } : undefined;
}

function coordinate(record: JsonObject, member: string): unknown {
  const value = at(record, "location", member);
  return typeof value === "number" ? decimal(value) : undefined;
}
