/** Values of a document by the path of a field. */

import { isObject, type JsonObject } from "../json.ts";

/** Returns the leaf values at a dotted path, arrays flattened; keys may hold dots themselves. */
export function valuesAt(source: JsonObject, path: string): unknown[] {
  const found: unknown[] = [];
  gather(source, path, found);
  return found;
}

function gather(value: unknown, path: string, found: unknown[]): void {
  if (Array.isArray(value)) {
    for (const item of value) gather(item, path, found);
    return;
  }
  if (path === "") {
    if (value !== null && value !== undefined && !isObject(value)) found.push(value);
    return;
  }
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === path) gather(item, "", found);
    else if (path.startsWith(`${key}.`)) gather(item, path.slice(key.length + 1), found);
  }
}
