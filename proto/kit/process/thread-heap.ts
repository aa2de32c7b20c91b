/**
 * The memory of the calling thread's JavaScript: the heap and its external memory. V8 lets garbage grow to several
 * times the live size, and an idle thread collects nothing.
 */

import type { EventLoopUtilization } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { HOUR_MS, MIB } from "#proto/kit/units.ts";
import { threadCpuMs } from "./thread-cpu.ts";

/** The memory of a thread. */
export interface ThreadHeap {
  /** Bytes in use, those that can be collected included. */
  readonly usedBytes: () => number;
  /** Bytes that the thread has of the system. */
  readonly takenBytes: () => number;
  /** Frees what isn't used; blocks for 30 to 150 ms. Does nothing if the process was started without `--expose-gc`. */
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
/** Growth that is given back while the thread is quiet, bytes, and the least time between two times: each blocks the thread. */
const QUIET_GROWTH_BYTES = 128 * MIB;
const RELEASE_EVERY_MS = 60_000;
/** Interval of the looks; also the least time between two collections. */
const LOOK_MS = 2_000;
/** Load below which a thread counts as quiet. */
const QUIET_SHARE = 0.1;
/** Share of the time in which the event loop isn't idle from which a thread isn't quiet, however little it runs. */
const STARVED_SHARE = 0.5;
/** Load of a thread at rest, the looks in a row that show it (30 s), and the growth that is given back then. */
const REST_SHARE = 0.03;
const REST_LOOKS = 15;
const REST_GROWTH_BYTES = 16 * MIB;
/**
 * Looks in a row at rest (6 s) after which such growth is collected, without giving back what the heap keeps for more, and the
 * least time between two times: work that comes in bursts takes the memory again each time, which costs 50 ms.
 */
const PAUSE_LOOKS = 3;
const PAUSE_EVERY_MS = 20_000;
/** Share of what was taken from which freeing it was worth its time, and the longest wait after a time that wasn't. */
const WORTHWHILE_SHARE = 0.1;
const MAX_WAIT_MS = HOUR_MS;

/**
 * Keeps the memory of a busy thread near what it needs, and gives back what it took once it is quiet: much of it soon, less of it
 * when the thread is at rest. The first time that is the garbage of the start, whatever its size. What a collection alone frees
 * waits for a short rest only.
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
  /** Bytes taken after the last collection. */
  #collectedBytes = Number.NEGATIVE_INFINITY;
  readonly #releases = new Spacing(RELEASE_EVERY_MS);
  readonly #pauses = new Spacing(PAUSE_EVERY_MS);

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
    let before = workNow();
    this.#timer = setInterval(() => {
      const now = workNow();
      this.look(loadBetween(before, now));
      before = now;
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
    if (this.#releases.isDue(nowMs) && this.#growth() > allowedBytes) this.#releaseAbove(allowedBytes, nowMs);
    else if (this.#pauses.isDue(nowMs) && this.#isPause()) {
      const beforeBytes = heap.takenBytes();
      heap.collect();
      this.#pauses.note(nowMs, beforeBytes, heap.takenBytes());
    } else if (this.#collectsBusy && heap.usedBytes() - this.#afterBytes > GROWTH_BYTES) heap.collect();
    else return;
    this.#afterBytes = heap.usedBytes();
    this.#collectedBytes = heap.takenBytes();
  }

  #releaseAbove(allowedBytes: number, nowMs: number): void {
    const heap = this.#heap;
    if (this.#collectsBusy && this.#keptBytes !== undefined) heap.collect();
    // What a collection gave back may come again soon: the rest is counted from where it was.
    const beforeBytes = heap.takenBytes();
    if (this.#growth() > allowedBytes) {
      heap.release();
      this.#keptBytes = heap.takenBytes();
      this.#releases.note(nowMs, beforeBytes, this.#keptBytes);
    } else this.#releases.postpone(nowMs);
  }

  /** True at a short rest after which there is something to collect. */
  #isPause(): boolean {
    return (
      this.#restLooks >= PAUSE_LOOKS && this.#heap.takenBytes() - this.#collectedBytes > REST_GROWTH_BYTES
    );
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

/** The work of the calling thread so far. */
interface Work {
  readonly cpuMs: number;
  readonly nowMs: number;
  readonly loop: EventLoopUtilization;
}

function workNow(): Work {
  return { cpuMs: threadCpuMs(), nowMs: performance.now(), loop: performance.eventLoopUtilization() };
}

/**
 * Returns the load of the calling thread between two times, 0..1. Usually that is the CPU's time: that of the event loop grows
 * while the thread waits for a CPU, so that one that does next to nothing would never rest on a busy machine. But one whose loop
 * hardly ends waits for a CPU with work to do.
 */
function loadBetween(before: Work, now: Work): number {
  const cpu = (now.cpuMs - before.cpuMs) / (now.nowMs - before.nowMs);
  const { utilization } = performance.eventLoopUtilization(now.loop, before.loop);
  return utilization > STARVED_SHARE ? Math.max(cpu, utilization) : cpu;
}

/** The least time between two times that free memory: longer after each that gained little. */
class Spacing {
  readonly #leastMs: number;
  #lastMs = Number.NEGATIVE_INFINITY;
  #waitMs: number;

  constructor(leastMs: number) {
    this.#leastMs = leastMs;
    this.#waitMs = leastMs;
  }

  isDue(nowMs: number): boolean {
    return nowMs - this.#lastMs >= this.#waitMs;
  }

  /** Counts the wait from now, as long as the last one. */
  postpone(nowMs: number): void {
    this.#lastMs = nowMs;
  }

  /** Counts the wait from now, after a time that left `afterBytes` of `beforeBytes`. */
  note(nowMs: number, beforeBytes: number, afterBytes: number): void {
    this.#lastMs = nowMs;
    const isMuch = beforeBytes - afterBytes >= beforeBytes * WORTHWHILE_SHARE;
    this.#waitMs = isMuch ? this.#leastMs : Math.min(2 * this.#waitMs, MAX_WAIT_MS);
  }
}
