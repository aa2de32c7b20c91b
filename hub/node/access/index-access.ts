/** The indices that a principal may access: those of its patterns, and internal ones only as an administrator. */

import type { Reach } from "#hub/alerts/rule-store.ts";
import { mayReach, type Principal } from "#hub/auth/accounts/principal.ts";
import { INTERNAL_PREFIX } from "#hub/cluster/catalog/index-names.ts";

/** Returns true if `principal` may access the index `name` (concrete, no alias). */
export function reaches(principal: Principal, name: string): boolean {
  return isWithin(reachOf(principal), name);
}

/** Returns the current access of `principal`, for work done later on its behalf. */
export function reachOf({ indices, actions }: Principal): Reach {
  return { indices, internal: actions.has("administer") };
}

/** Returns true if the index `name` (concrete, no alias) is accessible. */
export function isWithin(reach: Reach, name: string): boolean {
  return (reach.internal || !name.startsWith(INTERNAL_PREFIX)) && mayReach(reach, name);
}
