/** The tree of a mapping: objects with children, fields as leaves. Immutable; merging makes new nodes on the way down. */

import { AppError } from "#proto/kit/errors.ts";
import type { Analysis } from "../analysis/analysis.ts";
import type { Field } from "./field.ts";
import { asRecord, parseError, parseField, printValue } from "./parse-field.ts";

/** What happens to fields that the mapping doesn't know. */
export type Dynamic = "true" | "false" | "strict";

export interface ObjectNode {
  readonly type: "object";
  /** Dotted path, "" for the root. */
  readonly path: string;
  /** Undefined: as the parent. */
  readonly dynamic: Dynamic | undefined;
  /** False: kept in _source only. */
  readonly enabled: boolean;
  readonly children: ReadonlyMap<string, MappingNode>;
  /** Set for a geo_shape: its parameters as given. The shape is kept in _source; its GeoJSON `type` is indexed. */
  readonly shape?: Readonly<Record<string, unknown>>;
}

export type MappingNode = ObjectNode | Field;

export function isObjectNode(node: MappingNode | undefined): node is ObjectNode {
  return node?.type === "object";
}

export const EMPTY_ROOT: ObjectNode = {
  type: "object",
  path: "",
  dynamic: undefined,
  enabled: true,
  children: new Map(),
};

/** Returns `node` with the object mapping `json` merged in. Throws mapping_parse, mapping_conflict. */
export function mergeObject(
  node: ObjectNode,
  json: Readonly<Record<string, unknown>>,
  analysis: Analysis,
): ObjectNode {
  const children = new Map(node.children);
  const properties = json["properties"];
  if (properties !== undefined && asRecord(properties) === undefined && !isEmptyArray(properties)) {
    throw parseError(`Expected map for property [properties] on field [${node.path || "_doc"}]`);
  }
  for (const [name, raw] of Object.entries(asRecord(properties) ?? {})) {
    const child = asRecord(raw);
    if (child === undefined) {
      throw parseError(
        `Expected map for property [${name}] on field [${name}] but got [${JSON.stringify(raw)}]`,
      );
    }
    mergeChild(children, node.path, name, child, analysis);
  }
  return {
    ...node,
    children,
    dynamic: json["dynamic"] === undefined ? node.dynamic : parseDynamic(json["dynamic"]),
    enabled: json["enabled"] === undefined ? node.enabled : printValue(json["enabled"]) !== "false",
  };
}

