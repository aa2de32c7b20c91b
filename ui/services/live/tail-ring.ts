/** The lines that a live page holds: the newest N, in a ring buffer. */

/** An entry's number counts from 0 since the ring was made or cleared. */
export class TailRing<T> {
  readonly capacity: number;
  readonly #entries: (T | undefined)[];
  #end = 0;
  #cleared = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.#entries = new Array<T | undefined>(capacity);
  }

  /** Number of the oldest entry that is there. */
  get first(): number {
    return Math.max(this.#cleared, this.#end - this.capacity);
  }

  /** Number after the newest entry. */
  get end(): number {
    return this.#end;
  }

  get size(): number {
    return this.#end - this.first;
  }

  push(entry: T): void {
    this.#entries[this.#end % this.capacity] = entry;
    this.#end += 1;
  }

  /** Returns the entry with this number; undefined if it is gone or to come. */
  at(number: number): T | undefined {
    if (number < this.first || number >= this.#end) return undefined;
    return this.#entries[number % this.capacity];
  }

  /** Returns the newest entry. */
  last(): T | undefined {
    return this.at(this.#end - 1);
  }

  clear(): void {
    this.#entries.fill(undefined);
    this.#cleared = this.#end;
  }
}

/** The newest of many keys, to leave out what comes twice. */
export class RecentKeys {
  readonly #capacity: number;
  readonly #keys = new Set<string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Adds a key; returns false if it is there already. */
  add(key: string): boolean {
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    if (this.#keys.size > this.#capacity) {
      const { value } = this.#keys.values().next();
      this.#keys.delete(value!);
    }
    return true;
  }

  clear(): void {
    this.#keys.clear();
  }
}
