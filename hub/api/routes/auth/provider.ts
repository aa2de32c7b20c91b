/** The identity provider's endpoints: authorization, token, revocation, introspection, metadata (RFC 6749, 7009, 7662, 8414). */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route, redirect } from "#hub/api/http/route.ts";
import { networkOf, RateLimit } from "#hub/auth/accounts/throttle.ts";
import type { IdentityProvider } from "#hub/auth/identity-provider.ts";
import { metadataOf, PATHS } from "#hub/auth/provider/endpoints.ts";
import {
  answerBrowser,
  answerClient,
  clientIdOf,
  readTokenParameters,
} from "#hub/auth/provider/library-requests.ts";
import { PAGE_HEADERS } from "#hub/auth/web/page.ts";
import type { Logger } from "#proto/kit/log.ts";
import { HOUR_MS } from "#proto/kit/units.ts";
import { FlowLimit } from "./flow-limit.ts";
import { NO_STORE, PROVIDER_ROUTE } from "./shared.ts";

/** Wrong client secrets of one client from one network per minute. */
const WRONG_SECRETS_PER_MINUTE = 20;
/**
 * Other refusals of one client from one network per minute. Codes and tokens can't be guessed; the limit protects the state from
 * a client in an endless loop.
 */
const REFUSALS_PER_MINUTE = 300;
/** A client that sends credentials in URLs is logged once an hour. */
const WARNING_WINDOW_MS = HOUR_MS;

/** Parameters of the authorization request, for the description; others are ignored (RFC 6749 section 3.1). */
const AUTHORIZATION_PARAMS = [
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
  "prompt",
  "login_hint",
];

const CLIENT_ENDPOINTS = [
  {
    path: PATHS.token,
    params: [
      "grant_type",
      "code",
      "redirect_uri",
      "refresh_token",
      "scope",
      "client_id",
      "client_secret",
      "code_verifier",
    ],
    summary: "Exchanges a code or a refresh token for tokens.",
  },
  {
    path: PATHS.revocation,
    params: ["token", "token_type_hint", "client_id", "client_secret"],
    summary: "Revokes a token.",
  },
  {
    path: PATHS.introspection,
    params: ["token", "token_type_hint", "client_id", "client_secret"],
    summary: "Shows a token's state to a resource server.",
  },
] as const;

interface ProviderParts {
  /** The hub's address without a slash at the end; known once it listens. */
  readonly publicUrl: () => string;
  readonly provider: IdentityProvider;
}

interface Limits {
  readonly authorizations: FlowLimit;
  readonly secrets: RateLimit;
  readonly refusals: RateLimit;
  readonly warnings: RateLimit;
}

export function providerRoutes(auth: ProviderParts, log: Logger): Route[] {
  const { clock } = auth.provider;
  const limits: Limits = {
    authorizations: new FlowLimit(clock),
    secrets: new RateLimit(clock, WRONG_SECRETS_PER_MINUTE),
    refusals: new RateLimit(clock, REFUSALS_PER_MINUTE),
    warnings: new RateLimit(clock, 1, WARNING_WINDOW_MS),
  };
  return [
    {
      ...PROVIDER_ROUTE,
      methods: ["GET"],
      paths: [PATHS.authorization],
      params: AUTHORIZATION_PARAMS,
      summary: "Begins an authorization: sends the browser to the prompt.",
      handle: (request) => limits.authorizations.refusalOf(request) ?? authorization(auth, request),
    },
    {
      ...PROVIDER_ROUTE,
      methods: ["GET"],
      paths: [`${PATHS.authorization}/{uid}`],
      summary: "Ends an authorization: sends the browser back to the client.",
      handle: (request) => authorization(auth, request),
    },
    ...CLIENT_ENDPOINTS.flatMap((endpoint) => clientRoutes(auth, limits, endpoint, log)),
    {
      methods: ["GET"],
      paths: [PATHS.metadata],
      params: [],
      takesAnyParams: true,
      action: [],
      caller: "anybody",
      summary: "Describes the identity provider.",
      headers: { "cache-control": "public, max-age=300" },
      handle: () => json(metadataOf(auth.publicUrl(), auth.provider.scopes())),
    },
  ];
}

function clientRoutes(
  auth: ProviderParts,
  limits: Limits,
  { path, params, summary }: (typeof CLIENT_ENDPOINTS)[number],
  log: Logger,
): Route[] {
  const shared = { ...PROVIDER_ROUTE, paths: [path], params, headers: { ...NO_STORE, pragma: "no-cache" } };
  return [
    {
      ...shared,
      methods: ["POST"],
      summary,
      handle: (request) => client(auth, limits, path, request, log),
    },
    {
      ...shared,
      methods: ["GET"],
      summary: "Is refused: credentials are sent by POST.",
      handle: () => ({
        ...json({ error: "invalid_request", error_description: "use POST" }, 405),
        headers: { allow: "POST" },
      }),
    },
  ];
}

async function authorization(
  { publicUrl, provider }: ProviderParts,
  { uri, headers, ip }: ApiRequest,
): Promise<ApiResponse> {
  // Cookies belong to one host: a request to another host name is redirected to the public address.
  if (headers.host !== new URL(publicUrl()).host) return redirect(publicUrl() + uri);
  const request = { method: "GET", uri, headers, ip } as const;
  const answer = await answerBrowser(await provider.library(), publicUrl(), request);
  provider.requests.inc({ endpoint: "authorization", status: String(answer.status) });
  return { ...answer, headers: { ...PAGE_HEADERS, ...answer.headers } };
}

async function client(
  { publicUrl, provider }: ProviderParts,
  { secrets, refusals, warnings }: Limits,
  path: string,
  { uri, headers, ip, body }: ApiRequest,
  log: Logger,
): Promise<ApiResponse> {
  const { "content-type": contentType, authorization: credentials } = headers;
  const { queryCredentials } = provider;
  const { values, inQuery } = await readTokenParameters(uri, contentType, body, queryCredentials);
  const clientId = clientIdOf(values, credentials);
  if (inQuery.length > 0 && queryCredentials === "warn" && warnings.allows(clientId)) {
    log.warn(
      { client_id: clientId, parameters: inQuery },
      "client sends credentials in the query string, where proxies and logs may keep them; let it send them in the body",
    );
  }
  // Counted by client and network, so that nobody can use up a client's limit from elsewhere.
  const name = `${clientId}|${networkOf(ip)}`;
  secrets.check(name);
  refusals.check(name);
  const request = { path, ip, authorization: credentials, values };
  const answer = await answerClient(await provider.library(), publicUrl(), request);
  if (answer.status === 401) secrets.count(name);
  if (answer.status === 400) refusals.count(name);
  provider.requests.inc({ endpoint: path.slice(1), status: String(answer.status) });
  return answer;
}
