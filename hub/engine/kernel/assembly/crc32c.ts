/** CRC-32C (RFC 3720 appendix B.4), sixteen bytes at a time by tables. The twin is encoding/crc32c.ts. */

import { at, reserve } from "./buffer";
import { SCRATCH_CRC } from "./layout";
import { scratch } from "./scratch";

const POLYNOMIAL: u32 = 0x82f6_3b78;

/** Tables: number k gives the effect of a byte k positions before the end of a group. */
const TABLES: u32 = 16;
const TABLE_BYTES: u32 = 1024;

/** Makes the tables of this instance. */
export function makeCrcTables(): void {
  reserve(scratch + SCRATCH_CRC, TABLES * TABLE_BYTES);
  const table = at(scratch + SCRATCH_CRC);
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    store<u32>(table + byte * 4, crc);
  }
  for (let index: u32 = 256; index < TABLES * 256; index++) {
    const crc = load<u32>(table + (index - 256) * 4);
    store<u32>(table + index * 4, load<u32>(table + (crc & 255) * 4) ^ (crc >>> 8));
  }
}

/** CRC of `count` bytes, continuing from `crc` (0 at the start). */
export function crc32c(bytes: usize, count: u32, crc: u32): u32 {
  const table = at(scratch + SCRATCH_CRC);
  let c = ~crc;
  let address = bytes;
  let left = count;
  for (; left >= 16; left -= 16) {
    c =
      fold(table, 12, load<u32>(address) ^ c) ^
      fold(table, 8, load<u32>(address, 4)) ^
      fold(table, 4, load<u32>(address, 8)) ^
      fold(table, 0, load<u32>(address, 12));
    address += 16;
  }
  for (; left > 0; left--) c = load<u32>(table + ((c ^ (load<u8>(address++) as u32)) & 255) * 4) ^ (c >>> 8);
  return ~c;
}

/** Effect of four bytes that are `after` bytes before the end. */
function fold(table: usize, after: u32, word: u32): u32 {
  const tables = table + after * TABLE_BYTES;
  return (
    load<u32>(tables + (word & 255) * 4, 3 * TABLE_BYTES) ^
    load<u32>(tables + ((word >>> 8) & 255) * 4, 2 * TABLE_BYTES) ^
    load<u32>(tables + ((word >>> 16) & 255) * 4, TABLE_BYTES) ^
    load<u32>(tables + (word >>> 24) * 4)
  );
}
