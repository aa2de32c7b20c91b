/** Keeps the best hits of a segment: a heap with the worst on top. */

/** Initial capacity in hits. */
const FIRST_ROOM = 64;

export class HitQueue {
  readonly #limit: number;
  readonly #width: number;
  #keys: Float64Array;
  #docs: Int32Array;
  #size = 0;

  /** Keeps `limit` hits (at least 1) with `width` keys each. */
  constructor(limit: number, width: number) {
    this.#limit = limit;
    this.#width = width;
    this.#keys = new Float64Array(Math.min(limit, FIRST_ROOM) * width);
    this.#docs = new Int32Array(Math.min(limit, FIRST_ROOM));
  }

  get isFull(): boolean {
    return this.#size === this.#limit;
  }

  /** First key of the worst hit kept. */
  get worst(): number {
    return this.#keys[0]!;
  }

  /** Offers document `doc`, whose keys are `columns[key][at]`; of equal keys the lower document is the better. */
  offer(doc: number, columns: readonly Float64Array[], at: number): void {
    if (this.#size < this.#limit) {
      this.#ensure();
      this.#set(this.#size, doc, columns, at);
      this.#rise(this.#size++);
      return;
    }
    if (this.#compareWith(0, doc, columns, at) <= 0) return;
    this.#set(0, doc, columns, at);
    this.#sink(0);
  }

  /** Documents kept, in no order. */
  docs(): Int32Array {
    return this.#docs.subarray(0, this.#size);
  }

  /** Returns the hits from the best on, with their keys. The queue is empty then. */
  drain(): { readonly doc: number; readonly keys: readonly number[] }[] {
    const hits = [];
    while (this.#size > 0) {
      hits.push({ doc: this.#docs[0]!, keys: [...this.#keys.subarray(0, this.#width)] });
      this.#size--;
      this.#copy(this.#size, 0);
      this.#sink(0);
    }
    return hits.reverse();
  }

  /** Positive if the hit in `slot` is worse than the offered one. */
  #compareWith(slot: number, doc: number, columns: readonly Float64Array[], at: number): number {
    const from = slot * this.#width;
    for (let key = 0; key < this.#width; key++) {
      const kept = this.#keys[from + key]!;
      const offered = columns[key]![at]!;
      if (kept !== offered) return kept > offered ? 1 : -1;
    }
    return this.#docs[slot]! - doc;
  }

  #isWorse(a: number, b: number): boolean {
    for (let key = 0; key < this.#width; key++) {
      const left = this.#keys[a * this.#width + key]!;
      const right = this.#keys[b * this.#width + key]!;
      if (left !== right) return left > right;
    }
    return this.#docs[a]! > this.#docs[b]!;
  }

  #rise(slot: number): void {
    for (let child = slot; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!this.#isWorse(child, parent)) return;
      this.#swap(child, parent);
      child = parent;
    }
  }

  #sink(slot: number): void {
    for (let parent = slot; ; ) {
      let worst = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        if (child < this.#size && this.#isWorse(child, worst)) worst = child;
      }
      if (worst === parent) return;
      this.#swap(parent, worst);
      parent = worst;
    }
  }

  #set(slot: number, doc: number, columns: readonly Float64Array[], at: number): void {
    this.#docs[slot] = doc;
    for (let key = 0; key < this.#width; key++) this.#keys[slot * this.#width + key] = columns[key]![at]!;
  }

  #copy(from: number, to: number): void {
    this.#docs[to] = this.#docs[from]!;
    this.#keys.copyWithin(to * this.#width, from * this.#width, (from + 1) * this.#width);
  }

  #swap(a: number, b: number): void {
    const doc = this.#docs[a]!;
    this.#docs[a] = this.#docs[b]!;
    this.#docs[b] = doc;
    for (let key = 0; key < this.#width; key++) {
      const value = this.#keys[a * this.#width + key]!;
      this.#keys[a * this.#width + key] = this.#keys[b * this.#width + key]!;
      this.#keys[b * this.#width + key] = value;
    }
  }

  #ensure(): void {
    if (this.#size < this.#docs.length) return;
    const room = Math.min(this.#limit, this.#docs.length * 2);
    const keys = new Float64Array(room * this.#width);
    const docs = new Int32Array(room);
    keys.set(this.#keys);
    docs.set(this.#docs);
    this.#keys = keys;
    this.#docs = docs;
  }
}
