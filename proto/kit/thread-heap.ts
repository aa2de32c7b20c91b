/**
 * The memory of the calling thread's JavaScript: the heap and its external memory. V8 lets garbage grow to several
 * times the live size, and an idle thread collects nothing.
 */

import { getHeapStatistics } from "node:v8";
import { MIB } from "./units.ts";

/** The memory of a thread. */
export interface ThreadHeap {
  /** Bytes in use, those that can be collected included. */
  readonly usedBytes: () => number;
  /** Bytes that the thread has of the system. */
  readonly takenBytes: () => number;
  /** Blocks for 30 to 150 ms; does nothing if the process was started without `--expose-gc`. */
  readonly collect: () => void;
  /** Collects everything and gives back what is free; blocks for some tenths of a second. */
  readonly release: () => void;
}

/** The memory of the calling thread. */
export const OWN_HEAP: ThreadHeap = {
  usedBytes: () => {
    const { used_heap_size: used, external_memory: outside } = getHeapStatistics();
    return used + outside;
  },
  takenBytes: () => {
    const { total_heap_size: total, external_memory: outside } = getHeapStatistics();
    return total + outside;
  },
  collect: () => globalThis.gc?.(),
  release: () => globalThis.gc?.({ flavor: "last-resort" }),
};

/** Growth since the last collection from which there is another one, bytes. */
const GROWTH_BYTES = 128 * MIB;
/** Growth that is given back while the thread is quiet, bytes, and the least time between two times: it blocks the thread. */
const QUIET_GROWTH_BYTES = 128 * MIB;
const QUIET_EVERY_MS = 60_000;
/** Interval of the looks; also the least time between two collections. */
const LOOK_MS = 2_000;
/** Load below which a thread counts as quiet. */
const QUIET_SHARE = 0.1;
/** Load of a thread at rest, the looks in a row that show it (30 s), and the growth that is given back then. */
const REST_SHARE = 0.03;
const REST_LOOKS = 15;
const REST_GROWTH_BYTES = 16 * MIB;
/** Share of what was taken from which giving it back was worth its time, and the longest wait after one that wasn't. */
const WORTHWHILE_SHARE = 0.1;
const MAX_WAIT_MS = 3_600_000;

/**
 * Keeps the memory of a busy thread near what it needs, and gives back what it took once it is quiet: much of it soon, less of it
 * when the thread is at rest. The first time that is the garbage of the start, whatever its size.
 */
export class HeapKeeper {
  readonly #heap: ThreadHeap;
  readonly #collectsBusy: boolean;
  #timer: NodeJS.Timeout | undefined;
  #afterBytes: number;
  /** Looks in a row at which the thread was at rest. */
  #restLooks = 0;
  /** Bytes taken after memory was given back last; undefined before the first time. */
  #keptBytes: number | undefined;
  /** When memory was given back last, or a collection was enough, and the least time until the next time. */
  #releasedMs = Number.NEGATIVE_INFINITY;
  #waitMs = QUIET_EVERY_MS;

  /**
   * `collectsBusy`: also collects while the thread works, and gives back when it is quiet; otherwise it leaves that to V8, and
   * blocks the thread only when it is at rest.
   */
  constructor(heap: ThreadHeap = OWN_HEAP, collectsBusy = true) {
    this.#heap = heap;
    this.#collectsBusy = collectsBusy;
    this.#afterBytes = heap.usedBytes();
  }

  start(): void {
    let before = { cpuMs: threadCpuMs(), nowMs: performance.now() };
    this.#timer = setInterval(() => {
      const now = { cpuMs: threadCpuMs(), nowMs: performance.now() };
      const load = (now.cpuMs - before.cpuMs) / (now.nowMs - before.nowMs);
      before = now;
      this.look(load);
    }, LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Collects where it is due; `load`: share of the time in which the thread had work since the last look, 0..1. */
  look(load: number, nowMs = performance.now()): void {
    const heap = this.#heap;
    this.#restLooks = load <= REST_SHARE ? this.#restLooks + 1 : 0;
    const allowedBytes = this.#allowedGrowth(load);
    if (nowMs - this.#releasedMs >= this.#waitMs && this.#growth() > allowedBytes) {
      if (this.#collectsBusy && this.#keptBytes !== undefined) heap.collect();
      // What a collection gave back may come again soon: the rest is counted from where it was.
      if (this.#growth() > allowedBytes) this.#release();
      this.#releasedMs = nowMs;
    } else if (this.#collectsBusy && heap.usedBytes() - this.#afterBytes > GROWTH_BYTES) heap.collect();
    else return;
    this.#afterBytes = heap.usedBytes();
  }

  /** Waits longer for the next time after one that gained little. */
  #release(): void {
    const before = this.#heap.takenBytes();
    this.#heap.release();
    this.#keptBytes = this.#heap.takenBytes();
    const isMuch = before - this.#keptBytes >= before * WORTHWHILE_SHARE;
    this.#waitMs = isMuch ? QUIET_EVERY_MS : Math.min(2 * this.#waitMs, MAX_WAIT_MS);
  }

  /** Bytes taken since memory was given back. */
  #growth(): number {
    return this.#heap.takenBytes() - (this.#keptBytes ?? Number.NEGATIVE_INFINITY);
  }

  #allowedGrowth(load: number): number {
    if (this.#restLooks >= REST_LOOKS) return REST_GROWTH_BYTES;
    return this.#collectsBusy && load <= QUIET_SHARE ? QUIET_GROWTH_BYTES : Number.POSITIVE_INFINITY;
  }
}

/**
 * Returns the CPU's time of the calling thread. That of its event loop would grow while the thread waits for a CPU, so that one
 * that does next to nothing never rested on a busy machine.
 */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
