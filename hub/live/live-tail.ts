/**
 * Sends processed events to the open tails of viewers. It must never block the pipeline: rows that a viewer can't receive
 * are dropped and counted.
 */

import { randomBytes } from "node:crypto";
import type { Cursor, GapReason, LiveLimits, TailOpen } from "#proto/live.ts";
import { EventDocument, type LiveEvent } from "./filter/event-document.ts";
import { compileFilter, type Filter } from "./filter/filter.ts";
import { FilterIndex } from "./filter/filter-index.ts";
import type { LiveMetrics } from "./live-metrics.ts";
import type { PendingRow } from "./pending-ring.ts";
import { RecentEvents } from "./recent-events.ts";
import { NO_FIELDS, renderRow } from "./rendered-row.ts";
import { Subscription, type TailSink } from "./subscription.ts";

export type { LiveEvent } from "./filter/event-document.ts";

/** Time that events are kept after the last viewer has left, for viewers that reconnect. */
const LINGER_MS = 30_000;
const STATS_INTERVAL_MS = 1_000;
/** Tails that are due within this time are served together. */
const MIN_FLUSH_MS = 5;

/** Tails that share one filter, which is evaluated once for all of them. */
interface FilterGroup {
  readonly key: string;
  readonly filter: Filter;
  readonly subscriptions: Set<Subscription>;
}

/** The client of a tail. */
export interface TailClient {
  readonly sink: TailSink;
  /** Returns true if documents of this index may be shown. */
  readonly mayRead: (index: string) => boolean;
  /** Receives the tail's first cursor before its first row is sent. */
  readonly onOpened: (cursor: Cursor) => void;
}

export class LiveTail {
  readonly #limits: LiveLimits;
  readonly #metrics: LiveMetrics;
  /** Part of every cursor, which identifies this run of the hub. */
  readonly #epoch = randomBytes(6).toString("base64url");
  readonly #recent = new RecentEvents();
  readonly #groups = new Map<string, FilterGroup>();
  readonly #index = new FilterIndex<FilterGroup>();
  readonly #groupOf = new Map<Subscription, FilterGroup>();
  /** Tails with rows to send and their due times, monotonic ms; in the order of those times. */
  readonly #pending = new Map<Subscription, number>();
  /** Tails that have a whole batch. */
  readonly #full = new Set<Subscription>();
  #flushTimer: NodeJS.Timeout | undefined;
  #statsTimer: NodeJS.Timeout | undefined;
  #lingerTimer: NodeJS.Timeout | undefined;
  #listening = false;

  constructor(limits: LiveLimits, metrics: LiveMetrics) {
    this.#limits = limits;
    this.#metrics = metrics;
  }

  /** True while events are wanted. */
  get listening(): boolean {
    return this.#listening;
  }

  get openTails(): number {
    return this.#groupOf.size;
  }

