/**
 * Passes requests to oidc-provider: those of browsers with known parameters only, those of clients with their parameters
 * already read.
 */

import type { Provider } from "oidc-provider";
import { readForm } from "#hub/auth/web/forms.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type LibraryAnswer, LibraryExchange, type LibraryRequest } from "./library-exchange.ts";

/** Known parameters of an authorization request; others are ignored (RFC 6749 section 3.1). */
const AUTHORIZATION_PARAMETERS: ReadonlySet<string> = new Set([
  "client_id",
  "redirect_uri",
  "response_type",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
  "prompt",
  "login_hint",
  "request",
  "request_uri",
]);
/** Known values of `prompt`. */
const PROMPTS: ReadonlySet<string> = new Set(["none", "login", "consent"]);

/** Lets the library answer a browser's authorization request. */
export function answerBrowser(
  provider: Provider,
  publicUrl: string,
  request: LibraryRequest,
): Promise<LibraryAnswer> {
  return new LibraryExchange({ ...request, uri: understoodUrl(request.uri) }, publicUrl).answer(provider);
}

/** Lets the library answer a client's request to the endpoint `path` with the parameters `values`. */
export function answerClient(
  provider: Provider,
  publicUrl: string,
  { path, ip, authorization, values }: ClientRequest,
): Promise<LibraryAnswer> {
  const body = Buffer.from(values.toString());
  const request: LibraryRequest = {
    method: "POST",
    uri: path,
    ip,
    body,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
      "content-length": String(body.length),
    },
  };
  return new LibraryExchange(request, publicUrl).answer(provider);
}

/** A token, revocation or introspection request whose parameters are read. */
export interface ClientRequest {
  /** One of PATHS. */
  readonly path: string;
  readonly ip: string;
  /** The Authorization header. */
  readonly authorization: string | undefined;
  readonly values: URLSearchParams;
}

function understoodUrl(url: string): string {
  const at = url.indexOf("?");
  if (at < 0) return url;
  const understood = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) {
    if (!AUTHORIZATION_PARAMETERS.has(name)) continue;
    understood.append(name, understoodValue(name, value));
  }
  return `${url.slice(0, at)}?${understood.toString()}`;
}

function understoodValue(name: string, value: string): string {
  // For other types the library would send its error in the fragment, which no server sees.
  if (name === "response_type") return value === "code" || value === "" ? value : "unsupported";
  if (name !== "prompt") return value;
  return value
    .split(" ")
    .filter((prompt) => PROMPTS.has(prompt))
    .join(" ");
}

/** Secret parameters, which should not be in a URL (RFC 6749 section 2.3.1, RFC 9700 section 4.3.2). */
const CREDENTIALS: ReadonlySet<string> = new Set([
  "client_secret",
  "code",
  "code_verifier",
  "refresh_token",
  "token",
]);

/** Treatment of credentials in the query string. */
export type QueryCredentials = "accept" | "warn" | "refuse";

export interface TokenParameters {
  /** Each name once, values not empty. */
  readonly values: URLSearchParams;
  /** Names of credentials found in the query string. */
  readonly inQuery: readonly string[];
}

/**
 * Collects the parameters of a token, revocation or introspection request from its query string and its body, urlencoded
 * or multipart. Throws request_invalid if a name occurs twice, the body is malformed, or credentials in the URL are
 * refused.
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

/** Returns the part of a URL after the first "?", or an empty text. */
export function queryOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at + 1);
}

/** Returns the client id of a request: the parameter, or the user name of HTTP Basic. For limits and the audit log only. */
export function clientIdOf(values: URLSearchParams, authorization: string | undefined): string {
  const named = values.get("client_id");
  if (named !== null) return named.slice(0, 100);
  const [, encoded = ""] = /^basic +([A-Za-z0-9+/=]+)$/i.exec(authorization ?? "") ?? [];
  const [name = ""] = Buffer.from(encoded, "base64").toString().split(":");
  return name.slice(0, 100);
}

/** Returns a parameter that oidc-provider has checked, as text; empty if it is absent. */
export function textOf(parameter: unknown): string {
  return typeof parameter === "string" ? parameter : "";
}
