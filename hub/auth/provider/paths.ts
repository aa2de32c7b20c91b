/** What of the identity provider browsers and clients see by name. */

/** Paths below the hub's address; the first two are the specification's. */
export const PATHS = {
  authorization: "/o/oauth2/v2/auth",
  token: "/token",
  prompt: "/o/oauth2/v2/prompt",
  revocation: "/revoke",
  introspection: "/introspect",
  metadata: "/.well-known/oauth-authorization-server",
} as const;

/** Base name of the cookie by which the provider knows who is signed in; see Cookies. */
export const PROVIDER_COOKIE = "tailrace_provider";
