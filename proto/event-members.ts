/** Members of the objects and lists that events consist of. */

import type { JsonObject } from "#proto/kit/json.ts";

/** A value is set where a container is needed: `[a][b]` set while `a` is text. */
export class FieldConflict extends Error {}

/** Returns `fields` without the members that are undefined. */
export function withoutHoles(fields: JsonObject): JsonObject {
  const rest: JsonObject = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined) put(rest, name, value);
  }
  return rest;
}

/** Returns the value of a member or a place in a list; undefined if there is none. */
export function member(container: object, key: string): unknown {
  if (Array.isArray(container)) {
    const index = listIndex(container, key);
    return index < 0 ? undefined : container[index];
  }
  return Object.hasOwn(container, key) ? (container as JsonObject)[key] : undefined;
}

/** Sets a member by its literal name; `__proto__` is a name like any other. Throws FieldConflict for no place in a list. */
export function put(container: object, key: string, value: unknown): void {
  if (Array.isArray(container)) {
    const index = /^[0-9]{1,6}$/.test(key) ? Number(key) : listIndex(container, key);
    if (index < 0) throw new FieldConflict(`[${key}] is no place in a list`);
    while (container.length < index) container.push(null);
    container[index] = value;
  } else if (key === "__proto__") {
    Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    (container as JsonObject)[key] = value;
  }
}

/** Removes a member and returns its value; undefined if there is none. */
export function take(container: object, key: string): unknown {
  const value = member(container, key);
  if (value === undefined) return undefined;
  if (Array.isArray(container)) container.splice(listIndex(container, key), 1);
  else delete (container as JsonObject)[key];
  return value;
}

/** Returns the place that `key` names in a list, -1 counting from the end; -1 for none. */
function listIndex(list: readonly unknown[], key: string): number {
  if (!/^-?[0-9]{1,9}$/.test(key)) return -1;
  const index = Number(key) < 0 ? list.length + Number(key) : Number(key);
  return index >= 0 && index < list.length ? index : -1;
}
