/** The tree of a mapping: objects with children, fields as leaves. Immutable; merge-object.ts makes new nodes. */

import type { Field } from "./field.ts";
import { parseError } from "./parameters.ts";

/** What happens to fields that the mapping lacks. */
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
  /** Set for types that are kept as objects: `nested`, and ranges with their bounds as children. */
  readonly kind?: ObjectKind;
}

/** A type that is kept as an object. */
export interface ObjectKind {
  /** "nested", "integer_range", "date_range" … */
  readonly type: string;
  /** Its parameters, as given. */
  readonly given: Readonly<Record<string, unknown>>;
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

/** Reads a `dynamic` setting. Throws mapping_parse. */
export function parseDynamic(value: unknown): Dynamic {
  const text = String(value);
  if (text === "true" || text === "false" || text === "strict") return text;
  throw parseError(`Could not convert [dynamic] to boolean: [${text}]; use true, false or strict`);
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
    if (node.kind !== undefined && node.kind.type !== "nested")
      return { type: node.kind.type, ...node.kind.given };
    const printed = printObject(node);
    if (node.kind !== undefined) return { type: node.kind.type, ...node.kind.given, ...printed };
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
