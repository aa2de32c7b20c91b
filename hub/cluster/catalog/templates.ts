/** Index templates: the definition that a new index gets by its name. */

import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";
import type { AliasOptions } from "./index-metadata.ts";

/** The definition of an index. Settings are dotted keys without the leading "index."; mappings have no type level. */
export interface IndexDefinition {
  readonly settings: Readonly<JsonObject>;
  readonly mappings: JsonObject;
  readonly aliases: Readonly<Record<string, AliasOptions>>;
}

/** A legacy index template, as stored by `_template`. */
export interface IndexTemplate extends IndexDefinition {
  readonly index_patterns: readonly string[];
  /** Templates of a higher order override. */
  readonly order: number;
  readonly version?: number;
}

/** A range of replicas that follows the number of hubs; a number of replicas that is given later ends it. */
export const EXPANSION = "auto_expand_replicas";

const keyword = { type: "keyword", ignore_above: 1024 };
const long = { type: "long" };

/**
 * Built in, below every other template: events of the pipeline. `message` is full text; all other text is a keyword, which
 * filters and aggregations need.
 */
export const EVENT_TEMPLATE: IndexTemplate = {
  index_patterns: ["logs-*"],
  order: -1,
  // If not every hub has a copy of every shard, the lines of a dead hub are searched at another hub.
  settings: { number_of_shards: 1, number_of_replicas: 0, [EXPANSION]: "0-1" },
  mappings: {
    dynamic_templates: [
      { messages: { match: "*message", match_mapping_type: "string", mapping: { type: "text" } } },
      {
        places: { path_match: "*geo.location", match_mapping_type: "object", mapping: { type: "geo_point" } },
      },
      { strings: { match_mapping_type: "string", mapping: keyword } },
    ],
    date_detection: false,
    properties: {
      "@timestamp": { type: "date" },
      message: { type: "text" },
      tags: keyword,
      host: { properties: { name: keyword } },
      shipper: { properties: { id: keyword, name: keyword, version: keyword } },
      input: { properties: { type: keyword } },
      log: { properties: { file: { properties: { path: keyword } }, offset: long, level: keyword } },
      event: { properties: { ingested: { type: "date" } } },
    },
  },
  aliases: {},
};

/** Returns the definition of an index of `name`: matching templates by ascending order, then `own`. */
export function applyTemplates(
  name: string,
  templates: Iterable<IndexTemplate>,
  own: IndexDefinition,
): IndexDefinition {
  const matching = [...templates].filter((template) =>
    template.index_patterns.some((pattern) => matchesWildcard(pattern, name)),
  );
  matching.sort((a, b) => a.order - b.order);
  return [...matching, own].reduce<IndexDefinition>(
    (result, next) => ({
      settings: overlaySettings(result.settings, next.settings),
      mappings: mergeDeep(result.mappings, next.mappings),
      aliases: { ...result.aliases, ...next.aliases },
    }),
    { settings: {}, mappings: {}, aliases: {} },
  );
}

/** Returns `a` overridden by `b`. */
export function overlaySettings(a: Readonly<JsonObject>, b: Readonly<JsonObject>): JsonObject {
  const { [EXPANSION]: expansion, ...below } = a;
  const isEnded = expansion === undefined || ("number_of_replicas" in b && !(EXPANSION in b));
  return { ...below, ...(isEnded ? {} : { [EXPANSION]: expansion }), ...b };
}

/**
 * Returns `a` overridden by `b`: objects merge, the dynamic templates of `b` come first and override those of the same name;
 * everything else is replaced.
 */
function mergeDeep(a: JsonObject, b: JsonObject): JsonObject {
  const result: JsonObject = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const before = result[key];
    if (key === "dynamic_templates" && Array.isArray(before) && Array.isArray(value)) {
      result[key] = mergeNamed(before, value);
    } else if (isObject(before) && isObject(value)) {
      result[key] = mergeDeep(before, value);
    } else {
      result[key] = value;
    }
  }
  return result;
}

/** Merges lists of objects of one key each: the key is the name of the entry. */
function mergeNamed(below: readonly unknown[], above: readonly unknown[]): unknown[] {
  const nameOf = (entry: unknown): unknown => (isObject(entry) ? Object.keys(entry)[0] : entry);
  const byName = new Map(above.map((entry) => [nameOf(entry), entry]));
  for (const entry of below) {
    const known = byName.get(nameOf(entry));
    byName.set(nameOf(entry), isObject(entry) && isObject(known) ? mergeDeep(entry, known) : entry);
  }
  return [...byName.values()];
}
