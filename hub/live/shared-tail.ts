/**
 * Live tail over all hubs: a hub with viewers asks the others for the events that they process, over core NATS. Nothing is
 * sent while there are no viewers. Events beyond the limit and lost events appear to the viewers as a gap.
 */

import type { Clock } from "#proto/kit/clock.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import type { GapReason } from "#proto/live.ts";
import type { LiveEvent } from "./filter/event-document.ts";

/** Subject of the ids of hubs that have viewers, and prefix of the events for each of them. */
const WANTED = "live.wanted";
const EVENTS = "live.events";

/** Interval of the checks whether there are viewers, and interval at which a hub with viewers announces them. */
const LOOK_MS = 200;
const ANNOUNCE_MS = 1_000;
/** A hub that announces nothing for this long has no viewers any more, or is gone. */
const FORGET_MS = 3_500;
/** Maximum bytes of events sent per second: no viewer can read more. */
const SECOND_BYTES = 8 * 1024 * 1024;
/** Maximum bytes of events in one message. */
const MESSAGE_BYTES = 256 * 1024;

/** The part of core NATS that tails need. */
export interface TailTransport {
  /** Throws if the data is too large or the connection is closed. */
  publish(subject: string, data: Uint8Array): void;
  subscribe(subject: string, take: (message: { readonly data: Uint8Array }) => void): () => void;
}

/** The viewers of this hub. */
export interface OwnTail {
  readonly listening: boolean;
  offer(events: readonly LiveEvent[]): void;
  /** Marks in every tail that rows are missing. */
  missed(why: GapReason): void;
}

export interface SharedTailOptions {
  readonly transport: TailTransport;
  /** Id of this hub. */
  readonly node: string;
  readonly own: OwnTail;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

export class SharedTail implements Component {
  readonly #options: SharedTailOptions;
  readonly #leftOut: Counter;
  /** Time of the last announcement of each other hub with viewers, monotonic ms. */
  readonly #wanting = new Map<string, number>();
  /** Number of the last event that each other hub sent. */
  readonly #received = new Map<string, number>();
  #unwatch: (() => void) | undefined;
  #unsubscribe: (() => void) | undefined;
  #looking: NodeJS.Timeout | undefined;
  #announcedMs = 0;
  #sent = 0;
  #secondMs = 0;
  #secondBytes = 0;

  constructor(options: SharedTailOptions) {
    this.#options = options;
    this.#leftOut = options.metrics.counter(
      "tailrace_live_shared_events_left_out_total",
      "Events that were not sent to the viewers of other hubs, since they were too many.",
    );
  }

  async start(): Promise<void> {
    const { transport, node, clock } = this.#options;
    this.#unwatch = transport.subscribe(WANTED, ({ data }) => {
      const other = Buffer.from(data).toString();
      if (other !== node) this.#wanting.set(other, clock.monotonic());
    });
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#looking);
    this.#unwatch?.();
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  /** True while any hub has a viewer. */
  get listening(): boolean {
    return this.#options.own.listening || this.#wanting.size > 0;
  }

  /** Announces at once to the other hubs that this one has viewers, if it has any. */
  announce(): void {
    this.#announcedMs = Number.NEGATIVE_INFINITY;
    this.#look();
  }

  /** Sends events that this hub processes to the viewers of all hubs. */
  offer(events: readonly LiveEvent[]): void {
    const { own } = this.#options;
    if (own.listening) own.offer(events);
    if (this.#wanting.size === 0) return;
    let first = 0;
    let bytes = 0;
    for (const [at, { source }] of events.entries()) {
      if (bytes > 0 && bytes + source.byteLength > MESSAGE_BYTES) {
        this.#send(events.slice(first, at), bytes);
        [first, bytes] = [at, 0];
      }
      bytes += source.byteLength;
    }
    this.#send(events.slice(first), bytes);
  }

  #send(events: readonly LiveEvent[], bytes: number): void {
    const { transport, node, clock } = this.#options;
    const nowMs = clock.monotonic();
    if (nowMs - this.#secondMs >= 1_000) [this.#secondMs, this.#secondBytes] = [nowMs, 0];
    this.#secondBytes += bytes;
    const before = this.#sent;
    this.#sent += events.length;
    if (this.#secondBytes > SECOND_BYTES) {
      this.#leftOut.inc(events.length);
      return;
    }
    try {
      const data = encodeEvents({ node, before, events });
      for (const other of this.#wanting.keys()) transport.publish(`${EVENTS}.${other}`, data);
    } catch {
      // A single event exceeds the size of a message, or the hub stops: viewers must not block the pipeline.
      this.#leftOut.inc(events.length);
    }
  }

  #look(): void {
    const { transport, node, own, clock } = this.#options;
    const nowMs = clock.monotonic();
    for (const [other, sinceMs] of this.#wanting)
      if (nowMs - sinceMs > FORGET_MS) this.#wanting.delete(other);
    if (!own.listening) {
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
      return;
    }
    if (this.#unsubscribe === undefined) {
      this.#received.clear();
      const take = ({ data }: { readonly data: Uint8Array }): void => this.#take(decodeEvents(data));
      this.#unsubscribe = transport.subscribe(`${EVENTS}.${node}`, take);
    } else if (nowMs - this.#announcedMs < ANNOUNCE_MS) return;
    this.#announcedMs = nowMs;
    transport.publish(WANTED, Buffer.from(node));
  }

  #take({ node, before, events }: SharedEvents): void {
    const { own } = this.#options;
    const known = this.#received.get(node);
    if (known !== undefined && known !== before) own.missed("other_hub");
    this.#received.set(node, before + events.length);
    own.offer(events);
  }
}

/**
 * Events sent to the viewers of another hub: `size head source*`. size: length of head in bytes, 4 bytes little endian;
 * head: JSON {v: 1, node, before, events: [[index, id, timestampMs, size of its source], …]}.
 */
interface SharedEvents {
  /** Id of the hub that processed them. */
  readonly node: string;
  /** Number of events that it had sent or left out before these. */
  readonly before: number;
  readonly events: readonly LiveEvent[];
}

interface Head extends Omit<SharedEvents, "events"> {
  readonly v: number;
  readonly events: readonly (readonly [index: string, id: string, timestampMs: number, size: number])[];
}

const SIZE_BYTES = 4;

function encodeEvents({ node, before, events }: SharedEvents): Uint8Array {
  const rows = events.map(
    ({ index, id, timestampMs, source }) => [index, id, timestampMs, source.byteLength] as const,
  );
  const head = Buffer.from(JSON.stringify({ v: 1, node, before, events: rows } satisfies Head));
  const size = Buffer.alloc(SIZE_BYTES);
  size.writeUInt32LE(head.length);
  return Buffer.concat([size, head, ...events.map(({ source }) => source)]);
}

function decodeEvents(data: Uint8Array): SharedEvents {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  let at = SIZE_BYTES + bytes.readUInt32LE(0);
  const { node, before, events } = JSON.parse(bytes.toString("utf8", SIZE_BYTES, at)) as Head;
  return {
    node,
    before,
    events: events.map(([index, id, timestampMs, size]) => {
      const source = bytes.subarray(at, at + size);
      at += size;
      return { index, id, timestampMs, source };
    }),
  };
}
