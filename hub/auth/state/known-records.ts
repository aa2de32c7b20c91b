/**
 * Records that this process wrote and will soon use up. A compare-and-set on the revision that the log gave shows that a
 * record is unchanged, so it isn't read first: a sign-in waits for each call of the state.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import type { Stored } from "./records.ts";

/** Beyond that the oldest one is forgotten, and read when it is used. */
const MAX_KNOWN = 1_000;

export class KnownRecords<T> {
  readonly #clock: Clock;
  readonly #known = new Map<string, Stored<T>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Remembers a record as it was stored. */
  note(name: string, record: Stored<T>): void {
    setNewest(this.#known, name, record, MAX_KNOWN);
  }

  /**
   * Returns a record once; undefined if it is unknown or expired. It may have been changed or deleted since: the caller must
   * not rely on it before a compare-and-set on its revision has succeeded.
   */
  take(name: string): Stored<T> | undefined {
    const record = this.#known.get(name);
    this.#known.delete(name);
    const { expiresAt = null } = record ?? {};
    return expiresAt !== null && expiresAt <= this.#clock.now() ? undefined : record;
  }
}
