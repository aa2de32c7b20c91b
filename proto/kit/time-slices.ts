/** Cuts long work of one request into slices, between which its thread serves others. */

/** Time that one request may keep the thread at a time, ms. */
const SLICE_MS = 3;

/** Requests whose slice is over, in the order in which they continue. */
const paused: (() => void)[] = [];

export class TimeSlices {
  #endMs = performance.now() + SLICE_MS;

  /** True where it is time for `pause`; cheap enough for each line of a body. */
  get isDue(): boolean {
    return performance.now() >= this.#endMs;
  }

  /**
   * Lets others have the thread. One request continues in each turn of the event loop: if all did, a small request
   * would wait for a slice of each of them again and again.
   */
  async pause(): Promise<void> {
    await new Promise<void>((resume) => {
      if (paused.push(resume) === 1) setImmediate(resumeOne);
    });
    this.#endMs = performance.now() + SLICE_MS;
  }
}

function resumeOne(): void {
  const resume = paused.shift();
  // An immediate that is set by another one runs in the next turn.
  if (paused.length > 0) setImmediate(resumeOne);
  resume?.();
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
