/**
 * Members of a document that say which agent and which container its line came from. What a line or an event has under
 * these names goes under `json`: whoever writes the output of a container would name another pod by it.
 */

import type { JsonObject } from "#proto/kit/json.ts";
import { put } from "./event-members.ts";

/** Members that a source may have beside `fields` and `tags`, from the path and the pod of a container's log. */
export const CONTAINER_MEMBERS = ["container", "kubernetes"] as const;
const SOURCE_MEMBERS: ReadonlySet<string> = new Set(["shipper", ...CONTAINER_MEMBERS]);

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

/** Adds what can't stand at its place as member `json`, or `json_` where there is one. */
export function setDisplaced(document: JsonObject, displaced: JsonObject): void {
  if (Object.keys(displaced).length === 0) return;
  let place = "json";
  while (Object.hasOwn(document, place)) place += "_";
  document[place] = displaced;
}
