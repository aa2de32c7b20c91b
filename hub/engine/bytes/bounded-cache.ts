/** Values by owner and key, within a number of bytes: those used last. The owner is what they are made of, such as a segment. */

/** A value that is kept. */
interface Sized {
  /** Memory held, bytes; doesn't change. */
  readonly sizeBytes: number;
}

interface Entry<K, V> {
  readonly owner: object;
  readonly key: K;
  readonly value: V;
}

/** One of a thread. */
export class BoundedCache<K, V extends Sized> {
  readonly #limitBytes: number;
  readonly #owners = new Map<object, Map<K, Entry<K, V>>>();
  /** In the order of their use, the oldest first. */
  readonly #entries = new Set<Entry<K, V>>();
  readonly #forgotten: ((value: V) => void) | undefined;
  #bytes = 0;

  /** `forgotten` is called with each value that is evicted or dropped. */
  constructor(limitBytes: number, forgotten?: (value: V) => void) {
    this.#limitBytes = limitBytes;
    this.#forgotten = forgotten;
  }

  /** Bytes of all values. */
  get sizeBytes(): number {
    return this.#bytes;
  }

  /** Returns a value where it is here. It counts as used. */
  get(owner: object, key: K): V | undefined {
    const entry = this.#owners.get(owner)?.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(entry);
    this.#entries.add(entry);
    return entry.value;
  }

  /** Keeps a value that isn't here yet. One larger than the limit is kept until the next one comes. */
  put(owner: object, key: K, value: V): void {
    const entry = { owner, key, value };
    let own = this.#owners.get(owner);
    if (own === undefined) this.#owners.set(owner, (own = new Map()));
    own.set(key, entry);
    this.#entries.add(entry);
    this.#bytes += value.sizeBytes;
    for (const oldest of this.#entries) {
      if (this.#bytes <= this.#limitBytes || oldest === entry) break;
      this.#forget(oldest);
    }
  }

  /** Returns the bytes of each value of an owner that is here. */
  sizes(owner: object): ReadonlyMap<K, number> {
    const own = this.#owners.get(owner);
    return new Map([...(own ?? [])].map(([key, { value }]) => [key, value.sizeBytes]));
  }

  /** Releases all values of an owner. */
  drop(owner: object): void {
    for (const entry of this.#owners.get(owner)?.values() ?? []) this.#forget(entry);
  }

  #forget(entry: Entry<K, V>): void {
    if (!this.#entries.delete(entry)) return;
    this.#bytes -= entry.value.sizeBytes;
    const own = this.#owners.get(entry.owner);
    own?.delete(entry.key);
    if (own?.size === 0) this.#owners.delete(entry.owner);
    this.#forgotten?.(entry.value);
  }
}
