/** Reads varints of the segment format that may be damaged. */

/** Where the last varint ended. */
export let cursor: usize = 0;

/** Continues reading at `address`. */
@inline
export function readAt(address: usize): void {
  cursor = address;
}

/** Reads a varint below 2^35, of which 32 bits are kept; zeros follow `stop`. */
@inline
export function readVarint(stop: usize): u32 {
  if (cursor < stop) {
    const byte = load<u8>(cursor) as u32;
    if (byte < 0x80) {
      cursor++;
      return byte;
    }
  }
  return readLong(stop);
}

function readLong(stop: usize): u32 {
  let value: u32 = 0;
  for (let shift: u32 = 0; shift < 35 && cursor < stop; shift += 7) {
    const byte = load<u8>(cursor++) as u32;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}
