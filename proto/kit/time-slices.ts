/** Cuts long work on the thread of the interfaces into slices, between which other requests are served. */

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
