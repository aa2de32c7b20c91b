/** People's accounts at other providers: connected through the provider's prompt, used by pipeline inputs, revoked on removal. */

import type { AuditSink } from "#hub/auth/audit/audit.ts";
import type { Store } from "#hub/auth/state/records.ts";
import { newId } from "#hub/auth/state/secrets.ts";
import type { Vault } from "#hub/auth/state/vault.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter } from "#proto/kit/metrics.ts";
import { type ApiRequest, callApi } from "./api-call.ts";
import { CodeFlow } from "./code-flow.ts";
import { type ConnectionRecord, ConnectionStore } from "./connection-store.ts";
import { Endpoints, type Fetch } from "./endpoints.ts";
import { StoredFlows } from "./flows.ts";
import { checkTokenHost } from "./provider-definition.ts";
import { Providers } from "./providers.ts";
import { Refresher } from "./refresher.ts";
import { refreshTokens, revokeToken, type TokenCaller, TokenRefused } from "./token-endpoint.ts";

/** Path of the callback below the hub's address. */
export const CONNECTIONS_CALLBACK = "/api/connections/callback";

/** A connected account without its tokens. */
export interface ConnectionView {
  readonly id: string;
  readonly name: string;
  readonly providerId: string;
  readonly state: "connected" | "reconnect";
  readonly reason?: string;
  readonly scope: string;
  readonly connectedAt: number;
  /** When the token was last renewed, ms since 1970; absent before the first time. */
  readonly refreshedAt?: number;
  readonly expiresAt: number | null;
}

/** The purpose of a flow. */
interface Purpose {
  readonly providerId: string;
  /** Id of the account: a new or an existing one. */
  readonly id: string;
  readonly name: string;
  readonly actor: string;
}

export interface ConnectionsParts {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Logger;
  readonly audit: AuditSink;
  readonly publicUrl: () => string;
  readonly refreshes: Counter<"outcome">;
  /** `fetch`, or another for tests. */
  readonly fetch: Fetch;
}

export class Connections {
  readonly providers: Providers;
  readonly #parts: ConnectionsParts;
  readonly #store: ConnectionStore;
  readonly #endpoints: Endpoints;
  readonly #flow: CodeFlow<Purpose>;
  readonly #refresher: Refresher;

