/** Processors that look up a value: the program of a user agent, the location of an address. */

import { parseUserAgent } from "#hub/pipeline/formats/user-agents.ts";
import { geoipFilter } from "#hub/pipeline/plugins/filters/geoip.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fieldChange, type ProcessorKind, readField, readText } from "./processor.ts";
import { makeFilter, runFilter } from "./processor-filter.ts";

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

/** Parts of a user agent in the Elastic Common Schema. */
const ECS_NAMES: readonly string[] = ["name", "version", "os", "device", "original"];

/** The user agent in the Elastic Common Schema, as servers from 7.0 on write it. */
function ecsUserAgent(text: string): JsonObject {
  const { name, version, os: system, osVersion, device } = parseUserAgent(text);
  const isRequests = name === "python-requests";
  const os = system === "Other" && /linux/i.test(text) ? "Linux" : system;
  return {
    name: isRequests ? "Python Requests" : name,
    // Those servers write a point behind the two numbers of a Firefox.
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

const userAgent: ProcessorKind = (settings, context) => {
  const change = fieldChange(settings, "user_agent");
  const isEcs = settings.flag("ecs", context.version >= 700);
  const properties = settings.texts("properties", isEcs ? ECS_NAMES : USER_AGENT_NAMES);
  // The rules are the hub's own.
  settings.take("regex_file");
  // The kind of device isn't told: the rules here don't know it.
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

export const LOOKUP_PROCESSORS: Readonly<Record<string, ProcessorKind>> = { user_agent: userAgent, geoip };

function picked(all: JsonObject, names: readonly string[]): JsonObject {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(all).filter(([name]) => wanted.has(name)));
}
