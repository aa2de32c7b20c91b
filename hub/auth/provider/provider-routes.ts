/** Routes of the identity provider: authorization, token, revocation, introspection, metadata, prompt. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Provider } from "oidc-provider";
import { networkOf, RateLimit } from "#hub/auth/accounts/throttle.ts";
import { quietRoute } from "#hub/auth/audit/redaction.ts";
import { FORM_LIMIT_BYTES } from "#hub/auth/web/forms.ts";
import { headersOf } from "#hub/auth/web/json-routes.ts";
import { html, PAGE_HEADERS, sendPage } from "#hub/auth/web/page.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter } from "#proto/kit/metrics.ts";
import type { Clients } from "./clients.ts";
import { metadataOf, PATHS } from "./endpoints.ts";
import {
  answerBrowser,
  answerClient,
  clientIdOf,
  type QueryCredentials,
  readTokenParameters,
} from "./library-requests.ts";
import { type PromptParts, promptRoutes } from "./prompts.ts";

/** Authorization requests of one network per minute: each stores a record for a quarter of an hour. */
const AUTHORIZATIONS_PER_MINUTE = 300;
/** Wrong client secrets of one client from one network per minute. */
const WRONG_SECRETS_PER_MINUTE = 20;
/** Other refusals likewise. Codes and tokens can't be guessed; this limit protects the state from a client in an endless loop. */
const REFUSALS_PER_MINUTE = 300;
/** A client that sends credentials in URLs is logged once an hour. */
const WARNING_WINDOW_MS = 3_600_000;

export interface ProviderPluginParts extends PromptParts {
  /** The hub's address without a slash at the end; known once it listens. */
  readonly publicUrl: () => string;
  readonly queryCredentials: QueryCredentials;
  readonly clock: Clock;
  readonly log: Logger;
  readonly requests: Counter<"endpoint" | "status">;
}

interface Limits {
  readonly authorizations: RateLimit;
  readonly secrets: RateLimit;
  readonly refusals: RateLimit;
  readonly warnings: RateLimit;
}

/** Adds the provider's routes to `app`, a plugin's own scope: it changes how bodies are parsed there. */
export function addProviderRoutes(app: FastifyInstance, parts: ProviderPluginParts): void {
  const limits: Limits = {
    authorizations: new RateLimit(parts.clock, AUTHORIZATIONS_PER_MINUTE),
    secrets: new RateLimit(parts.clock, WRONG_SECRETS_PER_MINUTE),
    refusals: new RateLimit(parts.clock, REFUSALS_PER_MINUTE),
    warnings: new RateLimit(parts.clock, 1, WARNING_WINDOW_MS),
  };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit: FORM_LIMIT_BYTES },
    (_request, body, done) => {
      done(null, body);
    },
  );
  app.setErrorHandler((error, _request, reply) => sendOAuthError(reply, error, parts.log));
  const begin = (request: FastifyRequest, reply: FastifyReply) =>
    beginAuthorization(parts, limits, request, reply);
  const resume = (request: FastifyRequest, reply: FastifyReply) => authorization(parts, request, reply);
  const quiet = { ...quietRoute, exposeHeadRoute: false };
  app.get(PATHS.authorization, quiet, begin);
  app.get(`${PATHS.authorization}/:uid`, quiet, resume);
  promptRoutes(app, parts);
  for (const path of [PATHS.token, PATHS.revocation, PATHS.introspection]) {
    app.post(path, quiet, (request, reply) => client(parts, limits, request, reply));
    app.get(path, quiet, (_request, reply) => {
      const body = { error: "invalid_request", error_description: "use POST" };
      return reply.code(405).headers({ allow: "POST", "cache-control": "no-store" }).send(body);
    });
  }
  app.get(PATHS.metadata, (_request, reply) => {
    return reply
      .header("cache-control", "public, max-age=300")
      .send(metadataOf(parts.publicUrl(), parts.scopes()));
  });
}

async function beginAuthorization(
  parts: ProviderPluginParts,
  { authorizations }: Limits,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const network = networkOf(request.ip);
  try {
    authorizations.check(network);
  } catch (error) {
    const { message } = error as AppError;
    return sendPage(reply, 429, "Too many requests", html`<h1>Too many requests</h1><p>${message}.</p>`);
  }
  authorizations.count(network);
  return authorization(parts, request, reply);
}

