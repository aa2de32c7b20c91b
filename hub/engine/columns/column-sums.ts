/**
 * Sums the values of one column by the ordinals of another, for example for an average by host. Aggregations continue
 * with these sums.
 */

import { COLUMN_BLOCK, type DocRun } from "#hub/engine/searcher/searcher.ts";
import { type BlockColumn, RUN_BLOCKS } from "./block-column.ts";
import { MASK_WORDS } from "./decoded-block.ts";

/** Numbers of a sum, next to each other: one line of the processor's cache. */
export const SUM_WIDTH = 8;

/** Offsets within a sum. */
export const SumOffset = {
  COUNT: 0,
  TOTAL: 1,
  /** What the additions so far were off by; nothing if all values are whole numbers. */
  ERROR: 2,
  /** Sum of squares. */
  SQUARES: 3,
  /** Infinity and -Infinity without values. */
  MIN: 4,
  MAX: 5,
} as const;

/** Adds a value to the sum that begins at `from`. */
function addValue(sums: Float64Array, from: number, value: number): void {
  sums[from + SumOffset.COUNT]!++;
  sums[from + SumOffset.TOTAL]! += value;
  sums[from + SumOffset.SQUARES]! += value * value;
  if (value < sums[from + SumOffset.MIN]!) sums[from + SumOffset.MIN] = value;
  if (value > sums[from + SumOffset.MAX]!) sums[from + SumOffset.MAX] = value;
}

/**
 * Adds the values of a run's documents to `sums` by their ordinals in `by`, one document after the other. Both columns have
 * one value a document at most, `values` whole numbers. `slots`: which sum each ordinal has, below 0 for none; without it each
 * has its own. The few blocks that the kernel leaves are done here.
 */
export function addSums(
  values: BlockColumn,
  by: BlockColumn,
  run: DocRun,
  sums: Float64Array,
  slots: Int32Array | null = null,
): void {
  if (run.from >= run.to) return;
  const { kernel } = values;
  const added = kernel.startSums(sums, slots);
  let here: SumsHere | undefined;
  for (let from = run.from; from < run.to; from += RUN_BLOCKS) {
    const to = Math.min(run.to, from + RUN_BLOCKS);
    const at = (from - run.wordsFrom) * MASK_WORDS;
    const words = run.words?.subarray(at, at + (to - from) * MASK_WORDS) ?? null;
    for (const block of kernel.sum(by.runOf(from, to), values.runOf(from, to), words)) {
      here ??= new SumsHere(values, by, run, { sums: added, slots });
      here.add(from + block);
    }
  }
  kernel.endSums(sums);
}

/** Sums block by block. */
class SumsHere {
  readonly #columns: readonly [values: BlockColumn, by: BlockColumn];
  readonly #run: DocRun;
  readonly #sums: Float64Array;
  readonly #slots: Int32Array | null;
  readonly #values = new Float64Array(COLUMN_BLOCK);
  readonly #ordinals = new Int32Array(COLUMN_BLOCK);

  constructor(
    values: BlockColumn,
    by: BlockColumn,
    run: DocRun,
    { sums, slots }: { readonly sums: Float64Array; readonly slots: Int32Array | null },
  ) {
    this.#columns = [values, by];
    this.#run = run;
    this.#sums = sums;
    this.#slots = slots;
  }

  /** Adds the documents of one block. */
  add(block: number): void {
    const [values, by] = this.#columns;
    const docs = values.decodeFirst(block, this.#values, Number.NaN);
    by.decodeFirst(block, this.#ordinals, -1);
    const { words, wordsFrom } = this.#run;
    for (let slot = 0; slot < docs; slot++) {
      const bit = (block - wordsFrom) * COLUMN_BLOCK + slot;
      if (words !== null && ((words[bit >>> 5]! >>> (bit & 31)) & 1) === 0) continue;
      const value = this.#values[slot]!;
      const ordinal = this.#ordinals[slot]!;
      if (ordinal < 0 || Number.isNaN(value)) continue;
      const sum = this.#slots === null ? ordinal : this.#slots[ordinal]!;
      if (sum >= 0) addValue(this.#sums, SUM_WIDTH * sum, value);
    }
  }
}
