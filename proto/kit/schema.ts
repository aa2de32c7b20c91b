/**
 * Schemas of settings, options and bodies: makers, conversion, defaults and the check. A schema is a JSON Schema object of
 * the kinds named here, with typebox's static types. typebox's own makers and checker are not loaded: their 700 files cost
 * each process and thread 300 ms and 10 MB.
 */

import type { Static, TObject, TSchema, Type as Typebox } from "typebox";
import { didYouMean } from "./nearest.ts";

/** Marks a property that may be missing; typebox's own mark, and no part of the schema's JSON. */
const OPTIONAL = "~optional";

/** The part of JSON Schema that is used. */
interface Schema {
  readonly type?: "array" | "boolean" | "integer" | "null" | "number" | "object" | "string";
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** Of properties that `properties` doesn't name; false: there are none. */
  readonly additionalProperties?: boolean | Schema;
  /** One member: the keys' pattern and the values' schema. */
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly default?: unknown;
  /** Of `enum`: values match in any case. Not part of JSON Schema. */
  readonly ignoreCase?: boolean;
  /** Of integers: `convert` cuts off a fraction. Not part of JSON Schema. */
  readonly truncate?: boolean;
  readonly [OPTIONAL]?: true;
}

type Details = Readonly<Record<string, unknown>>;

const makers = {
  Array: (items: Schema, details?: Details) => ({ type: "array", items, ...details }),
  Boolean: (details?: Details) => ({ type: "boolean", ...details }),
  Enum: (values: readonly unknown[], details?: Details) => ({ enum: values, ...details }),
  Integer: (details?: Details) => ({ type: "integer", ...details }),
  Literal: (value: unknown, details?: Details) => ({ type: typeof value, const: value, ...details }),
  Null: (details?: Details) => ({ type: "null", ...details }),
  Number: (details?: Details) => ({ type: "number", ...details }),
  Object: (properties: Readonly<Record<string, Schema>>, details?: Details) => ({
    type: "object",
    required: Object.keys(properties).filter((name) => properties[name]?.[OPTIONAL] !== true),
    properties,
    ...details,
  }),
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  /** An object whose keys the writer chooses. */
  Record: (key: Schema, value: Schema, details?: Details) => ({
    type: "object",
    patternProperties: { [key.pattern ?? "^.*$"]: value },
    ...(key.pattern === undefined ? {} : { additionalProperties: false }),
    ...details,
  }),
  String: (details?: Details) => ({ type: "string", ...details }),
  Union: (anyOf: readonly Schema[], details?: Details) => ({ anyOf, ...details }),
  Unknown: (details?: Details) => ({ ...details }),
};

/** Makers of schemas, as typebox's `Type` has them. */
export const Type = makers as unknown as Pick<typeof Typebox, keyof typeof makers>;

/** Why a value doesn't fit its schema. */
export interface SchemaFault {
  /** `unknown`: the object has a property that the schema doesn't name; `missing`: it lacks one that is required. */
  readonly kind: "value" | "unknown" | "missing";
  /** Leads to the value at fault; empty for the whole value. Of an unknown or missing property: to its object. */
  readonly path: readonly string[];
  /** Name of the unknown or missing property; empty for a fault of a value. */
  readonly property: string;
  /** Follows the value's name: "must be a number", `has an unknown property "x"`. */
  readonly message: string;
  /** Follows the message: `; did you mean "x"?`; empty without a suggestion. */
  readonly hint: string;
}

/**
 * Returns `value` with the type its schema names, where nothing is lost: a number or flag written as text, text written as
 * a number or flag, a single value for a list; in objects with their defaults. A value that can't be converted stays as it
 * is, for `schemaFault` to refuse. `value` itself isn't changed.
 */
export function convert(schema: TSchema, value: unknown): unknown {
  return convertValue(schema as Schema, value);
}

/** Returns the first fault of `value`; undefined: it fits. Properties that the schema doesn't name come first. */
export function schemaFault(schema: TSchema, value: unknown): SchemaFault | undefined {
  return faultOf(schema as Schema, value, []);
}

/** Returns the properties of `schema` that have a default with it; each a copy. */
export function defaultsOf(schema: TObject): Record<string, unknown> {
  const defaults: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const { default: usual } = property as Schema;
    if (usual !== undefined) defaults[name] = copy(usual);
  }
  return defaults;
}

/** A fault of one property of an options object. */
export interface OptionFault {
  readonly kind: SchemaFault["kind"];
  readonly name: string;
  /** "must be a number"; empty for an unknown or a missing property. */
  readonly message: string;
  /** `; did you mean "x"?` or empty. */
  readonly hint: string;
  /** The value at fault. */
  readonly value: unknown;
  /** Schema of the property; undefined if the schema names none of this name. */
  readonly property: TSchema | undefined;
}

