/** The indices that a principal may access: those of its grants, and internal ones only as an administrator. */

import type { IndexInfo } from "#hub/api/ports/indices.ts";
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

/** Returns the name to which permissions apply: for backing indices, that of the data stream. */
export function reachedName({ name, dataStream }: Pick<IndexInfo, "name" | "dataStream">): string {
  return dataStream ?? name;
}
