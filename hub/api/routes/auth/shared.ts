/** Shared parts of the routes of authentication. */

import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { ROLES } from "#hub/auth/accounts/principal.ts";
import { FORM_LIMIT_BYTES } from "#hub/auth/web/forms.ts";
import type { AppError } from "#proto/kit/errors.ts";
import { Type } from "#proto/kit/schema.ts";

/** Answers may contain secrets, so no cache may store them. */
export const NO_STORE = { "cache-control": "no-store" };

/** Defaults of a route whose body and answer are JSON. */
export const JSON_ROUTE = { params: [], maxBodyBytes: 64 * 1024, headers: NO_STORE } as const;

/** Defaults of a route that a browser opens: the address may contain credentials, and no session exists yet. */
export const PAGE_ROUTE = {
  params: [],
  takesAnyParams: true,
  hasSecretUri: true,
  action: [],
  caller: "anybody",
  body: "form",
  maxBodyBytes: FORM_LIMIT_BYTES,
  headers: NO_STORE,
} as const satisfies Partial<Route>;

/** The same for the identity provider, whose errors have the form of OAuth. */
export const PROVIDER_ROUTE = { ...PAGE_ROUTE, answerError: oauthError } as const;

/** Answers an error that is found before the library gets the request, in the form of RFC 6749 section 5.2. */
function oauthError(error: AppError): ApiResponse {
  return json({ error: oauthCode(error), error_description: error.message }, error.status);
}

function oauthCode({ status, code, retryable }: AppError): string {
  if (status < 500 && code !== "overloaded") return "invalid_request";
  return retryable ? "temporarily_unavailable" : "server_error";
}

export const RoleName = Type.Union(ROLES.map((role) => Type.Literal(role)));
/** Patterns of index names. */
export const Indices = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 100 }),
);
