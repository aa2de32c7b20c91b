/** The agent's memory for data on its way: a fixed number of buffers. Who has none doesn't read. */

/** A buffer of the pool, owned by whoever acquired it until `release`. */
export class Slot {
  readonly #sizeBytes: number;
  readonly #free: (slot: Slot) => void;
  #buffer: Buffer | undefined;
  #grown: Buffer | undefined;
  #owned = false;

  constructor(sizeBytes: number, free: (slot: Slot) => void) {
    this.#sizeBytes = sizeBytes;
    this.#free = free;
  }

  /** The buffer; made at the first use, so that an idle agent stays small. */
  get buffer(): Buffer {
    this.#buffer ??= Buffer.allocUnsafeSlow(this.#sizeBytes);
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

/** Hands out slots, first come, first served. */
export class SlotPool {
  readonly #free: Slot[] = [];
  readonly #waiting: ((slot: Slot | null) => void)[] = [];
  /** Slots of the pool. */
  count: number;
  /** Size of a slot that hasn't grown, bytes. */
  readonly sizeBytes: number;

  constructor(count: number, sizeBytes: number) {
    this.count = count;
    this.sizeBytes = sizeBytes;
    for (let index = 0; index < count; index++) {
      this.#free.push(new Slot(sizeBytes, (slot) => this.#return(slot)));
    }
  }

  /** Adds `more` slots; takes none away. */
  extend(more: number): void {
    for (let index = 0; index < more; index++) {
      this.count++;
      this.#return(new Slot(this.sizeBytes, (slot) => this.#return(slot)));
    }
  }

  /** Slots nobody owns. */
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
    return new Promise((resolve) => {
      const give = (given: Slot | null): void => {
        signal.removeEventListener("abort", abort);
        resolve(given);
      };
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(give), 1);
        give(null);
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.push(give);
    });
  }

  #return(slot: Slot): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(slot);
    else next(slot.own());
  }
}
