/**
 * Members of the objects and lists that events consist of. Members of a document that say which agent and which
 * container its line came from. What a line or an event has under these names goes under `json`: whoever writes the
 * output of a container would name another pod by it.
 */

import { type JsonObject, setMember } from "#proto/kit/json.ts";

/** Members that a source may have beside `fields` and `tags`, from the path and the pod of a container's log. */
export const CONTAINER_MEMBERS = ["container", "kubernetes"] as const;
const SOURCE_MEMBERS: ReadonlySet<string> = new Set(["shipper", ...CONTAINER_MEMBERS]);

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

/** Returns the value of a member or an entry of a list; undefined if there is none. */
export function member(container: object, key: string): unknown {
  if (Array.isArray(container)) {
    const index = listIndex(container, key);
    return index < 0 ? undefined : container[index];
  }
  return Object.hasOwn(container, key) ? (container as JsonObject)[key] : undefined;
}

/**
 * Sets a member by its literal name; `__proto__` is a name like any other. Throws FieldConflict for an invalid index of
 * a list.
 */
export function put(container: object, key: string, value: unknown): void {
  if (Array.isArray(container)) {
    const index = /^[0-9]{1,6}$/.test(key) ? Number(key) : listIndex(container, key);
    if (index < 0) throw new FieldConflict(`[${key}] isn't a place in a list`);
    while (container.length < index) container.push(null);
    container[index] = value;
  } else if (key === "__proto__") {
    setMember(container, key, value);
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

/** Returns the index that `key` names in a list, -1 counting from the end; -1 for none. */
function listIndex(list: readonly unknown[], key: string): number {
  if (!/^-?[0-9]{1,9}$/.test(key)) return -1;
  const index = Number(key) < 0 ? list.length + Number(key) : Number(key);
  return index >= 0 && index < list.length ? index : -1;
}

/** Returns true where `name`, or its part before the first dot, is a member that says where a line came from. */
export function isSourceMember(name: string): boolean {
  if (SOURCE_MEMBERS.has(name)) return true;
  const dot = name.indexOf(".");
  return dot > 0 && SOURCE_MEMBERS.has(name.slice(0, dot));
}

/** Returns true where `name` is such a member, whole or in part, and `document` has it. */
export function isOfSource(name: string, document: JsonObject): boolean {
  return isSourceMember(name) && Object.hasOwn(document, name.split(".", 1)[0]!);
}

/** Returns the fields of an event, with those under `json` that would stand for what `common` says of its source. */
export function besideSource(own: JsonObject, common: JsonObject): JsonObject {
  if (!Object.keys(own).some((name) => isOfSource(name, common))) return own;
  const kept: JsonObject = {};
  const displaced: JsonObject = {};
  for (const [name, value] of Object.entries(own))
    put(isOfSource(name, common) ? displaced : kept, name, value);
  setDisplaced(kept, displaced);
  return kept;
}

/** Adds what can't be set at its path as member `json`, or `json_` where there is one. */
export function setDisplaced(document: JsonObject, displaced: JsonObject): void {
  if (Object.keys(displaced).length === 0) return;
  let place = "json";
  while (Object.hasOwn(document, place)) place += "_";
  document[place] = displaced;
}