/**
 * Returns the properties of `given` converted and checked, with defaults. Null counts as not given where there is no default.
 * `refuse` makes the error that is thrown at the first fault.
 */
export function readObject<T extends TObject>(
  schema: T,
  given: Readonly<Record<string, unknown>>,
  refuse: (fault: OptionFault) => Error,
): NoInfer<Static<T>> {
  const properties = schema.properties as Readonly<Record<string, Schema>>;
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(properties, name)) continue;
    const hint = didYouMean(name, Object.keys(properties));
    throw refuse({ kind: "unknown", name, message: "", hint, value: given[name], property: undefined });
  }
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(properties)) {
    const property = properties[name]!;
    const value = given[name];
    if (value === undefined || (value === null && property.default === undefined)) {
      if (property.default !== undefined) values[name] = copy(property.default);
      else if (property[OPTIONAL] !== true)
        throw refuse({ kind: "missing", name, message: "", hint: "", value, property: property as TSchema });
      continue;
    }
    const converted = convertValue(property, value);
    const fault = faultOf(property, converted, []);
    if (fault !== undefined) {
      const { message, hint } = fault;
      throw refuse({ kind: "value", name, message, hint, value, property: property as TSchema });
    }
    values[name] = converted;
  }
  return values as NoInfer<Static<T>>;
}

/** Returns the values of a schema that allows only some; undefined: it allows any of its type. */
export function choicesOf(schema: TSchema): readonly unknown[] | undefined {
  const { enum: values, anyOf } = schema as Schema;
  if (values !== undefined) return values;
  return anyOf?.every((each) => each.const !== undefined) ? anyOf.map((each) => each.const) : undefined;
}

/** Scalars as text, so that "1" equals 1; other values as JSON. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return isScalar(value) ? String(value) : JSON.stringify(value);
}

function convertValue(schema: Schema, value: unknown): unknown {
  if (schema.anyOf !== undefined) return convertToOneOf(schema.anyOf, value);
  if (schema.enum !== undefined) return nameOf(schema.enum, value, schema.ignoreCase === true);
  if (schema.const !== undefined) return textOf(value) === textOf(schema.const) ? schema.const : value;
  switch (schema.type) {
    case "string":
      return isScalar(value) ? String(value) : value;
    case "number":
      return toNumber(value);
    case "integer": {
      const number = toNumber(value);
      return schema.truncate === true && typeof number === "number" ? Math.trunc(number) : number;
    }
    case "boolean":
      return toFlag(value);
    case "array": {
      const list: readonly unknown[] = Array.isArray(value) ? value : value === null ? [] : [value];
      const { items } = schema;
      return items === undefined ? list : list.map((item) => convertValue(items, item));
    }
    case "object":
      return isObject(value) ? convertMembers(schema, value) : value;
    default:
      return value;
  }
}

function convertToOneOf(anyOf: readonly Schema[], value: unknown): unknown {
  if (anyOf.some((each) => faultOf(each, value, []) === undefined)) return value;
  for (const each of anyOf) {
    const converted = convertValue(each, value);
    if (faultOf(each, converted, []) === undefined) return converted;
  }
  return value;
}

function convertMembers(schema: Schema, value: Details): Details {
  const { properties = {}, patternProperties = {} } = schema;
  const [member] = Object.values(patternProperties);
  const converted: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : member;
    converted[name] = own === undefined ? item : convertValue(own, item);
  }
  for (const name of Object.keys(properties)) {
    const { default: usual } = properties[name]!;
    if (usual !== undefined && converted[name] === undefined) converted[name] = copy(usual);
  }
  return converted;
}

function nameOf(values: readonly unknown[], value: unknown, ignoresCase: boolean): unknown {
  if (values.includes(value)) return value;
  const text = ignoresCase ? String(value).toLowerCase() : String(value);
  return values.find((each) => (ignoresCase ? String(each).toLowerCase() : String(each)) === text) ?? value;
}

function toNumber(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "string" || value.trim() === "") return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

function toFlag(value: unknown): unknown {
  const text = String(value).toLowerCase();
  if (text === "true" || text === "1") return true;
  return text === "false" || text === "0" ? false : value;
}

function isScalar(value: unknown): value is bigint | boolean | number {
  return typeof value === "number" || typeof value === "boolean" || typeof value === "bigint";
}

function faultOf(schema: Schema, value: unknown, path: readonly string[]): SchemaFault | undefined {
  const { type, const: only, enum: values, anyOf } = schema;
  if (values !== undefined) return values.includes(value) ? undefined : wrongChoice(path, values, value);
  if (only !== undefined) return value === only ? undefined : wrongChoice(path, [only], value);
  if (anyOf !== undefined) {
    if (anyOf.some((each) => faultOf(each, value, path) === undefined)) return undefined;
    const choices = choicesOf(schema as TSchema);
    if (choices !== undefined) return wrongChoice(path, choices, value);
    return wrong(path, anyOf.map((each) => typeName(each.type)).join(" or "));
  }
  if (!hasType(type, value)) return wrong(path, typeName(type), type === "boolean" ? flagHint(value) : "");
  if (Array.isArray(value)) return faultOfList(schema, value, path);
  if (type === "object") return faultOfObject(schema, value as Details, path);
  if (typeof value === "string") return faultOfText(schema, value, path);
  const limit = typeof value === "number" ? brokenLimit(schema, value) : undefined;
  return limit === undefined ? undefined : wrong(path, limit);
}

/** `wanted` follows "must be". */
function wrong(path: readonly string[], wanted: string, hint = ""): SchemaFault {
  return { kind: "value", path, property: "", message: `must be ${wanted}`, hint };
}

