/**
 * Settings files: YAML with dotted or nested keys, `${ENV:default}`, defaults and documentation from one schema.
 * A schema is a typebox object whose property names are the full dotted keys ("http.port").
 */

import { readFileSync } from "node:fs";
import type { Static, TObject, TSchema } from "typebox";
import { isMap, isPair, isScalar, LineCounter, type Node, parseDocument, type YAMLMap } from "yaml";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { convert, schemaFault } from "#proto/kit/schema.ts";
import { unitFault } from "./kinds.ts";
import { offsetOf, type PlaceOf, readYamlWords } from "./yaml.ts";

/** Most faults of a file in one error. */
const MOST_FAULTS = 20;

/** A value with the position it was written at, for messages. */
interface Entry {
  readonly value: unknown;
  /** "hub.yml:3:1" or "-E http.port". */
  readonly place: string;
  /** Positions within the value; undefined if the whole value has one position. */
  readonly placeOf?: PlaceOf;
}

/** A settings file as dotted keys, not yet checked. */
export interface Entries extends Map<string, Entry> {
  /** Name of the file. */
  readonly file?: string;
}

/** Pairs of keys that name the same setting: [accepted, kept]. */
export type Aliases = readonly (readonly [accepted: string, kept: string])[];

/** Reads `path` into dotted keys of `schema`. Throws settings_invalid with file, line and column. */
export function readSettingsFile(path: string, schema: TObject, env: NodeJS.ProcessEnv): Entries {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const why =
      systemCode(error) === "ENOENT"
        ? "there is no such file; -c FILE names another, --help shows how to begin"
        : (error as Error).message;
    throw new AppError("settings_invalid", `cannot read settings file ${path}: ${why}`, { cause: error });
  }
  return parseSettings(text, path, schema, env);
}

/** Parses YAML `text`; `name` is used in messages. */
export function parseSettings(text: string, name: string, schema: TObject, env: NodeJS.ProcessEnv): Entries {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const problem = document.errors[0];
  if (problem !== undefined) {
    throw new AppError("settings_invalid", `${place(problem.pos[0])}: ${problem.message.split("\n")[0]}`);
  }
  const entries: Entries = Object.assign(new Map<string, Entry>(), { file: name });
  if (document.contents === null) return entries;
  if (!isMap(document.contents)) {
    throw new AppError("settings_invalid", `${name}: settings must be "key: value" lines`);
  }
  flatten(document.contents, "", schema, entries, place, env);
  return entries;
}

/** Parses "key=value" of the command line; the value is YAML. */
export function parseOverride(text: string, env: NodeJS.ProcessEnv): [key: string, entry: Entry] {
  const at = text.indexOf("=");
  if (at < 1) throw new AppError("usage_invalid", `-E ${text}: write -E key=value`);
  const key = text.slice(0, at).trim();
  const document = parseDocument(text.slice(at + 1));
  return [key, { value: substitute(document.toJS(), env, `-E ${key}`), place: `-E ${key}` }];
}

/** Checks `entries` against `schema`, fills defaults in and returns the settings. Throws settings_invalid naming every fault, a line each. */
export function checkSettings<T extends TObject>(
  schema: T,
  entries: Entries,
  aliases: Aliases = [],
): NoInfer<Static<T>> {
  const merged = gatherRecords(schema, mergeAliases(entries, aliases));
  const known = Object.keys(schema.properties);
  const settings: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [key, entry] of merged) {
    const { value, place } = entry;
    const property = schema.properties[key];
    if (property === undefined) {
      const names = [...known, ...aliases.map(([accepted]) => accepted)];
      faults.push(`${place}: unknown setting "${key}"${didYouMean(key, names)}`);
      continue;
    }
    if (value === null) {
      merged.delete(key); // named without a value: it is as by default
      continue;
    }
    const checked = readValue(property, value, key, placesOf(entry));
    if (typeof checked === "string") faults.push(checked);
    else settings[key] = checked.value;
  }
  const inFile = entries.file === undefined ? "" : `${entries.file}: `;
  for (const key of known) {
    if (key in settings || merged.has(key)) continue;
    const property = schema.properties[key]!;
    const fallback = (property as { default?: unknown }).default;
    if (fallback !== undefined) settings[key] = structuredClone(fallback);
    else if (schema.required?.includes(key)) faults.push(`${inFile}setting "${key}" is missing`);
  }
  if (faults.length > 0) throw new AppError("settings_invalid", listFaults(faults));
  return settings as NoInfer<Static<T>>;
}

function listFaults(faults: readonly string[]): string {
  const shown = faults.slice(0, MOST_FAULTS);
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
  return shown.join("\n  ");
}

/** Checks one value; numbers and booleans written as text are converted. Throws settings_invalid. */
export function checkValue(schema: TSchema, value: unknown, key: string, placeOf: PlaceOf): unknown {
  const checked = readValue(schema, value, key, placeOf);
  if (typeof checked === "string") throw new AppError("settings_invalid", checked);
  return checked.value;
}

/** Settings whose values never appear in messages, not even wrong ones: they may be right except for a quote. */
const SECRET = /(token|secret|password|passphrase|seed|key|smtp\.url)$/;

