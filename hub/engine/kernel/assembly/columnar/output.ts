/** Numbers and bytes appended to the output. */

import { end, length, reserve, setEnd, setLength } from "../buffer";
import { copyShort } from "../copy";

/** Bytes of the longest varint of 64 bits. */
const VARINT_BYTES: u32 = 10;

/** Appends a byte. */
@inline
export function putByte(out: usize, byte: u32): void {
  reserve(out, 1);
  store<u8>(end(out), byte);
  setLength(out, length(out) + 1);
}

/** Appends a varint. */
export function putNumber(out: usize, value: u64): void {
  reserve(out, VARINT_BYTES);
  let address = end(out);
  let rest = value;
  while (rest >= 0x80) {
    store<u8>(address++, ((rest as u32) & 0x7f) | 0x80);
    rest >>>= 7;
  }
  store<u8>(address++, rest as u32);
  setEnd(out, address);
}

/** Length of a varint. */
export function varintBytes(value: u32): u32 {
  return value === 0 ? 1 : (38 - clz(value)) / 7;
}

/** Appends bytes, which aren't in the output. */
export function putBytes(out: usize, from: usize, count: u32): void {
  reserve(out, count);
  copyShort(end(out), from, count);
  setLength(out, length(out) + count);
}

/** Appends the number of bytes, then the bytes. */
export function putCounted(out: usize, from: usize, count: u32): void {
  putNumber(out, count);
  putBytes(out, from, count);
}