function isEmptyArray(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Merges one child; a dotted name makes the objects on its way. */
function mergeChild(
  children: Map<string, MappingNode>,
  parent: string,
  name: string,
  json: Readonly<Record<string, unknown>>,
  analysis: Analysis,
): void {
  if (name === "" || name.startsWith(".") || name.endsWith(".") || name.includes("..")) {
    throw parseError("name cannot be empty string");
  }
  const dot = name.indexOf(".");
  if (dot > 0) {
    const inner = { properties: { [name.slice(dot + 1)]: json } };
    mergeChild(children, parent, name.slice(0, dot), inner, analysis);
    return;
  }
  const path = parent === "" ? name : `${parent}.${name}`;
  const existing = children.get(name);
  if (json["type"] === "geo_shape" || (isObjectNode(existing) && existing.shape !== undefined)) {
    children.set(name, mergeShape(existing, path, json, analysis));
    return;
  }
  const isObject = json["type"] === "object" || (json["type"] === undefined && isObjectJson(json));
  if (isObject) {
    if (existing !== undefined && !isObjectNode(existing)) {
      throw conflict(`Can't merge a non object mapping [${path}] with an object mapping [${path}]`);
    }
    checkObjectKeys(name, json);
    children.set(name, mergeObject(existing ?? { ...EMPTY_ROOT, path }, json, analysis));
    return;
  }
  const field = parseField(path, name, json, analysis);
  if (existing === undefined) children.set(name, field);
  else if (isObjectNode(existing))
    throw conflict(`object mapping [${path}] can't be changed from object to [${field.type}]`);
  else children.set(name, mergeField(existing, field));
}

/** Parameters of geo_shape; those of its index in 6.5 are accepted and have no meaning here. */
const SHAPE_PARAMETERS = [
  "type",
  "tree",
  "precision",
  "tree_levels",
  "strategy",
  "distance_error_pct",
  "orientation",
  "points_only",
  "ignore_malformed",
  "ignore_z_value",
  "doc_values",
];

/** A GeoJSON shape is an object of which only `type` is indexed, so that its presence can be asked for. */
function mergeShape(
  existing: MappingNode | undefined,
  path: string,
  json: Readonly<Record<string, unknown>>,
  analysis: Analysis,
): ObjectNode {
  const { type, ...given } = json;
  const isShape = isObjectNode(existing) && existing.shape !== undefined;
  if (type !== "geo_shape" || (existing !== undefined && !isShape)) {
    const current = isShape ? "geo_shape" : existing?.type;
    throw conflict(
      `mapper [${path}] of different type, current_type [${current}], merged_type [${printValue(type ?? "object")}]`,
    );
  }
  checkKnown(path, json, SHAPE_PARAMETERS);
  const kind = { properties: { type: { type: "keyword", ignore_above: 64 } }, dynamic: "false" };
  return { ...mergeObject({ ...EMPTY_ROOT, path }, kind, analysis), shape: given };
}

/** `type` may be left out of an object: one with properties, or with object settings only. */
function isObjectJson(json: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(json).some((key) => key === "properties" || key === "dynamic" || key === "enabled");
}

function checkObjectKeys(name: string, json: Readonly<Record<string, unknown>>): void {
  checkKnown(name, json, ["type", "properties", "dynamic", "enabled", "include_in_all"]);
}

function checkKnown(name: string, json: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  for (const key of Object.keys(json)) {
    if (!known.includes(key)) {
      throw parseError(
        `Mapping definition for [${name}] has unsupported parameters:  [${key} : ${JSON.stringify(json[key])}]`,
      );
    }
  }
}

/** Parameters that can't change once a field exists, as messages name them. */
const FIXED = [
  "index",
  "docValues",
  "analyzer",
  "norms",
  "normalizer",
  "format",
  "scalingFactor",
  "aliasOf",
] as const;
const FIXED_NAMES: Readonly<Record<(typeof FIXED)[number], string>> = {
  index: "index",
  docValues: "doc_values",
  analyzer: "analyzer",
  norms: "norms",
  normalizer: "normalizer",
  format: "format",
  scalingFactor: "scaling_factor",
  aliasOf: "path",
};

function mergeField(existing: Field, update: Field): Field {
  if (existing.type !== update.type) {
    throw conflict(
      `mapper [${existing.path}] of different type, current_type [${existing.type}], merged_type [${update.type}]`,
    );
  }
  const differing = FIXED.filter((key) => existing[key] !== update[key]);
  if (differing.length > 0) {
    const list = differing.map(
      (key) => `mapper [${existing.path}] has different [${FIXED_NAMES[key]}] values`,
    );
    throw conflict(`Mapper for [${existing.path}] conflicts with existing mapping:\n[${list.join(", ")}]`);
  }
  const byPath = new Map(existing.multiFields.map((field) => [field.path, field]));
  for (const field of update.multiFields) {
    const old = byPath.get(field.path);
    byPath.set(field.path, old === undefined ? field : mergeField(old, field));
  }
  return { ...update, multiFields: [...byPath.values()] };
}

/** Reads a `dynamic` setting. Throws mapping_parse. */
export function parseDynamic(value: unknown): Dynamic {
  const text = String(value);
  if (text === "true" || text === "false" || text === "strict") return text;
  throw parseError(`Could not convert [dynamic] to boolean: [${text}]; use true, false or strict`);
}

function conflict(message: string): AppError {
  return new AppError("mapping_conflict", message);
}

/** Prints an object's settings and children as GET _mapping does. */
export function printObject(node: ObjectNode): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  if (node.dynamic !== undefined) result["dynamic"] = node.dynamic;
  if (!node.enabled) result["enabled"] = false;
  if (node.children.size > 0) {
    const names = [...node.children.keys()].sort();
    result["properties"] = Object.fromEntries(
      names.map((name) => [name, printNode(node.children.get(name)!)]),
    );
  }
  return result;
}

function printNode(node: MappingNode): Record<string, unknown> {
  if (isObjectNode(node)) {
    if (node.shape !== undefined) return { type: "geo_shape", ...node.shape };
    const printed = printObject(node);
    return node.children.size > 0 ? printed : { type: "object", ...printed };
  }
  return printField(node);
}

/** Prints a field as GET _mapping does: type, multi-fields, what was given. */
export function printField(field: Field): Record<string, unknown> {
  const result: Record<string, unknown> = { type: field.type, ...field.given };
  if (field.multiFields.length > 0) {
    result["fields"] = Object.fromEntries(
      field.multiFields.map((child) => [child.path.slice(field.path.length + 1), printField(child)]),
    );
  }
  return result;
}
