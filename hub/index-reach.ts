/** Which indices a principal reaches: those of its patterns, and the hub's own ones only as an administrator. */

import { mayReach, type Principal } from "#hub/auth/principal.ts";

/** What the names of the hub's own indices begin with. */
export const INTERNAL_PREFIX = ".tailrace-";

/** Returns true where `principal` may work with the index `name` (concrete, no alias). */
export function reaches(principal: Principal, name: string): boolean {
  if (name.startsWith(INTERNAL_PREFIX) && !principal.actions.has("administer")) return false;
  return mayReach(principal, name);
}
