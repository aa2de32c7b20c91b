/**
 * Refreshes access tokens: one refresh at a time per account, across callers (a shared promise) and across processes (a
 * lease taken by compare-and-set). New tokens are stored before a caller gets them.
 */

import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { newId } from "#hub/auth/state/secrets.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { ConnectionRecord, ConnectionStore, HeldTokens } from "./connection-store.ts";
import { TokenRefused, type TokenSet } from "./token-endpoint.ts";

/** Longer than all attempts of one refresh together, so that an expired lease was left by a crashed process. */
const LEASE_MS = 90_000;
/** Attempts of one refresh; each has a deadline of its own at the token endpoint. */
const ATTEMPTS = 3;
const RETRY = { firstMs: 500, capMs: 5_000 };
/** Waits between checks of another process's refresh. */
const LOOK_AGAIN = { firstMs: 50, capMs: 1_000 };
/** Longest wait that a provider may ask for before the refresh fails. */
const MAX_RETRY_AFTER_MS = 10_000;
/** Error codes that only a person can resolve (RFC 6749 sections 4.1.2.1 and 5.2). */
const NEEDS_PERSON: ReadonlySet<string> = new Set([
  "invalid_grant",
  "unauthorized_client",
  "invalid_scope",
  "access_denied",
]);

export interface RefresherParts {
  readonly store: ConnectionStore;
  /** Refreshes at the provider of `record`. Throws TokenRefused, unavailable. */
  readonly refresh: (record: ConnectionRecord, refreshToken: string) => Promise<TokenSet>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly audit: AuditSink;
  readonly refreshes: Counter<"outcome">;
}

export class Refresher {
  readonly #parts: RefresherParts;
  readonly #holder = newId();
  readonly #running = new Map<string, Promise<string>>();
  readonly #stop = new AbortController();

  constructor(parts: RefresherParts) {
    this.#parts = parts;
  }

  /**
   * Returns an access token of the account. `rejected`: one that an API has just refused, which is not returned again.
   * Throws not_found, forbidden if the account must be reconnected, unavailable, settings_invalid.
   */
  async accessToken(id: string, rejected?: string): Promise<string> {
    const { store } = this.#parts;
    const read = await store.get(id);
    if (read === null) throw unknownConnection(id);
    if (read.data.state === "reconnect") throw mustReconnect(read.data);
    const held = store.open(id, read.data);
    if (!this.#due(read.data, held, rejected)) return held.accessToken;
    try {
      return await this.#shared(id, rejected);
    } catch (error) {
      const usable =
        held.accessToken !== rejected && (read.data.expiresAt ?? Infinity) > this.#parts.clock.now();
      // The early refresh has failed, but the current token is still valid.
      if (usable && error instanceof AppError && error.retryable) return held.accessToken;
      throw error;
    }
  }

  /** Waits for running refreshes to end; their tokens must reach the store. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#running.values());
  }

  #due({ refreshAt }: ConnectionRecord, { accessToken }: HeldTokens, rejected: string | undefined): boolean {
    return accessToken === rejected || (refreshAt !== null && refreshAt <= this.#parts.clock.now());
  }

  /**
   * Callers share one refresh. It continues when a caller gives up because the provider may already have rotated the refresh
   * token.
   */
  #shared(id: string, rejected: string | undefined): Promise<string> {
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    const refresh = this.#refreshOnce(id, rejected).finally(() => this.#running.delete(id));
    this.#running.set(id, refresh);
    return refresh;
  }

