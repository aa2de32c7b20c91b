/** `/api/auth/clients` and `/api/auth/consents`: OAuth clients, for administrators, and everybody's own consents. */

import { empty, json, type Route, routeWithBody } from "#hub/api/http/route.ts";
import type { Clients } from "#hub/auth/provider/clients.ts";
import type { Consents } from "#hub/auth/provider/consents.ts";
import type { Scope } from "#hub/auth/provider/scopes.ts";
import { Type } from "#proto/kit/schema.ts";
import { JSON_ROUTE } from "./shared.ts";

const LIST = "/api/auth/clients";
const ONE = "/api/auth/clients/{id}";

const NewClient = Type.Object(
  {
    name: Type.String(),
    kind: Type.Union([Type.Literal("confidential"), Type.Literal("public"), Type.Literal("resource_server")]),
    redirect_uris: Type.Array(Type.String(), { maxItems: 20 }),
    scopes: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 100 })),
    rotate_refresh_tokens: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** The parts of the embedded provider that the routes of clients need. */
interface ClientParts {
  readonly provider: {
    readonly clients: Clients;
    readonly consents: Consents;
    scopes(): readonly Scope[];
  };
}

export function clientRoutes({ provider }: ClientParts): Route[] {
  const { clients } = provider;
  return [
    {
      ...JSON_ROUTE,
      methods: ["GET"],
      paths: [LIST],
      action: "administer",
      summary: "Lists the OAuth clients and the scopes that they may ask for.",
      handle: async () => json({ clients: await clients.list(), scopes: provider.scopes() }),
    },
    newClient(clients),
    ...secretRoutes(clients),
    {
      ...JSON_ROUTE,
      methods: ["DELETE"],
      paths: [ONE],
      action: "administer",
      summary: "Removes a client with its tokens.",
      handle: async (request) => {
        await clients.remove(request.segment("id"), request.principal.name);
        return empty(204);
      },
    },
    ...consentRoutes(provider),
  ];
}

/** Routes that change the secrets of a client. */
function secretRoutes(clients: Clients): Route[] {
  return [
    {
      ...JSON_ROUTE,
      methods: ["POST"],
      paths: [`${ONE}/rotate`],
      action: "administer",
      summary: "Gives a client a second secret. Only this answer has it.",
      handle: async (request) => {
        const { clientId, clientSecret } = await clients.rotate(
          request.segment("id"),
          request.principal.name,
        );
        return json({ client_id: clientId, client_secret: clientSecret });
      },
    },
    {
      ...JSON_ROUTE,
      methods: ["DELETE"],
      paths: [`${ONE}/old-secret`],
      action: "administer",
      summary: "Ends the older of a client's two secrets.",
      handle: async (request) => {
        await clients.retireOldSecret(request.segment("id"), request.principal.name);
        return empty(204);
      },
    },
  ];
}

function newClient(clients: Clients): Route {
  return routeWithBody({
    ...JSON_ROUTE,
    methods: ["POST"],
    paths: [LIST],
    action: "administer",
    summary: "Registers a client. Only this answer has its secret.",
    schema: NewClient,
    handle: async ({ principal }, body) => {
      const { name, kind, redirect_uris: redirectUris, scopes, rotate_refresh_tokens: rotates } = body;
      const client = {
        name,
        kind,
        redirectUris,
        ...(scopes === undefined ? {} : { scopes }),
        ...(rotates === undefined ? {} : { rotateRefreshTokens: rotates }),
      };
      const { clientId, clientSecret: secret } = await clients.register(client, principal.name);
      return json({ client_id: clientId, ...(secret === undefined ? {} : { client_secret: secret }) }, 201);
    },
  });
}

function consentRoutes({ clients, consents }: ClientParts["provider"]): Route[] {
  return [
    {
      ...JSON_ROUTE,
      methods: ["GET"],
      paths: ["/api/auth/consents"],
      action: [],
      caller: "person",
      summary: "Lists one's own consents, with the names of the applications.",
      handle: async ({ principal }) => {
        const own = await consents.list(principal.id);
        const named = own.map(async (consent) => {
          const client = await clients.get(consent.clientId);
          // No token of a removed client is left.
          return client === null ? [] : [{ ...consent, name: client.name }];
        });
        return json({ consents: (await Promise.all(named)).flat() });
      },
    },
    {
      ...JSON_ROUTE,
      methods: ["DELETE"],
      paths: ["/api/auth/consents/{id}"],
      action: [],
      caller: "person",
      summary: "Withdraws one's own consent to a client.",
      handle: async (request) => {
        const { id, name } = request.principal;
        await consents.withdraw(id, request.segment("id"), name);
        return empty(204);
      },
    },
  ];
}
