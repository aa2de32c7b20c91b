/**
 * Settings files: YAML with dotted or nested keys, `${ENV:default}`, defaults and documentation from one schema.
 * A schema is a typebox object whose property names are the full dotted keys ("http.port").
 */

import { readFileSync } from "node:fs";
import type { Static, TObject, TSchema } from "typebox";
import { Value } from "typebox/value";
import { isMap, isPair, isScalar, LineCounter, type Node, parseDocument, type YAMLMap } from "yaml";
import { AppError, systemCode } from "./errors.ts";
import { didYouMean } from "./nearest.ts";

/** Faults of a file that are named at once. */
const MOST_FAULTS = 20;

/** A value with the place it was written at, for messages. */
interface Entry {
  readonly value: unknown;
  /** "hub.yml:3:1" or "-E http.port". */
  readonly place: string;
}

/** A settings file as dotted keys, not yet checked. */
export type Entries = Map<string, Entry>;

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

/** Parses YAML `text`; `name` stands in messages. */
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
  const entries: Entries = new Map();
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
  for (const [key, { value, place }] of merged) {
    const property = schema.properties[key];
    if (property === undefined) {
      const names = [...known, ...aliases.map(([accepted]) => accepted)];
      faults.push(`${place}: unknown setting "${key}"${didYouMean(key, names)}`);
      continue;
    }
    const checked = readValue(property, value, key, place);
    if (typeof checked === "string") faults.push(checked);
    else settings[key] = checked.value;
  }
  for (const key of known) {
    if (key in settings || merged.has(key)) continue;
    const property = schema.properties[key]!;
    const fallback = (property as { default?: unknown }).default;
    if (fallback !== undefined) settings[key] = structuredClone(fallback);
    else if (schema.required?.includes(key)) faults.push(`setting "${key}" is missing`);
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
export function checkValue(schema: TSchema, value: unknown, key: string, place: string): unknown {
  const checked = readValue(schema, value, key, place);
  if (typeof checked === "string") throw new AppError("settings_invalid", checked);
  return checked.value;
}

/** Settings whose values are told nobody, wrong ones neither: they may be right but for a quote. */
const SECRET = /(token|secret|password|passphrase|seed|key|smtp\.url)$/;

/** Returns the converted value, or what is wrong with it. */
function readValue(schema: TSchema, value: unknown, key: string, place: string): { value: unknown } | string {
  const converted = Value.Default(schema, Value.Convert(schema, structuredClone(value)));
  const faults = Value.Errors(schema, converted);
  const fault = faults[0];
  if (fault === undefined) return { value: converted };
  const unknown = faults.find((each) => each.keyword === "additionalProperties");
  const path = (unknown ?? fault).instancePath.replace(/^\//, "").replaceAll("/", ".");
  const where = path === "" ? key : `${key}.${path}`;
  if (unknown === undefined && fault.keyword === "required") {
    const missing = (fault.params as { requiredProperties: string[] }).requiredProperties;
    return `${place}: ${where}: setting "${missing[0]}" is missing`;
  }
  if (unknown === undefined) {
    const wanted = path === "" ? (choices(schema) ?? fault.message) : fault.message;
    if (SECRET.test(key)) return `${place}: ${where} ${wanted}`;
    return `${place}: ${where} ${wanted}, but is ${JSON.stringify(valueAt(value, fault.instancePath))}`;
  }
  const extra = (unknown.params as { additionalProperties: string[] }).additionalProperties[0]!;
  const names = propertyNames(schema, unknown.schemaPath);
  return `${place}: ${where}: unknown setting "${extra}"${didYouMean(extra, names)}`;
}

/** Returns the part of a value that a JSON pointer (RFC 6901) leads to. */
function valueAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = (at as Record<string, unknown> | undefined)?.[name];
  }
  return at;
}

/** Returns the values that a setting with few of them takes, in words. */
function choices(schema: TSchema): string | undefined {
  const { anyOf } = schema as { anyOf?: readonly { readonly const?: unknown }[] };
  const values = anyOf?.map((each) => each.const);
  if (values === undefined || values.includes(undefined)) return undefined;
  return `must be one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
}

/** Names of the properties that the part of `schema` at `schemaPath` ("#/items") knows. */
function propertyNames(schema: TSchema, schemaPath: string): string[] {
  let at: unknown = schema;
  for (const part of schemaPath.split("/").slice(1)) {
    if (part !== "additionalProperties") at = (at as Record<string, unknown> | undefined)?.[part];
  }
  return Object.keys((at as { properties?: object } | undefined)?.properties ?? {});
}

/** Returns the settings reference of a schema as a Markdown table: key, default, meaning and the values there are. */
export function describeSettings(schema: TObject): string {
  const rows = ["| setting | default | meaning |", "|---|---|---|"];
  for (const [key, property] of Object.entries(schema.properties)) {
    const { description = "", default: fallback } = property as { description?: string; default?: unknown };
    const code = fallback === undefined ? "" : `\`${cell(JSON.stringify(fallback))}\``;
    rows.push(`| \`${key}\` | ${code} | ${cell(description)}${cell(allowed(property))} |`);
  }
  return `${rows.join("\n")}\n`;
}

/** Returns what a setting may be where that is a choice or a range, in brackets. */
function allowed(property: object): string {
  const { anyOf, minimum, maximum } = property as {
    anyOf?: readonly { readonly const?: unknown }[];
    minimum?: number;
    maximum?: number;
  };
  if (anyOf?.every((each) => each.const !== undefined))
    return ` (${anyOf.map((each) => `\`${String(each.const)}\``).join(", ")})`;
  return minimum !== undefined && maximum !== undefined ? ` (${minimum} to ${maximum})` : "";
}

/** A bar would end the cell, in code as well. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|");
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
    const where = place((pair.key as Node).range?.[0] ?? 0);
    const value = pair.value as Node | null;
    if (isMap(value) && !(key in schema.properties)) {
      flatten(value, `${key}.`, schema, entries, place, env);
      continue;
    }
    const before = entries.get(key);
    if (before !== undefined) {
      throw new AppError("settings_invalid", `${where}: "${key}" was set already at ${before.place}`);
    }
    entries.set(key, { value: substitute(value === null ? null : toPlain(value), env, where), place: where });
  }
}

function toPlain(node: Node): unknown {
  return (node as unknown as { toJSON(): unknown }).toJSON();
}

/** Replaces ${NAME} and ${NAME:default} in all strings. */
function substitute(value: unknown, env: NodeJS.ProcessEnv, place: string): unknown {
  if (typeof value === "string") {
    return value.replace(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\}/g,
      (_, name: string, fallback?: string) => {
        const found = env[name] ?? fallback;
        if (found === undefined) {
          throw new AppError(
            "settings_invalid",
            `${place}: environment variable ${name} isn't set; give a default as \${${name}:default}`,
          );
        }
        return found;
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
        `${entry.place}: "${accepted}" and "${kept}" are the same setting but differ`,
      );
    }
    merged.delete(accepted);
    merged.set(kept, entry);
  }
  return merged;
}
