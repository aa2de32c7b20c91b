/** Parameters of the token, revocation and introspection endpoints: query string, urlencoded form or multipart, each once. */

import { readForm } from "#hub/auth/web/forms.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Parameters that open something: they should not stand in a URL (RFC 6749 section 2.3.1, RFC 9700 section 4.3.2). */
const CREDENTIALS: ReadonlySet<string> = new Set([
  "client_secret",
  "code",
  "code_verifier",
  "refresh_token",
  "token",
]);

/** What to do with credentials in the query string. */
export type QueryCredentials = "accept" | "warn" | "refuse";

export interface TokenParameters {
  /** Each name once, values not empty. */
  readonly values: URLSearchParams;
  /** Names of credentials that came in the query string. */
  readonly inQuery: readonly string[];
}

/**
 * Collects the parameters of a request from its URL and body. Throws request_invalid where a name comes twice, in one
 * place or in both, where the body is malformed, or where credentials in the URL are refused.
 */
export async function readTokenParameters(
  url: string,
  contentType: string | undefined,
  body: unknown,
  queryCredentials: QueryCredentials,
): Promise<TokenParameters> {
  const query = [...new URLSearchParams(queryOf(url))];
  const form = await readForm(contentType, body);
  const values = new URLSearchParams();
  const seen = new Set<string>();
  for (const [name, value] of [...query, ...form]) {
    if (seen.has(name)) {
      throw new AppError("request_invalid", `parameter "${name.slice(0, 50)}" is given more than once`);
    }
    seen.add(name);
    // RFC 6749 section 3.2: a parameter without a value counts as left out.
    if (value !== "") values.append(name, value);
  }
  const inQuery = query.map(([name]) => name).filter((name) => CREDENTIALS.has(name));
  if (queryCredentials === "refuse" && inQuery.length > 0) {
    throw new AppError(
      "request_invalid",
      `send ${inQuery.join(", ")} in the body: credentials in the query string are refused here`,
    );
  }
  return { values, inQuery };
}

/** Returns the part of a URL behind the first "?", or an empty text. */
export function queryOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at + 1);
}

/** Returns the client's id of a request: the parameter, or the name of HTTP Basic; for limits and the audit log only. */
export function clientIdOf(values: URLSearchParams, authorization: string | undefined): string {
  const named = values.get("client_id");
  if (named !== null) return named.slice(0, 100);
  const [, encoded = ""] = /^basic +([A-Za-z0-9+/=]+)$/i.exec(authorization ?? "") ?? [];
  const [name = ""] = Buffer.from(encoded, "base64").toString().split(":");
  return name.slice(0, 100);
}
