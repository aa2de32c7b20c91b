/** The indices that a principal may access: those of its grants, and internal ones only as an administrator. */

import type { Reach } from "#hub/alerts/rule-store.ts";
import { type IndexAction, mayReach } from "#hub/auth/accounts/index-rights.ts";
import type { Principal } from "#hub/auth/accounts/principal.ts";
import { isInternal } from "#hub/cluster/catalog/index-names.ts";

/**
 * Returns true if `principal` may do all `actions` on the index `name` (concrete, no alias); without actions, if it has any
 * right there. The route checks whether its role allows them.
 */
export function reaches(principal: Principal, name: string, actions: readonly IndexAction[] = []): boolean {
  const isVisible = principal.actions.has("administer") || !isInternal(name);
  return isVisible && mayReach(principal.indices, name, actions);
}

/** Returns the current access of `principal`, for work done later on its behalf. */
export function reachOf({ indices, actions }: Principal): Reach {
  return { indices, internal: actions.has("administer") };
}

/** Returns true if the index `name` (concrete, no alias) may be searched. */
export function isReadable(reach: Reach, name: string): boolean {
  return (reach.internal || !isInternal(name)) && mayReach(reach.indices, name, ["search"]);
}
