/**
 * Assigns bucket numbers to whole-number keys within owners. Uses only a few bytes per key, because there may be
 * millions.
 */

import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import type { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";

/** Keys of an owner with their buckets, slot by slot. */
export interface NumberedBuckets {
  readonly keys: Int32Array;
  readonly buckets: Int32Array;
}

/** Slots of a new table, a power of two. */
const FIRST_SLOTS = 128;

/**
 * A table of this many slots becomes several, by the highest bits of the hash: each grows by itself, within
 * milliseconds.
 */
const SPLIT_SLOTS = 131_072;
const PARTS = 64;
const PART_SHIFT = 26;

/** Initial capacities. They differ, so that large tables do not grow all at the same time. */
const FIRST_PLACES = { keys: 72, owners: 88, before: 104 } as const;

/** Assigns bucket numbers. */
export class NumberKeys {
  readonly #budget: CollectBudget;
  /**
   * One table or PARTS of them: bucket plus one in each slot; 0: the slot is free. At most half of the slots are in
   * use.
   */
  #parts: Int32Array[] = [new Int32Array(FIRST_SLOTS)];
  /** Slots taken in each. */
  #taken = new Int32Array(1);
  /** Of each bucket. */
  #keys = new Int32Array(FIRST_PLACES.keys);
  #owners = new Int32Array(FIRST_PLACES.owners);
  /** The previous bucket of the same owner, plus one; 0: it is the owner's first. */
  #before = new Int32Array(FIRST_PLACES.before);
  #size = 0;
  /** Last bucket plus one, and number of buckets, by owner. */
  #last = new Int32Array(1);
  #counts = new Int32Array(1);
  #ownerCount = 1;

  constructor(budget: CollectBudget) {
    this.#budget = budget;
  }

  /** Returns the bucket of a key, a new one if the owner hasn't seen it. Throws memory_limit. */
  bucket(owner: number, key: number): number {
    const hash = hashOf(owner, key);
    const slots = this.#parts[this.#partOf(hash)]!;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (let taken = slots[slot]!; taken !== 0; taken = slots[slot]!) {
      if (this.#keys[taken - 1] === key && this.#owners[taken - 1] === owner) return taken - 1;
      slot = (slot + 1) & mask;
    }
    return this.#add(owner, key, hash, slot);
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

  #add(owner: number, key: number, hash: number, slot: number): number {
    this.#budget.add();
    const bucket = this.#size++;
    if (bucket >= this.#keys.length) this.#keys = grown(this.#keys, bucket + 1);
    if (bucket >= this.#owners.length) this.#owners = grown(this.#owners, bucket + 1);
    if (bucket >= this.#before.length) this.#before = grown(this.#before, bucket + 1);
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
    const part = this.#partOf(hash);
    const slots = this.#parts[part]!;
    slots[slot] = bucket + 1;
    if (2 * ++this.#taken[part]! > slots.length) this.#grow(part);
    return bucket;
  }

  #partOf(hash: number): number {
    return this.#parts.length === 1 ? 0 : hash >>> PART_SHIFT;
  }

  /** Makes a table twice as large, or several of one. */
  #grow(part: number): void {
    const old = this.#parts[part]!;
    const size = 2 * old.length;
    if (this.#parts.length === 1 && size > SPLIT_SLOTS) {
      // Parts differ in size, so each has spare capacity.
      this.#parts = Array.from({ length: PARTS }, () => new Int32Array((2 * size) / PARTS));
      this.#taken = new Int32Array(PARTS);
    } else {
      this.#parts[part] = new Int32Array(size);
      this.#taken[part] = 0;
    }
    for (let slot = 0; slot < old.length; slot++) if (old[slot] !== 0) this.#place(old[slot]!);
  }

  /** Puts a bucket, plus one, into its table. */
  #place(taken: number): void {
    const hash = hashOf(this.#owners[taken - 1]!, this.#keys[taken - 1]!);
    const part = this.#partOf(hash);
    const slots = this.#parts[part]!;
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = taken;
    this.#taken[part]!++;
  }
}

/** A hash whose highest and lowest bits depend on all of both numbers (the last mixing of MurmurHash3). */
function hashOf(owner: number, key: number): number {
  let hash = Math.imul(owner, 0x9e37_79b1) ^ key;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return hash ^ (hash >>> 16);
}
