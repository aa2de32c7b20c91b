/** One viewer's tail: matches wait in a bounded ring until there is credit and the socket can take them. */

import type { GapReason, LiveLimits, TailOpen } from "#proto/live.ts";
import type { EventDocument } from "./filter/event-document.ts";
import type { LiveMetrics } from "./live-metrics.ts";
import { type PendingGap, PendingRing, type PendingRow } from "./pending-ring.ts";
import { renderFields } from "./rendered-row.ts";

/** The viewer's end. */
export interface TailSink {
  /** False while too much data waits in the socket. */
  isReady(): boolean;
  /** Sends one frame. */
  send(frame: string): void;
}

export interface SubscriptionOptions {
  readonly open: TailOpen;
  readonly sink: TailSink;
  /** Returns true if documents of this index may be shown. */
  readonly mayRead: (index: string) => boolean;
  readonly limits: LiveLimits;
  readonly metrics: LiveMetrics;
  /** Returns the cursor for an event's number. */
  readonly cursorOf: (sequence: number) => string;
  /** Called when rows or gaps wait that may be sent. */
  readonly onPending: () => void;
}

export class Subscription {
  readonly sub: number;
  readonly #fields: readonly string[];
  readonly #sink: TailSink;
  readonly #mayRead: (index: string) => boolean;
  readonly #limits: LiveLimits;
  readonly #metrics: LiveMetrics;
  readonly #cursorOf: (sequence: number) => string;
  readonly #onPending: () => void;
  readonly #ring: PendingRing;
  readonly #maxRate: number;
  #credit: number;
  #paused = false;
  #batch = 0;
  #matched = 0;
  #sent = 0;
  #dropped = 0;
  #secondStartMs = Number.NEGATIVE_INFINITY;
  #rowsThisSecond = 0;

  constructor({ open, sink, mayRead, limits, metrics, cursorOf, onPending }: SubscriptionOptions) {
    this.sub = open.sub;
    this.#fields = open.fields ?? [];
    this.#sink = sink;
    this.#mayRead = mayRead;
    this.#limits = limits;
    this.#metrics = metrics;
    this.#cursorOf = cursorOf;
    this.#onPending = onPending;
    this.#ring = new PendingRing(limits.ringRows, limits.ringSizeBytes);
    this.#maxRate = Math.min(open.maxRate ?? limits.defaultRate, limits.maxRate);
    this.#credit = Math.min(open.credit, limits.creditRows);
  }

  /** True while the tail has rows or gaps that may be sent now. */
  get isPending(): boolean {
    return !this.#paused && !this.#ring.isEmpty && (this.#credit > 0 || this.#ring.rows === 0);
  }

  /** True if a batch is full and needs no further waiting. */
  get isBatchFull(): boolean {
    return this.#ring.rows >= this.#limits.batchRows || this.#ring.sizeBytes >= this.#limits.batchSizeBytes;
  }

  /** Takes the match of a passing event. */
  accept(document: EventDocument, match: PendingRow): void {
    if (!this.#mayRead(document.event.index)) return;
    if (this.#isWithinRate(match.offeredMs)) {
      this.#enqueue(document, match);
      return;
    }
    const { timestampMs } = match.row;
    this.#matched += 1;
    this.#metrics.rowsMatched.inc();
    this.#skip({ n: 1, fromTs: timestampMs, toTs: timestampMs, why: "rate_cap" });
  }

  /** Takes the match of a past event, without a limit of the rate. */
  replay(document: EventDocument, match: PendingRow): void {
    if (this.#mayRead(document.event.index)) this.#enqueue(document, match);
  }

  #enqueue(document: EventDocument, match: PendingRow): void {
    this.#matched += 1;
    this.#metrics.rowsMatched.inc();
    const why: GapReason = this.#paused ? "paused" : "slow_client";
    const row = this.#fields.length === 0 ? match : this.#withFields(document, match);
    this.#countDropped(this.#ring.push(row, why), why);
    if (this.isPending) this.#onPending();
  }

  #withFields(document: EventDocument, match: PendingRow): PendingRow {
    return { ...match, extra: renderFields(document, this.#fields, this.#limits.messageSize) };
  }

  /** Marks that an unknown number of rows is missing here. */
  markMissing(why: GapReason): void {
    this.#skip({ n: 0, fromTs: 0, toTs: 0, why });
  }

  addCredit(rows: number): void {
    this.#credit = Math.min(this.#credit + rows, this.#limits.creditRows);
    if (this.isPending) this.#onPending();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    if (this.isPending) this.#onPending();
  }

  /** Sends as much as credit and socket allow; `last` false keeps rows that don't fill a batch. */
  flush(last: boolean): void {
    while (this.isPending && (last || this.isBatchFull) && this.#sink.isReady()) {
      const gap = this.#ring.takeGap();
      if (gap === undefined) this.#sendBatch();
      else this.#sink.send(JSON.stringify({ t: "tail.gap", sub: this.sub, ...gap }));
    }
  }

  /** Sends the counts. */
  sendStats(nowMs: number): void {
    const oldest = this.#ring.oldestOfferedMs;
    const lagMs = oldest === undefined ? 0 : Math.round(nowMs - oldest);
    const { sub } = this;
    this.#sink.send(
      JSON.stringify({
        t: "tail.stats",
        sub,
        matched: this.#matched,
        sent: this.#sent,
        dropped: this.#dropped,
        lagMs,
      }),
    );
  }

  #isWithinRate(nowMs: number): boolean {
    if (nowMs - this.#secondStartMs >= 1_000) {
      this.#secondStartMs = nowMs;
      this.#rowsThisSecond = 0;
    }
    this.#rowsThisSecond += 1;
    return this.#rowsThisSecond <= this.#maxRate;
  }

  #skip(gap: PendingGap): void {
    this.#ring.pushGap(gap);
    this.#countDropped(gap.n, gap.why);
    if (this.isPending) this.#onPending();
  }

  #countDropped(rows: number, why: GapReason): void {
    if (rows === 0) return;
    this.#dropped += rows;
    this.#metrics.rowsSkipped.inc({ reason: why }, rows);
  }

  #sendBatch(): void {
    const numbers = new Map<string, number>();
    const rows: string[] = [];
    let sizeBytes = 0;
    let sequence = 0;
    while (
      this.#credit > 0 &&
      rows.length < this.#limits.batchRows &&
      sizeBytes < this.#limits.batchSizeBytes
    ) {
      const pending = this.#ring.takeRow();
      if (pending === undefined) break;
      const { head, body, tail, source } = pending.row;
      let number = numbers.get(source);
      if (number === undefined) numbers.set(source, (number = numbers.size));
      const text = `${head}${number}${body}${pending.extra}${tail}`;
      rows.push(text);
      sizeBytes += text.length;
      sequence = pending.sequence;
      this.#credit -= 1;
    }
    this.#batch += 1;
    this.#sent += rows.length;
    this.#metrics.rowsSent.inc(rows.length);
    const begin = `{"t":"tail.rows","sub":${this.sub},"seq":${this.#batch},"cursor":"${this.#cursorOf(sequence)}"`;
    this.#sink.send(`${begin},"srcs":[${[...numbers.keys()].join(",")}],"rows":[${rows.join(",")}]}`);
  }
}
