/** Reads values of a document by field path. */

import type { Field } from "#hub/engine/mapping/field.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Returns the path of a field's value in a document: that of the field a multi-field belongs to, or of a flattened field's key. */
export function sourcePath(field: Field, shard: ShardContext): string {
  for (let path = field.path; path.includes("."); ) {
    path = path.slice(0, path.lastIndexOf("."));
    const parent = shard.mapping.field(path);
    if (parent?.type === "flattened") return field.path;
    if (parent !== undefined) return parent.path;
  }
  return field.path;
}

/** Returns the leaf values at a dotted path, arrays flattened; keys may hold dots themselves. */
export function valuesAt(source: JsonObject, path: string): unknown[] {
  const found: unknown[] = [];
  gather(source, path, found);
  return found;
}

/** Returns the objects at a dotted path, arrays flattened. */
export function objectsAt(source: JsonObject, path: string): JsonObject[] {
  const found: unknown[] = [];
  gather(source, path, found, true);
  return found as JsonObject[];
}

function gather(value: unknown, path: string, found: unknown[], objects = false): void {
  if (Array.isArray(value)) {
    for (const item of value) gather(item, path, found, objects);
    return;
  }
  if (path === "") {
    if (value !== null && value !== undefined && isObject(value) === objects) found.push(value);
    return;
  }
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === path) gather(item, "", found, objects);
    else if (path.startsWith(`${key}.`)) gather(item, path.slice(key.length + 1), found, objects);
  }
}
