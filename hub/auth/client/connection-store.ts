/** Stored connected accounts: tokens sealed for their account, a state, and the lease of the refreshing process. */

import { Records, type Store, type Stored, won } from "#hub/auth/state/records.ts";
import type { Vault } from "#hub/auth/state/vault.ts";
import type { TokenSet } from "./token-endpoint.ts";

/** Longest time before the expiry at which a token is refreshed, ms … */
const MAX_AHEAD_MS = 60_000;
/** … and its share of the token's life, so that short-lived tokens are not refreshed continuously. */
const AHEAD_SHARE = 0.1;

/** Unsealed tokens, in memory only. */
export interface HeldTokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
}

/** The process that currently refreshes. An expired lease was left by a crashed process. */
export interface Lease {
  readonly holder: string;
  /** ms since 1970. */
  readonly until: number;
}

/** A connected account as it is stored. */
export interface ConnectionRecord {
  readonly providerId: string;
  readonly name: string;
  /** reconnect: the provider refuses; a person must go through the prompt again. */
  readonly state: "connected" | "reconnect";
  /** Why the account must be reconnected. */
  readonly reason?: string;
  /** {accessToken, refreshToken} sealed for "account:<id>". */
  readonly sealed: string;
  /** ms since 1970; null: the provider gave no expiry, so the token is used until it is refused. */
  readonly expiresAt: number | null;
  /** Time of the next refresh, ms since 1970; null as `expiresAt`. */
  readonly refreshAt: number | null;
  readonly scope: string;
  readonly connectedAt: number;
  readonly refreshedAt?: number;
  readonly lease: Lease | null;
  /** True if the answer to a refresh was lost: a provider that rotates refresh tokens may refuse the old one now. */
  readonly answerLost: boolean;
}

export type StoredConnection = Stored<ConnectionRecord>;

export class ConnectionStore {
  readonly #records: Records<ConnectionRecord>;
  readonly #vault: Vault;
  readonly #store: Store;

  constructor(store: Store, vault: Vault) {
    this.#records = new Records(store, CONNECTION_KIND);
    this.#vault = vault;
    this.#store = store;
  }

  get(id: string): Promise<StoredConnection | null> {
    return this.#records.get(id);
  }

  list(): Promise<StoredConnection[]> {
    return this.#records.list();
  }

  take(id: string): Promise<ConnectionRecord | null> {
    return this.#records.take(id);
  }

  put(id: string, record: ConnectionRecord): Promise<number> {
    return this.#records.put(id, record);
  }

  /** Replaces the record that was read; false if it has changed since. */
  replace(read: StoredConnection, record: ConnectionRecord): Promise<boolean> {
    return won(this.#records.update(read, record));
  }

  change(
    id: string,
    change: (record: ConnectionRecord) => ConnectionRecord | null,
  ): Promise<ConnectionRecord | null> {
    return this.#records.change(id, change);
  }

  /** Returns the tokens of a record. Throws data_corrupt naming the vault's key. */
  open(id: string, record: ConnectionRecord): HeldTokens {
    return JSON.parse(this.#vault.open(record.sealed, placeOf(id))) as HeldTokens;
  }

  /** Returns the fields of a record that a token response changes. A refresh token that isn't replaced is kept. */
  sealed(
    id: string,
    set: TokenSet,
    before?: HeldTokens,
  ): Pick<ConnectionRecord, "sealed" | "expiresAt" | "refreshAt"> {
    const refreshToken = set.refreshToken ?? before?.refreshToken;
    const held: HeldTokens = {
      accessToken: set.accessToken,
      ...(refreshToken === undefined ? {} : { refreshToken }),
    };
    const sealed = this.#vault.seal(JSON.stringify(held), placeOf(id));
    if (set.expiresInSeconds === undefined) return { sealed, expiresAt: null, refreshAt: null };
    const lifeMs = set.expiresInSeconds * 1_000;
    const expiresAt = this.#store.clock.now() + lifeMs;
    return { sealed, expiresAt, refreshAt: expiresAt - Math.min(MAX_AHEAD_MS, lifeMs * AHEAD_SHARE) };
  }

  /** Reseals tokens that are sealed with an older key. Returns how many. */
  async reseal(): Promise<number> {
    let count = 0;
    for (const { id, data } of await this.list()) {
      if (!this.#vault.isOld(data.sealed)) continue;
      await this.change(id, (record) => {
        if (!this.#vault.isOld(record.sealed)) return null;
        const text = this.#vault.open(record.sealed, placeOf(id));
        return { ...record, sealed: this.#vault.seal(text, placeOf(id)) };
      });
      count++;
    }
    return count;
  }
}

/** Prefix of the connections' keys in the bucket. */
export const CONNECTION_KIND = "connection";

function placeOf(id: string): string {
  return `account:${id}`;
}
