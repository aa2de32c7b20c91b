/** Routes of connected accounts below /api/connections: providers, connecting through the prompt, removing. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { type Action, authorize, type Principal } from "#hub/auth/accounts/principal.ts";
import { quietRoute } from "#hub/auth/audit/redaction.ts";
import { CONNECTIONS_CALLBACK, type Connections } from "#hub/auth/client/connections.ts";
import type { Authenticator } from "#hub/auth/sign-in/authenticator.ts";
import { bindingFrom } from "#hub/auth/state/secrets.ts";
import type { Cookies } from "#hub/auth/web/cookies.ts";
import { sendError } from "#hub/auth/web/json-routes.ts";
import { html, sendPage } from "#hub/auth/web/page.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { schemaFault, Type } from "#proto/kit/schema.ts";

const BODY_LIMIT_BYTES = 64 * 1024;
/** Cookie that ties a flow to the browser that began it. */
const BINDING_COOKIE = "tailrace_connect";
const BINDING_SECONDS = 15 * 60;

const ConnectBody = Type.Object(
  {
    provider: Type.String(),
    name: Type.String({ minLength: 1, maxLength: 100 }),
    id: Type.Optional(Type.String({ description: "The account to connect again." })),
  },
  { additionalProperties: false },
);

export interface ConnectionsPluginParts {
  readonly connections: Connections;
  readonly authenticator: Authenticator;
  readonly cookies: () => Cookies;
  readonly publicUrl: () => string;
  readonly log: Logger;
}

type Deed = (call: {
  actor: Principal;
  id: string;
  request: FastifyRequest;
  reply: FastifyReply;
}) => Promise<unknown>;

/** Adds the routes to `app`, a plugin's own scope. */
export function addConnectionRoutes(app: FastifyInstance, parts: ConnectionsPluginParts): void {
  const { connections, authenticator } = parts;
  app.setErrorHandler((error, _request, reply) => sendError(reply, error, parts.log));
  const route = (
    method: "GET" | "POST" | "PUT" | "DELETE",
    url: string,
    action: Action,
    deed: Deed,
  ): void => {
    app.route<{ Params: { id?: string } }>({
      method,
      url: `/api/connections${url}`,
      bodyLimit: BODY_LIMIT_BYTES,
      handler: async (request, reply) => {
        const actor = await authenticator.authenticate(request);
        authorize(actor, action);
        const answer = await deed({ actor, id: request.params.id ?? "", request, reply });
        return reply
          .header("cache-control", "no-store")
          .code(answer === undefined ? 204 : 200)
          .send(answer);
      },
    });
  };
  route("GET", "", "pipeline", async () => ({ connections: await connections.list() }));
  route("POST", "", "pipeline", (call) => connect(parts, call));
  route("DELETE", "/:id", "pipeline", ({ actor, id }) => connections.remove(id, actor.name));
  route("GET", "/providers", "pipeline", async () => ({ providers: await connections.providers.list() }));
  route("POST", "/providers", "administer", async ({ actor, request }) => ({
    id: await connections.providers.add(request.body, actor.name),
  }));
  route("PUT", "/providers/:id", "administer", ({ actor, id, request }) =>
    connections.providers.change(id, request.body, actor.name),
  );
  route("DELETE", "/providers/:id", "administer", ({ actor, id }) =>
    connections.removeProvider(id, actor.name),
  );
  const quiet = { ...quietRoute, exposeHeadRoute: false };
  app.get(CONNECTIONS_CALLBACK, quiet, (request, reply) => callback(parts, request, reply));
}

/** Answers with the address that the dashboard sends the browser to. */
async function connect(
  { connections, cookies }: ConnectionsPluginParts,
  { actor, request, reply }: Parameters<Deed>[0],
): Promise<{ url: string }> {
  if (schemaFault(ConnectBody, request.body) !== undefined) {
    throw new AppError(
      "request_invalid",
      'the body must be {"provider": ID, "name": NAME} and, to connect again, "id"',
    );
  }
  const { provider, name, id } = request.body as Static<typeof ConnectBody>;
  const binding = bindingFrom(cookies().read(request.headers.cookie, BINDING_COOKIE));
  const wanted = { providerId: provider, name, ...(id === undefined ? {} : { id }) };
  const url = await connections.connect(wanted, binding, actor.name);
  reply.header("set-cookie", cookies().write(BINDING_COOKIE, binding, { maxAgeSeconds: BINDING_SECONDS }));
  return { url };
}

/** Where providers send the browser back to. The binding cookie says who began; the session may be over by now. */
async function callback(
  { connections, cookies, publicUrl, log }: ConnectionsPluginParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const parameters = new URL(request.url, publicUrl()).searchParams;
  try {
    const { name } = await connections.finish(
      parameters,
      cookies().read(request.headers.cookie, BINDING_COOKIE),
    );
    const body = html`<h1>Connected</h1><p>${name} is connected. <a href="/">Back to the dashboard</a></p>`;
    return sendPage(reply, 200, "Connected", body);
  } catch (error) {
    const fault = toAppError(error);
    if (fault.code === "internal") log.error({ err: fault.cause }, "connecting an account failed");
    const body = html`<h1>Not connected</h1><p>${fault.message}.</p><p><a href="/">Back to the dashboard</a></p>`;
    return sendPage(reply, fault.status, "Not connected", body);
  }
}
