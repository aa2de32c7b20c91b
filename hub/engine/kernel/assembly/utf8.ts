/** Code points in UTF-8 (RFC 3629). */

/** The code point read last, bytes it takes. */
export let point: u32 = 0;
export let width: u32 = 0;

/** Records that a byte of ASCII was read. */
@inline
export function setAscii(byte: u32): void {
  width = 1;
  point = byte;
}

/** Reads a code point of several bytes before `limit`; false if it is ill-formed. */
export function readWide(address: usize, limit: usize): bool {
  const first = load<u8>(address) as u32;
  if (first < 0xc2 || first > 0xf4) return false;
  width = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (address + width > limit) return false;
  for (let index: u32 = 1; index < width; index++)
    if ((load<u8>(address + index) & 0xc0) !== 0x80) return false;
  decodeWide(address, first);
  if (width === 2) return true;
  if (width === 3) return point >= 0x800 && (point & 0xf800) !== 0xd800;
  return point >= 0x1_0000 && point <= 0x10_ffff;
}

/** Reads a code point of several bytes, the first of which is `first`, of well-formed text. */
export function decodeWide(address: usize, first: u32): void {
  const second = (load<u8>(address, 1) & 0x3f) as u32;
  if (first < 0xe0) {
    width = 2;
    point = ((first & 0x1f) << 6) | second;
    return;
  }
  const third = (load<u8>(address, 2) & 0x3f) as u32;
  if (first < 0xf0) {
    width = 3;
    point = ((first & 0x0f) << 12) | (second << 6) | third;
    return;
  }
  width = 4;
  point = ((first & 0x07) << 18) | (second << 12) | (third << 6) | ((load<u8>(address, 3) & 0x3f) as u32);
}

/** Writes a code point as UTF-8; returns the address after it. */
export function putPoint(address: usize, value: u32): usize {
  if (value < 0x80) {
    store<u8>(address, value);
    return address + 1;
  }
  if (value < 0x800) {
    store<u8>(address, 0xc0 | (value >>> 6));
    store<u8>(address, 0x80 | (value & 0x3f), 1);
    return address + 2;
  }
  if (value < 0x1_0000) {
    store<u8>(address, 0xe0 | (value >>> 12));
    store<u8>(address, 0x80 | ((value >>> 6) & 0x3f), 1);
    store<u8>(address, 0x80 | (value & 0x3f), 2);
    return address + 3;
  }
  store<u8>(address, 0xf0 | (value >>> 18));
  store<u8>(address, 0x80 | ((value >>> 12) & 0x3f), 1);
  store<u8>(address, 0x80 | ((value >>> 6) & 0x3f), 2);
  store<u8>(address, 0x80 | (value & 0x3f), 3);
  return address + 4;
}
