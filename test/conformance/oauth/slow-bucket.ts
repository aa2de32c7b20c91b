/** A state bucket that takes several turns of the event loop per call, as one over a network does: races show here. */

import { setImmediate as turn } from "node:timers/promises";
import type { StateBucket, StateChange, StateEntry } from "#proto/kit/state-bucket.ts";

/** Turns per call, chosen at random up to this. */
const MAX_TURNS = 4;

export class SlowBucket implements StateBucket {
  readonly #inner: StateBucket;

  constructor(inner: StateBucket) {
    this.#inner = inner;
  }

  async get(key: string): Promise<StateEntry | null> {
    await turns();
    const entry = await this.#inner.get(key);
    await turns();
    return entry;
  }

  async create(key: string, value: Uint8Array): Promise<number> {
    await turns();
    return this.#inner.create(key, value);
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<number> {
    await turns();
    return this.#inner.update(key, value, revision);
  }

  async put(key: string, value: Uint8Array): Promise<number> {
    await turns();
    return this.#inner.put(key, value);
  }

  async delete(key: string, revision?: number): Promise<void> {
    await turns();
    return this.#inner.delete(key, revision);
  }

  async keys(prefix?: string): Promise<string[]> {
    await turns();
    return this.#inner.keys(prefix);
  }

  watch(signal: AbortSignal): AsyncIterable<StateChange> {
    return this.#inner.watch(signal);
  }
}

async function turns(): Promise<void> {
  const count = 1 + Math.floor(Math.random() * MAX_TURNS);
  for (let i = 0; i < count; i++) await turn();
}
