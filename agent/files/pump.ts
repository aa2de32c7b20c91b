/**
 * Makes the files of one input read in turn: one block each, as long as the output has a free slot. A file with few new
 * lines is read again only after the linger time, so that its lines share a batch.
 */

import { setImmediate as rest } from "node:timers/promises";
import type { Slot, SlotPool } from "#agent/contract/slot-pool.ts";
import type { Harvester } from "#agent/harvester/harvester.ts";
import { tookSlot } from "#agent/harvester/harvester-options.ts";
import type { Clock } from "#proto/kit/clock.ts";

export interface PumpOptions {
  readonly slots: SlotPool;
  readonly lingerMs: number;
  readonly clock: Clock;
  /** Returns true if the file's last line won't grow any more. */
  readonly isFinal: (harvester: Harvester) => boolean;
  /** Called with a file that can't be read. */
  readonly onError: (harvester: Harvester, error: unknown) => void;
  /** Called with a file whose content was replaced. */
  readonly onRewritten: (harvester: Harvester) => void;
}

/** Wait after a failed read: a network file system that is away doesn't come back sooner if it is tried more often. */
const ERROR_WAIT_MS = 1_000;

/** Reads that use only the loop's thread follow each other for this long; then other work has the loop. */
const TURNS_MS = 5;

export class Pump {
  readonly #options: PumpOptions;
  /** In the order of their turns. */
  readonly #ready = new Set<Harvester>();
  readonly #timers = new Map<Harvester, NodeJS.Timeout>();
  /** Of files that wait only for an event's time; new data come first. */
  readonly #pending = new Map<Harvester, NodeJS.Timeout>();
  /** Files whose registry entry must be written before reading of them continues. */
  readonly #recording = new Set<Harvester>();
  readonly #stop = new AbortController();
  #current: Harvester | undefined;
  #currentAgain = false;
  #rouse: (() => void) | undefined;
  #task: Promise<void> | undefined;

  constructor(options: PumpOptions) {
    this.#options = options;
  }

  /** True while a file is read or waits for its turn. */
  get busy(): boolean {
    return this.#current !== undefined || this.#ready.size > 0 || this.#recording.size > 0;
  }

  start(): void {
    this.#task = this.#run();
  }

  /** Ends reading; resolves when no read is in progress. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const timer of [...this.#timers.values(), ...this.#pending.values()]) clearTimeout(timer);
    this.#timers.clear();
    this.#pending.clear();
    this.#rouse?.();
    await this.#task;
  }

  /** Gives a turn to a file that may have new data. */
  wake(harvester: Harvester): void {
    const waits = this.#ready.has(harvester) || this.#timers.has(harvester) || this.#recording.has(harvester);
    if (waits || this.#stop.signal.aborted) return;
    this.#clearPending(harvester);
    if (this.#current === harvester) {
      this.#currentAgain = true;
      return;
    }
    this.#after(harvester, harvester.sentMs + this.#options.lingerMs - this.#options.clock.monotonic());
  }

  /** Removes a file from the turns. */
  forget(harvester: Harvester): void {
    this.#ready.delete(harvester);
    this.#recording.delete(harvester);
    clearTimeout(this.#timers.get(harvester));
    this.#timers.delete(harvester);
    this.#clearPending(harvester);
    if (this.#current === harvester) this.#current = undefined;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let rested = performance.now();
    while (!signal.aborted) {
      if (performance.now() - rested > TURNS_MS) {
        await rest();
        rested = performance.now();
        continue;
      }
      if (this.#ready.size === 0) {
        await new Promise<void>((resolve) => (this.#rouse = resolve));
        continue;
      }
      const slot = await this.#options.slots.acquire(signal);
      if (slot === null) return;
      const [harvester] = this.#ready;
      if (harvester === undefined) slot.release();
      else await this.#turn(harvester, slot);
    }
  }

  async #turn(harvester: Harvester, slot: Slot): Promise<void> {
    this.#ready.delete(harvester);
    this.#current = harvester;
    this.#currentAgain = false;
    let waitMs = Number.POSITIVE_INFINITY;
    try {
      const outcome = await harvester.read(slot, this.#options.isFinal(harvester));
      if (!tookSlot(outcome)) slot.release();
      if (outcome === "rewritten") this.#options.onRewritten(harvester);
      if (outcome === "more" || outcome === "rewritten") waitMs = 0;
      else if (outcome === "unrecorded") this.#record(harvester);
      else if (outcome === "end") waitMs = this.#options.lingerMs;
      else if (this.#currentAgain) waitMs = this.#options.lingerMs;
      else if (outcome === "pending") this.#awaitPending(harvester);
    } catch (error) {
      slot.release();
      this.#options.onError(harvester, error);
      waitMs = ERROR_WAIT_MS;
    }
    const forgotten = this.#current !== harvester;
    this.#current = undefined;
    if (!forgotten && waitMs < Number.POSITIVE_INFINITY) this.#after(harvester, waitMs);
  }

  /** Lets others read until the registry is written; all files that wait share one write. */
  #record(harvester: Harvester): void {
    this.#recording.add(harvester);
    const written = harvester.record().catch((error: unknown) => this.#options.onError(harvester, error));
    void written.then(() => {
      if (this.#recording.delete(harvester)) this.wake(harvester);
    });
  }

  /** Reads again when the event at the file's end has waited long enough. */
  #awaitPending(harvester: Harvester): void {
    if (this.#stop.signal.aborted || this.#current !== harvester) return;
    const timer = setTimeout(() => {
      this.#pending.delete(harvester);
      this.wake(harvester);
    }, harvester.pendingMs);
    this.#pending.set(harvester, timer);
  }

  #clearPending(harvester: Harvester): void {
    clearTimeout(this.#pending.get(harvester));
    this.#pending.delete(harvester);
  }

  #after(harvester: Harvester, waitMs: number): void {
    if (this.#stop.signal.aborted) return;
    if (waitMs > 0) {
      const timer = setTimeout(() => {
        this.#timers.delete(harvester);
        this.#after(harvester, 0);
      }, waitMs);
      this.#timers.set(harvester, timer);
      return;
    }
    this.#ready.add(harvester);
    this.#rouse?.();
    this.#rouse = undefined;
  }
}
