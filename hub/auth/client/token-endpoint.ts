/** Requests to a provider's token and revocation endpoints. Answers that deviate from the RFCs are normalised. */

import * as oauth from "oauth4webapi";
import { AppError } from "#proto/kit/errors.ts";
import { isLoopbackHttp } from "#proto/kit/net/loopback.ts";
import { type Fetch, readBounded } from "./endpoints.ts";
import type { ProviderDefinition } from "./provider-definition.ts";

/** Longest wait for a provider's answer. */
const DEADLINE_MS = 20_000;

/** Result of a token request. */
export interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Seconds; absent: the provider gave none. */
  readonly expiresInSeconds?: number;
  /** Granted scopes, if they differ from the requested ones. */
  readonly scope?: string;
  /** Claims of the ID token, if one was requested (OpenID Connect). */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A provider's refusal: an answer with an error code of RFC 6749 section 5.2. */
export class TokenRefused extends Error {
  /** "invalid_grant" and the like. */
  readonly error: string;

  constructor(error: string, description: string) {
    super(description === "" ? error : `${error}: ${description}`);
    this.name = "TokenRefused";
    this.error = error;
  }
}

/** The provider of a token request and the way to reach it. */
export interface TokenCaller {
  readonly server: oauth.AuthorizationServer;
  readonly definition: ProviderDefinition;
  readonly fetch: Fetch;
}

/** Exchanges a code. `parameters`: those of the callback, checked for `state` and `iss` before. Throws TokenRefused, unavailable. */
export function exchangeCode(
  caller: TokenCaller,
  parameters: URLSearchParams,
  redirectUri: string,
  verifier: string,
): Promise<TokenSet> {
  const { server, definition } = caller;
  const client: oauth.Client = { client_id: definition.client_id };
  return ask(caller, async (options) => {
    const auth = authentication(definition);
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      auth,
      parameters,
      redirectUri,
      verifier,
      options,
    );
    return oauth.processAuthorizationCodeResponse(server, client, answer);
  });
}

/** Requests a new access token. Throws TokenRefused, unavailable. */
export function refreshTokens(caller: TokenCaller, refreshToken: string): Promise<TokenSet> {
  const { server, definition } = caller;
  const client: oauth.Client = { client_id: definition.client_id };
  return ask(caller, async (options) => {
    const answer = await oauth.refreshTokenGrantRequest(
      server,
      client,
      authentication(definition),
      refreshToken,
      options,
    );
    return oauth.processRefreshTokenResponse(server, client, answer);
  });
}

/** Revokes a token at the provider (RFC 7009). Throws TokenRefused, unavailable. */
export async function revokeToken(caller: TokenCaller, token: string): Promise<void> {
  const { server, definition } = caller;
  if (server.revocation_endpoint === undefined) return;
  const client: oauth.Client = { client_id: definition.client_id };
  const options = optionsFor(caller, server.revocation_endpoint);
  try {
    const answer = await oauth.revocationRequest(server, client, authentication(definition), token, options);
    await oauth.processRevocationResponse(answer);
  } catch (cause) {
    throw faultOf(cause, definition.name);
  }
}

type Options = oauth.HttpRequestOptions<"POST", URLSearchParams>;

async function ask(
  caller: TokenCaller,
  request: (options: Options) => Promise<oauth.TokenEndpointResponse>,
): Promise<TokenSet> {
  try {
    const answer = await request(optionsFor(caller, caller.server.token_endpoint ?? ""));
    const claims = oauth.getValidatedIdTokenClaims(answer);
    return {
      accessToken: answer.access_token,
      ...(answer.refresh_token === undefined ? {} : { refreshToken: answer.refresh_token }),
      ...(answer.expires_in === undefined ? {} : { expiresInSeconds: answer.expires_in }),
      ...(answer.scope === undefined ? {} : { scope: answer.scope }),
      ...(claims === undefined ? {} : { claims: { ...claims } }),
    };
  } catch (cause) {
    throw faultOf(cause, caller.definition.name);
  }
}

function optionsFor({ definition, fetch }: TokenCaller, endpoint: string): Options {
  const identity = definition.scope.split(" ").includes("openid");
  return {
    signal: AbortSignal.timeout(DEADLINE_MS),
    [oauth.allowInsecureRequests]: isLoopbackHttp(endpoint),
    [oauth.customFetch]: (url: string, init: oauth.CustomFetchOptions<"POST", URLSearchParams>) =>
      send(fetch, definition, url, init, identity),
  };
}

function authentication({ client_secret, credentials_in }: ProviderDefinition): oauth.ClientAuth {
  if (client_secret === undefined) return oauth.None();
  return credentials_in === "basic"
    ? oauth.ClientSecretBasic(client_secret)
    : oauth.ClientSecretPost(client_secret);
}

async function send(
  fetch: Fetch,
  { credentials_in }: ProviderDefinition,
  url: string,
  { method, headers, body, signal }: oauth.CustomFetchOptions<"POST", URLSearchParams>,
  identity: boolean,
): Promise<Response> {
  const init: RequestInit = {
    method,
    headers,
    redirect: "manual",
    ...(signal === undefined ? {} : { signal }),
  };
  if (credentials_in !== "query") return conforming(await fetch(url, { ...init, body }), identity);
  const target = new URL(url);
  for (const [name, value] of body) target.searchParams.set(name, value);
  const { "content-type": _, ...rest } = headers;
  return conforming(await fetch(target.href, { ...init, headers: rest }), identity);
}

/**
 * Returns the answer as RFC 6749 section 5 specifies: form-encoded bodies become JSON, an error sent with 200 becomes 400,
 * a missing token_type becomes Bearer, and an unrequested ID token is dropped.
 */
async function conforming(response: Response, identity: boolean): Promise<Response> {
  const text = await readBounded(response);
  const body = parseBody(text);
  const retryAfter = response.headers.get("retry-after");
  const headers = {
    "content-type": "application/json",
    ...(retryAfter === null ? {} : { "retry-after": retryAfter }),
  };
  if (body === null) return new Response(text === "" ? null : text, { status: response.status, headers });
  if (!identity) delete body["id_token"];
  if (typeof body["access_token"] === "string") body["token_type"] ??= "Bearer";
  const refused = response.status === 200 && typeof body["error"] === "string";
  return new Response(JSON.stringify(body), { status: refused ? 400 : response.status, headers });
}

function parseBody(text: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : null;
  } catch {
    const form = Object.fromEntries(new URLSearchParams(text));
    return "access_token" in form || "error" in form ? form : null;
  }
}

function faultOf(cause: unknown, provider: string): Error {
  if (cause instanceof oauth.ResponseBodyError && cause.status < 500 && cause.status !== 429) {
    return new TokenRefused(cause.error, cause.error_description ?? "");
  }
  const response = responseOf(cause);
  const why = response === undefined ? (cause as Error).message : `it answered ${response.status}`;
  const seconds = Number(response?.headers.get("retry-after"));
  return new AppError("unavailable", `provider ${provider} gave no token: ${why}`, {
    cause,
    data: Number.isFinite(seconds) && seconds > 0 ? { retryAfterSeconds: seconds } : {},
  });
}

function responseOf(error: unknown): Response | undefined {
  if (error instanceof oauth.ResponseBodyError) return error.response;
  const { cause } = error as { cause?: unknown };
  return cause instanceof Response ? cause : undefined;
}
