/** Stored bytes by document that go into packed blocks. The twin is stored/stored.ts. */

import { at, end, length, push32, putVarint, reserve, setEnd, setLength } from "./buffer";
import { copyShort } from "./copy";
import {
  EXTENT_BYTES,
  LZ4_HEADER_BYTES,
  LZ4_MAGIC,
  SCRATCH_PLAIN,
  STORED_BLOCK,
  STORED_DATA,
  STORED_FIRST_DOC,
  STORED_INDEX,
  STORED_LENGTHS,
  STORED_LIMIT,
  STORED_NEXT_DOC,
} from "./layout";
import { packBlock } from "./lz4";
import { scratch } from "./scratch";

/** Bytes of the longest varint. */
const VARINT_BYTES: u32 = 5;

/** Adds the bytes of `count` documents, each with its offset from `input` and its length at `extents`. */
export function addStored(stored: usize, input: usize, extents: usize, count: u32): void {
  const limit = load<u32>(stored, STORED_LIMIT);
  for (let extent = extents; extent < extents + count * EXTENT_BYTES; extent += EXTENT_BYTES) {
    const bytes = load<u32>(extent, 4);
    const lengths = stored + STORED_LENGTHS;
    const block = stored + STORED_BLOCK;
    reserve(lengths, VARINT_BYTES);
    reserve(block, bytes);
    setEnd(lengths, putVarint(end(lengths), bytes));
    copyShort(end(block), input + load<u32>(extent), bytes);
    setLength(block, length(block) + bytes);
    store<u32>(stored, load<u32>(stored, STORED_NEXT_DOC) + 1, STORED_NEXT_DOC);
    if (length(block) >= limit) closeStored(stored);
  }
}

/** Packs the current documents as a block. */
export function closeStored(stored: usize): void {
  const lengths = length(stored + STORED_LENGTHS);
  const bytes = length(stored + STORED_BLOCK);
  const size = 4 + lengths + bytes;
  const plain = scratch + SCRATCH_PLAIN;
  setLength(plain, 0);
  reserve(plain, size);
  const raw = at(plain);
  store<u32>(raw, lengths);
  memory.copy(raw + 4, at(stored + STORED_LENGTHS), lengths);
  memory.copy(raw + 4 + lengths, at(stored + STORED_BLOCK), bytes);
  const data = stored + STORED_DATA;
  push32(stored + STORED_INDEX, load<u32>(stored, STORED_FIRST_DOC));
  push32(stored + STORED_INDEX, length(data));
  reserve(data, LZ4_HEADER_BYTES);
  store<u32>(end(data), LZ4_MAGIC);
  store<u32>(end(data), size, 4);
  setLength(data, length(data) + LZ4_HEADER_BYTES);
  packBlock(raw, size, data);
  setLength(stored + STORED_LENGTHS, 0);
  setLength(stored + STORED_BLOCK, 0);
  store<u32>(stored, load<u32>(stored, STORED_NEXT_DOC), STORED_FIRST_DOC);
}