function wrongChoice(path: readonly string[], values: readonly unknown[], value: unknown): SchemaFault {
  const names = values.map(String);
  const shown = names.map((name) => (/^[^\s,]+$/.test(name) ? name : JSON.stringify(name)));
  const wanted = values.length === 1 ? shown[0]! : `one of ${shown.join(", ")}`;
  return wrong(path, wanted, typeof value === "string" ? didYouMean(value, names.filter(Boolean)) : "");
}

/** Returns the flag that a word of YAML 1.1 means, as a hint. */
function flagHint(value: unknown): string {
  const text = String(value).toLowerCase();
  if (text === "yes" || text === "on") return "; write true";
  return text === "no" || text === "off" ? "; write false" : "";
}

function faultOfList(
  schema: Schema,
  list: readonly unknown[],
  path: readonly string[],
): SchemaFault | undefined {
  const { items, minItems = 0, maxItems = Infinity } = schema;
  if (list.length < minItems) return wrong(path, `a list of at least ${minItems}`);
  if (list.length > maxItems) return wrong(path, `a list of at most ${maxItems}`);
  if (items === undefined) return undefined;
  for (const [index, item] of list.entries()) {
    const fault = faultOf(items, item, [...path, String(index)]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfObject(schema: Schema, object: Details, path: readonly string[]): SchemaFault | undefined {
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(object);
  for (const name of names) {
    if (memberSchema(schema, name) !== undefined) continue;
    const hint = didYouMean(name, Object.keys(properties));
    return { kind: "unknown", path, property: name, message: `has an unknown property "${name}"`, hint };
  }
  for (const name of required) {
    if (object[name] === undefined)
      return { kind: "missing", path, property: name, message: `lacks the property "${name}"`, hint: "" };
  }
  for (const name of names) {
    const member = memberSchema(schema, name);
    if (object[name] === undefined || member === undefined) continue;
    const fault = faultOf(member, object[name], [...path, name]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Returns the schema of a member; undefined: there can be none of this name. */
function memberSchema(schema: Schema, name: string): Schema | undefined {
  const { properties = {}, patternProperties, additionalProperties = true } = schema;
  if (Object.hasOwn(properties, name)) return properties[name];
  if (patternProperties !== undefined) {
    const [pattern = "", value] = Object.entries(patternProperties)[0] ?? [];
    if (pattern === "^.*$" || new RegExp(pattern, "u").test(name)) return value;
  }
  if (additionalProperties === true) return {};
  return additionalProperties === false ? undefined : additionalProperties;
}

function isObject(value: unknown): value is Details {
  return value !== null && typeof value === "object" && !Array.isArray(value);
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
    case "null":
      return value === null;
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

function faultOfText(schema: Schema, value: string, path: readonly string[]): SchemaFault | undefined {
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  if (value.length < minLength)
    return wrong(
      path,
      minLength === 1 ? "text that isn't empty" : `text of at least ${minLength} characters`,
    );
  if (value.length > maxLength) return wrong(path, `text of at most ${maxLength} characters`);
  if (pattern === undefined || new RegExp(pattern, "u").test(value)) return undefined;
  return { kind: "value", path, property: "", message: `must match ${pattern}`, hint: "" };
}

const TYPE_NAMES = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  string: "text",
} as const;

function typeName(type: Schema["type"]): string {
  return type === undefined ? "a value" : TYPE_NAMES[type];
}

function copy<T>(value: T): T {
  return typeof value === "object" && value !== null ? structuredClone(value) : value;
}
