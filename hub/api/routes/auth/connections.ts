/** `/api/connections`: people's accounts at other providers, and the definitions of those providers. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, empty, json, type Route, routeWithBody } from "#hub/api/http/route.ts";
import type { Auth } from "#hub/auth/auth.ts";
import { CONNECTIONS_CALLBACK } from "#hub/auth/client/connections.ts";
import { bindingFrom } from "#hub/auth/state/secrets.ts";
import { html, pageAnswer } from "#hub/auth/web/page.ts";
import { languageOf, sayIn } from "#hub/auth/web/page-language.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Type } from "#proto/kit/schema.ts";
import { JSON_ROUTE, PAGE_ROUTE } from "./shared.ts";

const LIST = "/api/connections";
const PROVIDERS = "/api/connections/providers";
/** Cookie that ties a flow to the browser that began it. */
const BINDING_COOKIE = "tailrace_connect";
const BINDING_SECONDS = 15 * 60;

const NewConnection = Type.Object(
  {
    provider: Type.String({ description: "Id of the provider." }),
    name: Type.String({ minLength: 1, maxLength: 100 }),
    id: Type.Optional(Type.String({ description: "The account to connect again." })),
  },
  { additionalProperties: false },
);

type ConnectionParts = Pick<Auth, "connections" | "cookies" | "publicUrl">;

export function connectionRoutes(auth: ConnectionParts, log: Logger): Route[] {
  const { connections, cookies } = auth;
  return [
    {
      ...JSON_ROUTE,
      methods: ["GET"],
      paths: [LIST],
      action: "pipeline",
      summary: "Lists the connected accounts, without their tokens.",
      handle: async () => json({ connections: await connections.list() }),
    },
    routeWithBody({
      ...JSON_ROUTE,
      methods: ["POST"],
      paths: [LIST],
      action: "pipeline",
      summary: "Begins to connect an account; the dashboard sends the browser to the address in the answer.",
      schema: NewConnection,
      handle: async ({ principal, headers }, { provider, name, id }) => {
        const binding = bindingFrom(cookies().read(headers.cookie, BINDING_COOKIE));
        const wanted = { providerId: provider, name, ...(id === undefined ? {} : { id }) };
        const url = await connections.connect(wanted, binding, principal.name);
        const cookie = cookies().write(BINDING_COOKIE, binding, { maxAgeSeconds: BINDING_SECONDS });
        return { ...json({ url }), headers: { "set-cookie": cookie } };
      },
    }),
    {
      ...JSON_ROUTE,
      methods: ["DELETE"],
      paths: [`${LIST}/{id}`],
      action: "pipeline",
      summary: "Removes a connected account and revokes its tokens.",
      handle: async (request) => {
        await connections.remove(request.segment("id"), request.principal.name);
        return empty(204);
      },
    },
    ...definitionRoutes(auth),
    {
      ...PAGE_ROUTE,
      methods: ["GET"],
      paths: [CONNECTIONS_CALLBACK],
      summary: "Ends connecting an account: the provider sends the browser here.",
      handle: (request) => callback(auth, request, log),
    },
  ];
}

function definitionRoutes({ connections }: ConnectionParts): Route[] {
  const { providers } = connections;
  return [
    {
      ...JSON_ROUTE,
      methods: ["GET"],
      paths: [PROVIDERS],
      action: "pipeline",
      summary: "Lists the providers, without their secrets.",
      handle: async () => json({ providers: await providers.list() }),
    },
    {
      ...JSON_ROUTE,
      methods: ["POST"],
      paths: [PROVIDERS],
      action: "administer",
      summary: "Adds a provider.",
      handle: async (request) => json({ id: await providers.add(request.value(), request.principal.name) }),
    },
    {
      ...JSON_ROUTE,
      methods: ["PUT"],
      paths: [`${PROVIDERS}/{id}`],
      action: "administer",
      summary: "Changes a provider.",
      handle: async (request) => {
        await providers.change(request.segment("id"), request.value(), request.principal.name);
        return empty(204);
      },
    },
    {
      ...JSON_ROUTE,
      methods: ["DELETE"],
      paths: [`${PROVIDERS}/{id}`],
      action: "administer",
      summary: "Removes a provider with its connected accounts.",
      handle: async (request) => {
        await connections.removeProvider(request.segment("id"), request.principal.name);
        return empty(204);
      },
    },
  ];
}

/** The binding cookie identifies the person who began: the session may have ended since. */
async function callback(
  { connections, cookies, publicUrl }: ConnectionParts,
  { uri, headers }: ApiRequest,
  log: Logger,
): Promise<ApiResponse> {
  const parameters = new URL(uri, publicUrl()).searchParams;
  const language = headers["accept-language"];
  const say = sayIn(languageOf(language));
  const home = html`<a href="/">${say("Back to the dashboard")}</a>`;
  try {
    const { name } = await connections.finish(parameters, cookies().read(headers.cookie, BINDING_COOKIE));
    const body = html`<h1>${say("Connected")}</h1><p>${say("{0} is connected.", name)} ${home}</p>`;
    return pageAnswer(200, say("Connected"), body, language);
  } catch (error) {
    const { code, cause, message, status } = toAppError(error);
    if (code === "internal") log.error({ err: cause }, "connecting an account failed");
    const body = html`<h1>${say("Not connected")}</h1><p>${message}.</p><p>${home}</p>`;
    return pageAnswer(status, say("Not connected"), body, language);
  }
}