  constructor(parts: ConnectionsParts) {
    const { store, vault, clock, log, audit, refreshes } = parts;
    this.#parts = parts;
    this.providers = new Providers(store, vault, audit);
    this.#store = new ConnectionStore(store, vault);
    this.#endpoints = new Endpoints(clock, parts.fetch);
    this.#flow = new CodeFlow(new StoredFlows(store, "connection-flow"), this.#endpoints);
    this.#refresher = new Refresher({
      store: this.#store,
      refresh: async (record, token) => refreshTokens(await this.#caller(record.providerId), token),
      clock,
      log,
      audit,
      refreshes,
    });
  }

  /**
   * Returns the address to send the browser to, to connect an account (or, with `id`, to connect it again). `binding`: a
   * secret of the browser, from a cookie. Throws not_found (also if no account of the provider has the `id`), unavailable,
   * settings_invalid.
   */
  async connect(
    { providerId, name, id }: { providerId: string; name: string; id?: string },
    binding: string,
    actor: string,
  ): Promise<string> {
    const definition = await this.providers.get(providerId);
    if (id !== undefined && (await this.#store.get(id))?.data.providerId !== providerId)
      throw new AppError("not_found", `there is no connected account ${id} of this provider`);
    const purpose: Purpose = { providerId, id: id ?? newId(), name, actor };
    return this.#flow.start({ definition, redirectUri: this.#redirectUri(), binding, purpose });
  }

  /** Ends a flow with the callback's parameters and stores the account. Throws request_invalid, forbidden, unavailable. */
  async finish(parameters: URLSearchParams, binding: string | undefined): Promise<ConnectionView> {
    const flow = await this.#flow.recall(parameters, binding);
    const { providerId, id, name, actor } = flow.purpose;
    const caller = await this.#caller(providerId);
    try {
      const set = await this.#flow.finish(caller, parameters, this.#redirectUri(), flow);
      const record: ConnectionRecord = {
        providerId,
        name,
        state: "connected",
        ...this.#store.sealed(id, set),
        scope: set.scope ?? caller.definition.scope,
        connectedAt: this.#parts.clock.now(),
        lease: null,
        answerLost: false,
      };
      await this.#store.put(id, record);
      this.#parts.audit({ action: "connection_made", outcome: "ok", actor, subject: `${name} ${id}` });
      return view(id, record);
    } catch (error) {
      const reason = (error as Error).message;
      this.#parts.audit({ action: "connection_made", outcome: "refused", actor, subject: name, reason });
      if (!(error instanceof TokenRefused)) throw error;
      throw new AppError("forbidden", `${caller.definition.name} refused the code: ${reason}`, {
        cause: error,
      });
    }
  }

  async list(): Promise<ConnectionView[]> {
    const all = await this.#store.list();
    return all.map(({ id, data }) => view(id, data)).sort((a, b) => a.name.localeCompare(b.name));
  }

  /** Returns an access token of the account that is still valid long enough to be used; see Refresher. */
  accessToken(id: string, rejected?: string): Promise<string> {
    return this.#refresher.accessToken(id, rejected);
  }

  /**
   * Returns an access token of the account with this name, for requests to `host`. `rejected`: the token that the host has
   * just refused. Throws not_found, forbidden for hosts beyond the provider's `api_hosts`, and as `accessToken`.
   */
  async bearer(name: string, host: string, rejected?: string): Promise<string> {
    const named = (await this.#store.list()).filter(({ data }) => data.name === name);
    const [found] = named;
    if (found === undefined) {
      throw new AppError("not_found", `there is no connection "${name}"; connect an account under that name`);
    }
    if (named.length > 1) {
      throw new AppError("not_found", `${named.length} connections are named "${name}"; remove all but one`);
    }
    const { api_hosts } = await this.providers.get(found.data.providerId);
    checkTokenHost(host, api_hosts);
    return this.accessToken(found.id, rejected);
  }

  /**
   * Calls an API with the account's token and returns its answer. After a 401 the call is repeated once with a new token.
   * The token goes to hosts of the provider's `api_hosts` only. Throws as `accessToken`, forbidden for other hosts, unavailable.
   */
  async call(id: string, request: ApiRequest): Promise<Response> {
    const read = await this.#store.get(id);
    if (read === null) throw new AppError("not_found", `there is no connected account ${id}`);
    const { api_hosts } = await this.providers.get(read.data.providerId);
    return callApi(request, {
      hosts: api_hosts,
      fetch: this.#parts.fetch,
      accessToken: (rejected) => this.accessToken(id, rejected),
    });
  }

  /**
   * Removes an account and revokes its token at the provider if it has a revocation endpoint; a failure there is logged. Throws
   * not_found.
   */
  async remove(id: string, actor: string): Promise<void> {
    const record = await this.#store.take(id);
    if (record === null) throw new AppError("not_found", `there is no connected account ${id}`);
    let reason = "revoked at the provider";
    try {
      const { refreshToken, accessToken } = this.#store.open(id, record);
      await revokeToken(await this.#caller(record.providerId), refreshToken ?? accessToken);
    } catch (error) {
      reason = `not revoked at the provider: ${(error as Error).message}`;
      this.#parts.log.warn(
        { account: id, reason },
        "token of a removed account may still be valid at its provider",
      );
    }
    this.#parts.audit({
      action: "connection_removed",
      outcome: "ok",
      actor,
      subject: `${record.name} ${id}`,
      reason,
    });
  }

  /** Removes a provider. Throws not_found, or request_invalid while accounts are connected to it. */
  async removeProvider(id: string, actor: string): Promise<void> {
    const inUse = (await this.list()).filter(({ providerId }) => providerId === id);
    if (inUse.length > 0) {
      const names = inUse.map(({ name }) => name).join(", ");
      throw new AppError(
        "request_invalid",
        `provider ${id} has connected accounts (${names}); remove them first`,
      );
    }
    await this.providers.remove(id, actor);
  }

  /** Reseals all records that are sealed with an older key of the vault. Returns how many. */
  async reseal(): Promise<number> {
    return (await this.#store.reseal()) + (await this.providers.reseal());
  }

  stop(): Promise<void> {
    return this.#refresher.stop();
  }

  #redirectUri(): string {
    return this.#parts.publicUrl() + CONNECTIONS_CALLBACK;
  }

  async #caller(providerId: string): Promise<TokenCaller> {
    const definition = await this.providers.get(providerId);
    return { definition, server: await this.#endpoints.of(definition), fetch: this.#parts.fetch };
  }
}

function view(id: string, record: ConnectionRecord): ConnectionView {
  const { name, providerId, state, reason, scope, connectedAt, refreshedAt, expiresAt } = record;
  return {
    id,
    name,
    providerId,
    state,
    ...(reason === undefined ? {} : { reason }),
    scope,
    connectedAt,
    ...(refreshedAt === undefined ? {} : { refreshedAt }),
    expiresAt,
  };
}
