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