async function authorization(
  parts: ProviderPluginParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const publicUrl = parts.publicUrl();
  // Cookies belong to one host: a request by another name is redirected to the public address.
  if (request.headers.host !== new URL(publicUrl).host) {
    return reply.header("cache-control", "no-store").redirect(publicUrl + request.url, 303);
  }
  for (const [name, value] of Object.entries(PAGE_HEADERS)) reply.raw.setHeader(name, value);
  await answerBrowser(await parts.provider(), publicUrl, request, reply);
  parts.requests.inc({ endpoint: "authorization", status: String(reply.raw.statusCode) });
  return undefined;
}

async function client(
  parts: ProviderPluginParts,
  limits: Limits,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { "content-type": contentType, authorization: credentials } = request.headers;
  const { values, inQuery } = await readTokenParameters(
    request.url,
    contentType,
    request.body,
    parts.queryCredentials,
  );
  const clientId = clientIdOf(values, credentials);
  if (inQuery.length > 0 && parts.queryCredentials === "warn" && limits.warnings.allows(clientId)) {
    parts.log.warn(
      { client_id: clientId, parameters: inQuery },
      "client sends credentials in the query string, where proxies and logs may keep them; let it send them in the body",
    );
  }
  // Counted by client and network, so that nobody can use up a client's limit from elsewhere.
  const name = `${clientId}|${networkOf(request.ip)}`;
  limits.secrets.check(name);
  limits.refusals.check(name);
  const provider = await parts.provider();
  reply.hijack();
  const status = await answerClient(provider, parts.publicUrl(), request, reply.raw, values);
  if (status === 401) limits.secrets.count(name);
  if (status === 400) limits.refusals.count(name);
  const endpoint = (request.routeOptions.url ?? "").slice(1);
  parts.requests.inc({ endpoint, status: String(status) });
}

/** Answers an error found before the library saw the request, in the form of RFC 6749 section 5.2. */
function sendOAuthError(reply: FastifyReply, error: unknown, log: Logger): FastifyReply {
  const tooLarge = (error as { code?: string }).code === "FST_ERR_CTP_BODY_TOO_LARGE";
  const fault = tooLarge ? new AppError("request_too_large", "the body is too large") : toAppError(error);
  reply.code(fault.status).headers({ ...headersOf(fault), pragma: "no-cache" });
  if (fault.status >= 500) log.error({ err: fault.cause ?? fault }, "identity provider failed to answer");
  const word = fault.status < 500 && fault.code !== "overloaded" ? "invalid_request" : wordOf(fault);
  return reply.send({ error: word, error_description: fault.message });
}

function wordOf(fault: AppError): string {
  return fault.retryable ? "temporarily_unavailable" : "server_error";
}

/** Logs and audits the provider's events; where the state can't be reached, its answer becomes a 503. */
export function logProviderEvents(
  provider: Provider,
  { audit, log, clients }: Pick<ProviderPluginParts, "audit" | "log"> & { readonly clients: Clients },
): void {
  provider.on("authorization.success", ({ oidc, ip }) => {
    if (oidc.params?.["code_challenge"] === undefined && oidc.client !== undefined) {
      void clients
        .noteWithoutPkce(oidc.client.clientId)
        .catch((error: unknown) => log.warn({ err: error }, "use of a client without PKCE was not recorded"));
    }
    const actor = oidc.account?.accountId ?? "unknown";
    audit({ action: "code_issued", outcome: "ok", actor, ip, subject: oidc.client?.clientId ?? "" });
  });
  provider.on("grant.success", ({ oidc, ip }) => {
    const refreshed = oidc.params?.["grant_type"] === "refresh_token";
    const actor = oidc.client?.clientId ?? "unknown";
    const subject = oidc.account?.accountId ?? "";
    audit({ action: refreshed ? "token_refreshed" : "token_issued", outcome: "ok", actor, ip, subject });
  });
  provider.on("grant.error", ({ oidc, ip }, error) => {
    const actor = oidc.client?.clientId ?? "unknown";
    const reason = [error.error, error.error_detail ?? error.error_description].join(": ");
    audit({ action: "token_refused", outcome: "refused", actor, ip, reason });
  });
  provider.on("grant.revoked", ({ oidc, ip }) => {
    audit({ action: "token_revoked", outcome: "ok", actor: oidc.client?.clientId ?? "unknown", ip });
  });
  provider.on("server_error", (context, error) => {
    log.error({ err: error }, "identity provider failed to answer");
    if (!(error instanceof AppError) || !error.retryable) return;
    context.status = 503;
    context.set("retry-after", "1");
    if (context.path === PATHS.token) context.body = { error: "temporarily_unavailable" };
  });
}
