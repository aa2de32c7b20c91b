/** Buckets for small numbers as keys, within owners. */

import { grown } from "#hub/engine/segment/byte-buffer.ts";
import type { CollectBudget } from "./aggregation.ts";

/** Keys of an owner with their buckets, place by place. */
export interface NumberedBuckets {
  readonly keys: Int32Array;
  readonly buckets: Int32Array;
}

/** Gives out bucket numbers. The first owner, who mostly is the only one and may have very many, needs no map. */
export class NumberKeys {
  readonly #budget: CollectBudget;
  /** Bucket and one by key, of the first owner. */
  #first = new Int32Array(0);
  #firstSize = 0;
  readonly #others: Map<number, number>[] = [];
  #next = 0;

  constructor(budget: CollectBudget) {
    this.#budget = budget;
  }

  /** Returns the bucket of a key, a new one where the owner hasn't seen it. Throws memory_limit. */
  bucket(owner: number, key: number): number {
    if (owner === 0) return this.#ofFirst(key);
    while (this.#others.length < owner) this.#others.push(new Map());
    const keys = this.#others[owner - 1]!;
    let bucket = keys.get(key);
    if (bucket === undefined) {
      this.#budget.add();
      bucket = this.#next++;
      keys.set(key, bucket);
    }
    return bucket;
  }

  /** Keys of an owner with their buckets. */
  of(owner: number): NumberedBuckets {
    if (owner > 0) {
      const keys = this.#others[owner - 1] ?? new Map<number, number>();
      return { keys: Int32Array.from(keys.keys()), buckets: Int32Array.from(keys.values()) };
    }
    const keys = new Int32Array(this.#firstSize);
    const buckets = new Int32Array(this.#firstSize);
    for (let key = 0, at = 0; key < this.#first.length; key++) {
      if (this.#first[key] === 0) continue;
      keys[at] = key;
      buckets[at++] = this.#first[key]! - 1;
    }
    return { keys, buckets };
  }

  #ofFirst(key: number): number {
    if (key >= this.#first.length) this.#first = grown(this.#first, Math.max(64, key + 1));
    const known = this.#first[key]!;
    if (known !== 0) return known - 1;
    this.#budget.add();
    this.#firstSize++;
    this.#first[key] = this.#next + 1;
    return this.#next++;
  }
}
