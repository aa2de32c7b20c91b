/** The metadata of an index, as stored in the bucket `indices` and beside the index's shards on disk. */

import { randomBytes } from "node:crypto";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping, type MappingOptions } from "#hub/engine/mapping/mapping.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** An alias of one index, as `_alias` prints it. */
export interface AliasOptions {
  /** Query that restricts searches through the alias. */
  readonly filter?: JsonObject;
  readonly index_routing?: string;
  readonly search_routing?: string;
  /** True for the index of the alias that documents are written to. */
  readonly is_write_index?: boolean;
  /** From 7.7 on: wildcards skip it unless they include hidden names. */
  readonly is_hidden?: boolean;
}

export interface IndexSettings {
  readonly numberOfShards: number;
  readonly numberOfReplicas: number;
  /** ms since 1970-01-01 UTC. */
  readonly creationDate: number;
  /** All other settings as given, dotted and without the leading "index.". */
  readonly raw: Readonly<JsonObject>;
}

/** An index. Immutable: a change creates a new object. */
export interface IndexMetadata {
  readonly name: string;
  /** 22 characters base64url; differs for each index that ever had the name. */
  readonly uuid: string;
  readonly state: "open" | "close";
  readonly settings: IndexSettings;
  readonly mapping: Mapping;
  readonly aliases: Readonly<Record<string, AliasOptions>>;
  /** The data stream that it belongs to. */
  readonly dataStream?: string;
  /** When a lifecycle policy found that it had been rolled over, ms since 1970-01-01 UTC. */
  readonly rolledOverMs?: number;
  /** When it got its name back from another index, see IndexStore; ms since 1970-01-01 UTC. */
  readonly returnedMs?: number;
}

/** The stored form, version 1. */
interface StoredIndex {
  readonly v: 1;
  readonly name: string;
  readonly uuid: string;
  readonly state: "open" | "close";
  readonly settings: IndexSettings;
  readonly mapping: unknown;
  readonly mappingVersion: number;
  readonly aliases: Record<string, AliasOptions>;
  readonly dataStream?: string;
  readonly rolledOverMs?: number;
  readonly returnedMs?: number;
}

/** Returns the stored form of an index, UTF-8 JSON. */
export function encodeIndex(index: IndexMetadata): Uint8Array {
  const stored: StoredIndex = {
    ...index,
    v: 1,
    mapping: index.mapping.toJSON(),
    mappingVersion: index.mapping.version,
  };
  return Buffer.from(JSON.stringify(stored));
}

/** Returns the index of a stored form. Throws data_corrupt. */
export function decodeIndex(bytes: Uint8Array): IndexMetadata {
  try {
    const {
      v: _,
      mapping,
      mappingVersion,
      ...rest
    } = JSON.parse(Buffer.from(bytes).toString()) as StoredIndex;
    if (![rest.name, rest.uuid].every((each: unknown) => typeof each === "string"))
      throw new TypeError("it has no name or no UUID");
    return {
      ...rest,
      mapping: parseMapping(rest.name, rest.settings.raw, mapping, {
        version: mappingVersion,
        isStored: true,
      }),
    };
  } catch (error) {
    throw new AppError("data_corrupt", "stored index metadata cannot be read", { cause: error });
  }
}

interface ParseOptions extends Pick<MappingOptions, "version" | "takesMetadataNames"> {
  /** True: of an index that is there already; see Analysis. */
  readonly isStored?: boolean;
}

/** Returns the mapping of `json` with the analyzers and limits of an index's settings. Throws mapping_parse, settings_invalid. */
export function parseMapping(
  index: string,
  settings: Readonly<JsonObject>,
  json: unknown,
  { version = 1, isStored = false, takesMetadataNames = false }: ParseOptions = {},
): Mapping {
  return Mapping.parse(json, {
    index,
    version,
    takesMetadataNames,
    analysis: new Analysis(nestedSettings(settings, "analysis"), { isStored }),
    totalFieldsLimit: wholeNumber(settings["mapping.total_fields.limit"], 1000),
    depthLimit: wholeNumber(settings["mapping.depth.limit"], 20),
    nestedFieldsLimit: wholeNumber(settings["mapping.nested_fields.limit"], 50),
    nestedObjectsLimit: wholeNumber(settings["mapping.nested_objects.limit"], 10_000),
  });
}

/** Returns a new index UUID. */
export function newIndexUuid(): string {
  return randomBytes(16).toString("base64url");
}

/** Returns `value` as an integer, or `fallback` if it isn't one. */
export function wholeNumber(value: unknown, fallback: number): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) ? number : fallback;
}

/** Returns the settings below `prefix` as a nested object. */
function nestedSettings(settings: Readonly<JsonObject>, prefix: string): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(settings)) {
    if (!key.startsWith(`${prefix}.`)) continue;
    const path = key.slice(prefix.length + 1).split(".");
    let at = result;
    for (const part of path.slice(0, -1)) {
      const next = at[part];
      at = (typeof next === "object" && next !== null ? next : (at[part] = {})) as JsonObject;
    }
    at[path.at(-1)!] = value;
  }
  return result;
}

export const INDEX_PREFIX = "index/";
export const TEMPLATE_PREFIX = "template/";
/** For composable templates. */
export const COMPOSABLE_PREFIX = "composable/";
export const COMPONENT_PREFIX = "component/";
/** Marks a deliberate deletion, so that a copy left on a disk is not mistaken for a lost index. */
export const DELETED_PREFIX = "deleted/";

/** Returns the key of an index. */
export function indexKey(name: string): string {
  return INDEX_PREFIX + encodeName(name);
}

/** Returns the name in a key that begins with `prefix`; undefined for other keys. */
export function nameIn(key: string, prefix: string): string | undefined {
  return key.startsWith(prefix) ? decodeName(key.slice(prefix.length)) : undefined;
}

/** Encodes a name for a key: other characters than [a-zA-Z0-9_-] become =XX, hexadecimal UTF-8. */
export function encodeName(name: string): string {
  return [...Buffer.from(name)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[a-zA-Z0-9_-]/.test(character) ? character : `=${byte.toString(16).padStart(2, "0")}`;
    })
    .join("");
}

function decodeName(text: string): string {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "=") bytes.push(Number.parseInt(text.slice(at + 1, (at += 2) + 1), 16));
    else bytes.push(text.charCodeAt(at));
  }
  return Buffer.from(bytes).toString();
}
