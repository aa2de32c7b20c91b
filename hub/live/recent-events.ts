/** The newest events of a hub, for viewers whose connection broke. */

import type { LiveEvent } from "./filter/event-document.ts";

export interface RecentLimits {
  readonly events: number;
  readonly sizeBytes: number;
  /** Events share blocks of memory: thousands of small buffers a second, freed out of order, would fragment the heap. */
  readonly blockBytes: number;
}

/** About ten seconds of a busy hub. */
const LIMITS: RecentLimits = { events: 20_000, sizeBytes: 16 * 1024 * 1024, blockBytes: 1024 * 1024 };

export interface RecentEvent {
  /** Number of the event at this hub, from 1. */
  readonly sequence: number;
  readonly event: LiveEvent;
}

/** Numbers events and keeps copies of the newest. */
export class RecentEvents {
  readonly #limits: RecentLimits;
  #events: LiveEvent[] = [];
  #first = 0;
  #sizeBytes = 0;
  #sequence = 0;
  /** The block to which the newest events are copied. */
  #block: Uint8Array | undefined;
  #blockBytes = 0;
  /** A block for reuse: all its events are forgotten. */
  #spare: Uint8Array | undefined;

  constructor(limits = LIMITS) {
    this.#limits = limits;
  }

  /** Number of the newest event; 0: none yet. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Keeps a copy of `event`, whose bytes may change afterwards; returns its number. */
  push(event: LiveEvent): number {
    this.#events.push({ ...event, source: this.#copy(event.source) });
    this.#sizeBytes += event.source.byteLength;
    this.#sequence += 1;
    const { events, sizeBytes } = this.#limits;
    while (this.#events.length - this.#first > events || this.#sizeBytes > sizeBytes) this.#dropOldest();
    return this.#sequence;
  }

  /**
   * Returns the kept events after `sequence`, and whether none is missing between. Their bytes must be read before the next
   * `push`.
   */
  after(sequence: number): { complete: boolean; events: RecentEvent[] } {
    const kept = this.#events.length - this.#first;
    const oldest = this.#sequence - kept + 1;
    const start = Math.max(oldest, sequence + 1);
    const events: RecentEvent[] = [];
    for (let next = start; next <= this.#sequence; next++)
      events.push({ sequence: next, event: this.#events[this.#first + next - oldest]! });
    return { complete: sequence + 1 >= oldest, events };
  }

  /** Forgets the events and skips a number, because others may pass before the next `push`. */
  clear(): void {
    this.#sequence += 1;
    this.#events = [];
    this.#first = 0;
    this.#sizeBytes = 0;
    this.#block = undefined;
    this.#spare = undefined;
  }

  #copy(source: Uint8Array): Uint8Array {
    const size = source.byteLength;
    const { blockBytes } = this.#limits;
    if (size > blockBytes) {
      // The events of a block are consecutive.
      this.#block = undefined;
      return Uint8Array.from(source);
    }
    if (this.#block === undefined || this.#blockBytes + size > blockBytes) {
      this.#block = this.#spare ?? new Uint8Array(blockBytes);
      this.#blockBytes = 0;
      this.#spare = undefined;
    }
    const copy = this.#block.subarray(this.#blockBytes, this.#blockBytes + size);
    copy.set(source);
    this.#blockBytes += size;
    return copy;
  }

  #dropOldest(): void {
    const { source } = this.#events[this.#first]!;
    this.#sizeBytes -= source.byteLength;
    this.#first += 1;
    this.#keepSpare(source.buffer);
    if (this.#first < this.#limits.events) return;
    this.#events = this.#events.slice(this.#first);
    this.#first = 0;
  }

  /** Keeps the block of the last dropped event for reuse, unless it has other events. */
  #keepSpare(buffer: ArrayBufferLike): void {
    if (buffer.byteLength !== this.#limits.blockBytes || buffer === this.#block?.buffer) return;
    if (this.#events[this.#first]?.source.buffer !== buffer) this.#spare = new Uint8Array(buffer);
  }
}
