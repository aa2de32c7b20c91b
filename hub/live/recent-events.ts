/** The newest events of a hub, for viewers whose connection broke. */

import type { LiveEvent } from "./filter/event-document.ts";

/** About ten seconds of a busy hub. */
const MAX_EVENTS = 20_000;
const MAX_SIZE_BYTES = 16 * 1024 * 1024;

export interface RecentEvent {
  /** Number of the event at this hub, from 1. */
  readonly sequence: number;
  readonly event: LiveEvent;
}

/** Numbers events and keeps copies of the newest. */
export class RecentEvents {
  #events: LiveEvent[] = [];
  #first = 0;
  #sizeBytes = 0;
  #sequence = 0;

  /** Number of the newest event; 0: none yet. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Keeps a copy of `event`, whose bytes may change afterwards; returns its number. */
  push(event: LiveEvent): number {
    this.#events.push({ ...event, source: event.source.slice() });
    this.#sizeBytes += event.source.byteLength;
    this.#sequence += 1;
    while (this.#events.length - this.#first > MAX_EVENTS || this.#sizeBytes > MAX_SIZE_BYTES)
      this.#dropOldest();
    return this.#sequence;
  }

  /** Returns the kept events after `sequence` and whether there were others between. */
  after(sequence: number): { complete: boolean; events: RecentEvent[] } {
    const kept = this.#events.length - this.#first;
    const oldest = this.#sequence - kept + 1;
    const start = Math.max(oldest, sequence + 1);
    const events: RecentEvent[] = [];
    for (let next = start; next <= this.#sequence; next++)
      events.push({ sequence: next, event: this.#events[this.#first + next - oldest]! });
    return { complete: sequence + 1 >= oldest, events };
  }

  /** Forgets the events, and leaves a number out, as others may pass before the next `push`. */
  clear(): void {
    this.#sequence += 1;
    this.#events = [];
    this.#first = 0;
    this.#sizeBytes = 0;
  }

  #dropOldest(): void {
    this.#sizeBytes -= this.#events[this.#first]!.source.byteLength;
    this.#first += 1;
    if (this.#first < MAX_EVENTS) return;
    this.#events = this.#events.slice(this.#first);
    this.#first = 0;
  }
}
