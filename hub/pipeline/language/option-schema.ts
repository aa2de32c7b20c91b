/**
 * Schemas of plugins' options: makes them and checks values against them. They are JSON Schemas of the kinds named here and
 * have the types of typebox's, whose own makers aren't used: each thread of a pipeline would load its 700 files.
 */

import type { TObject, TSchema, Type as Typebox } from "typebox";
import { isObject } from "#proto/kit/json.ts";
import { nearestName } from "#proto/kit/nearest.ts";

/** Marks a property that may be missing; typebox's own mark, and no part of the schema's JSON. */
const OPTIONAL = "~optional";

/** What of JSON Schema options use. */
interface Schema {
  readonly type?: "array" | "boolean" | "integer" | "number" | "object" | "string";
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly [OPTIONAL]?: true;
}

type Details = Readonly<Record<string, unknown>>;

const makers = {
  Array: (items: Schema, details?: Details) => ({ type: "array", items, ...details }),
  Boolean: (details?: Details) => ({ type: "boolean", ...details }),
  Enum: (values: readonly unknown[], details?: Details) => ({ enum: values, ...details }),
  Integer: (details?: Details) => ({ type: "integer", ...details }),
  Number: (details?: Details) => ({ type: "number", ...details }),
  Object: (properties: Readonly<Record<string, Schema>>, details?: Details) => ({
    type: "object",
    required: Object.keys(properties).filter((name) => properties[name]?.[OPTIONAL] !== true),
    properties,
    ...details,
  }),
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  /** A table; the schema of its keys says nothing further. */
  Record: (_: Schema, value: Schema, details?: Details) => ({
    type: "object",
    patternProperties: { "^.*$": value },
    ...details,
  }),
  String: (details?: Details) => ({ type: "string", ...details }),
  Union: (anyOf: readonly Schema[], details?: Details) => ({ anyOf, ...details }),
  Unknown: (details?: Details) => ({ ...details }),
};

/** Makers of schemas, as typebox's `Type` has them. */
export const Type = makers as unknown as Pick<typeof Typebox, keyof typeof makers>;

/** Why a value doesn't fit; `path` leads to it, empty for the value itself. */
export interface SchemaFault {
  readonly path: readonly string[];
  /** Follows the name of the value: "must be a number". */
  readonly message: string;
}

/** Turns text into the number or flag that is asked for, where it is one. */
export function convertText(schema: TSchema, value: unknown): unknown {
  if (typeof value !== "string") return value;
  const { type, anyOf } = schema as Schema;
  const types = anyOf?.map((each) => each.type) ?? [type];
  if (types.includes("string")) return value;
  if (types.includes("boolean") && (value === "true" || value === "false")) return value === "true";
  const isNumber = (types.includes("number") || types.includes("integer")) && value.trim() !== "";
  return isNumber && Number.isFinite(Number(value)) ? Number(value) : value;
}

/** Returns the first thing that is wrong with `value`. */
export function schemaFault(schema: TSchema, value: unknown): SchemaFault | undefined {
  return faultOf(schema as Schema, value, []);
}

/** Returns the options that have a default with it; each a copy. */
export function defaultsOf(options: TObject): Record<string, unknown> {
  const defaults = Object.entries(options.properties).filter(([, schema]) => "default" in schema);
  return structuredClone(
    Object.fromEntries(defaults.map(([name, schema]) => [name, (schema as { default?: unknown }).default])),
  );
}

function faultOf(schema: Schema, value: unknown, path: readonly string[]): SchemaFault | undefined {
  const { type, enum: values, anyOf } = schema;
  if (values !== undefined)
    return values.includes(value) ? undefined : { path, message: choice(values, value) };
  if (anyOf !== undefined) {
    if (anyOf.some((each) => faultOf(each, value, path) === undefined)) return undefined;
    return { path, message: `must be ${anyOf.map((each) => article(each.type)).join(" or ")}` };
  }
  if (!hasType(type, value)) return { path, message: `must be ${article(type)}` };
  if (Array.isArray(value)) return faultOfList(schema, value, path);
  if (type === "object") return faultOfTable(schema, value as Details, path);
  const limit = typeof value === "number" ? brokenLimit(schema, value) : undefined;
  return limit === undefined ? undefined : { path, message: `must be ${limit}` };
}

function faultOfList(
  { items = {}, minItems = 0 }: Schema,
  list: readonly unknown[],
  path: readonly string[],
): SchemaFault | undefined {
  if (list.length < minItems) return { path, message: `must have at least ${minItems} entries` };
  for (const [place, item] of list.entries()) {
    const fault = faultOf(items, item, [...path, String(place)]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfTable(
  { patternProperties = {} }: Schema,
  table: Details,
  path: readonly string[],
): SchemaFault | undefined {
  const [member = {}] = Object.values(patternProperties);
  for (const [key, item] of Object.entries(table)) {
    const fault = faultOf(member, item, [...path, key]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function hasType(type: Schema["type"], value: unknown): boolean {
  switch (type) {
    case undefined:
      return true;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function brokenLimit({ minimum, maximum, exclusiveMinimum }: Schema, value: number): string | undefined {
  if (minimum !== undefined && value < minimum) return `at least ${minimum}`;
  if (maximum !== undefined && value > maximum) return `at most ${maximum}`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `more than ${exclusiveMinimum}`;
  return undefined;
}

function choice(values: readonly unknown[], value: unknown): string {
  const names = values.map(String);
  const nearest = typeof value === "string" ? nearestName(value, names) : undefined;
  return `must be one of ${names.join(", ")}${nearest === undefined ? "" : `; did you mean "${nearest}"?`}`;
}

function article(type: Schema["type"]): string {
  const words = {
    array: "a list",
    boolean: "true or false",
    integer: "a whole number",
    number: "a number",
    object: "a table",
    string: "text",
  };
  return type === undefined ? "a value" : words[type];
}