  async #refreshOnce(id: string, rejected: string | undefined): Promise<string> {
    const { store, clock } = this.#parts;
    const look = new Backoff(LOOK_AGAIN);
    const giveUpAt = clock.now() + LEASE_MS;
    for (;;) {
      const read = await store.get(id);
      if (read === null) throw unknownConnection(id);
      if (read.data.state === "reconnect") throw mustReconnect(read.data);
      const held = store.open(id, read.data);
      if (!this.#due(read.data, held, rejected)) return held.accessToken;
      const { lease } = read.data;
      if (lease !== null && lease.until > clock.now()) {
        if (clock.now() >= giveUpAt || this.#stop.signal.aborted) {
          throw new AppError(
            "unavailable",
            `account ${read.data.name} is being refreshed elsewhere; try again`,
          );
        }
        await clock.sleep(look.next(), this.#stop.signal);
        continue;
      }
      const leased: ConnectionRecord = {
        ...read.data,
        answerLost: read.data.answerLost || lease !== null,
        lease: { holder: this.#holder, until: clock.now() + LEASE_MS },
      };
      if (await store.replace(read, leased)) return this.#refreshLeased(id, leased, held);
    }
  }

  async #refreshLeased(id: string, leased: ConnectionRecord, held: HeldTokens): Promise<string> {
    const { refreshes } = this.#parts;
    if (held.refreshToken === undefined) {
      const reason = "the provider gave no refresh token, and the access token is over";
      await this.#reconnect(id, leased, reason);
      throw mustReconnect({ ...leased, reason });
    }
    let set: TokenSet;
    try {
      set = await this.#ask(id, leased, held.refreshToken);
    } catch (error) {
      refreshes.inc({ outcome: "failed" });
      throw await this.#failed(id, leased, error);
    }
    const sealed = this.#parts.store.sealed(id, set, held);
    const kept = await this.#parts.store.change(id, (record) => {
      // Another lease holder: a person has reconnected the account, and those tokens are newer.
      if (record.lease?.holder !== this.#holder) return null;
      const refreshedAt = this.#parts.clock.now();
      return { ...record, ...sealed, refreshedAt, lease: null, answerLost: false };
    });
    if (kept === null) throw unknownConnection(id);
    refreshes.inc({ outcome: "refreshed" });
    return this.#parts.store.open(id, kept).accessToken;
  }

  async #ask(id: string, leased: ConnectionRecord, refreshToken: string): Promise<TokenSet> {
    const backoff = new Backoff(RETRY);
    for (;;) {
      try {
        return await this.#parts.refresh(leased, refreshToken);
      } catch (error) {
        if (error instanceof AppError && error.code === "unavailable") {
          // The provider may have answered with a new refresh token that never arrived.
          await this.#parts.store.change(id, (record) =>
            record.answerLost ? null : { ...record, answerLost: true },
          );
          const asked = Number(error.data["retryAfterSeconds"] ?? 0) * 1_000;
          const waitMs = Math.max(asked, backoff.next());
          if (backoff.tries < ATTEMPTS && waitMs <= MAX_RETRY_AFTER_MS && !this.#stop.signal.aborted) {
            await this.#parts.clock.sleep(waitMs, this.#stop.signal);
            continue;
          }
        }
        throw error;
      }
    }
  }

  /** Stores why a refresh failed and returns the error for the caller. */
  async #failed(id: string, leased: ConnectionRecord, error: unknown): Promise<unknown> {
    if (error instanceof TokenRefused && NEEDS_PERSON.has(error.error)) {
      const lost = (await this.#parts.store.get(id))?.data.answerLost === true;
      const reason = lost
        ? `${error.message} (the answer to a refresh was lost before, and the provider may have changed the refresh token with it)`
        : error.message;
      await this.#reconnect(id, leased, reason);
      return mustReconnect({ ...leased, reason });
    }
    await this.#parts.store.change(id, (record) => this.#released(record));
    if (!(error instanceof TokenRefused)) return error;
    const message = `provider of account ${leased.name} refuses this hub's registration (${error.message}); check client_id and client_secret`;
    this.#parts.log.error(
      { account: id, reason: error.message },
      "provider refuses the client's registration",
    );
    return new AppError("settings_invalid", message, { cause: error });
  }

  async #reconnect(id: string, { name }: ConnectionRecord, reason: string): Promise<void> {
    const { store, audit, log, refreshes } = this.#parts;
    await store.change(id, (record) =>
      record.lease?.holder === this.#holder ? { ...record, state: "reconnect", reason, lease: null } : null,
    );
    refreshes.inc({ outcome: "reconnect" });
    audit({
      action: "connection_reconnect",
      outcome: "refused",
      actor: "system",
      subject: `${name} ${id}`,
      reason,
    });
    log.warn({ account: id, reason }, "account must be connected again by a person");
  }

  #released(record: ConnectionRecord): ConnectionRecord | null {
    return record.lease?.holder === this.#holder ? { ...record, lease: null } : null;
  }
}

function unknownConnection(id: string): AppError {
  return new AppError("not_found", `there is no connected account ${id}`);
}

function mustReconnect({ name, reason }: Pick<ConnectionRecord, "name" | "reason">): AppError {
  return new AppError(
    "forbidden",
    `account ${name} must be connected again: ${reason ?? "the provider refuses it"}`,
    {
      data: { reconnect: true },
    },
  );
}
