/** The rights with which alert rules count: those that the account or API key which saved a rule has now. */

import type { Reach } from "#hub/alerts/alert-state.ts";
import type { SavedRule, Writer } from "#hub/alerts/rule-store.ts";
import type { IndexInfo, Indices, ResolveOptions } from "#hub/api/ports/indices.ts";
import { mayReach } from "#hub/auth/accounts/index-rights.ts";
import { type Action, NOBODY, type Principal } from "#hub/auth/accounts/principal.ts";
import type { Authenticator } from "#hub/auth/sign-in/authenticator.ts";
import { isInternal } from "#hub/cluster/catalog/index-names.ts";
import { AppError } from "#proto/kit/errors.ts";
import { reachedName } from "./index-access.ts";
import { GuardedIndices, type Sender } from "./index-guard.ts";

/** A rule may name indices that don't exist yet, and counts none of them. */
const LENIENT: ResolveOptions = { ignoreUnavailable: true, allowNoIndices: true };
/** Why a writer has no rights at all anymore. */
const ENDS: Readonly<Record<Writer["kind"], string>> = {
  user: "was removed",
  api_key: "was revoked or has expired",
  access_token:
    "was removed, or the application through which it did so was removed or has no consent anymore",
};
const REMEDY = "save the rule again to run it with your rights";

/** Returns what a rule stores of its writer. Nobody signs in where `auth.mode` is off: no account is the writer. */
export function savedFor(principal: Principal): Pick<SavedRule, "reach" | "writer"> {
  const { kind, id, name, clientId } = principal;
  const reach = reachOf(principal);
  if (kind === "anonymous") return { reach };
  return { reach, writer: { kind, id, name, ...(clientId !== undefined && { clientId }) } };
}

/** Returns what a writer may read now. Throws forbidden if it is gone or may not search, unavailable. */
export async function presentReach(
  authenticator: Pick<Authenticator, "present">,
  writer: Writer,
): Promise<Reach> {
  const principal = await authenticator.present(writer);
  if (principal?.actions.has("search") === true) return reachOf(principal);
  const { kind, name } = writer;
  const noun = kind === "api_key" ? "API key" : "account";
  const reason = principal === null ? ENDS[kind] : "may no longer search";
  throw new AppError("forbidden", `not run: ${noun} ${name}, which saved it, ${reason}; ${REMEDY}`);
}

/**
 * Returns the indices within `reach` that an expression matches. Throws forbidden if it names one beyond, or if all that it
 * matches are beyond: a count of no index would be 0, and look as if nothing were wrong.
 */
export function readableIndices(catalog: Indices, expression: string, reach: Reach): IndexInfo[] {
  const actions = new Set<Action>(["search"]);
  if (reach.internal) actions.add("administer");
  const reader: Sender = {
    principal: { ...NOBODY, actions, indices: reach.indices },
    actions: ["search"],
  };
  const indices = new GuardedIndices(catalog, () => reader);
  let found: IndexInfo[];
  try {
    found = indices.resolve(expression, LENIENT);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "forbidden") throw error;
    const { index } = error.data as { readonly index?: string };
    throw unreadable(`[${index ?? expression}]`);
  }
  if (found.length === 0 && catalog.resolve(expression, LENIENT).length > 0)
    throw unreadable(`any index of [${expression}]`);
  return found;
}

/** Returns those of the indices which an expression matches that are within `reach`. */
export function indicesWithin(
  catalog: Pick<Indices, "resolve">,
  expression: string,
  reach: Reach,
): IndexInfo[] {
  return catalog.resolve(expression, LENIENT).filter((index) => isReadable(reach, index));
}

/** Returns true if the index may be searched. */
export function isReadable(reach: Reach, index: Pick<IndexInfo, "name" | "dataStream">): boolean {
  const name = reachedName(index);
  return (reach.internal || !isInternal(name)) && mayReach(reach.indices, name, ["search"]);
}

function unreadable(what: string): AppError {
  return new AppError("forbidden", `not run: the user who saved it may not search ${what}; ${REMEDY}`);
}

function reachOf({ indices, actions }: Principal): Reach {
  return { indices, internal: actions.has("administer") };
}
