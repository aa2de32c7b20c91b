/** Key-value state that every hub sees, changed by compare-and-set on the revision. */

export interface StateEntry {
  readonly key: string;
  readonly value: Uint8Array;
  /** Grows with each change in the bucket, from 1. */
  readonly revision: number;
}

/** A change seen by a watcher; `value` null: deleted. */
export interface StateChange {
  readonly key: string;
  readonly value: Uint8Array | null;
  readonly revision: number;
}

/**
 * A bucket. Keys: 1..512 characters of [-/_=.a-zA-Z0-9]. Values: at most 1 MiB.
 * All calls throw `unavailable` or `timeout` (retryable) where the store can't be reached.
 */
export interface StateBucket {
  /** Returns the newest value (never a stale one), or null. */
  get(key: string): Promise<StateEntry | null>;
  /** Stores a key that must not exist; returns its revision. Throws journal_conflict. */
  create(key: string, value: Uint8Array): Promise<number>;
  /** Replaces the value whose revision is `revision`; returns the new one. Throws journal_conflict. */
  update(key: string, value: Uint8Array, revision: number): Promise<number>;
  /** Stores without a condition; returns the revision. */
  put(key: string, value: Uint8Array): Promise<number>;
  /** Deletes; with `revision` only where it is still the newest. Throws journal_conflict. A missing key isn't an error. */
  delete(key: string, revision?: number): Promise<void>;
  /** Returns all keys that start with `prefix`. */
  keys(prefix?: string): Promise<string[]>;
  /** Yields the present values and then every change, until `signal` is aborted. A lost connection is bridged: changes are never skipped, only merged. */
  watch(signal: AbortSignal): AsyncIterable<StateChange>;
}
