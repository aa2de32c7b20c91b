/** The authenticated caller and its rights: roles, index patterns, actions. */

import { AppError } from "#proto/kit/errors.ts";
import { ALL_INDICES, allGive, isIndexAction, mayReach } from "./index-rights.ts";

/** Actions that routes require. */
export const ACTIONS = [
  "monitor",
  "search",
  "ingest",
  "index_manage",
  "index_delete",
  "save",
  "pipeline",
  "alert",
  "administer",
] as const;

export type Action = (typeof ACTIONS)[number];

/** Actions of each role. Deleting an index destroys logs, so an editor may not. */
const ROLE_ACTIONS = {
  admin: ACTIONS,
  editor: ["monitor", "search", "ingest", "index_manage", "save", "pipeline", "alert"],
  viewer: ["monitor", "search"],
  ingest: ["monitor", "ingest"],
} as const satisfies Record<string, readonly Action[]>;

export type Role = keyof typeof ROLE_ACTIONS;

/** All roles, most powerful first. */
export const ROLES = Object.keys(ROLE_ACTIONS) as readonly Role[];

/**
 * Scopes of access tokens (the last part of their URL) and the actions they allow. Administration can't be delegated.
 * `auth/provider/scopes.ts` has their titles.
 */
const OWN_SCOPES = {
  "logs.read": ["monitor", "search"],
  "logs.write": ["monitor", "ingest"],
  manage: ["monitor", "index_manage", "index_delete", "save", "pipeline", "alert"],
} as const satisfies Record<string, readonly Action[]>;

/** The last part of the URL of a scope of the hub. */
export type OwnScope = keyof typeof OWN_SCOPES;

const SCOPE_ACTIONS: Readonly<Record<string, readonly Action[]>> = OWN_SCOPES;

/** The outcome of authentication. */
export interface Principal {
  readonly kind: "user" | "api_key" | "access_token" | "anonymous";
  /** Account id, key id; "anonymous" if authentication is off. */
  readonly id: string;
  /** For people and the audit log. */
  readonly name: string;
  readonly role: Role;
  readonly actions: ReadonlySet<Action>;
  /** Grants on indices, see index-rights.ts. */
  readonly indices: readonly string[];
  /** The application that an access token was issued to. */
  readonly clientId?: string;
  /** Key of the dashboard session, which is not secret (see Sessions). */
  readonly sessionKey?: string;
  /** Common prefix of this hub's scope URLs; set for access tokens, to name a missing scope in the answer. */
  readonly scopeBase?: string;
}

/** The principal with all rights, if `auth.mode` is off. */
export const ANONYMOUS: Principal = {
  kind: "anonymous",
  id: "anonymous",
  name: "anonymous",
  role: "admin",
  actions: new Set(ACTIONS),
  indices: ["*"],
};

/** The sender of a request to a route that needs no sign-in: it has no rights. */
export const NOBODY: Principal = {
  kind: "anonymous",
  id: "nobody",
  name: "nobody",
  role: "viewer",
  actions: new Set(),
  indices: [],
};

/** Returns the principal's unique key, such as "user 1f2e…". It names the owner of scrolls and tasks. */
export function keyOf({ kind, id }: Principal): string {
  return `${kind} ${id}`;
}

/** Key of every caller if `auth.mode` is off. */
export const EVERYBODY = keyOf(ANONYMOUS);

/** Returns true if `text` names a role. */
export function isRole(text: string): text is Role {
  return Object.hasOwn(ROLE_ACTIONS, text);
}

/**
 * Returns the actions of a role with grants on indices. A principal with access to only some indices can't administer:
 * snapshots, pipelines and new keys have access to all of them.
 */
export function actionsOf(role: Role, indices: readonly string[] = [ALL_INDICES]): ReadonlySet<Action> {
  const actions = new Set<Action>(ROLE_ACTIONS[role]);
  if (!indices.includes(ALL_INDICES)) actions.delete("administer");
  return actions;
}

/** Returns the actions of a role that the given scopes (last parts of their URLs) allow. */
export function actionsOfScopes(role: Role, scopes: Iterable<string>): ReadonlySet<Action> {
  const allowed = new Set<Action>();
  const mine = actionsOf(role);
  for (const scope of scopes) {
    for (const action of SCOPE_ACTIONS[scope] ?? []) if (mine.has(action)) allowed.add(action);
  }
  return allowed;
}

/**
 * Checks that `principal` may do `action` (on `index`, a concrete name, if the action concerns one). Throws forbidden;
 * for access tokens with `data.wwwAuthenticate` as RFC 6750 section 3.1 specifies.
 */
export function authorize(principal: Principal, action: Action, index?: string): void {
  if (!principal.actions.has(action)) {
    const scope = neededScope(principal, action);
    const data = scope === undefined ? {} : { wwwAuthenticate: insufficientScope(scope) };
    const remedy = scope === undefined ? withoutScope(principal, action) : `ask for scope ${scope}`;
    const missing = `${principal.name} (${principal.role}) lacks the right "${action}"; ${remedy}`;
    throw new AppError("forbidden", missing, { data });
  }
  if (index === undefined || !isIndexAction(action) || mayReach(principal.indices, index, [action])) return;
  throw new AppError(
    "forbidden",
    `${principal.name} (${principal.role}) lacks the right "${action}" on index [${index}]; allowed are ${principal.indices.join(", ") || "none"}`,
  );
}

/** Throws forbidden unless `principal` may do each of `actions`, see `authorize`. */
export function authorizeAll(principal: Principal, actions: readonly Action[]): void {
  for (const action of actions) authorize(principal, action);
}

/** Throws forbidden unless `principal` is a signed-in person: keys and tokens have no sessions and consents of their own. */
export function requirePerson(principal: Principal): void {
  if (principal.kind === "user") return;
  throw new AppError(
    "forbidden",
    `${principal.name} is not a signed-in person; sign in on the dashboard for this`,
  );
}

/** Returns true if the principal may do `action`; if the action concerns an index: on each index that it may access. */
export function mayDo({ actions, indices }: Principal, action: Action): boolean {
  return actions.has(action) && (!isIndexAction(action) || allGive(indices, action));
}

/** Returns what would allow the action other than a scope. */
function withoutScope({ role, indices, scopeBase }: Principal, action: Action): string {
  const lacksGrant = actionsOf(role).has(action) && !actionsOf(role, indices).has(action);
  if (!lacksGrant || scopeBase !== undefined) return "ask an administrator for another role";
  return `that needs the grant ${ALL_INDICES} on all indices, not only ${indices.join(", ") || "none"}: ask an administrator for it, or add one with tailrace-hub user add NAME --role admin`;
}

function neededScope(principal: Principal, action: Action): string | undefined {
  if (principal.scopeBase === undefined || !actionsOf(principal.role).has(action)) return undefined;
  const name = Object.keys(SCOPE_ACTIONS).find((scope) => SCOPE_ACTIONS[scope]?.includes(action));
  return name === undefined ? undefined : principal.scopeBase + name;
}

function insufficientScope(scope: string): string {
  return `Bearer realm="tailrace", error="insufficient_scope", error_description="the access token lacks a scope", scope="${scope}"`;
}
