/** Columns without the kernel: everything is left to TypeScript, which judges the kernel then. */

import type { ColumnFunctions, ColumnRun } from "#hub/engine/kernel/column-kernel.ts";

export const plainColumns: ColumnFunctions = {
  decode: () => false,
  match: allBlocks,
  startCount() {
    // Nothing is counted here.
  },
  count: allBlocks,
  addCounts() {
    // Nothing was counted.
  },
  startSums: (sums) => sums,
  sum: allBlocks,
  endSums() {
    // They were added to where they are.
  },
  choose: () => -1,
};

function allBlocks({ blocks }: ColumnRun): number[] {
  return Array.from({ length: blocks }, (_, block) => block);
}