  /** Takes events in order. Their bytes may change after it returns. */
  offer(events: readonly LiveEvent[]): void {
    if (!this.#listening) return;
    const nowMs = performance.now();
    for (const event of events) this.#offerOne(event, this.#recent.push(event), nowMs);
    for (const subscription of this.#full) subscription.flush(false);
    this.#full.clear();
  }

  /** Marks in every tail that an unknown number of rows is missing. */
  missed(why: GapReason): void {
    for (const subscription of this.#groupOf.keys()) subscription.markMissing(why);
  }

  /** Opens a tail. Throws `parsing` for an invalid filter. */
  open(open: TailOpen, { sink, mayRead, onOpened }: TailClient): Subscription {
    const group = this.#groupFor(open);
    const subscription: Subscription = new Subscription({
      open,
      sink,
      mayRead,
      limits: this.#limits,
      metrics: this.#metrics,
      cursorOf: (sequence) => this.#cursorOf(sequence),
      onPending: () => this.#markPending(subscription),
    });
    group.subscriptions.add(subscription);
    if (!this.#groups.has(group.key)) this.#index.add(group, group.filter);
    this.#groups.set(group.key, group);
    this.#groupOf.set(subscription, group);
    this.#metrics.tails.set(this.#groupOf.size);
    this.#listen();
    onOpened(this.#cursorOf(this.#recent.sequence));
    this.#replay(subscription, group.filter, open.from);
    return subscription;
  }

  /** Ends a tail; a second time does nothing. */
  close(subscription: Subscription): void {
    const group = this.#groupOf.get(subscription);
    if (group === undefined) return;
    this.#groupOf.delete(subscription);
    group.subscriptions.delete(subscription);
    if (group.subscriptions.size === 0) {
      this.#groups.delete(group.key);
      this.#index.delete(group);
    }
    this.#pending.delete(subscription);
    this.#full.delete(subscription);
    this.#metrics.tails.set(this.#groupOf.size);
    if (this.#groupOf.size > 0) return;
    clearInterval(this.#statsTimer);
    this.#statsTimer = undefined;
    this.#lingerTimer = setTimeout(() => this.#stopListening(), LINGER_MS).unref();
  }

  /** Ends all tails and timers. */
  stop(): void {
    for (const subscription of this.#groupOf.keys()) this.close(subscription);
    this.#stopListening();
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
  }

  #offerOne(event: LiveEvent, sequence: number, nowMs: number): void {
    const document = new EventDocument(event);
    let match: PendingRow | undefined;
    this.#index.forEachMatch(document, ({ subscriptions }) => {
      match ??= this.#render(document, sequence, nowMs);
      for (const subscription of subscriptions) subscription.accept(document, match);
    });
  }

  /** Returns the row of a match, which all its viewers share. */
  #render(document: EventDocument, sequence: number, offeredMs: number): PendingRow {
    return { row: renderRow(document, this.#limits.messageSize), extra: NO_FIELDS, sequence, offeredMs };
  }

  #groupFor(open: TailOpen): FilterGroup {
    const key = JSON.stringify([open.q, open.index]);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    return { key, filter: compileFilter(open.q, open.index), subscriptions: new Set() };
  }

  #listen(): void {
    this.#listening = true;
    clearTimeout(this.#lingerTimer);
    this.#statsTimer ??= setInterval(() => this.#sendStats(), STATS_INTERVAL_MS).unref();
  }

  #stopListening(): void {
    clearTimeout(this.#lingerTimer);
    this.#listening = false;
    // Events that pass from now on aren't seen: an earlier cursor must not look complete.
    this.#recent.clear();
  }

  #replay(subscription: Subscription, filter: Filter, from: TailOpen["from"]): void {
    if (from === undefined) return;
    const start = typeof from === "string" ? this.#sequenceOf(from) : 0;
    if (start === undefined) {
      subscription.markMissing("hub_restart");
      return;
    }
    const { complete, events } = this.#recent.after(start);
    if (typeof from === "string" && !complete) subscription.markMissing("reconnect");
    const matches: { document: EventDocument; sequence: number }[] = [];
    for (const { sequence, event } of events) {
      const document = new EventDocument(event);
      if (filter.matches(document)) matches.push({ document, sequence });
    }
    const wanted =
      typeof from === "string" ? matches : matches.slice(Math.max(0, matches.length - from.last));
    const nowMs = performance.now();
    for (const { document, sequence } of wanted)
      subscription.replay(document, this.#render(document, sequence, nowMs));
  }

  #markPending(subscription: Subscription): void {
    if (subscription.isBatchFull) this.#full.add(subscription);
    if (this.#pending.has(subscription)) return;
    this.#pending.set(subscription, performance.now() + this.#limits.batchDelayMs);
    this.#flushTimer ??= setTimeout(() => this.#flush(), this.#limits.batchDelayMs);
  }

  /** Each tail has its own due time: if a thousand were flushed together, the last would wait for all others. */
  #flush(): void {
    this.#flushTimer = undefined;
    const nowMs = performance.now();
    for (const [subscription, dueMs] of this.#pending) {
      if (dueMs > nowMs) {
        this.#flushTimer = setTimeout(() => this.#flush(), Math.max(MIN_FLUSH_MS, dueMs - nowMs));
        return;
      }
      this.#pending.delete(subscription);
      subscription.flush(true);
      // Rows that a full socket didn't take are sent again later.
      if (subscription.isPending) this.#pending.set(subscription, nowMs + this.#limits.batchDelayMs);
    }
  }

  #sendStats(): void {
    const nowMs = performance.now();
    for (const subscription of this.#groupOf.keys()) subscription.sendStats(nowMs);
  }

  #cursorOf(sequence: number): Cursor {
    return Buffer.from(`${this.#epoch}.${sequence}`).toString("base64url");
  }

  /** Returns the number in a cursor of this run; undefined for any other text. */
  #sequenceOf(cursor: Cursor): number | undefined {
    const [epoch, digits] = Buffer.from(cursor, "base64url").toString().split(".");
    const sequence = Number(digits);
    if (epoch !== this.#epoch || !Number.isSafeInteger(sequence) || sequence > this.#recent.sequence)
      return undefined;
    return sequence;
  }
}
