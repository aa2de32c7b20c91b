/**
 * Leases: at most one holder of a piece of work at a time, as long as clocks run at about the same speed. Neither expiry of
 * keys nor reads are trusted: acquiring and renewing are compare-and-set, and a contender measures on its own monotonic
 * clock how long the revision stays unchanged. The epoch fences a holder that hasn't noticed the loss of its lease.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";

/** Longer than JetStream takes to elect a leader (4 to 9 s), during which no holder can renew. */
export const LEASE_MS = 15_000;

/**
 * A contender waits for this many durations without a renewal; the holder stops by itself after one. The speeds of clocks
 * may differ by the rest, an eighth; real ones differ by less than a thousandth.
 */
export const EXPIRY_FACTOR = 1.125;

/** Renewals per duration, so that three may fail. */
export const RENEWALS = 4;

/** Wait after a renewal that failed. */
const RETRY_MS = 250;

/** A contender's checks per duration, and the longest pause between two. */
const LOOKS = 5;
const LOOK_MS = 1_000;

export interface LeaseOptions {
  readonly bucket: StateBucket;
  readonly key: string;
  /** Name of this holder; unique among all holders and across restarts. */
  readonly owner: string;
  readonly durationMs?: number;
  /** True for a holder that is known to be dead, such as an earlier process on the same locked folder. */
  readonly isDead?: (owner: string) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A lease that is held. */
export interface HeldLease {
  /** Grows with each holder: the fencing token of work done under the lease. */
  readonly epoch: number;
  /** False from when its time is over, also where `lost` comes later because this process was paused. */
  readonly isValid: boolean;
  /** Aborted when the lease is lost or released: stop the work first. */
  readonly lost: AbortSignal;
  /** Releases the lease, so that the next holder needn't wait. Safe to call twice and after a loss. */
  release(): Promise<void>;
}

/** The key's value, as JSON; an empty owner: free. */
interface Claim {
  readonly owner: string;
  readonly epoch: number;
  readonly durationMs: number;
}

/** Waits for the lease and takes it. Rejects with the reason of `signal` when that is aborted first. */
export async function acquireLease(options: LeaseOptions, signal: AbortSignal): Promise<HeldLease> {
  const { bucket, key, clock, durationMs = LEASE_MS } = options;
  let seenRevision = 0;
  let seenSince = clock.monotonic();
  let seen: Claim | undefined;
  for (;;) {
    signal.throwIfAborted();
    const entry = await quietly(options, () => bucket.get(key));
    if (entry !== undefined) {
      // A key that is gone was lost with its bucket: the holder may not know yet.
      if (entry !== null) seen = parseClaim(entry);
      const claim = seen;
      const revision = entry?.revision ?? 0;
      if (revision !== seenRevision) {
        seenRevision = revision;
        seenSince = clock.monotonic();
      }
      const isFree = claim === undefined || claim.owner === "" || options.isDead?.(claim.owner) === true;
      const waitMs = isFree ? 0 : claim.durationMs * EXPIRY_FACTOR;
      if (clock.monotonic() - seenSince >= waitMs) {
        const held = await quietly(options, () => Holder.take(options, entry, claim));
        if (held !== undefined) return held;
      }
    }
    await clock.sleep(Math.min(LOOK_MS, durationMs / LOOKS), signal);
  }
}

/** Renews in the background until lost or released. */
class Holder implements HeldLease {
  readonly epoch: number;
  readonly #options: LeaseOptions;
  readonly #durationMs: number;
  readonly #ended = new AbortController();
  readonly #renewing: Promise<void>;
  #revision: number;
  #validUntil: number;
  #renewal = Promise.resolve();

  private constructor(options: LeaseOptions, epoch: number, revision: number, takenAt: number) {
    this.#options = options;
    this.#durationMs = options.durationMs ?? LEASE_MS;
    this.epoch = epoch;
    this.#revision = revision;
    this.#validUntil = takenAt + this.#durationMs;
    this.#renewing = this.#renew();
  }

