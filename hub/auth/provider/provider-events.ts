/** Logs and audits what happens at the identity provider. */

import type { Provider } from "oidc-provider";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Clients } from "./clients.ts";
import { PATHS } from "./endpoints.ts";

interface EventParts {
  readonly audit: AuditSink;
  readonly log: Logger;
  readonly clients: Clients;
}

/** Logs and audits the provider's events; where the state can't be reached, its answer becomes a 503. */
export function logProviderEvents(provider: Provider, { audit, log, clients }: EventParts): void {
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
