/**
 * The embedded identity provider: its clients, consents, tokens and the library that answers its requests. Logs and
 * audits what happens at the identity provider.
 */

import type { Provider } from "oidc-provider";
import type { Accounts } from "#hub/auth/accounts/accounts.ts";
import type { PasswordSignIn } from "#hub/auth/accounts/password-sign-in.ts";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { BrowserSessions } from "#hub/auth/provider/browser-sessions.ts";
import { Clients } from "#hub/auth/provider/clients.ts";
import { Consents } from "#hub/auth/provider/consents.ts";
import { PATHS, PROVIDER_COOKIE } from "#hub/auth/provider/endpoints.ts";
import { answerClient, type QueryCredentials } from "#hub/auth/provider/library-requests.ts";
import { type Scope, scopesOf, signInScope } from "#hub/auth/provider/scopes.ts";
import { AccessTokens, SignInTokens, TokenFamilies } from "#hub/auth/provider/tokens.ts";
import { SIGN_IN_CALLBACK } from "#hub/auth/sign-in/dashboard-sign-in.ts";
import type { Store } from "#hub/auth/state/records.ts";
import type { InstallationKeys } from "#hub/auth/state/vault.ts";
import type { Cookies } from "#hub/auth/web/cookies.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter } from "#proto/kit/metrics.ts";
import { parseDuration } from "#proto/kit/units.ts";
import type { AuthSettings } from "./settings.ts";

interface EventParts {
  readonly audit: AuditSink;
  readonly log: Logger;
  readonly clients: Clients;
}

export interface IdentityProviderParts {
  readonly settings: AuthSettings;
  readonly store: Store;
  readonly accounts: Accounts;
  readonly signIn: PasswordSignIn;
  readonly keys: InstallationKeys;
  readonly cookies: () => Cookies;
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly audit: AuditSink;
  /** Counts the requests at the endpoints. */
  readonly requests: Counter<"endpoint" | "status">;
}

export class IdentityProvider {
  readonly families: TokenFamilies;
  readonly clients: Clients;
  readonly consents: Consents;
  readonly accessTokens: AccessTokens;
  readonly browserSessions: BrowserSessions;
  readonly clock: Clock;
  readonly requests: Counter<"endpoint" | "status">;
  readonly isEnabled: boolean;
  readonly queryCredentials: QueryCredentials;
  readonly #parts: IdentityProviderParts;
  readonly #signInTokens = new SignInTokens();
  #server: Promise<Provider> | undefined;

  constructor(parts: IdentityProviderParts) {
    const { store, accounts, audit, publicUrl, keys } = parts;
    this.#parts = parts;
    this.clock = parts.clock;
    this.requests = parts.requests;
    this.isEnabled = parts.settings["auth.provider.enabled"];
    this.queryCredentials = parts.settings["auth.provider.query_credentials"];
    this.families = new TokenFamilies(store);
    this.clients = new Clients(store, this.families, audit, () => ({
      redirectUri: publicUrl() + SIGN_IN_CALLBACK,
      scope: signInScope(publicUrl()),
      secret: keys.dashboardSecret,
    }));
    this.consents = new Consents(store, this.families, audit);
    this.accessTokens = new AccessTokens(store, {
      families: this.families,
      signIns: this.#signInTokens,
      accounts,
      audit,
    });
    this.browserSessions = new BrowserSessions(store);
  }

  /** Scopes that clients may ask for. */
  scopes(): Scope[] {
    return scopesOf(this.#parts.publicUrl(), this.#parts.settings["auth.provider.scopes"]);
  }

  /**
   * Returns the library that answers the provider's requests. The first request creates it: the address is known only
   * once the dashboard listens, and the library is large.
   */
  library(): Promise<Provider> {
    this.#server ??= this.#makeServer();
    return this.#server;
  }

  /** Answers a request of this process to the token endpoint. */
  async answerToken(
    values: URLSearchParams,
    authorization: string | undefined,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const request = { path: PATHS.token, ip: "127.0.0.1", authorization, values };
    return answerClient(await this.library(), this.#parts.publicUrl(), request);
  }

  /** Ends the provider's session of the browser that sent this Cookie header; returns the Set-Cookie values for it. */
  async endBrowserSession(cookieHeader: string | undefined): Promise<string[]> {
    const cookies = this.#parts.cookies();
    const id = cookies.read(cookieHeader, PROVIDER_COOKIE);
    if (id === undefined) return [];
    await this.browserSessions.end(id);
    return [cookies.clear(PROVIDER_COOKIE), cookies.clear(`${PROVIDER_COOKIE}.sig`)];
  }

  async #makeServer(): Promise<Provider> {
    const { createAuthorizationServer } = await import("./provider/authorization-server.ts");
    const { settings, publicUrl, keys, audit, log } = this.#parts;
    const server = createAuthorizationServer({
      ...this.#parts,
      publicUrl: publicUrl(),
      clients: this.clients,
      consents: this.consents,
      families: this.families,
      signInTokens: this.#signInTokens,
      scopes: this.scopes(),
      lives: {
        accessTokenSeconds: seconds(settings["auth.provider.access_token_ttl"]),
        refreshTokenSeconds: seconds(settings["auth.provider.refresh_token_ttl"]),
        sessionSeconds: seconds(settings["auth.session.idle"]),
        signInSeconds: seconds(settings["auth.session.absolute"]),
      },
      cookieKey: keys.cookie,
      requirePkce: settings["auth.provider.require_pkce"],
    });
    logProviderEvents(server, { audit, log, clients: this.clients });
    return server;
  }
}

function seconds(duration: string | number): number {
  return Math.max(1, Math.round(parseDuration(duration) / 1_000));
}

/** Logs and audits the provider's events. If the state can't be reached, its answer becomes a 503. */
function logProviderEvents(provider: Provider, { audit, log, clients }: EventParts): void {
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
