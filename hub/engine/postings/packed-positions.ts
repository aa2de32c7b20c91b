/** Positions of a term within documents as they are packed behind its postings. Grammar: README.md. */

import { ByteReader } from "#hub/engine/bytes/byte-buffer.ts";
import { unpackWords } from "#hub/engine/encoding/bit-packing.ts";
import { POSTINGS_BLOCK } from "#hub/engine/searcher/searcher.ts";

/** Reads `count` distances of positions to `out`: whole groups packed, the rest varints. */
export function readPositions(bytes: Uint8Array, start: number, count: number, out: Int32Array): void {
  let at = start;
  let done = 0;
  for (; done + POSTINGS_BLOCK <= count; done += POSTINGS_BLOCK) {
    const bits = Math.min(32, bytes[at] ?? 0);
    unpackWords(bytes, at + 1, bits, out, done);
    at += 1 + 16 * bits;
  }
  const reader = new ByteReader(bytes, at);
  for (; done < count; done++) out[done] = reader.varint();
}
