/**
 * This hub's view of the other members. A watch brings changes; reads from the leader decide whether a member has stopped
 * renewing, because a watch may be late. Each poll also reads one other key, in turn: this shows that the store answers, and
 * finds changes that the watch missed. Times are of this hub's monotonic clock; it is never compared with another clock.
 *
 * A lower revision than one that was seen comes from a bucket that was lost and recreated, or from a server that was
 * cut off from the others and takes itself for the leader. Only a write distinguishes them, as a majority must store
 * it.
 */

import { EXPIRY_FACTOR } from "#hub/journal/buckets/lease.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { decodeMember, MEMBER_PREFIX, type MemberRecord, memberKey, unreadMember } from "./member-record.ts";

const POLL_MS = 1_000;
/** The same while a member is late: each wait adds to the pause until others take over its work. */
const LATE_POLL_MS = 250;
/**
 * A longer pause between two polls means that this process or the store paused: stillness is then measured from the start.
 * Shorter than EXPIRY_FACTOR leases minus two renewals, so that an undetected pause removes no member.
 */
const POLL_GAP_MS = 4_000;

/** Fraction of a lease after which a renewal is late; members renew after a quarter of a lease. */
const LATE = 0.6;

export interface DirectoryOptions {
  readonly bucket: StateBucket;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** A record with the observations of it. */
export interface ObservedMember {
  readonly record: MemberRecord;
  readonly revision: number;
  /** When this revision was first seen, monotonic ms. */
  readonly sinceMs: number;
  /** When a read from the leader last found it unchanged, monotonic ms. */
  readonly confirmedMs: number;
}

/** A value of the bucket that isn't a member, such as the table of partitions. */
export interface SharedValue {
  readonly value: Uint8Array;
  readonly revision: number;
}

export class MemberDirectory implements Component {
  readonly #options: DirectoryOptions;
  readonly #members = new Map<string, ObservedMember>();
  readonly #shared = new Map<string, SharedValue>();
  readonly #listeners = new Set<() => void>();
  /** Revisions of members' records that can't be read, by key. */
  readonly #malformed = new Map<string, number>();
  readonly #skipped: Counter;
  readonly #abort = new AbortController();
  /** Highest revision that was seen. */
  #highest = 0;
  /** True from a write that shows that the bucket was recreated, until everything was read. */
  #isAnew = false;
  #polledMs: number;
  #polls = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#skipped = options.metrics.counter(
      "tailrace_cluster_records_skipped_total",
      "records of the bucket of members that can't be read: their hub counts as one that runs, until it renews or is lost",
    );
    this.#polledMs = options.clock.monotonic();
  }

  /** Reads everything, then follows changes. Throws unavailable or timeout. */
  async start(): Promise<void> {
    await this.refresh();
    this.#running = Promise.all([this.#follow(), this.#poll()]);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  /** Every known member, by name. */
  all(): ObservedMember[] {
    const byName = ({ record: a }: ObservedMember, { record: b }: ObservedMember): number =>
      a.name < b.name || (a.name === b.name && a.id < b.id) ? -1 : 1;
    return [...this.#members.values()].sort(byName);
  }

  get(id: string): ObservedMember | undefined {
    return this.#members.get(id);
  }

  /** Returns a value that isn't a member. */
  shared(key: string): SharedValue | undefined {
    return this.#shared.get(key);
  }

  /**
   * Highest revision of the bucket that was seen; pass it to `stored` after a write that begins now.
   */
  get highest(): number {
    return this.#highest;
  }

  /**
   * Records the revision of a write that was stored, and what `highest` was when it began. A lower revision: the bucket
   * was recreated, and what is read from now on replaces what was seen.
   */
  stored(revision: number, highest: number): void {
    if (revision > highest) return;
    this.#isAnew = true;
    this.#highest = revision;
    for (const [id, member] of this.#members) this.#members.set(id, { ...member, revision: 0 });
    for (const [key, { value }] of this.#shared) this.#shared.set(key, { value, revision: 0 });
    this.#malformed.clear();
  }

  /** True if the leader confirmed that the member hasn't renewed its record for EXPIRY_FACTOR lease durations. */
  isStill({ record, sinceMs, confirmedMs }: ObservedMember): boolean {
    return record.state === "live" && confirmedMs - sinceMs >= record.durationMs * EXPIRY_FACTOR;
  }

  /** Returns for how long a member hasn't renewed its record, ms; 0 as long as it isn't late. */
  silentMs({ record, sinceMs }: ObservedMember): number {
    const silentMs = this.#options.clock.monotonic() - sinceMs;
    return record.state === "live" && silentMs <= record.durationMs ? 0 : silentMs;
  }

  /** Returns whether a member's renewal is later than usual: it may have stopped. */
  isLate({ record, sinceMs }: ObservedMember): boolean {
    return this.#options.clock.monotonic() - sinceMs > record.durationMs * LATE;
  }

  /** Calls `listener` after each change of a record or value. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads everything from the leader. Throws unavailable or timeout. */
  async refresh(): Promise<void> {
    const { bucket } = this.#options;
    const keys = new Set([...(await bucket.keys()), ...this.#keys()]);
    await Promise.all([...keys].map((key) => this.#read(key)));
  }

  async #follow(): Promise<void> {
    try {
      for await (const { key, value, revision } of this.#options.bucket.watch(this.#abort.signal))
        this.#tryTake(key, value, revision);
    } catch (error) {
      // The connection was closed; the polls continue reporting that.
      this.#options.log.debug({ err: toAppError(error) }, "the watch of the members ended");
    }
  }

  async #poll(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted) {
      const isAnyLate = this.#overdue(clock.monotonic()).some(({ record }) => record.state === "live");
      await clock.sleep(isAnyLate ? LATE_POLL_MS : POLL_MS, signal);
      if (signal.aborted) return;
      try {
        const startedMs = clock.monotonic();
        if (this.#isAnew) {
          await this.refresh();
          this.#isAnew = false;
        }
        const keys = new Set(this.#overdue(startedMs).map(({ record }) => MEMBER_PREFIX + record.id));
        const inTurn = this.#nextKey();
        if (inTurn !== undefined) keys.add(inTurn);
        await Promise.all([...keys].map((key) => this.#read(key)));
        this.#polled(startedMs);
      } catch (error) {
        log.debug({ err: toAppError(error) }, "the members of the cluster can't be read now");
      }
    }
  }

  /** Returns the members that haven't renewed for half a lease at `ms`: they are read at each poll. */
  #overdue(ms: number): ObservedMember[] {
    return [...this.#members.values()].filter(({ sinceMs, record }) => ms - sinceMs > record.durationMs / 2);
  }

  /**
   * Records a successful poll. After a pause no member's stillness counts, because no renewal could be stored or seen.
   */
  #polled(startedMs: number): void {
    const nowMs = this.#options.clock.monotonic();
    const paused = nowMs - this.#polledMs > POLL_GAP_MS;
    this.#polledMs = nowMs;
    for (const [id, member] of this.#members) {
      if (paused) this.#members.set(id, { ...member, sinceMs: nowMs, confirmedMs: nowMs });
      else if (startedMs - member.sinceMs > member.record.durationMs / 2)
        this.#members.set(id, { ...member, confirmedMs: startedMs });
    }
    if (paused || this.all().some((member) => this.isStill(member))) this.#changed();
  }

  async #read(key: string): Promise<void> {
    const entry = await this.#options.bucket.get(key);
    if (entry !== null) this.#take(key, entry.value, entry.revision);
    else if (this.#forget(key)) this.#changed();
  }

  /** A change that a listener can't apply ends the watch of no other. */
  #tryTake(key: string, value: Uint8Array | null, revision: number): void {
    try {
      this.#take(key, value, revision);
    } catch (error) {
      this.#skipped.inc();
      this.#options.log.error({ err: toAppError(error), key }, "a change of the cluster can't be applied");
    }
  }

  #take(key: string, value: Uint8Array | null, revision: number): void {
    if (revision <= this.#revisionOf(key)) return;
    this.#highest = Math.max(this.#highest, revision);
    if (value === null) {
      this.#forget(key);
    } else if (key.startsWith(MEMBER_PREFIX)) {
      const record = this.#decode(key, value, revision);
      if (record === undefined) return;
      const nowMs = this.#options.clock.monotonic();
      const id = key.slice(MEMBER_PREFIX.length);
      this.#members.set(id, { record, revision, sinceMs: nowMs, confirmedMs: nowMs });
    } else {
      this.#shared.set(key, { value, revision });
    }
    this.#changed();
  }

  /**
   * Returns undefined for a malformed record, once for each: what is known of its hub stays. It gets the revision of that record,
   * so that the hub can be marked as lost, and removed, if it doesn't renew. Of a hub that isn't known this much is: it is there.
   */
  #decode(key: string, value: Uint8Array, revision: number): MemberRecord | undefined {
    try {
      const record = decodeMember(value);
      if (memberKey(record.id) !== key) throw new AppError("data_corrupt", `it is that of ${record.id}`);
      this.#malformed.delete(key);
      return record;
    } catch (error) {
      this.#malformed.set(key, revision);
      const id = key.slice(MEMBER_PREFIX.length);
      const known = this.#members.get(id);
      const nowMs = this.#options.clock.monotonic();
      const unread = { record: unreadMember(id), sinceMs: nowMs, confirmedMs: nowMs };
      this.#members.set(id, { ...(known ?? unread), revision });
      if (known === undefined) this.#changed();
      this.#skipped.inc();
      this.#options.log.warn(
        { err: toAppError(error), key },
        "the record of a hub can't be read; what was known of the hub counts until it renews the record, or is lost",
      );
      return undefined;
    }
  }

  #nextKey(): string | undefined {
    const keys = this.#keys();
    return keys[this.#polls++ % keys.length];
  }

  #keys(): string[] {
    return [...[...this.#members.keys()].map((id) => MEMBER_PREFIX + id), ...this.#shared.keys()];
  }

  #revisionOf(key: string): number {
    const member = this.#members.get(key.slice(MEMBER_PREFIX.length));
    const known = (key.startsWith(MEMBER_PREFIX) ? member : this.#shared.get(key))?.revision ?? 0;
    return Math.max(known, this.#malformed.get(key) ?? 0);
  }

  #forget(key: string): boolean {
    this.#malformed.delete(key);
    if (!key.startsWith(MEMBER_PREFIX)) return this.#shared.delete(key);
    return this.#members.delete(key.slice(MEMBER_PREFIX.length));
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
