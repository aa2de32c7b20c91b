/** Growing buffers and the numbers of the segment format in them. */

import { grow } from "./host";
import { BUFFER_AT, BUFFER_CAPACITY, BUFFER_LENGTH } from "./layout";

/** Makes sure of `extra` more bytes. */
@inline
export function reserve(buffer: usize, extra: u32): void {
  if (load<u32>(buffer, BUFFER_LENGTH) + extra > load<u32>(buffer, BUFFER_CAPACITY)) grow(buffer, extra);
}

/** Address of the first byte. */
@inline
export function at(buffer: usize): usize {
  return load<u32>(buffer, BUFFER_AT);
}

/** Address after the last byte in use. */
@inline
export function end(buffer: usize): usize {
  return load<u32>(buffer, BUFFER_AT) + load<u32>(buffer, BUFFER_LENGTH);
}

/** Records that the bytes up to `address` are in use. */
@inline
export function setEnd(buffer: usize, address: usize): void {
  store<u32>(buffer, (address - load<u32>(buffer, BUFFER_AT)) as u32, BUFFER_LENGTH);
}

@inline
export function length(buffer: usize): u32 {
  return load<u32>(buffer, BUFFER_LENGTH);
}

@inline
export function setLength(buffer: usize, bytes: u32): void {
  store<u32>(buffer, bytes, BUFFER_LENGTH);
}

/** Writes a varint at `address`, which has enough space; returns the address after it. */
export function putVarint(address: usize, value: u32): usize {
  let rest = value;
  while (rest >= 0x80) {
    store<u8>(address++, (rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  store<u8>(address++, rest);
  return address;
}

/** Appends a number to a list of u32, growing it where needed. */
@inline
export function push32(buffer: usize, value: u32): void {
  reserve(buffer, 4);
  const used = load<u32>(buffer, BUFFER_LENGTH);
  store<u32>(load<u32>(buffer, BUFFER_AT) + used, value);
  store<u32>(buffer, used + 4, BUFFER_LENGTH);
}

/** Appends a number to a list of f64, growing it where needed. */
@inline
export function push64(buffer: usize, value: f64): void {
  reserve(buffer, 8);
  const used = load<u32>(buffer, BUFFER_LENGTH);
  store<f64>(load<u32>(buffer, BUFFER_AT) + used, value);
  store<u32>(buffer, used + 8, BUFFER_LENGTH);
}
