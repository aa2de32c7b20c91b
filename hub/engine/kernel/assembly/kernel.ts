/**
 * The engine's kernel: what is done per byte, per word and per posting. Nothing is allocated here and there is no
 * static data; every address comes from the host, who also grows what is full (see host.ts). Compiled by build.ts.
 */

import { reserve, setLength } from "./buffer";
import { makeCrcTables } from "./crc32c";
import { makePowers } from "./json";
import { POOL_MASK, POOL_TABLE, SLOT_BYTES } from "./layout";
import { useScratch } from "./scratch";
import { seedHash } from "./terms";

export { chooseBlocks, markSlots } from "./choose";
export { checkColumnar } from "./columnar/check";
export { writeColumnar } from "./columnar/columnar";
export { matchBlocks, toDecimals, toFloats, unpackNumbers } from "./column";
export { crc32c } from "./crc32c";
export { addTerms } from "./dictionary";
export { resumeDocument, writeDocuments } from "./document";
export { addKeyword, addNumber, addPoint, addToken, endText, padNorms, startText } from "./field";
export { gatherNothing, gatherValues, gatherWords, toOrdinals } from "./occurrences";
export { packLz4, unpackLz4 } from "./lz4";
export { mergeTerms } from "./merge";
export { hashName } from "./object";
export { packGroup, unpackDocs, unpackGroup } from "./packing";
export { nearSet } from "./phrase";
export { postingsSet, scanTerms } from "./search";
export { shapesOf } from "./shape";
export { groupTerms, sortTerms } from "./sort";
export { sumBlocks } from "./sums";
export { countBlocks } from "./tally";
export { addStored, closeStored } from "./stored";
export { addText } from "./tokenizer";

/** Readies this instance: its own scratch structure and the random numbers of its hash. */
export function init(scratch: usize, seed: u64, factor: u64): void {
  useScratch(scratch);
  seedHash(seed, factor);
  makeCrcTables();
  makePowers();
}

/** Readies an empty pool, whose structure is zeroed, for `slots` slots (a power of two). */
export function initPool(pool: usize, slots: u32): void {
  const table = pool + POOL_TABLE;
  reserve(table, slots * SLOT_BYTES);
  setLength(table, 0);
  memory.fill(load<u32>(table), 0, slots * SLOT_BYTES);
  store<u32>(pool, slots - 1, POOL_MASK);
}
