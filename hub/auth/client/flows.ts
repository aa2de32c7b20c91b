/** Flows between their start and their callback: stored under their `state`, or sealed within it. */

import { KnownRecords } from "#hub/auth/state/known-records.ts";
import { Records, type Store } from "#hub/auth/state/records.ts";
import { hashOf, newSecret, sameText } from "#hub/auth/state/secrets.ts";
import { Vault } from "#hub/auth/state/vault.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Time to sign in at the provider and come back. */
const FLOW_MS = 15 * 60_000;

/** What a flow needs again at its callback. `T` must survive JSON. */
export interface Flow<T> {
  /** The code verifier (RFC 7636). */
  readonly verifier: string;
  readonly purpose: T;
}

/** Keeps flows for 15 minutes. `binding`: a secret of the browser, from a cookie. */
export interface Flows<T> {
  /** Keeps a flow of this browser. Returns the `state` that leads to it. */
  keep(flow: Flow<T>, binding: string): Promise<string>;
  /** Returns the flow of a `state`; null if it is unknown or too old, or if another browser began it. */
  take(state: string, binding: string): Promise<Flow<T> | null>;
}

interface StoredFlow<T> extends Flow<T> {
  /** Hash of the secret that binds the flow to the browser that began it. */
  readonly bindingHash: string;
}

/** Flows in the state. Each `state` is a secret and is valid once, whoever sends it (RFC 9700 section 2.1). */
export class StoredFlows<T> implements Flows<T> {
  readonly #flows: Records<StoredFlow<T>>;
  readonly #known: KnownRecords<StoredFlow<T>>;
  readonly #clock: Clock;

  /** `kind` names the flows' records. */
  constructor(store: Store, kind: string) {
    this.#flows = new Records(store, kind);
    this.#known = new KnownRecords(store.clock);
    this.#clock = store.clock;
  }

  async keep({ verifier, purpose }: Flow<T>, binding: string): Promise<string> {
    const state = newSecret();
    const flow = { verifier, bindingHash: hashOf(binding), purpose };
    const id = hashOf(state);
    const expiresAt = this.#clock.now() + FLOW_MS;
    const revision = await this.#flows.create(id, flow, expiresAt);
    this.#known.note(id, { id, data: flow, expiresAt, revision });
    return state;
  }

  async take(state: string, binding: string): Promise<Flow<T> | null> {
    const id = hashOf(state);
    const flow = await this.#flows.take(id, this.#known.take(id));
    return flow !== null && sameText(flow.bindingHash, hashOf(binding)) ? flow : null;
  }
}

interface SealedFlow<T> extends Flow<T> {
  /** ms since 1970. */
  readonly expiresAt: number;
}

/** Longest `state` that is sent along. nginx takes a response's head of 4 KiB by default, with cookies and other parameters. */
const MAX_STATE_LENGTH = 2_000;

/** What every sealed text begins with, and no secret. */
const SEALED = /^v1\./;

/**
 * Flows that nothing is stored for: the `state` itself is the flow, sealed for the browser. It opens more than once, so
 * it is for the embedded provider only, whose codes are valid once and bound to the flow by PKCE (RFC 9700 section
 * 2.1), and the browser's cookie must name the states that have ended, see BrowserBinding.
 */
export class SealedFlows<T> implements Flows<T> {
  readonly #vault: Vault;
  readonly #clock: Clock;
  readonly #stored: Flows<T>;

  /** `key`: 32 bytes, the same on all hubs, for nothing else. `stored` keeps flows that are too long for a `state`. */
  constructor(key: Uint8Array, clock: Clock, stored: Flows<T>) {
    this.#vault = new Vault([{ id: "flow", secret: Buffer.from(key) }]);
    this.#clock = clock;
    this.#stored = stored;
  }

  keep(flow: Flow<T>, binding: string): Promise<string> {
    const sealed: SealedFlow<T> = { ...flow, expiresAt: this.#clock.now() + FLOW_MS };
    const state = this.#vault.seal(JSON.stringify(sealed), placeOf(binding));
    return state.length <= MAX_STATE_LENGTH ? Promise.resolve(state) : this.#stored.keep(flow, binding);
  }

  take(state: string, binding: string): Promise<Flow<T> | null> {
    return SEALED.test(state)
      ? Promise.resolve(this.#open(state, binding))
      : this.#stored.take(state, binding);
  }

  #open(state: string, binding: string): Flow<T> | null {
    if (!isAsSealed(state)) return null;
    try {
      const flow = JSON.parse(this.#vault.open(state, placeOf(binding))) as SealedFlow<T>;
      return flow.expiresAt > this.#clock.now() ? flow : null;
    } catch (error) {
      if (error instanceof AppError) return null; // forged, or sealed for another browser
      throw error;
    }
  }
}

/**
 * Returns whether a state is written as `Vault.seal` does: another text of the same bytes would have no mark of its
 * end.
 */
function isAsSealed(state: string): boolean {
  const [, , ...sealed] = state.split(".");
  return (
    sealed.length === 3 &&
    sealed.every((part) => Buffer.from(part, "base64url").toString("base64url") === part)
  );
}

/** Returns what a sealed flow is bound to. */
function placeOf(binding: string): string {
  return `flow of the browser ${hashOf(binding)}`;
}
