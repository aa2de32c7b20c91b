/** Follows the records of authentication: deletes expired ones and notifies listeners of changes. */

import { expiryOf, type Store, won } from "#hub/auth/state/records.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { ACCOUNT_KIND } from "./accounts.ts";
import { API_KEY_KIND } from "./api-keys.ts";
import { SESSION_KIND } from "./sessions.ts";

/** Mean time between two sweeps. Readers check the expiry themselves; sweeping only frees space. */
const SWEEP_MS = 60_000;
/** Records are kept this long after their expiry, for hubs whose clocks differ. */
const GRACE_MS = 60_000;
/** Maximum number of deletions per sweep; the rest waits for the next. */
const MAX_PER_SWEEP = 5_000;
/** Maximum number of records whose expiry is remembered; the next start finds the others. */
const MAX_FOLLOWED = 1_000_000;

/** Kinds of records whose end revokes rights. */
const CREDENTIAL_KINDS = [SESSION_KIND, API_KEY_KIND, "oauth.AccessToken"];

interface Followed {
  readonly expiresAt: number;
  readonly revision: number;
}

export class StateFollower implements Component {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #swept: Counter;
  readonly #ends = new Map<string, Followed>();
  readonly #listeners = new Set<(key: string, gone: boolean) => void>();
  readonly #stop = new AbortController();
  #tasks: Promise<unknown> = Promise.resolve();

  constructor(store: Store, log: Logger, swept: Counter) {
    this.#store = store;
    this.#log = log;
    this.#swept = swept;
  }

  start(): Promise<void> {
    this.#tasks = Promise.all([this.#follow(), this.#sweepRepeatedly()]);
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#tasks;
  }

  /** Calls `listener` when a session, key or token ends or an account changes, on any hub. Returns a function that unsubscribes. */
  onRightsChange(listener: () => void): () => void {
    const ended = CREDENTIAL_KINDS.map((kind) => this.onChange(kind, (_id, gone) => gone && listener()));
    const all = [this.onChange(ACCOUNT_KIND, listener), ...ended];
    return () => {
      for (const unsubscribe of all) unsubscribe();
    };
  }

  /** Calls `listener` with the id of each record of `kind` that changes on any hub. Returns a function that unsubscribes. */
  onChange(kind: string, listener: (id: string, gone: boolean) => void): () => void {
    const prefix = `${kind}.`;
    const listen = (key: string, gone: boolean): void => {
      if (key.startsWith(prefix)) listener(key.slice(prefix.length), gone);
    };
    this.#listeners.add(listen);
    return () => this.#listeners.delete(listen);
  }

  /** Deletes records that expired more than a minute ago. Returns how many. */
  async sweep(): Promise<number> {
    const before = this.#store.clock.now() - GRACE_MS;
    let count = 0;
    for (const [key, { expiresAt, revision }] of this.#ends) {
      if (count >= MAX_PER_SWEEP || this.#stop.signal.aborted) break;
      if (expiresAt > before) continue;
      // A lost compare-and-set means that the record was renewed or another hub was first; the watch reports both.
      await won(this.#store.bucket.delete(key, revision));
      this.#ends.delete(key);
      count++;
    }
    this.#swept.inc(count);
    return count;
  }

  async #follow(): Promise<void> {
    const backoff = new Backoff({ firstMs: 200, capMs: 10_000 });
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        for await (const { key, value, revision } of this.#store.bucket.watch(signal)) {
          backoff.reset();
          this.#note(key, value, revision);
        }
      } catch (error) {
        this.#log.warn({ err: error }, "following the authentication state failed; retrying");
      }
      if (!signal.aborted) await this.#store.clock.sleep(backoff.next(), signal);
    }
  }

  #note(key: string, value: Uint8Array | null, revision: number): void {
    const expiresAt = value === null ? null : expiryOf(value);
    if (expiresAt === null) this.#ends.delete(key);
    else if (this.#ends.size < MAX_FOLLOWED) this.#ends.set(key, { expiresAt, revision });
    for (const listener of this.#listeners) listener(key, value === null);
  }

  async #sweepRepeatedly(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      // Randomised, so that the hubs don't all delete the same records at the same time.
      await this.#store.clock.sleep(SWEEP_MS * (0.5 + Math.random()), signal);
      if (signal.aborted) return;
      try {
        await this.sweep();
      } catch (error) {
        this.#log.warn({ err: error }, "sweeping the authentication state failed; retrying");
      }
    }
  }
}
