/** Routes of sign-in, its administration, connected accounts and the identity provider. */

import type { Route } from "#hub/api/http/route.ts";
import type { Auth } from "#hub/auth/auth.ts";
import type { Logger } from "#proto/kit/log.ts";
import { accountRoutes } from "./accounts.ts";
import { agentRoutes } from "./agents.ts";
import { clientRoutes } from "./clients.ts";
import { connectionRoutes } from "./connections.ts";
import { keyRoutes } from "./keys.ts";
import { promptRoutes } from "./prompt.ts";
import { providerRoutes } from "./provider.ts";
import { sessionRoutes } from "./sessions.ts";
import { setupRoutes } from "./setup.ts";

/** Patterns of the paths outside /api, in fastify's syntax. */
export const PROVIDER_PATHS: readonly string[] = [
  "/o/oauth2/*",
  "/token",
  "/revoke",
  "/introspect",
  "/.well-known/oauth-authorization-server",
];

/** Returns the routes, including those of the embedded provider if it is enabled. */
export function authRoutes(auth: Auth, log: Logger): Route[] {
  return [
    ...sessionRoutes(auth, log),
    ...setupRoutes(auth),
    ...accountRoutes(auth, log),
    ...keyRoutes(auth),
    ...clientRoutes(auth),
    ...agentRoutes(auth),
    ...connectionRoutes(auth, log),
    ...(auth.provider.isEnabled ? [...providerRoutes(auth, log), ...promptRoutes(auth)] : []),
  ];
}
