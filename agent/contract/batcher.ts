/**
 * Collects events of one stream (standard input, a socket) into batches. A batch is sent when it is full or when the
 * linger time is over. The output's slots bound the memory: callers must wait while there is none.
 */

import { randomUUID } from "node:crypto";
import { AckTracker, type Flight, NO_ANCHOR } from "#agent/registry/ack-tracker.ts";
import { appendEvent, eventSize } from "#proto/raw-encoder.ts";
import type { InputContext } from "./input.ts";
import type { Channel } from "./output.ts";
import { decodeEvents } from "./packed-events.ts";
import type { Slot } from "./slot-pool.ts";

/** An event as an input delivers it. */
export interface StreamEvent {
  readonly message: Uint8Array;
  /** Time of the event, ms since 1970-01-01 UTC; 0: unknown. */
  readonly timeMs: number;
  /** Further fields as a JSON object; empty for none. */
  readonly fieldsJson: Uint8Array;
}

type BatcherContext = Pick<
  InputContext,
  "id" | "output" | "fieldsJson" | "lingerMs" | "batchBytes" | "clock"
>;

export class EventBatcher {
  readonly #context: BatcherContext;
  readonly #channel: Channel;
  readonly #onAcknowledged: (upTo: number) => void;
  readonly #tracker = new AckTracker(0, NO_ANCHOR);
  readonly #stop = new AbortController();
  #slot: Slot | null = null;
  #acquiring: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #end = 0;
  #first = 0;
  #sequence = 0;
  #bytes = 0;
  /** Events of each batch in flight, as bytes in its slot; in the order of sending. */
  readonly #flights = new Map<Flight, Buffer>();
  #onAllAcknowledged: (() => void)[] = [];

  /**
   * A stream has no identity over restarts: each start is a source of its own. `onAcknowledged` is called with the sequence below
   * which number all events are acknowledged.
   */
  constructor(
    type: string,
    context: BatcherContext,
    onAcknowledged: (upTo: number) => void = () => undefined,
  ) {
    this.#onAcknowledged = onAcknowledged;
    this.#context = context;
    const source = { inputId: context.id, inputType: type, fileKey: randomUUID(), generation: 0, path: "" };
    this.#channel = context.output.channel(source, context.fieldsJson);
  }

  /** Longest message that one event may carry, bytes. */
  get maxMessageBytes(): number {
    return Math.floor(this.#context.batchBytes / 2);
  }

  /** Events added so far. */
  get events(): number {
    return this.#sequence;
  }

  /** Bytes of messages added so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes of batches that are not acknowledged. */
  get unackedBytes(): number {
    let bytes = 0;
    for (const { length } of this.#flights.values()) bytes += length;
    return bytes;
  }

  /** True after `stop`: nothing is taken any more. */
  get stopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Resolves when `add` takes an event, or when the batcher stops. */
  async whenReady(): Promise<void> {
    if (this.#slot !== null || this.stopped) return;
    this.#acquiring ??= this.#acquire();
    await this.#acquiring;
  }

  /**
   * Adds an event, which must fit into a message of the output. Returns false if there is no slot, and the event is not
   * taken.
   */
  add(event: StreamEvent): boolean {
    const fields = { ...event, offset: this.#sequence, length: event.message.length };
    const bytes = eventSize(fields);
    if (this.#slot !== null && this.#end + bytes > this.#limit(this.#slot)) this.flush();
    if (this.#slot === null && !this.stopped) this.#take(this.#context.output.slots.tryAcquire());
    const slot = this.#slot;
    if (slot === null) return false;
    const { headroom, tailroom } = this.#channel;
    if (this.#end === headroom) slot.grow(headroom + bytes + tailroom);
    this.#end = appendEvent(slot.buffer, this.#end, fields);
    this.#sequence++;
    this.#bytes += event.message.length;
    this.#timer ??= setTimeout(() => this.flush(), this.#context.lingerMs);
    return true;
  }

  /** Sends the collected events. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const slot = this.#slot;
    if (slot === null || this.#sequence === this.#first) return;
    this.#slot = null;
    const block = {
      from: this.#first,
      to: this.#sequence,
      readTimeMs: this.#context.clock.now(),
      lastLineOpen: false,
      firstLineContinued: false,
      compression: 0,
      dataBytes: 0,
    };
    const flight = this.#tracker.begin(block.from, block.to, NO_ANCHOR);
    this.#first = this.#sequence;
    const { headroom } = this.#channel;
    this.#flights.set(flight, slot.buffer.subarray(headroom, this.#end));
    this.#channel.send({
      slot,
      body: { buffer: slot.buffer, start: headroom, end: this.#end, events: true },
      block,
      settle: () => {
        this.#flights.delete(flight);
        if (this.#tracker.ack(flight)) this.#onAcknowledged(this.#tracker.sent);
        if (this.#flights.size === 0) this.#wakeWaiting();
      },
    });
  }

  /** Sends the collected events; resolves when all are acknowledged, or when the batcher stops. */
  async whenAcknowledged(): Promise<void> {
    this.flush();
    if (this.#flights.size === 0 || this.stopped) return;
    await new Promise<void>((resolve) => this.#onAllAcknowledged.push(resolve));
  }

  /** Yields the events of batches that are not acknowledged, in the order in which they were added. */
  *unacknowledged(): Generator<StreamEvent> {
    for (const bytes of this.#flights.values()) yield* decodeEvents(bytes);
  }

  /** Sends the rest; nothing is taken any more. */
  stop(): void {
    this.flush();
    this.#stop.abort();
    this.#slot?.release();
    this.#slot = null;
    this.#wakeWaiting();
  }

  #wakeWaiting(): void {
    for (const resolve of this.#onAllAcknowledged.splice(0)) resolve();
  }

  #limit(slot: Slot): number {
    return slot.buffer.length - this.#channel.tailroom;
  }

  async #acquire(): Promise<void> {
    const slot = await this.#context.output.slots.acquire(this.#stop.signal);
    this.#acquiring = undefined;
    if (this.#slot === null && !this.stopped) this.#take(slot);
    else slot?.release();
  }

  #take(slot: Slot | null): void {
    this.#slot = slot;
    this.#end = this.#channel.headroom;
  }
}
