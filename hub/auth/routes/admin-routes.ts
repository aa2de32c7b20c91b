/** Routes of administration below /api/auth: accounts, API keys, clients, agents; and everybody's own consents. */

import type { FastifyInstance } from "fastify";
import type { Accounts } from "#hub/auth/accounts/accounts.ts";
import type { ApiKeys } from "#hub/auth/accounts/api-keys.ts";
import type { PasswordSignIn } from "#hub/auth/accounts/password-sign-in.ts";
import { authorize, ROLES, requirePerson } from "#hub/auth/accounts/principal.ts";
import type { Sessions } from "#hub/auth/accounts/sessions.ts";
import type { Clients } from "#hub/auth/provider/clients.ts";
import type { Consents } from "#hub/auth/provider/consents.ts";
import type { Scope } from "#hub/auth/provider/scopes.ts";
import type { Authenticator } from "#hub/auth/sign-in/authenticator.ts";
import { type AddJsonRoute, checked, type JsonHandler, sendError } from "#hub/auth/web/json-routes.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Type } from "#proto/kit/schema.ts";
import { type AgentRouteParts, addEnrolmentRoute, agentRoutes } from "./agent-routes.ts";

/** Largest body, bytes. */
const BODY_LIMIT_BYTES = 64 * 1024;

const RoleName = Type.Union(ROLES.map((role) => Type.Literal(role)));
const Indices = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 100 }),
);
const closed = { additionalProperties: false } as const;

const NewAccountBody = Type.Object(
  { name: Type.String(), password: Type.String(), role: RoleName, indices: Indices },
  closed,
);
const AccountChangeBody = Type.Object(
  { password: Type.Optional(Type.String()), role: Type.Optional(RoleName), indices: Indices },
  closed,
);
const NewKeyBody = Type.Object(
  { name: Type.String(), role: RoleName, indices: Indices, expires_at: Type.Optional(Type.String()) },
  closed,
);
const NewClientBody = Type.Object(
  {
    name: Type.String(),
    kind: Type.Union([Type.Literal("confidential"), Type.Literal("public"), Type.Literal("resource_server")]),
    redirect_uris: Type.Array(Type.String(), { maxItems: 20 }),
    scopes: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 100 })),
    rotate_refresh_tokens: Type.Optional(Type.Boolean()),
  },
  closed,
);
const PasswordBody = Type.Object({ current: Type.String(), password: Type.String() }, closed);

export interface AdminPluginParts extends AgentRouteParts {
  readonly authenticator: Authenticator;
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly sessions: Sessions;
  readonly signIn: PasswordSignIn;
  /** The embedded identity provider. */
  readonly provider: {
    readonly clients: Clients;
    readonly consents: Consents;
    readonly scopes: () => readonly Scope[];
  };
  readonly log: Logger;
}

/** Adds the routes to `app`, a plugin's own scope. Secrets are in the answer that makes them and never again. */
export function addAdminRoutes(app: FastifyInstance, parts: AdminPluginParts): void {
  app.setErrorHandler((error, _request, reply) => sendError(reply, error, parts.log));
  const route: AddJsonRoute = (method, url, status, answerTo: JsonHandler, own = false) =>
    app.route<{ Params: { id?: string } }>({
      method,
      url: `/api/auth/${url}`,
      bodyLimit: BODY_LIMIT_BYTES,
      handler: async (request, reply) => {
        const actor = await parts.authenticator.authenticate(request);
        if (own) requirePerson(actor);
        else authorize(actor, "administer");
        const answer = await answerTo({
          actor,
          id: request.params.id ?? "",
          body: request.body,
          ip: request.ip,
        });
        return reply.code(status).header("cache-control", "no-store").send(answer);
      },
    });
  accountRoutes(route, parts);
  keyRoutes(route, parts);
  clientRoutes(route, parts);
  agentRoutes(route, parts);
  addEnrolmentRoute(app, parts);
}

