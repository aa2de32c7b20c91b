/** Columns in the search kernel: blocks unpacked, runs of blocks compared, counted and summed, documents chosen by value. */

import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import {
  BUFFER_BYTES,
  COLUMN_DOCS,
  MASK_BYTES,
  RUN_BYTES,
  RUN_NUMBERS,
  RUN_ROOM,
  SUM_BYTES,
} from "./assembly/layout.ts";
import type { Kernel } from "./kernel.ts";

/** Words of a block's mask. */
const MASK_WORDS = MASK_BYTES / 4;

/** Up to this many values each one has four counters, so that equal values in a row don't wait for each other. */
const SPREAD_VALUES = 4096;

/** Neighbouring blocks of a column. */
export interface ColumnRun {
  /** Their entries of the column's index, and the one after them. */
  readonly index: Uint8Array;
  readonly blocks: number;
  /** Their data, and where it begins in the column's. */
  readonly data: Uint8Array;
  readonly dataFrom: number;
  /** Documents of all blocks. */
  readonly docs: number;
  readonly isUnsigned: boolean;
  /** Documents with a value; the last word may be missing its end. Null where all have one. */
  readonly presence: Uint32Array | null;
}

/** Where a run is in the kernel's memory: its description, growing buffers, memory for the numbers of a block. */
interface RunBuffers {
  readonly at: number;
  readonly index: number;
  readonly data: number;
  readonly presence: number;
  readonly numbers: number;
}

function placeOfRun(kernel: Kernel): RunBuffers {
  const place = {
    at: kernel.allocateZeroed(RUN_BYTES),
    index: kernel.allocateZeroed(BUFFER_BYTES),
    data: kernel.allocateZeroed(BUFFER_BYTES),
    presence: kernel.allocateZeroed(BUFFER_BYTES),
    numbers: kernel.allocateZeroed(4 * COLUMN_DOCS + 64),
  };
  kernel.setWord(place.at + RUN_NUMBERS, place.numbers);
  kernel.setWord(place.at + RUN_ROOM, kernel.allocateZeroed(2 * MASK_BYTES + 64));
  return place;
}

/** Documents, each with the slot that it was chosen by; reused between calls, and longer than the number of documents. */
export interface ChosenDocuments {
  docs: Int32Array;
  slots: Int32Array;
}

/** What columns leave to the kernel. Each function leaves blocks out that it can't handle: their numbers are returned. */
export interface ColumnFunctions {
  /**
   * Writes base + n * step (or (base + n) / step where `isDecimal`) of the `count` numbers packed in `data` by `bits` (at
   * most 32) to `out`; at most 1024. False: the caller has to do it.
   */
  decode(
    data: Uint8Array,
    numbers: { readonly count: number; readonly bits: number },
    value: { readonly base: number; readonly step: number; readonly isDecimal: boolean },
    out: Float64Array,
  ): boolean;
  /**
   * Writes to `words` (32 words a block, the last one's end may be missing) which documents of a run have a value in
   * [from, to]; `narrow`: of those in `words` before. The words of blocks left out are as before.
   */
  match(run: ColumnRun, from: number, to: number, narrow: boolean, words: Uint32Array): number[];
  /** Begins to count values from 0 to `values` - 1. */
  startCount(values: number): void;
  /** Counts the values of a run's documents: of all, or of those in `words` (32 words a block). */
  count(run: ColumnRun, words: Uint32Array | null, values: number): number[];
  /** Adds what was counted since `startCount` to `counts` from `offset` on. */
  addCounts(values: number, counts: Int32Array, offset: number): void;
  /**
   * Begins to add to sums (SUM_BYTES each), of which each ordinal has its own, or the one in `slots`; below 0: none. `slots`
   * mustn't be changed afterwards. Returns the sums as they are added to, good until `endSums`.
   */
  startSums(sums: Float64Array, slots: Int32Array | null): Float64Array;
  /**
   * Adds the values of a run's documents, of all or of those in `words`, to the sums of their ordinals in `by`, the same blocks
   * of another column. The caller may add a block that was left out before it asks for the next one.
   */
  sum(by: ColumnRun, run: ColumnRun, words: Uint32Array | null): Iterable<number>;
  /** Ends what `startSums` began: writes the sums. */
  endSums(sums: Float64Array): void;
  /**
   * Writes to `out` which documents of a run, of all or of those in `words`, have an ordinal with a slot, from that of its
   * first block on, and that slot. `slots`: by ordinal, below 0 for none; not to be changed afterwards. Returns how many, or
   * -1 if the caller has to do it.
   */
  choose(run: ColumnRun, words: Uint32Array | null, slots: Int32Array, out: ChosenDocuments): number;
}

