/**
 * Merges the fields of PUT _mapping and dynamic fields into a mapping: new nodes along the path, the old ones stay as
 * they are.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { Analysis } from "../analysis/analysis.ts";
import type { Field } from "./field.ts";
import { EMPTY_ROOT, isObjectNode, type MappingNode, type ObjectNode, parseDynamic } from "./node.ts";
import { asRecord, parseError, printValue } from "./parameters.ts";
import { parseField } from "./parse-field.ts";

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

/** Merges one child; a dotted name creates the objects along its path. */
function mergeChild(
  children: Map<string, MappingNode>,
  parent: string,
  name: string,
  json: Readonly<Record<string, unknown>>,
  analysis: Analysis,
): void {
  if (name === "" || name.startsWith(".") || name.endsWith(".") || name.includes("..")) {
    const reason = "name cannot be empty string";
    throw new AppError("mapping_parse", `Failed to parse mapping: ${reason}`, {
      data: { caused_by: { type: "illegal_argument_exception", reason } },
    });
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
  if (isRangeType(json["type"]) || (isObjectNode(existing) && isRangeType(existing.kind?.type))) {
    children.set(name, mergeRange(existing, path, json, analysis));
    return;
  }
  const { type } = json;
  if (type === "nested" || type === "object" || (type === undefined && isObjectJson(json))) {
    children.set(name, mergeObjectChild(existing, path, json, analysis));
    return;
  }
  const field = parseField(path, name, json, analysis);
  if (existing === undefined) children.set(name, field);
  else if (isObjectNode(existing))
    throw conflict(`object mapping [${path}] can't be changed from object to [${field.type}]`);
  else children.set(name, mergeField(existing, field));
}

/** Merges an object or a nested object. Throws mapping_conflict. */
function mergeObjectChild(
  existing: MappingNode | undefined,
  path: string,
  json: Readonly<Record<string, unknown>>,
  analysis: Analysis,
): MappingNode {
  if (existing !== undefined && !isObjectNode(existing)) {
    throw conflict(`Can't merge a non object mapping [${path}] with an object mapping [${path}]`);
  }
  checkObjectKeys(path.slice(path.lastIndexOf(".") + 1), json);
  const isNested = json["type"] === "nested";
  const wasNested = existing?.kind?.type === "nested";
  if (existing !== undefined && json["type"] !== undefined && wasNested !== isNested) {
    throw conflict(
      wasNested
        ? `object mapping [${path}] can't be changed from nested to non-nested`
        : `object mapping [${path}] can't be changed from non-nested to nested`,
    );
  }
  const merged = mergeObject(existing ?? { ...EMPTY_ROOT, path }, json, analysis);
  const given = { ...existing?.kind?.given, ...pick(json, ["include_in_parent", "include_in_root"]) };
  return isNested || wasNested ? { ...merged, kind: { type: "nested", given } } : merged;
}

function pick(json: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(json).filter(([name]) => names.includes(name)));
}

/** `type` may be left out of an object: one with properties, or with object settings only. */
function isObjectJson(json: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(json).some((key) => key === "properties" || key === "dynamic" || key === "enabled");
}

function checkObjectKeys(name: string, json: Readonly<Record<string, unknown>>): void {
  const nested = json["type"] === "nested" ? ["include_in_parent", "include_in_root"] : [];
  checkKnown(name, json, ["type", "properties", "dynamic", "enabled", "include_in_all", ...nested]);
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

/** A GeoJSON shape is an object of which only `type` is indexed, so that `exists` finds it. */
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

/** Types of ranges, with the type of their bounds. */
const RANGES: Readonly<Record<string, string>> = {
  integer_range: "integer",
  long_range: "long",
  float_range: "float",
  double_range: "double",
  date_range: "date",
  ip_range: "ip",
};

function isRangeType(type: unknown): boolean {
  return typeof type === "string" && Object.hasOwn(RANGES, type);
}

/** A range is an object whose bounds are fields: {gte | gt, lte | lt}. */
function mergeRange(
  existing: MappingNode | undefined,
  path: string,
  json: Readonly<Record<string, unknown>>,
  analysis: Analysis,
): ObjectNode {
  const { type, ...given } = json;
  const known = isObjectNode(existing) ? (existing.kind?.type ?? "object") : existing?.type;
  if (typeof type !== "string" || !isRangeType(type) || (existing !== undefined && known !== type)) {
    throw conflict(
      `mapper [${path}] of different type, current_type [${known}], merged_type [${printValue(type ?? "object")}]`,
    );
  }
  checkKnown(path, json, ["type", "coerce", "format", "locale", "index", "store", "boost", "doc_values"]);
  const bound = { type: RANGES[type], ...pick(given, type === "date_range" ? ["format"] : ["coerce"]) };
  const bounds = type === "ip_range" ? { type: "ip" } : bound;
  const properties = { gte: bounds, gt: bounds, lte: bounds, lt: bounds };
  const node = mergeObject({ ...EMPTY_ROOT, path }, { properties, dynamic: "strict" }, analysis);
  return { ...node, kind: { type, given } };
}

function conflict(message: string): AppError {
  return new AppError("mapping_conflict", message);
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

/** Returns the field as `update` has it. Throws mapping_conflict if that would need another index. */
export function mergeField(existing: Field, update: Field): Field {
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
