/** Which indices a principal reaches: those of its patterns, and the hub's own ones only as an administrator. */

import type { Reach } from "#hub/alerts/rule-store.ts";
import { mayReach, type Principal } from "#hub/auth/accounts/principal.ts";
import { INTERNAL_PREFIX } from "#hub/cluster/catalog/index-names.ts";

/** Returns true where `principal` may work with the index `name` (concrete, no alias). */
export function reaches(principal: Principal, name: string): boolean {
  return isWithin(reachOf(principal), name);
}

/** Returns what `principal` reaches now, for what is done in its name later. */
export function reachOf({ indices, actions }: Principal): Reach {
  return { indices, internal: actions.has("administer") };
}

/** Returns true where the index `name` (concrete, no alias) is reached. */
export function isWithin(reach: Reach, name: string): boolean {
  return (reach.internal || !name.startsWith(INTERNAL_PREFIX)) && mayReach(reach, name);
}
