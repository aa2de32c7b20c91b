/**
 * Verifies the checksums of a LevelDB table. LevelDB checks those of its logs, but of tables only where a caller asks for it, which
 * the binding doesn't: a damaged block would give wrong rows, or end the process in an assertion.
 *
 * Format: https://github.com/google/leveldb/blob/main/doc/table_format.md. A block is followed by a byte for its compression and
 * the masked CRC-32C of both.
 */

import { unpackSnappy } from "#proto/codec/snappy.ts";
import { MIB } from "#proto/kit/units.ts";

const FOOTER_BYTES = 48;
const MAGIC = 0xdb4775248b80fb57n;
/** Compression of a block. */
const SNAPPY = 1;
/** An index has some ten bytes for each 4 KiB of a table, and tables some MiB. */
const INDEX_BYTES_MAX = 16 * MIB;
/** Added to a checksum that is stored beside the bytes it is of. */
const MASK_DELTA = 0xa282ead8;

/** Offset of a block in the table, bytes. */
interface Handle {
  readonly offset: number;
  readonly size: number;
}

/**
 * Returns whether each block of a table has its checksum. A table without its end counts as intact: LevelDB refuses such a one
 * by itself where it is in use, and removes one that a crash left unfinished.
 */
export function isTableIntact(table: Buffer): boolean {
  if (table.length < FOOTER_BYTES || table.readBigUInt64LE(table.length - 8) !== MAGIC) return true;
  try {
    const footer = new Varints(table.subarray(table.length - FOOTER_BYTES));
    const blocks = [footer.handle(), footer.handle()];
    for (const block of blocks) if (!hasChecksum(table, block)) return false;
    const [metaindex, index] = blocks.map((block) => contentOf(table, block));
    const listed = [...handlesIn(metaindex!), ...handlesIn(index!)];
    return listed.every((block) => hasChecksum(table, block));
  } catch {
    return false; // a number leads beyond its end
  }
}

function hasChecksum(table: Buffer, { offset, size }: Handle): boolean {
  const end = offset + size + 1;
  const masked = table.readUInt32LE(end);
  const rotated = (masked - MASK_DELTA) >>> 0;
  return crc32c(table.subarray(offset, end)) === ((rotated >>> 17) | (rotated << 15)) >>> 0;
}

function contentOf(table: Buffer, { offset, size }: Handle): Buffer {
  const block = table.subarray(offset, offset + size);
  return table[offset + size] === SNAPPY ? unpackSnappy(block, INDEX_BYTES_MAX) : block;
}

/** Yields the values of an index: its entries, and after them the offsets of restarts and their number. */
function* handlesIn(index: Buffer): Generator<Handle> {
  const restarts = index.readUInt32LE(index.length - 4);
  const entries = new Varints(index.subarray(0, index.length - 4 * (restarts + 1)));
  while (entries.hasMore) {
    entries.next(); // bytes of the key that it shares with the one before
    const keyBytes = entries.next();
    entries.next(); // length of the value
    entries.skip(keyBytes);
    yield entries.handle();
  }
}

/** Reads numbers of 7 bits a byte, the lowest first. */
class Varints {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  /** Throws a RangeError at the end. */
  next(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes.readUInt8(this.#at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  skip(bytes: number): void {
    this.#at += bytes;
  }

  handle(): Handle {
    return { offset: this.next(), size: this.next() };
  }
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  return crc;
});

/** Castagnoli's polynomial, which `zlib.crc32` hasn't. */
function crc32c(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (let at = 0; at < bytes.length; at++) crc = (crc >>> 8) ^ TABLE[(crc ^ bytes[at]!) & 255]!;
  return (crc ^ 0xffffffff) >>> 0;
}
