/** `/api/auth/accounts` and `/api/auth/password`: accounts, for administrators, and everybody's own password. */

import { empty, json, type Route, routeWithBody } from "#hub/api/http/route.ts";
import { cleanUp } from "#hub/auth/account-cleanup.ts";
import type { Auth } from "#hub/auth/auth.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Type } from "#proto/kit/schema.ts";
import { Indices, JSON_ROUTE, RoleName } from "./shared.ts";

const LIST = "/api/auth/accounts";
const ONE = "/api/auth/accounts/{id}";

const NewAccount = Type.Object(
  { name: Type.String(), password: Type.String(), role: RoleName, indices: Indices },
  { additionalProperties: false },
);
const AccountChange = Type.Object(
  { password: Type.Optional(Type.String()), role: Type.Optional(RoleName), indices: Indices },
  { additionalProperties: false },
);
const PasswordChange = Type.Object(
  { current: Type.String(), password: Type.String() },
  { additionalProperties: false },
);

type AccountParts = Pick<Auth, "accounts" | "sessions" | "passwordSignIn" | "provider">;

export function accountRoutes(auth: AccountParts, log: Logger): Route[] {
  const { accounts, sessions, provider } = auth;
  return [
    {
      ...JSON_ROUTE,
      methods: ["GET"],
      paths: [LIST],
      action: "administer",
      summary: "Lists the accounts.",
      handle: async () => json({ accounts: await accounts.list() }),
    },
    routeWithBody({
      ...JSON_ROUTE,
      methods: ["POST"],
      paths: [LIST],
      action: "administer",
      summary: "Creates an account.",
      schema: NewAccount,
      handle: async ({ principal }, { name, password, role, indices }) => {
        const wanted = { name, password, role, ...(indices === undefined ? {} : { indices }) };
        return json(await accounts.add(wanted, principal.name), 201);
      },
    }),
    changedAccount(auth, log),
    {
      ...JSON_ROUTE,
      methods: ["DELETE"],
      paths: [ONE],
      action: "administer",
      summary: "Removes an account with its sessions and consents.",
      handle: async (request) => {
        const { id } = await accounts.remove(request.segment("id"), request.principal.name);
        await cleanUp(log, sessions.endAll(id), provider.consents.forget(id));
        return empty(204);
      },
    },
    ownPassword(auth, log),
  ];
}

/** The route that changes an account. */
function changedAccount({ accounts, sessions, provider }: AccountParts, log: Logger): Route {
  return routeWithBody({
    ...JSON_ROUTE,
    methods: ["PATCH"],
    paths: [ONE],
    action: "administer",
    summary:
      "Changes an account's password, role or indices, and ends its sessions; a new password ends its codes and tokens too.",
    schema: AccountChange,
    handle: async (request, { password, role, indices }) => {
      const name = request.segment("id");
      const by = request.principal.name;
      const found = await accounts.find(name);
      if (found === null) throw new AppError("not_found", `there is no account "${name}"`);
      const change = {
        ...(password !== undefined && { password }),
        ...(role !== undefined && { role }),
        ...(indices !== undefined && { indices }),
      };
      if (Object.keys(change).length === 0) {
        await sessions.endAll(found.id);
        return empty(204);
      }
      await accounts.update(name, change, by);
      const tokens = password === undefined ? undefined : provider.consents.endTokens(found.id);
      await cleanUp(log, sessions.endAll(found.id), Promise.resolve(tokens));
      return empty(204);
    },
  });
}

function ownPassword({ accounts, sessions, passwordSignIn, provider }: AccountParts, log: Logger): Route {
  return routeWithBody({
    ...JSON_ROUTE,
    methods: ["POST"],
    paths: ["/api/auth/password"],
    action: [],
    caller: "person",
    summary: "Changes one's own password, and ends one's other sessions, and all codes and tokens.",
    schema: PasswordChange,
    handle: async ({ principal, ip }, { current, password }) => {
      const account = await accounts.get(principal.id);
      if (account === null) throw new AppError("not_found", `the account "${principal.name}" was removed`);
      if (account.passwordHash === undefined)
        throw new AppError(
          "request_invalid",
          `${principal.name} signs in at another provider, where the password is changed`,
        );
      if (!(await passwordSignIn.confirm(principal.name, current, ip))) {
        throw new AppError("forbidden", "the current password is wrong");
      }
      const { name, sessionKey } = principal;
      const change = { password, ...(sessionKey !== undefined && { keeps: sessionKey }) };
      await accounts.update(name, change, name);
      const { id } = principal;
      await cleanUp(log, sessions.endAll(id, sessionKey), provider.consents.endTokens(id));
      return empty(204);
    },
  });
}
