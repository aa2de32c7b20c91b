/** Cuts long work of one request into slices, between which its thread serves others. */

import { setImmediate as nextTurn } from "node:timers/promises";

/** Time that one request may keep the thread at a time, ms. */
const SLICE_MS = 8;

export class TimeSlices {
  #endMs = performance.now() + SLICE_MS;

  /** True where it is time for `pause`; cheap enough for each line of a body. */
  get isDue(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** Lets others have the thread. */
  async pause(): Promise<void> {
    await nextTurn();
    this.#endMs = performance.now() + SLICE_MS;
  }
}

/** Collects items that take time to make. */
export async function collectInSlices<T>(items: Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  const slices = new TimeSlices();
  for (const item of items) {
    all.push(item);
    if (slices.isDue) await slices.pause();
  }
  return all;
}