/** Returns the converted value, or its fault. */
function readValue(
  schema: TSchema,
  value: unknown,
  key: string,
  placeOf: PlaceOf,
): { value: unknown } | string {
  const converted = convert(schema, readYamlWords(schema, listOf(schema, value)));
  const fault = schemaFault(schema, converted);
  if (fault === undefined) return unitFaultIn(schema, converted, key, placeOf) ?? { value: converted };
  const { kind, path, property, message, hint } = fault;
  const where = [key, ...path].join(".");
  switch (kind) {
    case "unknown":
      return `${placeOf([...path, property])}: ${where}: unknown setting "${property}"${hint}`;
    case "missing":
      return `${placeOf(path)}: ${where}: setting "${property}" is missing`;
    case "value": {
      if (SECRET.test(where)) return `${placeOf(path)}: ${where} ${message}`;
      return `${placeOf(path)}: ${where} ${message}, but is ${JSON.stringify(valueAt(value, path))}${hint}`;
    }
  }
}

/** Environment variables are texts: of a list an empty one isn't an entry, and one in JSON's brackets is the list itself. */
function listOf(schema: TSchema, value: unknown): unknown {
  if (typeof value !== "string" || (schema as { type?: unknown }).type !== "array") return value;
  if (value === "") return [];
  try {
    const parsed: unknown = JSON.parse(value);
    return Array.isArray(parsed) ? parsed : value;
  } catch {
    return value;
  }
}

/** Returns the fault of a setting that has a unit, of the value itself or one of its properties; undefined: none. */
function unitFaultIn(schema: TSchema, value: unknown, key: string, placeOf: PlaceOf): string | undefined {
  const own = unitFault(schema, value);
  if (own !== undefined) return `${placeOf([])}: ${key}: ${own}`;
  const { properties = {} } = schema as { properties?: Record<string, TSchema> };
  for (const [name, property] of Object.entries(properties)) {
    const fault = unitFault(property, (value as Record<string, unknown>)[name]);
    if (fault !== undefined) return `${placeOf([name])}: ${key}.${name}: ${fault}`;
  }
  return undefined;
}

/** Returns the function that finds positions within an entry. */
export function placesOf({ place, placeOf }: Entry): PlaceOf {
  return placeOf ?? (() => place);
}

function valueAt(value: unknown, parts: readonly string[]): unknown {
  let at = value;
  for (const name of parts) at = (at as Record<string, unknown> | undefined)?.[name];
  return at;
}

function flatten(
  map: YAMLMap,
  prefix: string,
  schema: TObject,
  entries: Entries,
  place: (offset: number) => string,
  env: NodeJS.ProcessEnv,
): void {
  for (const pair of map.items) {
    if (!isPair(pair) || !isScalar(pair.key)) continue;
    const key = prefix + String(pair.key.value);
    const offset = (pair.key as Node).range?.[0] ?? 0;
    const where = place(offset);
    const value = pair.value as Node | null;
    if (isMap(value) && !(key in schema.properties)) {
      flatten(value, `${key}.`, schema, entries, place, env);
      continue;
    }
    const before = entries.get(key);
    if (before !== undefined) {
      throw new AppError("settings_invalid", `${where}: "${key}" was set already at ${before.place}`);
    }
    const plain = substitute(value === null ? null : toPlain(value), env, where);
    const placeOf = (path: readonly string[]): string => place(offsetOf(value, path, offset));
    entries.set(key, { value: plain, place: where, placeOf });
  }
}

function toPlain(node: Node): unknown {
  return (node as unknown as { toJSON(): unknown }).toJSON();
}

/** Replaces ${NAME} and ${NAME:default} in all strings; ${NAME:?text} makes the text the error if NAME isn't set. */
function substitute(value: unknown, env: NodeJS.ProcessEnv, place: string): unknown {
  if (typeof value === "string") {
    return value.replace(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\}/g,
      (_, name: string, fallback?: string) => {
        const found = env[name] ?? (fallback?.startsWith("?") === true ? undefined : fallback);
        if (found !== undefined) return found;
        const remedy = fallback?.slice(1) || `give a default as \${${name}:default}`;
        throw new AppError("settings_invalid", `${place}: environment variable ${name} isn't set; ${remedy}`);
      },
    );
  }
  if (Array.isArray(value)) return value.map((item) => substitute(item, env, place));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, substitute(item, env, place)]),
    );
  }
  return value;
}

/** Puts settings with names of the reader's own (`node.attr.rack`) together under the setting that holds them. */
function gatherRecords(schema: TObject, entries: Entries): Entries {
  const records = Object.keys(schema.properties).filter(
    (key) => (schema.properties[key] as { patternProperties?: object }).patternProperties !== undefined,
  );
  const gathered: Entries = new Map();
  for (const [key, entry] of entries) {
    const record = records.find((name) => key.startsWith(`${name}.`));
    if (record === undefined) {
      gathered.set(key, entry);
      continue;
    }
    const before = gathered.get(record)?.value as object | undefined;
    const value = { ...before, [key.slice(record.length + 1)]: entry.value };
    gathered.set(record, { value, place: entry.place });
  }
  return gathered;
}

function mergeAliases(entries: Entries, aliases: Aliases): Entries {
  const merged = new Map(entries);
  for (const [accepted, kept] of aliases) {
    const entry = merged.get(accepted);
    if (entry === undefined) continue;
    const other = merged.get(kept);
    if (other !== undefined && JSON.stringify(other.value) !== JSON.stringify(entry.value)) {
      throw new AppError(
        "settings_invalid",
        `${entry.place}: "${accepted}" and "${kept}" are the same setting but differ; remove one of them`,
      );
    }
    merged.delete(accepted);
    merged.set(kept, entry);
  }
  return merged;
}
