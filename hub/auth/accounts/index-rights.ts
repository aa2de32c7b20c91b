/**
 * Rights per index. A grant is a pattern of index names, `*` for any characters. It gives every right that the role has
 * there, or only those that are named after a colon: `logs-*`, `logs-*:read`, `logs-web-*:read+write`. Index names
 * contain no colon.
 */

import { AppError } from "#proto/kit/errors.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";

/** Rights that a grant may name, with the action that each allows. */
export const INDEX_RIGHTS = {
  read: "search",
  write: "ingest",
  manage: "index_manage",
  delete: "index_delete",
} as const;

/** The grant of every right on every index. */
export const ALL_INDICES = "*";

/** Actions on one index, to which grants apply. */
export type IndexAction = (typeof INDEX_RIGHTS)[keyof typeof INDEX_RIGHTS];

/** Returns true for actions on one index. */
export function isIndexAction(action: string): action is IndexAction {
  return Object.values<string>(INDEX_RIGHTS).includes(action);
}

/** Returns true if `grants` allow all `actions` on `index`. Without actions: true if any right on it is granted. */
export function mayReach(
  grants: readonly string[],
  index: string,
  actions: readonly IndexAction[] = [],
): boolean {
  if (actions.length === 0) return grants.some((grant) => matchesWildcard(patternOf(grant), index));
  return actions.every((action) =>
    grants.some((grant) => gives(grant, action) && matchesWildcard(patternOf(grant), index)),
  );
}

/** Returns true if every grant allows `action`: the principal may do it on each index that it may access. */
export function allGive(grants: readonly string[], action: IndexAction): boolean {
  return grants.every((grant) => gives(grant, action));
}

/** Returns true if a grant allows `action` on every index. */
export function mayEverywhere(grants: readonly string[], action: IndexAction): boolean {
  return grants.some((grant) => patternOf(grant) === "*" && gives(grant, action));
}

/** Throws request_invalid for a grant without a pattern or with a right that doesn't exist. */
export function checkGrants(grants: readonly string[]): void {
  for (const grant of grants) {
    const pattern = patternOf(grant);
    const names = grant.slice(pattern.length + 1).split("+");
    const known = (name: string): boolean => Object.hasOwn(INDEX_RIGHTS, name);
    if (pattern !== "" && (pattern === grant || names.every(known))) continue;
    throw new AppError(
      "request_invalid",
      `"${grant}" gives no rights on indices; write a pattern such as logs-*, or a pattern with rights such as logs-*:read+write (${Object.keys(INDEX_RIGHTS).join(", ")})`,
    );
  }
}

function patternOf(grant: string): string {
  const mark = grant.indexOf(":");
  return mark < 0 ? grant : grant.slice(0, mark);
}

function gives(grant: string, action: IndexAction): boolean {
  const mark = grant.indexOf(":");
  if (mark < 0) return true;
  const names = grant.slice(mark + 1).split("+");
  return names.some(
    (name) => Object.hasOwn(INDEX_RIGHTS, name) && INDEX_RIGHTS[name as keyof typeof INDEX_RIGHTS] === action,
  );
}
