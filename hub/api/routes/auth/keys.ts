/** `/api/auth/keys`: API keys, for administrators. */

import { empty, json, type Route, routeWithBody } from "#hub/api/http/route.ts";
import type { ApiKeys } from "#hub/auth/accounts/api-keys.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Type } from "#proto/kit/schema.ts";
import { Indices, JSON_ROUTE, RoleName } from "./shared.ts";

const NewKey = Type.Object(
  { name: Type.String(), role: RoleName, indices: Indices, expires_at: Type.Optional(Type.String()) },
  { additionalProperties: false },
);

export function keyRoutes({ apiKeys }: { readonly apiKeys: ApiKeys }): Route[] {
  return [
    {
      ...JSON_ROUTE,
      methods: ["GET"],
      paths: ["/api/auth/keys"],
      action: "administer",
      summary: "Lists the API keys, without their secrets.",
      handle: async () => json({ keys: await apiKeys.list() }),
    },
    routeWithBody({
      ...JSON_ROUTE,
      methods: ["POST"],
      paths: ["/api/auth/keys"],
      action: "administer",
      summary: "Issues an API key. Only this answer has the key itself.",
      schema: NewKey,
      handle: async ({ principal }, { name, role, indices, expires_at: end }) => {
        const wanted = {
          name,
          role,
          ...(indices === undefined ? {} : { indices }),
          ...(end === undefined ? {} : { expiresAt: timeOf(end) }),
        };
        const { key, view } = await apiKeys.issue(wanted, principal.name);
        return json({ key, ...view }, 201);
      },
    }),
    {
      ...JSON_ROUTE,
      methods: ["DELETE"],
      paths: ["/api/auth/keys/{id}"],
      action: "administer",
      summary: "Revokes an API key.",
      handle: async (request) => {
        await apiKeys.revoke(request.segment("id"), request.principal.name);
        return empty(204);
      },
    },
  ];
}

function timeOf(text: string): number {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new AppError("request_invalid", `expires_at: "${text}" isn't a date; write 2030-01-31T00:00:00Z`);
}