function accountRoutes(
  route: AddJsonRoute,
  { accounts, sessions, signIn, provider }: AdminPluginParts,
): void {
  route("GET", "accounts", 200, async () => ({ accounts: await accounts.list() }));
  route("POST", "accounts", 201, ({ actor, body }) => {
    const { name, password, role, indices } = checked(NewAccountBody, body);
    return accounts.add({ name, password, role, ...(indices === undefined ? {} : { indices }) }, actor.name);
  });
  route("PATCH", "accounts/:id", 204, async ({ actor, id, body }) => {
    const { password, role, indices } = checked(AccountChangeBody, body);
    const found = await accounts.find(id);
    if (found === null) throw new AppError("not_found", `there is no account "${id}"`);
    if (password !== undefined) await accounts.setPassword(id, password, actor.name);
    if (role !== undefined || indices !== undefined) {
      await accounts.setRole(id, role ?? found.account.role, indices ?? found.account.indices, actor.name);
    }
    await sessions.endAll(found.id);
  });
  route(
    "POST",
    "password",
    204,
    async ({ actor, body, ip }) => {
      const { current, password } = checked(PasswordBody, body);
      if (!(await signIn.confirm(actor.name, current, ip))) {
        throw new AppError("forbidden", "the current password is wrong");
      }
      await accounts.setPassword(actor.name, password, actor.name);
    },
    true,
  );
  route("DELETE", "accounts/:id", 204, async ({ actor, id: name }) => {
    const { id } = await accounts.remove(name, actor.name);
    await sessions.endAll(id);
    await provider.consents.forget(id);
  });
}

function keyRoutes(route: AddJsonRoute, { apiKeys }: AdminPluginParts): void {
  route("GET", "keys", 200, async () => ({ keys: await apiKeys.list() }));
  route("POST", "keys", 201, async ({ actor, body }) => {
    const { name, role, indices, expires_at } = checked(NewKeyBody, body);
    const expiresAt = expires_at === undefined ? undefined : Date.parse(expires_at);
    if (expiresAt !== undefined && Number.isNaN(expiresAt)) {
      throw new AppError(
        "request_invalid",
        `expires_at: "${expires_at}" is no date; write 2030-01-31T00:00:00Z`,
      );
    }
    const wanted = {
      name,
      role,
      ...(indices === undefined ? {} : { indices }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
    const { key, view } = await apiKeys.issue(wanted, actor.name);
    return { key, ...view };
  });
  route("DELETE", "keys/:id", 204, ({ actor, id }) => apiKeys.revoke(id, actor.name));
}

function clientRoutes(route: AddJsonRoute, { provider }: AdminPluginParts): void {
  const { clients, consents } = provider;
  route("GET", "clients", 200, async () => ({ clients: await clients.list(), scopes: provider.scopes() }));
  route("POST", "clients", 201, async ({ actor, body }) => {
    const { name, kind, redirect_uris, scopes, rotate_refresh_tokens } = checked(NewClientBody, body);
    const client = {
      name,
      kind,
      redirectUris: redirect_uris,
      ...(scopes === undefined ? {} : { scopes }),
      ...(rotate_refresh_tokens === undefined ? {} : { rotateRefreshTokens: rotate_refresh_tokens }),
    };
    const { clientId, clientSecret } = await clients.register(client, actor.name);
    return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
  });
  route("POST", "clients/:id/rotate", 200, async ({ actor, id }) => {
    const { clientId, clientSecret } = await clients.rotate(id, actor.name);
    return { client_id: clientId, client_secret: clientSecret };
  });
  route("DELETE", "clients/:id/old-secret", 204, ({ actor, id }) => clients.retireOldSecret(id, actor.name));
  route("DELETE", "clients/:id", 204, ({ actor, id }) => clients.remove(id, actor.name));
  route("GET", "consents", 200, async ({ actor }) => ({ consents: await consents.list(actor.id) }), true);
  route("DELETE", "consents/:id", 204, ({ actor, id }) => consents.withdraw(actor.id, id, actor.name), true);
}
