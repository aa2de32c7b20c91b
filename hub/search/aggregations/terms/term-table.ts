/** Assigns numbers to terms by their bytes, without an object per term. */

import { ByteBuffer, grown } from "#hub/engine/bytes/byte-buffer.ts";
import { decodeUtf8 } from "#hub/engine/json/text.ts";
import { hashId, newIdSeed } from "#hub/engine/segment/id-index.ts";
import type { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";

/** Slots of a new table, a power of two. */
const FIRST_SLOTS = 256;

/** Bytes of terms that take the memory that a bucket is estimated at. */
const BUCKET_BYTES = 100;

export class TermTable {
  readonly #budget: Pick<CollectBudget, "add">;
  /** Another one for each table, so that values can't be chosen to collide. */
  readonly #seed = newIdSeed();
  /** The terms one after another. */
  readonly #bytes = new ByteBuffer(4096);
  /** End of each term. */
  #ends = new Int32Array(FIRST_SLOTS / 2);
  #hashes = new Int32Array(FIRST_SLOTS / 2);
  /** Number of the term in a slot and one; 0: the slot is free. At most half of them are taken. */
  #slots = new Int32Array(FIRST_SLOTS);
  #size = 0;

  /** `budget`: is charged for the terms. */
  constructor(budget: Pick<CollectBudget, "add">) {
    this.#budget = budget;
  }

  /** Terms, whose numbers are 0..size - 1. */
  get size(): number {
    return this.#size;
  }

  /** Returns the number of a term, a new one if it wasn't here. Throws memory_limit. */
  number(term: Uint8Array): number {
    const hash = hashId(term, 0, term.length, this.#seed) | 0;
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let taken = this.#slots[slot]!; taken !== 0; taken = this.#slots[slot]!) {
      if (this.#hashes[taken - 1] === hash && this.#equals(taken - 1, term)) return taken - 1;
      slot = (slot + 1) & mask;
    }
    return this.#add(term, hash, slot);
  }

  text(number: number): string {
    return decodeUtf8(this.#bytes.bytes, this.#start(number), this.#ends[number]!);
  }

  /** Negative, 0 or positive as one term sorts before, with or after another by their bytes. */
  compare(a: number, b: number): number {
    const { bytes } = this.#bytes;
    let [left, right] = [this.#start(a), this.#start(b)];
    const [leftEnd, rightEnd] = [this.#ends[a]!, this.#ends[b]!];
    for (; left < leftEnd && right < rightEnd; left++, right++)
      if (bytes[left] !== bytes[right]) return bytes[left]! - bytes[right]!;
    return leftEnd - left - (rightEnd - right);
  }

  #start(number: number): number {
    return number === 0 ? 0 : this.#ends[number - 1]!;
  }

  #equals(number: number, term: Uint8Array): boolean {
    const { bytes } = this.#bytes;
    const start = this.#start(number);
    if (this.#ends[number]! - start !== term.length) return false;
    for (let at = 0; at < term.length; at++) if (bytes[start + at] !== term[at]) return false;
    return true;
  }

  #add(term: Uint8Array, hash: number, slot: number): number {
    this.#budget.add(term.length / BUCKET_BYTES);
    const number = this.#size++;
    this.#bytes.append(term);
    if (number >= this.#ends.length) {
      this.#ends = grown(this.#ends, number + 1);
      this.#hashes = grown(this.#hashes, number + 1);
    }
    this.#ends[number] = this.#bytes.length;
    this.#hashes[number] = hash;
    if (2 * this.#size > this.#slots.length) this.#rehash();
    else this.#slots[slot] = number + 1;
    return number;
  }

  #rehash(): void {
    const slots = new Int32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let number = 0; number < this.#size; number++) {
      let slot = this.#hashes[number]! & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}
