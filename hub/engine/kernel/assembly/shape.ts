/**
 * The shapes of JSON documents as numbers: their names with what is below them, whatever the values are. The twin is
 * proto/codec/json-shape.ts, whose numbers are others; what has one shape there has one shape here.
 */

import { at } from "./buffer";
import { EXTENT_BYTES, SCRATCH_INPUT } from "./layout";
import { scratch } from "./scratch";
import { hashFactor, hashSeed } from "./terms";

/** What stands for a value that is neither object, array nor null, in the hash. */
const SCALAR: u64 = 0x100;
/** null isn't a value of any type. */
const NULL: u64 = 0x101;
const COLON: u64 = 0x3a;

/** Bits of a shape that a double holds. */
const SPARE_BITS: u64 = 11;

/**
 * Writes the shapes of documents of the scratch input, a double each, at `out`: `count` entries at `extents`, each the
 * offset and the length of one. Up to 31 bytes after a document are read.
 */
export function shapesOf(extents: usize, count: u32, out: usize): void {
  const base = at(scratch + SCRATCH_INPUT);
  for (let index: u32 = 0; index < count; index++) {
    const extent = extents + index * EXTENT_BYTES;
    const start = base + load<u32>(extent);
    const shape = shapeOf(start, start + load<u32>(extent, 4));
    store<f64>(out + index * 8, (shape >>> SPARE_BITS) as f64);
  }
}

function shapeOf(start: usize, end: usize): u64 {
  let hash: u64 = hashSeed;
  let last: u64 = 0;
  let address = start;
  while (address < end) {
    const byte = load<u8>(address++) as u32;
    let event = byte as u64;
    if (byte === 0x22) {
      const quote = endOfText(address, end);
      let next = quote + 1;
      while (next < end && load<u8>(next) <= 0x20) next++;
      if (next < end && load<u8>(next) === 0x3a) {
        hash = withName(hash, address, (quote - address) as u32);
        event = COLON;
      } else event = SCALAR;
      address = next;
    } else if (isLiteral(byte)) {
      event = byte === 0x6e ? NULL : SCALAR;
      while (address < end && !endsLiteral(load<u8>(address))) address++;
    } else if ((byte | 0x20) !== 0x7b && (byte | 0x20) !== 0x7d) continue;
    // After a value without a name in between, another value of a list follows.
    if (event === SCALAR && last === SCALAR) continue;
    last = event;
    hash = withWord(hash, event);
  }
  return hash;
}

/** Continues with the bytes of a name, eight at a time; reads up to 7 after them. */
function withName(before: u64, name: usize, count: u32): u64 {
  let hash = withWord(before, count);
  let left = count;
  while (left >= 8) {
    hash = withWord(hash, load<u64>(name));
    name += 8;
    left -= 8;
  }
  return left === 0 ? hash : withWord(hash, load<u64>(name) & ((1 << ((left as u64) << 3)) - 1));
}

@inline
function withWord(before: u64, word: u64): u64 {
  const hash = (before ^ word) * hashFactor;
  return hash ^ (hash >>> 32);
}

/** Offset of the quote that ends the text which begins at `start`; `end` without one. */
function endOfText(start: usize, end: usize): usize {
  const quote = i8x16.splat(0x22);
  const backslash = i8x16.splat(0x5c);
  let address = start;
  while (address < end) {
    const bytes = v128.load(address);
    const stops = i8x16.bitmask(v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash)));
    if (stops === 0) {
      address += 16;
      continue;
    }
    address += ctz(stops);
    if (load<u8>(address) === 0x22) break;
    address += 2;
  }
  return min(address, end);
}

/** First byte of a number, of true, false and null. */
function isLiteral(byte: u32): bool {
  return byte - 0x30 < 10 || byte === 0x2d || byte === 0x74 || byte === 0x66 || byte === 0x6e;
}

function endsLiteral(byte: u8): bool {
  return byte === 0x2c || byte === 0x7d || byte === 0x5d;
}
