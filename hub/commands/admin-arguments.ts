/** Command lines of `user`, `client` and `agent`: what was asked, or what to write instead. */

import { isRole, ROLES, type Role } from "#hub/auth/principal.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { overridesOf, PLACE_OPTIONS, type PlaceValues, parseOptions, usageError } from "./arguments.ts";

const USER_ACTIONS = ["add", "passwd", "list", "remove"] as const;
const CLIENT_ACTIONS = ["add", "list", "rotate", "remove"] as const;
const AGENT_ACTIONS = ["add", "invite", "list", "revoke"] as const;
const KINDS = ["confidential", "public", "resource_server"] as const;

/** Where the state is found. */
interface Place {
  readonly config: string | undefined;
  readonly overrides: readonly string[];
  readonly json: boolean;
}

export type UserCommand = Place & {
  readonly name: "user";
  readonly action: (typeof USER_ACTIONS)[number];
  /** The account's name; empty for `list`. */
  readonly subject: string;
  readonly role: Role;
  readonly indices: readonly string[];
};

export type ClientCommand = Place & {
  readonly name: "client";
  readonly action: (typeof CLIENT_ACTIONS)[number];
  /** The client's name for `add`, its id for `rotate` and `remove`; empty for `list`. */
  readonly subject: string;
  readonly kind: (typeof KINDS)[number];
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
};

export type AgentCommand = Place & {
  readonly name: "agent";
  readonly action: (typeof AGENT_ACTIONS)[number];
  /** The agent's name; for `revoke` perhaps its key; empty for `list` and `invite`. */
  readonly subject: string;
  /** UUID that an agent has already; empty: it gets one. */
  readonly agentId: string;
  /** Life of an invitation: "24h"; empty: a day. */
  readonly expiresIn: string;
};

const COMMON_OPTIONS = { ...PLACE_OPTIONS, json: { type: "boolean" } } as const;

/** Returns the command of the arguments behind `user`. Throws usage_invalid. */
export function parseUserCommand(args: readonly string[]): UserCommand {
  const { values, positionals } = parseOptions(args, {
    ...COMMON_OPTIONS,
    role: { type: "string" },
    index: { type: "string", multiple: true },
  });
  const { role = "viewer", index = ["*"] } = values;
  if (!isRole(role)) throw usageError(`--role ${role}: choose ${ROLES.join(", ")}`);
  const { action, subject } = actionOf("user", USER_ACTIONS, positionals, "NAME");
  return { name: "user", action, subject, role, indices: index, ...placeOf(values) };
}

/** Returns the command of the arguments behind `client`. Throws usage_invalid. */
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
  return {
    name: "client",
    action,
    subject,
    kind,
    redirectUris: values["redirect-uri"] ?? [],
    scopes: values.scope ?? [],
    ...placeOf(values),
  };
}

/** Returns the command of the arguments behind `agent`. Throws usage_invalid. */
export function parseAgentCommand(args: readonly string[]): AgentCommand {
  const { values, positionals } = parseOptions(args, {
    ...COMMON_OPTIONS,
    id: { type: "string" },
    expires: { type: "string" },
  });
  const { action, subject } = actionOf("agent", AGENT_ACTIONS, positionals, "NAME");
  const { id = "", expires = "" } = values;
  return { name: "agent", action, subject, agentId: id, expiresIn: expires, ...placeOf(values) };
}

function actionOf<A extends string>(
  command: string,
  actions: readonly A[],
  [given = "", subject = "", extra]: readonly string[],
  what: string,
): { readonly action: A; readonly subject: string } {
  const action = actions.find((each) => each === given);
  if (action === undefined) {
    throw usageError(`${command} ${given}: choose ${actions.join(", ")}${didYouMean(given, [...actions])}`);
  }
  const isAlone = action === "list" || action === "invite";
  if (isAlone && subject !== "") throw usageError(`"${subject}" is one argument too many`);
  if (!isAlone && subject === "") throw usageError(`${command} ${action} needs ${what}`);
  if (extra !== undefined) throw usageError(`"${extra}" is one argument too many`);
  return { action, subject };
}

function placeOf(
  values: PlaceValues & { readonly config?: string | undefined; readonly json?: boolean | undefined },
): Place {
  return { config: values.config, overrides: overridesOf(values), json: values.json === true };
}
