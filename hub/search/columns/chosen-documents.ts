/** Documents of a run whose value in a keyword column is one of those chosen. */

import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import type { ChosenDocuments } from "#hub/engine/kernel/column-kernel.ts";
import { COLUMN_BLOCK, type KeywordColumn, type ValueBlock } from "#hub/engine/searcher/searcher.ts";
import { loadBlock, type SegmentRun } from "./set-blocks.ts";

/** Memory for one block, of whichever column is read. */
const decoded: ValueBlock = {
  values: new Float64Array(COLUMN_BLOCK),
  slots: new Uint16Array(COLUMN_BLOCK),
};
const mask = new Uint32Array(COLUMN_BLOCK / 32);

/** Values of which documents are wanted. */
interface ChosenValues {
  readonly column: KeywordColumn;
  /** Slot of each ordinal, below 0 for none. Isn't changed anymore. */
  readonly byOrdinal: Int32Array;
}

/**
 * Writes the documents of a run that have values with slots to `out`, ascending, with the slot of each such value. Returns
 * how many; arrays grow as needed.
 */
export function chooseDocuments(run: SegmentRun, chosen: ChosenValues, out: ChosenDocuments): number {
  const count = chosen.column.choose(run, chosen.byOrdinal, out);
  return count < 0 ? chooseValues(run, chosen, out) : count;
}

/** Reads all values of a block. */
function chooseValues(run: SegmentRun, { column, byOrdinal }: ChosenValues, out: ChosenDocuments): number {
  let count = 0;
  for (let block = run.from; block < run.to; block++) {
    if (loadBlock(run, block, mask) === 0) continue;
    const values = column.decodeValues(block, decoded);
    out.docs = grown(out.docs, count + values);
    out.slots = grown(out.slots, count + values);
    for (let at = 0; at < values; at++) {
      const index = decoded.slots[at]!;
      const slot = byOrdinal[decoded.values[at]!]!;
      if (slot < 0 || ((mask[index >>> 5]! >>> (index & 31)) & 1) === 0) continue;
      out.docs[count] = block * COLUMN_BLOCK + index;
      out.slots[count++] = slot;
    }
  }
  return count;
}
