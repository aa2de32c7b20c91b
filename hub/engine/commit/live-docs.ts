/** The live documents of a segment, in a file beside it that is written anew when documents die. Grammar: README.md. */

import { readFileSync } from "node:fs";
import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { readU32, writeU32 } from "#hub/engine/bytes/byte-buffer.ts";
import { crc32c } from "#hub/engine/encoding/crc32c.ts";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";

/** Document count and CRC. */
const HEADER_BYTES = 8;

/** Writes `live` durably. */
export function writeLiveDocs(path: string, live: Bitset): void {
  const words = new Uint8Array(live.words.buffer, live.words.byteOffset, live.words.byteLength);
  const bytes = new Uint8Array(HEADER_BYTES + words.length);
  writeU32(bytes, 0, live.size);
  bytes.set(words, HEADER_BYTES);
  writeU32(bytes, 4, crc32c(words, 0, words.length, live.size));
  writeFileAtomic(path, bytes);
}

/** Reads the live documents of a segment of `docCount`. Throws data_corrupt, or the system's error. */
export function readLiveDocs(path: string, docCount: number): Bitset {
  const bytes = readFileSync(path);
  const words = new Uint8Array(bytes.subarray(HEADER_BYTES));
  const isWhole =
    bytes.length === HEADER_BYTES + 4 * ((docCount + 31) >>> 5) && readU32(bytes, 0) === docCount;
  if (!isWhole || readU32(bytes, 4) !== crc32c(words, 0, words.length, docCount)) {
    throw new AppError("data_corrupt", `${path} is damaged`);
  }
  return new Bitset(docCount, new Uint32Array(words.buffer));
}
