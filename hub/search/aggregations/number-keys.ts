/** Buckets for whole numbers as keys, within owners: a few numbers for each, as there may be millions. */

import { grown } from "#hub/engine/segment/byte-buffer.ts";
import type { CollectBudget } from "./aggregation.ts";

/** Keys of an owner with their buckets, place by place. */
export interface NumberedBuckets {
  readonly keys: Int32Array;
  readonly buckets: Int32Array;
}

/** Slots of a new table, a power of two. */
const FIRST_SLOTS = 128;

/** Gives out bucket numbers. */
export class NumberKeys {
  readonly #budget: CollectBudget;
  /** Bucket and one in each slot; 0: the slot is free. At most half of them are taken. */
  #slots = new Int32Array(FIRST_SLOTS);
  /** Of each bucket. */
  #keys = new Int32Array(FIRST_SLOTS / 2);
  #owners = new Int32Array(FIRST_SLOTS / 2);
  /** The bucket before of the same owner and one; 0: it is the owner's first. */
  #before = new Int32Array(FIRST_SLOTS / 2);
  #size = 0;
  /** Last bucket and one, and number of buckets, by owner. */
  #last = new Int32Array(1);
  #counts = new Int32Array(1);
  #ownerCount = 1;

  constructor(budget: CollectBudget) {
    this.#budget = budget;
  }

  /** Returns the bucket of a key, a new one where the owner hasn't seen it. Throws memory_limit. */
  bucket(owner: number, key: number): number {
    const mask = this.#slots.length - 1;
    let slot = slotOf(owner, key) & mask;
    for (let taken = this.#slots[slot]!; taken !== 0; taken = this.#slots[slot]!) {
      if (this.#keys[taken - 1] === key && this.#owners[taken - 1] === owner) return taken - 1;
      slot = (slot + 1) & mask;
    }
    return this.#add(owner, key, slot);
  }

  /** Owners up to the last one that has keys. */
  get owners(): number {
    return this.#ownerCount;
  }

  /** Keys of an owner with their buckets. */
  of(owner: number): NumberedBuckets {
    const length = this.#counts[owner] ?? 0;
    const keys = new Int32Array(length);
    const buckets = new Int32Array(length);
    let bucket = (this.#last[owner] ?? 0) - 1;
    for (let at = length - 1; at >= 0; at--) {
      keys[at] = this.#keys[bucket]!;
      buckets[at] = bucket;
      bucket = this.#before[bucket]! - 1;
    }
    return { keys, buckets };
  }

  #add(owner: number, key: number, slot: number): number {
    this.#budget.add();
    const bucket = this.#size++;
    if (bucket >= this.#keys.length) {
      this.#keys = grown(this.#keys, bucket + 1);
      this.#owners = grown(this.#owners, bucket + 1);
      this.#before = grown(this.#before, bucket + 1);
    }
    if (owner >= this.#last.length) {
      this.#last = grown(this.#last, owner + 1);
      this.#counts = grown(this.#counts, owner + 1);
    }
    this.#ownerCount = Math.max(this.#ownerCount, owner + 1);
    this.#keys[bucket] = key;
    this.#owners[bucket] = owner;
    this.#before[bucket] = this.#last[owner]!;
    this.#last[owner] = bucket + 1;
    this.#counts[owner]!++;
    if (2 * this.#size > this.#slots.length) this.#rehash();
    else this.#slots[slot] = bucket + 1;
    return bucket;
  }

  #rehash(): void {
    const slots = new Int32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let bucket = 0; bucket < this.#size; bucket++) {
      let slot = slotOf(this.#owners[bucket]!, this.#keys[bucket]!) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = bucket + 1;
    }
    this.#slots = slots;
  }
}

/** A hash whose low bits depend on all of both numbers (the last mixing of MurmurHash3). */
function slotOf(owner: number, key: number): number {
  let hash = Math.imul(owner, 0x9e37_79b1) ^ key;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return hash ^ (hash >>> 16);
}