/** See ColumnFunctions. Belongs to one thread. */
export class ColumnKernel implements ColumnFunctions {
  readonly #kernel: Kernel;
  /** Growing buffers: bytes of a block, sets of documents, counts or sums. */
  readonly #data: number;
  readonly #words: number;
  readonly #tables: number;
  readonly #floats: number;
  readonly #slots: number;
  readonly #marks: number;
  readonly #chosen: number;
  /** What `#slots` holds: it serves many runs. */
  #placedSlots: WeakRef<Int32Array> | undefined;
  /** The column that is looked at, and one beside it. */
  readonly #run: RunBuffers;
  readonly #beside: RunBuffers;
  /** Where sums are, and slots; how many ordinals there are. */
  #summing = { at: 0, slotsAt: 0, ordinals: 0 };
  /** A view of `#floats`; those of shared memory stay good when it grows. */
  readonly #made: Float64Array;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#data = kernel.allocateZeroed(BUFFER_BYTES);
    this.#words = kernel.allocateZeroed(BUFFER_BYTES);
    this.#tables = kernel.allocateZeroed(BUFFER_BYTES);
    this.#slots = kernel.allocateZeroed(BUFFER_BYTES);
    this.#marks = kernel.allocateZeroed(BUFFER_BYTES);
    this.#chosen = kernel.allocateZeroed(BUFFER_BYTES);
    this.#floats = kernel.allocateZeroed(8 * COLUMN_DOCS + 64);
    this.#run = placeOfRun(kernel);
    this.#beside = placeOfRun(kernel);
    const { buffer } = kernel.memory.memory;
    this.#made = new Float64Array(buffer, this.#floats, COLUMN_DOCS);
  }

  decode(
    data: Uint8Array,
    { count, bits }: { readonly count: number; readonly bits: number },
    { base, step, isDecimal }: { readonly base: number; readonly step: number; readonly isDecimal: boolean },
    out: Float64Array,
  ): boolean {
    const { functions } = this.#kernel;
    const { numbers } = this.#run;
    functions.unpackNumbers(this.#kernel.place(this.#data, data), count, bits, numbers);
    if (isDecimal) functions.toDecimals(numbers, count, base, step, this.#floats);
    else functions.toFloats(numbers, count, base, step, this.#floats);
    for (let at = 0; at < count; at++) out[at] = this.#made[at]!;
    return true;
  }

  match(run: ColumnRun, from: number, to: number, narrow: boolean, words: Uint32Array): number[] {
    const kernel = this.#kernel;
    this.#open(this.#run, run);
    const at = this.#placeMasks(this.#words, run.blocks, words);
    const left: number[] = [];
    const match = (block: number): number =>
      kernel.functions.matchBlocks(this.#run.at, block, from, to, narrow ? 1 : 0, at);
    for (let block = match(0); block < run.blocks; block = match(block + 1)) left.push(block);
    words.set(kernel.memory.words.subarray(at >>> 2, (at >>> 2) + words.length));
    return left;
  }

  startCount(values: number): void {
    const kernel = this.#kernel;
    const tables = values <= SPREAD_VALUES ? 4 : 1;
    const at = kernel.reserve(this.#tables, 4 * values * tables);
    kernel.memory.bytes.fill(0, at, at + 4 * values * tables);
  }

  count(run: ColumnRun, words: Uint32Array | null, values: number): number[] {
    const kernel = this.#kernel;
    this.#open(this.#run, run);
    const masks = words === null ? 0 : this.#placeMasks(this.#words, run.blocks, words);
    const stride = values <= SPREAD_VALUES ? 4 * values : 0;
    const left: number[] = [];
    const count = (block: number): number =>
      kernel.functions.countBlocks(this.#run.at, block, masks, values, kernel.start(this.#tables), stride);
    for (let block = count(0); block < run.blocks; block = count(block + 1)) left.push(block);
    return left;
  }

  addCounts(values: number, counts: Int32Array, offset: number): void {
    const { words } = this.#kernel.memory;
    const from = this.#kernel.start(this.#tables) >>> 2;
    const tables = values <= SPREAD_VALUES ? 4 : 1;
    for (let table = 0; table < tables; table++) {
      const counted = words.subarray(from + table * values, from + (table + 1) * values);
      for (let value = 0; value < values; value++) counts[offset + value]! += counted[value]!;
    }
  }

  startSums(sums: Float64Array, slots: Int32Array | null): Float64Array {
    const kernel = this.#kernel;
    const at = kernel.place(this.#tables, new Uint8Array(sums.buffer, sums.byteOffset, sums.byteLength));
    const slotsAt = slots === null ? 0 : this.#placeSlots(slots);
    const ordinals = slots?.length ?? sums.byteLength / SUM_BYTES;
    this.#summing = { at, slotsAt, ordinals };
    return new Float64Array(kernel.memory.memory.buffer, at, sums.length);
  }

  *sum(by: ColumnRun, run: ColumnRun, words: Uint32Array | null): Generator<number, void> {
    const { functions } = this.#kernel;
    const { at, slotsAt, ordinals } = this.#summing;
    const marks = this.#kernel.start(this.#marks);
    const room = this.#kernel.reserve(this.#chosen, 8 * (COLUMN_DOCS + 1));
    this.#open(this.#beside, by);
    this.#open(this.#run, run);
    const masks = words === null ? 0 : this.#placeMasks(this.#words, run.blocks, words);
    const sum = (block: number): number =>
      functions.sumBlocks(this.#beside.at, this.#run.at, block, masks, ordinals, slotsAt, marks, room, at);
    for (let block = sum(0); block < run.blocks; block = sum(block + 1)) yield block;
  }

  endSums(sums: Float64Array): void {
    sums.set(new Float64Array(this.#kernel.memory.memory.buffer, this.#summing.at, sums.length));
  }

  choose(run: ColumnRun, words: Uint32Array | null, slots: Int32Array, out: ChosenDocuments): number {
    if (slots.length === 0) return 0;
    const kernel = this.#kernel;
    this.#open(this.#run, run);
    const masks = words === null ? 0 : this.#placeMasks(this.#words, run.blocks, words);
    const slotsAt = this.#placeSlots(slots);
    const length = run.docs + 1;
    const docsAt = kernel.reserve(this.#chosen, 8 * length);
    const chosenAt = docsAt + 4 * length;
    const marks = kernel.start(this.#marks);
    const { functions } = kernel;
    const at = this.#run.at;
    const count = functions.chooseBlocks(at, masks, slots.length, slotsAt, marks, docsAt, chosenAt);
    if (count <= 0) return count;
    out.docs = grown(out.docs, count);
    out.slots = grown(out.slots, count);
    const { buffer } = kernel.memory.memory;
    out.docs.set(new Int32Array(buffer, docsAt, count));
    out.slots.set(new Int32Array(buffer, chosenAt, count));
    return count;
  }

  #placeSlots(slots: Int32Array): number {
    if (this.#placedSlots?.deref() === slots) return this.#kernel.start(this.#slots);
    this.#placedSlots = undefined;
    const kernel = this.#kernel;
    const bytes = new Uint8Array(slots.buffer, slots.byteOffset, slots.byteLength);
    const words = Math.ceil(slots.length / 32);
    const at = kernel.reserve(this.#slots, 4 * 32 * words);
    kernel.memory.bytes.set(bytes, at);
    kernel.functions.markSlots(at, slots.length, kernel.reserve(this.#marks, 4 * words));
    this.#placedSlots = new WeakRef(slots);
    return at;
  }

  /** Copies a run in and describes it as assembly/column.ts reads it. */
  #open(place: RunBuffers, { index, blocks, data, dataFrom, docs, isUnsigned, presence }: ColumnRun): void {
    const kernel = this.#kernel;
    const description = [
      kernel.place(place.index, index),
      blocks,
      kernel.place(place.data, data),
      data.length,
      dataFrom,
      docs,
      isUnsigned ? 1 : 0,
      presence === null ? 0 : this.#placeMasks(place.presence, blocks, presence),
    ];
    kernel.memory.words.set(description, place.at >>> 2);
  }

  /** Copies sets of documents in, whole ones: what is missing of the last one is empty. */
  #placeMasks(buffer: number, blocks: number, words: Uint32Array): number {
    const at = this.#kernel.reserve(buffer, blocks * MASK_BYTES) >>> 2;
    const all = this.#kernel.memory.words;
    all.set(words, at);
    all.fill(0, at + words.length, at + blocks * MASK_WORDS);
    return at << 2;
  }
}
