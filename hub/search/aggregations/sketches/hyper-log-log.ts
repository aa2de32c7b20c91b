/**
 * Counts distinct values: exactly while they are few, then by HyperLogLog (Flajolet et al. 2007) with linear counting
 * for small numbers.
 */

import type { KeywordColumn } from "#hub/engine/searcher/searcher.ts";

/** 2^14 registers: about 0.8 % off. */
const PRECISION = 14;
const REGISTERS = 1 << PRECISION;

/** Largest value of a register: 39 bits of a hash without a one, and one more. */
const MAX_RANK = 53 - PRECISION + 1;

/** Correction of the harmonic mean for many registers. */
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);

/** JSON-able: hashes, or registers as base64. */
export type DistinctState = { readonly hashes: readonly number[] } | { readonly registers: string };

/** A set of hashes (0..2^53 - 1) of which only the number is needed. */
export class DistinctCounter {
  readonly #threshold: number;
  #hashes: Set<number> | null = new Set();
  #registers: Uint8Array | null = null;

  /** Up to `threshold` values are counted exactly. */
  constructor(threshold: number) {
    this.#threshold = threshold;
  }

  add(hash: number): void {
    if (this.#registers !== null) {
      this.#raise(hash);
      return;
    }
    this.#hashes!.add(hash);
    if (this.#hashes!.size > this.#threshold) this.#convert();
  }

  /** Adds more values of a column than are counted exactly: those whose ordinals have a count. `registers`: see ColumnRegisters. */
  addCounted(counts: Int32Array, registers: Int32Array): void {
    this.#convert();
    const own = this.#registers!;
    for (let ordinal = 0; ordinal < counts.length; ordinal++) {
      if (counts[ordinal] === 0) continue;
      const index = registers[ordinal]! & (REGISTERS - 1);
      const rank = registers[ordinal]! >>> PRECISION;
      if (rank > own[index]!) own[index] = rank;
    }
  }

  /** Adds the values of another counter. */
  merge(state: DistinctState): void {
    if ("hashes" in state) {
      for (const hash of state.hashes) this.add(hash);
      return;
    }
    this.#convert();
    const other = Buffer.from(state.registers, "base64");
    for (let at = 0; at < REGISTERS; at++) {
      if (other[at]! > this.#registers![at]!) this.#registers![at] = other[at]!;
    }
  }

  count(): number {
    if (this.#registers === null) return this.#hashes!.size;
    // Registers have few values: powers are taken of each once.
    const byValue = new Int32Array(MAX_RANK + 1);
    for (let at = 0; at < REGISTERS; at++) byValue[this.#registers[at]!]!++;
    const sum = byValue.reduce((total, count, value) => total + count * 2 ** -value, 0);
    const zeros = byValue[0]!;
    const estimate = (ALPHA * REGISTERS * REGISTERS) / sum;
    if (estimate <= 2.5 * REGISTERS && zeros > 0) return Math.round(REGISTERS * Math.log(REGISTERS / zeros));
    return Math.round(estimate);
  }

  state(): DistinctState {
    if (this.#registers === null) return { hashes: [...this.#hashes!] };
    return { registers: Buffer.from(this.#registers).toString("base64") };
  }

  #convert(): void {
    if (this.#registers !== null) return;
    this.#registers = new Uint8Array(REGISTERS);
    for (const hash of this.#hashes!) this.#raise(hash);
    this.#hashes = null;
  }

  #raise(hash: number): void {
    const register = registerOf(hash);
    const [index, rank] = [register & (REGISTERS - 1), register >>> PRECISION];
    if (rank > this.#registers![index]!) this.#registers![index] = rank;
  }
}

/** Returns which register a hash raises, in the lowest 14 bits, and to what, in those above. */
function registerOf(hash: number): number {
  const high = Math.floor(hash / 2 ** 32);
  const low = hash >>> 0;
  // 14 bits choose the register; the other 39 give the rank.
  const rest = (low >>> PRECISION) | 0;
  const rank = rest === 0 ? 32 - PRECISION + Math.min(21, countTrailing(high)) + 1 : countTrailing(rest) + 1;
  return (rank << PRECISION) | (low & (REGISTERS - 1));
}

/** Memory of the registers of all columns of a thread: four bytes for each value, and some for each column. */
const COLUMN_LIMIT_BYTES = 32 * 1024 * 1024;
/** An array, an entry of the list and one of the map. */
const COLUMN_BYTES = 512;

/** Registers are made if so large a share of a column's values is wanted. */
const SHARE_KEPT = 1 / 4;

let ofThread: ColumnRegisters | undefined;

/** Returns those that this thread keeps. */
export function columnRegisters(): ColumnRegisters {
  return (ofThread ??= new ColumnRegisters());
}

/**
 * The registers of the values of columns by ordinal, so that later searches need not read and hash the values. Keeps no column
 * alive. At the limit those of the column that came first are dropped.
 */
export class ColumnRegisters {
  readonly #limitBytes: number;
  readonly #known = new WeakMap<KeywordColumn, Int32Array>();
  /** Those of `#known`, and of columns that are gone; the oldest first. */
  readonly #kept: { readonly column: WeakRef<KeywordColumn>; readonly bytes: number }[] = [];
  #bytes = 0;

  constructor(limitBytes = COLUMN_LIMIT_BYTES) {
    this.#limitBytes = limitBytes;
  }

  get sizeBytes(): number {
    return this.#bytes;
  }

  /**
   * Returns the registers of all values of a column; undefined if they would take too much memory, or aren't worth making for
   * the `wanted` ones.
   */
  open(column: KeywordColumn, wanted: number): Int32Array | undefined {
    const known = this.#known.get(column);
    if (known !== undefined) return known;
    const bytes = COLUMN_BYTES + 4 * column.cardinality;
    if (bytes > this.#limitBytes || wanted < SHARE_KEPT * column.cardinality) return undefined;
    while (this.#bytes + bytes > this.#limitBytes) {
      const oldest = this.#kept.shift()!;
      this.#bytes -= oldest.bytes;
      const dropped = oldest.column.deref();
      if (dropped !== undefined) this.#known.delete(dropped);
    }
    const reader = column.reader();
    const registers = new Int32Array(column.cardinality);
    for (let ordinal = 0; ordinal < registers.length; ordinal++)
      registers[ordinal] = registerOf(hashBytes(reader.bytes(ordinal)));
    this.#known.set(column, registers);
    this.#kept.push({ column: new WeakRef(column), bytes });
    this.#bytes += bytes;
    return registers;
  }
}

/** Zeros below the lowest bit set; 32 for 0. */
function countTrailing(word: number): number {
  return word === 0 ? 32 : 31 - Math.clz32(word & -word);
}

/** Returns a hash of bytes, 0..2^53 - 1. */
export function hashBytes(bytes: Uint8Array): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 2_654_435_761);
    b = Math.imul(b ^ byte, 1_597_334_677);
  }
  return finish(a, b);
}

const scratch = new DataView(new ArrayBuffer(8));

/** Returns a hash of a number, 0..2^53 - 1. */
export function hashNumber(value: number): number {
  scratch.setFloat64(0, value === 0 ? 0 : value);
  let a = Math.imul(0xdeadbeef ^ scratch.getInt32(0), 2_654_435_761);
  let b = Math.imul(0x41c6ce57 ^ scratch.getInt32(0), 1_597_334_677);
  a = Math.imul(a ^ scratch.getInt32(4), 2_654_435_761);
  b = Math.imul(b ^ scratch.getInt32(4), 1_597_334_677);
  return finish(a, b);
}

/** Mixes the two halves so that every bit of the values reaches every bit of the hash. */
function finish(first: number, second: number): number {
  let a =
    Math.imul(first ^ (first >>> 16), 2_246_822_507) ^ Math.imul(second ^ (second >>> 13), 3_266_489_909);
  const b = Math.imul(second ^ (second >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  a = Math.imul(a ^ (a >>> 15), 2_246_822_507);
  return 4_294_967_296 * (2_097_151 & b) + ((a ^ (a >>> 16)) >>> 0);
}
