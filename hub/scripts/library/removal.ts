/** Removing members from lists and sets, also from those that show a map's entries. */

import type { CallContext } from "#hub/scripts/values/values.ts";
import { has, membersOf } from "./members.ts";

/** Entries of the members of what a map shows as a collection: keySet(), values(), entrySet(). */
const VIEWS = new WeakMap<object, readonly Detachable[]>();

/** Records that `collection` shows `entries`, in their order: what is removed there leaves the map. */
export function viewOf<T extends object>(collection: T, entries: readonly Detachable[]): T {
  VIEWS.set(collection, entries);
  return collection;
}

/** Removes the members that fail a test, and the entries that they show; returns whether there were any. */
export function keepOnly(
  collection: unknown[] | Set<unknown>,
  test: (value: unknown) => boolean,
  context: CallContext,
): boolean {
  const members = [...collection];
  context.spend(members.length);
  const keeps = members.map(test);
  const kept = members.filter((_, at) => keeps[at]);
  if (kept.length === members.length) return false;
  const gone = members.filter((_, at) => !keeps[at]);
  if (collection instanceof Set) for (const each of gone) collection.delete(each);
  else collection.splice(0, collection.length, ...kept);
  const entries = VIEWS.get(collection);
  if (entries === undefined) return true;
  for (const entry of entries.filter((_, at) => !keeps[at])) entry.detach();
  VIEWS.set(
    collection,
    entries.filter((_, at) => keeps[at]),
  );
  return true;
}

/** Removes the members that `other` has, or those that it hasn't: `keeps`. */
export function removeThose(
  self: unknown[] | Set<unknown>,
  other: unknown,
  keeps: boolean,
  context: CallContext,
): boolean {
  const members = membersOf(other, context);
  return keepOnly(self, (each) => has(members, each, context) === keeps, context);
}

/** A member that can be taken out of what it was made of, as an entry of its map. */
export interface Detachable {
  detach(): void;
}
