/** Names of the identity provider that browsers and clients see: paths, the cookie, the metadata. */

import type { Scope } from "./scopes.ts";
/** Paths below the hub's address; the specification defines the first two. */
export const PATHS = {
  authorization: "/o/oauth2/v2/auth",
  token: "/token",
  prompt: "/o/oauth2/v2/prompt",
  revocation: "/revoke",
  introspection: "/introspect",
  metadata: "/.well-known/oauth-authorization-server",
} as const;

/** Base name of the cookie of the provider's session; see Cookies. */
export const PROVIDER_COOKIE = "tailrace_provider";

/** Returns the metadata document of the server at `publicUrl` (RFC 8414). */
export function metadataOf(publicUrl: string, scopes: readonly Scope[]): Record<string, unknown> {
  const authentication = ["client_secret_basic", "client_secret_post", "none"];
  const confidential = ["client_secret_basic", "client_secret_post"];
  return {
    issuer: publicUrl,
    authorization_endpoint: publicUrl + PATHS.authorization,
    token_endpoint: publicUrl + PATHS.token,
    revocation_endpoint: publicUrl + PATHS.revocation,
    introspection_endpoint: publicUrl + PATHS.introspection,
    scopes_supported: scopes.map(({ url }) => url),
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: authentication,
    revocation_endpoint_auth_methods_supported: authentication,
    introspection_endpoint_auth_methods_supported: confidential,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  };
}
