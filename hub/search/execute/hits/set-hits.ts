/**
 * Finds the best hits of a document set by an order without scores: the most promising blocks first, then the blocks
 * that may still contain a hit.
 */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { COLUMN_BLOCK, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { expandMask, loadMask, SetBlocks } from "#hub/search/columns/set-blocks.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import type { TopHits } from "./top-hits.ts";

/** Blocks that are collected before the others: enough for a page of hits if every few documents match. */
const FIRST_BLOCKS = 8;

/** Blocks that are narrowed at a time. */
const STEP = 32;

/** Offers the documents of `set` to `top`, whose segment is open. Ends early if the time is over. Throws cancelled. */
export async function collectSetHits(
  segment: SegmentReader,
  set: Bitset,
  top: TopHits,
  control: SearchControl,
): Promise<void> {
  const blocks = new SetBlocks(segment, set);
  const docs = new Int32Array(COLUMN_BLOCK);
  const offer = (block: number): void => {
    const length = expandMask(block, blocks.mask, 0, docs);
    if (length > 0) top.collect(docs, null, length);
  };
  const first = new Set(bestBlocks(blocks, top));
  for (const block of first) {
    blocks.load(block);
    top.narrow(block, block + 1, blocks.mask);
    offer(block);
  }
  const words = new Uint32Array(STEP * blocks.mask.length);
  for (let from = 0; from < blocks.blockCount; from += STEP) {
    const to = Math.min(blocks.blockCount, from + STEP);
    if (!top.mayImproveAny(from, to)) continue;
    blocks.copy(from, to, words);
    top.narrow(from, to, words.subarray(0, (to - from) * blocks.mask.length));
    for (let block = from; block < to; block++) {
      if (first.has(block) || !top.mayImprove(block)) continue;
      if (loadMask(words, block - from, blocks.mask) > 0) offer(block);
    }
    if (control.isDue) await control.pause();
    if (control.timedOut) return;
  }
}

/** The blocks with documents of the set that probably hold the best hits; none if the order doesn't say. */
function bestBlocks(blocks: SetBlocks, top: TopHits): number[] {
  if (!top.knowsBest || blocks.blockCount <= FIRST_BLOCKS) return [];
  const chosen: { readonly block: number; readonly best: number }[] = [];
  for (let block = 0; block < blocks.blockCount; block++) {
    if (!top.mayImprove(block)) continue;
    const best = top.bestOfBlock(block);
    if (chosen.length === FIRST_BLOCKS && best >= chosen.at(-1)!.best) continue;
    if (blocks.isEmpty(block)) continue;
    let at = chosen.length;
    while (at > 0 && chosen[at - 1]!.best > best) at--;
    chosen.splice(at, 0, { block, best });
    if (chosen.length > FIRST_BLOCKS) chosen.pop();
  }
  return chosen.map(({ block }) => block);
}
