/** Sets of document numbers as one bit each: live docs, filters, presence of a field. */

/** `size` bits, bit d = word d >> 5, bit d & 31. Bits at and beyond `size` are 0. */
export class Bitset {
  readonly size: number;
  readonly words: Uint32Array;

  /** `words` is taken over, not copied; it must have at least ceil(size / 32) words. */
  constructor(size: number, words: Uint32Array = new Uint32Array((size + 31) >>> 5)) {
    this.size = size;
    this.words = words;
  }

  /** Returns a set of all numbers below `size`. */
  static full(size: number): Bitset {
    const set = new Bitset(size);
    set.words.fill(0xffff_ffff);
    if (size & 31) set.words[size >>> 5] = 2 ** (size & 31) - 1;
    return set;
  }

  has(bit: number): boolean {
    return ((this.words[bit >>> 5]! >>> (bit & 31)) & 1) === 1;
  }

  add(bit: number): void {
    this.words[bit >>> 5]! |= 1 << (bit & 31);
  }

  remove(bit: number): void {
    this.words[bit >>> 5]! &= ~(1 << (bit & 31));
  }

  /** Number of bits set. */
  count(): number {
    let total = 0;
    for (let index = 0; index < this.words.length; index++) total += popcount(this.words[index]!);
    return total;
  }

  /** Returns the first bit set at or above `from`, or -1. */
  nextSet(from: number): number {
    if (from >= this.size) return -1;
    let index = from >>> 5;
    let word = this.words[index]! & (0xffff_ffff << (from & 31));
    while (word === 0) {
      if (++index >= this.words.length) return -1;
      word = this.words[index]!;
    }
    return (index << 5) + (31 - Math.clz32(word & -word));
  }

  /** Keeps what is in both; `other` must have the same size. */
  and(other: Bitset): this {
    for (let index = 0; index < this.words.length; index++) this.words[index]! &= other.words[index]!;
    return this;
  }

  /** Adds what is in `other`, which must have the same size. */
  or(other: Bitset): this {
    for (let index = 0; index < this.words.length; index++) this.words[index]! |= other.words[index]!;
    return this;
  }

  /** Removes what is in `other`, which must have the same size. */
  andNot(other: Bitset): this {
    for (let index = 0; index < this.words.length; index++) this.words[index]! &= ~other.words[index]!;
    return this;
  }

  /** Adds all of [from, to). */
  addRange(from: number, to: number): void {
    for (let bit = from; bit < to; ) {
      if ((bit & 31) === 0 && bit + 32 <= to) {
        this.words[bit >>> 5] = 0xffff_ffff;
        bit += 32;
      } else {
        this.add(bit++);
      }
    }
  }

  /** Adds what is in `other`, each number higher by `offset`; they must be below this set's size. */
  addMoved(other: Bitset, offset: number): void {
    const shift = offset & 31;
    let at = offset >>> 5;
    for (let index = 0; index < other.words.length; index++, at++) {
      const word = other.words[index]!;
      this.words[at]! |= word << shift;
      if (shift > 0 && at + 1 < this.words.length) this.words[at + 1]! |= word >>> (32 - shift);
    }
  }

  /** Number of bits that are set in `other` too; `other` must have the same size. */
  countBoth(other: Bitset): number {
    let total = 0;
    for (let index = 0; index < this.words.length; index++)
      total += popcount(this.words[index]! & other.words[index]!);
    return total;
  }

  clone(): Bitset {
    return new Bitset(this.size, this.words.slice());
  }
}

/** Number of bits set in a 32-bit word. */
export function popcount(word: number): number {
  let v = word - ((word >>> 1) & 0x5555_5555);
  v = (v & 0x3333_3333) + ((v >>> 2) & 0x3333_3333);
  // A product beyond 32 bits would be one of floating point.
  return Math.imul((v + (v >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