  /** Throws journal_conflict if another contender was quicker. */
  static async take(
    options: LeaseOptions,
    entry: StateEntry | null,
    before: Claim | undefined,
  ): Promise<Holder> {
    const { bucket, key, owner, clock, durationMs = LEASE_MS } = options;
    const epoch = (before?.epoch ?? 0) + 1;
    const takenAt = clock.monotonic(); // before the call: the contenders' clocks start when it is stored
    const value = toValue({ owner, epoch, durationMs });
    const revision =
      entry === null ? await bucket.create(key, value) : await bucket.update(key, value, entry.revision);
    return new Holder(options, epoch, revision, takenAt);
  }

  get isValid(): boolean {
    return !this.#ended.signal.aborted && this.#options.clock.monotonic() < this.#validUntil;
  }

  get lost(): AbortSignal {
    return this.#ended.signal;
  }

  async release(): Promise<void> {
    const held = !this.#ended.signal.aborted;
    this.#ended.abort();
    await this.#renewing;
    await this.#renewal; // its revision is needed; the bucket bounds the time of the call
    if (!held) return;
    const { bucket, key, log } = this.#options;
    try {
      await bucket.update(key, toValue({ owner: "", epoch: this.epoch, durationMs: 0 }), this.#revision);
    } catch (error) {
      log.debug({ err: error, key }, "a lease could not be given up; it expires");
    }
  }

  async #renew(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#ended;
    const expiry = this.#watchExpiry();
    const intervalMs = this.#durationMs / RENEWALS;
    let waitMs = intervalMs;
    while (!signal.aborted) {
      await clock.sleep(waitMs, signal);
      if (signal.aborted) break;
      const startedMs = clock.monotonic();
      let isRenewed = false;
      this.#renewal = this.#renewOnce().then((renewed) => void (isRenewed = renewed));
      await Promise.race([this.#renewal, expiry]);
      // A renewal counts from its beginning: after one that took long the next is due at once.
      const restMs = Math.max(0, intervalMs - (clock.monotonic() - startedMs));
      waitMs = isRenewed ? restMs : Math.min(RETRY_MS, intervalMs);
    }
    await expiry;
  }

  /** Returns false where the lease wasn't extended, or it isn't known. */
  async #renewOnce(): Promise<boolean> {
    const { bucket, key, owner, clock, log } = this.#options;
    const startedAt = clock.monotonic();
    try {
      const value = toValue({ owner, epoch: this.epoch, durationMs: this.#durationMs });
      this.#revision = await bucket.update(key, value, this.#revision);
      this.#validUntil = startedAt + this.#durationMs;
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === "journal_conflict") await this.#lookAgain();
      else log.debug({ err: error, key }, "a lease could not be renewed yet");
      return false;
    }
  }

  /** Resolves a conflict: an earlier renewal whose answer was lost may have changed the revision. */
  async #lookAgain(): Promise<void> {
    const { key } = this.#options;
    const entry = await quietly(this.#options, () => this.#options.bucket.get(key));
    if (entry === undefined) return; // the bucket is unavailable; the next renewal or the expiry decides
    const claim = entry === null ? undefined : parseClaim(entry);
    const ours = claim?.owner === this.#options.owner && claim.epoch === this.epoch;
    if (ours) this.#revision = entry!.revision;
    else this.#lose("another one has it");
  }

  /** Ends the lease when its time is over, even while a renewal is pending. */
  async #watchExpiry(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      const leftMs = this.#validUntil - clock.monotonic();
      if (leftMs <= 0) this.#lose("it could not be renewed in time");
      else await clock.sleep(leftMs, signal);
    }
  }

  #lose(why: string): void {
    if (this.#ended.signal.aborted) return;
    const { key, owner, log } = this.#options;
    log.warn({ key, owner, epoch: this.epoch }, `the lease is lost: ${why}`);
    this.#ended.abort();
  }
}

/** Returns undefined if the call failed temporarily or another contender was quicker. */
async function quietly<T>({ key, log }: LeaseOptions, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof AppError) || !(error.retryable || error.code === "journal_conflict")) throw error;
    log.debug({ err: error, key }, "a lease could not be read or acquired yet");
    return undefined;
  }
}

function toValue(claim: Claim): Uint8Array {
  return Buffer.from(JSON.stringify(claim));
}

function parseClaim({ value }: StateEntry): Claim {
  return JSON.parse(Buffer.from(value).toString()) as Claim;
}
