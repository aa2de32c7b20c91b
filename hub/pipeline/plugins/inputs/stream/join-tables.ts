/** Joins the fields that a sender gives an event with those that a codec reads. */

import { isHash } from "#proto/event.ts";
import { member, put } from "#proto/event-members.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Adds the fields of `from` to `into`, and those of its tables to tables of the same name. Other values replace those before. */
export function joinTables(into: JsonObject, from: JsonObject): void {
  for (const [name, value] of Object.entries(from)) {
    const own = member(into, name);
    if (isHash(own) && isHash(value)) joinTables(own, value);
    else put(into, name, value);
  }
}
