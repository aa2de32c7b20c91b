/** The agent's memory for data in flight: a fixed number of buffers. An input reads only while it owns one. */

import { BlockMemory } from "./block-memory.ts";

/** Blocks of memory besides the slots, into which inputs read before they pack. */
const FURTHER_BLOCKS = 16;

/** A buffer of the pool, owned by the caller that acquired it until `release`. */
export class Slot {
  readonly #allocate: () => Buffer;
  readonly #free: (slot: Slot) => void;
  #buffer: Buffer | undefined;
  #grown: Buffer | undefined;
  #owned = false;

  constructor(allocate: () => Buffer, free: (slot: Slot) => void) {
    this.#allocate = allocate;
    this.#free = free;
  }

  /** The buffer; made at the first use, so that an idle agent stays small. */
  get buffer(): Buffer {
    this.#buffer ??= this.#allocate();
    return this.#grown ?? this.#buffer;
  }

  /** Makes `buffer` at least `sizeBytes` long until the slot is released; its content is lost. */
  grow(sizeBytes: number): void {
    if (this.buffer.length < sizeBytes) this.#grown = Buffer.allocUnsafeSlow(sizeBytes);
  }

  /** Marks the slot as handed out. */
  own(): this {
    this.#owned = true;
    return this;
  }

  /** Gives the slot back; a second call changes nothing. */
  release(): void {
    if (!this.#owned) return;
    this.#owned = false;
    this.#grown = undefined;
    this.#free(this);
  }
}

/** A caller that waits for a slot. */
interface Waiter {
  readonly signal: AbortSignal;
  readonly give: (slot: Slot | null) => void;
}

/** Hands out slots, first come, first served. */
export class SlotPool {
  readonly #free: Slot[] = [];
  readonly #waiting: Waiter[] = [];
  /** Signals with a listener: one each, as waits are many. */
  readonly #signals = new WeakSet<AbortSignal>();
  /** Slots of the pool. */
  count: number;
  /** Size of a slot that hasn't grown, bytes. */
  readonly sizeBytes: number;
  /** The memory of which the slots are parts. */
  readonly memory: BlockMemory;

  /** `furtherBytes`: of the memory, for what an output writes. `memory`: shared with another pool. */
  constructor(count: number, sizeBytes: number, furtherBytes = 0, memory?: BlockMemory) {
    this.count = count;
    this.sizeBytes = sizeBytes;
    this.memory = memory ?? new BlockMemory((count + FURTHER_BLOCKS) * sizeBytes + furtherBytes);
    for (let index = 0; index < count; index++) this.#free.push(this.#create());
  }

  /** Adds `more` slots; takes none away. */
  extend(more: number): void {
    for (let index = 0; index < more; index++) {
      this.count++;
      this.#return(this.#create());
    }
  }

  /** Free slots. */
  get available(): number {
    return this.#free.length;
  }

  /** Returns a slot where one is free now, else null. */
  tryAcquire(): Slot | null {
    return this.#free.pop()?.own() ?? null;
  }

  /** Resolves with a slot, or with null when `signal` is aborted first. */
  acquire(signal: AbortSignal): Promise<Slot | null> {
    if (signal.aborted) return Promise.resolve(null);
    const slot = this.#free.pop();
    if (slot !== undefined) return Promise.resolve(slot.own());
    this.#listen(signal);
    return new Promise((give) => this.#waiting.push({ signal, give }));
  }

  #listen(signal: AbortSignal): void {
    if (this.#signals.has(signal)) return;
    this.#signals.add(signal);
    const abort = (): void => {
      const ending = this.#waiting.filter((waiter) => waiter.signal === signal);
      for (const waiter of ending) {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        waiter.give(null);
      }
    };
    signal.addEventListener("abort", abort, { once: true });
  }

  #create(): Slot {
    const allocate = (): Buffer => this.memory.allocate(this.sizeBytes);
    return new Slot(allocate, (slot) => this.#return(slot));
  }

  #return(slot: Slot): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(slot);
    else next.give(slot.own());
  }
}
