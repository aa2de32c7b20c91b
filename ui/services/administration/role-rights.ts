/** The rights of an account or a key: those of its role, on the indices that it is granted. */

import { msg } from "@lit/localize";

/** Rights in the order in which they are shown, with the name that a grant has for those on indices. */
const RIGHTS = [
  ["monitor", undefined, msg("See the state of the hub, its indices and agents")],
  ["search", "read", msg("Search and read lines")],
  ["ingest", "write", msg("Write lines")],
  ["index_manage", "manage", msg("Create and change indices")],
  ["index_delete", "delete", msg("Delete indices")],
  ["save", undefined, msg("Save searches, visualisations and dashboards")],
  ["alert", undefined, msg("Change alert rules")],
  ["pipeline", undefined, msg("Change ingest pipelines")],
  ["administer", undefined, msg("Change pipelines, users, keys and settings")],
] as const;

/** Rights of each role, as the hub has them. */
export const ROLE_RIGHTS: Readonly<Record<string, readonly string[]>> = {
  admin: RIGHTS.map(([action]) => action),
  editor: ["monitor", "search", "ingest", "index_manage", "save", "pipeline", "alert"],
  viewer: ["monitor", "search"],
  ingest: ["monitor", "ingest"],
};

export interface Right {
  readonly text: string;
  readonly isAllowed: boolean;
  /** Patterns of the indices it is allowed on; none: it isn't one of indices. */
  readonly patterns: readonly string[];
}

/** Returns all rights of a role with the grants of an account or a key: `logs-*`, or `logs-*:read+write`. */
export function rightsOf(role: string, grants: readonly string[]): readonly Right[] {
  const held = ROLE_RIGHTS[role] ?? [];
  return RIGHTS.map(([action, indexRight, text]) => {
    const isHeld = held.includes(action);
    // Administration reaches all indices.
    const isLimited = action === "administer" && !grants.includes("*");
    if (indexRight === undefined) return { text, isAllowed: isHeld && !isLimited, patterns: [] };
    const patterns = isHeld ? grants.flatMap((grant) => patternWith(grant, indexRight)) : [];
    return { text, isAllowed: patterns.length > 0, patterns };
  });
}

/** Returns a grant's pattern where it gives a right. */
function patternWith(grant: string, right: string): string[] {
  const cut = grant.indexOf(":");
  if (cut < 0) return [grant];
  const rights = grant.slice(cut + 1).split("+");
  return rights.includes(right) ? [grant.slice(0, cut)] : [];
}
