/** Parses the command lines of `user`, `api-key`, `client` and `agent`. */

import { isRole, ROLES, type Role } from "#hub/auth/accounts/principal.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { overridesOf, PLACE_OPTIONS, type PlaceValues, parseOptions, usageError } from "./arguments.ts";

const USER_ACTIONS = ["add", "passwd", "list", "remove"] as const;
const API_KEY_ACTIONS = ["add", "list", "revoke"] as const;
const CLIENT_ACTIONS = ["add", "list", "rotate", "remove"] as const;
const AGENT_ACTIONS = ["add", "invite", "list", "revoke"] as const;
const KINDS = ["confidential", "public", "resource_server"] as const;

/** Where the hub's state is. */
interface Place {
  readonly config: string | undefined;
  readonly overrides: readonly string[];
  readonly json: boolean;
}

/** The permissions of an account or key. */
interface Reach {
  readonly role: Role;
  readonly indices: readonly string[];
}

interface Administration<Name extends string, Action extends string> extends Place {
  readonly name: Name;
  readonly action: Action;
  /** The name or id of the subject; empty for `list` and `invite`. */
  readonly subject: string;
}

export type UserCommand = Administration<"user", (typeof USER_ACTIONS)[number]> & Reach;

/** Keys are revoked by id. */
export type ApiKeyCommand = Administration<"api-key", (typeof API_KEY_ACTIONS)[number]> &
  Reach & {
    /** Lifetime such as "90d"; empty: unlimited. */
    readonly expiresIn: string;
  };

/** Clients are rotated and removed by id. */
export type ClientCommand = Administration<"client", (typeof CLIENT_ACTIONS)[number]> & {
  readonly kind: (typeof KINDS)[number];
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
};

/** Agents are revoked by name or key. */
export type AgentCommand = Administration<"agent", (typeof AGENT_ACTIONS)[number]> & {
  /** UUID of an existing agent; empty: a new one is assigned. */
  readonly agentId: string;
  /** Lifetime of an invitation such as "24h"; empty: a day. */
  readonly expiresIn: string;
};

const COMMON_OPTIONS = { ...PLACE_OPTIONS, json: { type: "boolean" } } as const;
/** See Reach. */
const REACH_OPTIONS = {
  ...COMMON_OPTIONS,
  role: { type: "string" },
  index: { type: "string", multiple: true },
} as const;

/** Parses the arguments after `user`. Throws usage_invalid. */
export function parseUserCommand(args: readonly string[]): UserCommand {
  const { values, positionals } = parseOptions(args, REACH_OPTIONS);
  const { action, subject } = actionOf("user", USER_ACTIONS, positionals, "NAME");
  return { name: "user", action, subject, ...reachOf(values), ...placeOf(values) };
}

/** Parses the arguments after `api-key`. Throws usage_invalid. */
export function parseApiKeyCommand(args: readonly string[]): ApiKeyCommand {
  const { values, positionals } = parseOptions(args, { ...REACH_OPTIONS, expires: { type: "string" } });
  const { action, subject } = actionOf("api-key", API_KEY_ACTIONS, positionals, "NAME or ID");
  const expiresIn = durationText(values.expires);
  return { name: "api-key", action, subject, expiresIn, ...reachOf(values), ...placeOf(values) };
}

/** Parses the arguments after `client`. Throws usage_invalid. */
export function parseClientCommand(args: readonly string[]): ClientCommand {
  const { values, positionals } = parseOptions(args, {
    ...COMMON_OPTIONS,
    kind: { type: "string" },
    "redirect-uri": { type: "string", multiple: true },
    scope: { type: "string", multiple: true },
  });
  const kind = KINDS.find((each) => each === (values.kind ?? "confidential"));
  if (kind === undefined) throw usageError(`--kind ${values.kind}: choose ${KINDS.join(", ")}`);
  const { action, subject } = actionOf("client", CLIENT_ACTIONS, positionals, "NAME or CLIENT_ID");
  const redirectUris = values["redirect-uri"] ?? [];
  if (action === "add" && kind !== "resource_server" && redirectUris.length === 0)
    throw usageError("client add needs --redirect-uri URI, where people come back to after they signed in");
  return {
    name: "client",
    action,
    subject,
    kind,
    redirectUris,
    scopes: values.scope ?? [],
    ...placeOf(values),
  };
}

/** Parses the arguments after `agent`. Throws usage_invalid. */
export function parseAgentCommand(args: readonly string[]): AgentCommand {
  const { values, positionals } = parseOptions(args, {
    ...COMMON_OPTIONS,
    id: { type: "string" },
    expires: { type: "string" },
  });
  const { action, subject } = actionOf("agent", AGENT_ACTIONS, positionals, "NAME");
  const { id = "", expires } = values;
  return {
    name: "agent",
    action,
    subject,
    agentId: id,
    expiresIn: durationText(expires),
    ...placeOf(values),
  };
}

function reachOf(values: {
  readonly role?: string | undefined;
  readonly index?: string[] | undefined;
}): Reach {
  const { role = "viewer", index = ["*"] } = values;
  if (!isRole(role)) throw usageError(`--role ${role}: choose ${ROLES.join(", ")}`);
  return { role, indices: index };
}

/**
 * Returns the text of --expires, empty if absent. A number alone isn't taken for seconds: a user who writes 5 means
 * other units.
 */
function durationText(text = ""): string {
  const remedy = `--expires ${text}: write a time such as 1h, 24h or 90d`;
  if (/^[\d.\s]+$/.test(text)) throw usageError(remedy);
  try {
    if (text !== "") parseDuration(text);
    return text;
  } catch (error) {
    throw usageError(remedy, error);
  }
}

function actionOf<A extends string>(
  command: string,
  actions: readonly A[],
  [given = "", subject = "", extra]: readonly string[],
  what: string,
): { readonly action: A; readonly subject: string } {
  const action = actions.find((each) => each === given);
  if (action === undefined) {
    const what = given === "" ? `${command} what?` : `${command} ${given}`;
    throw usageError(`${what}: choose ${actions.join(", ")}${didYouMean(given, [...actions])}`);
  }
  const isAlone = action === "list" || action === "invite";
  if (isAlone && subject !== "") throw usageError(`unexpected argument "${subject}"`);
  if (!isAlone && subject === "") throw usageError(`${command} ${action} needs ${what}`);
  if (extra !== undefined) throw usageError(`unexpected argument "${extra}"`);
  return { action, subject };
}

function placeOf(
  values: PlaceValues & { readonly config?: string | undefined; readonly json?: boolean | undefined },
): Place {
  return { config: values.config, overrides: overridesOf(values), json: values.json === true };
}
