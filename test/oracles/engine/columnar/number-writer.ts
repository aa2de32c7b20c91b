/** Writes numbers as planes of bytes, which stored/columnar/number-planes.ts reads. Judges the kernel's columnar/numbers.ts. */

import type { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";

const PLAIN = 0;
const DELTAS = 1;

/** Appends `count` whole numbers within ±2^52. */
export function writeNumbers(values: Float64Array, count: number, out: ByteBuffer): void {
  let min = values[0] ?? 0;
  for (let row = 1; row < count; row++) if (values[row]! < min) min = values[row]!;
  let plainBits = 0;
  let deltaBits = 0;
  let most = 0;
  let mostDelta = 0;
  for (let row = 0, before = min; row < count; row++) {
    const distance = values[row]! - min;
    const delta = zigzag(values[row]! - before);
    before = values[row]!;
    if (distance > most) most = distance;
    if (delta > mostDelta) mostDelta = delta;
    plainBits += bitsOf(distance);
    deltaBits += bitsOf(delta);
  }
  const form = deltaBits < plainBits ? DELTAS : PLAIN;
  const width = widthOf(form === DELTAS ? mostDelta : most);
  out.u8(form);
  out.u8(width);
  out.varint(zigzag(min));
  const from = out.length;
  out.reserve(width * count);
  out.length += width * count;
  for (let row = 0, before = min; row < count; row++) {
    let rest = form === DELTAS ? zigzag(values[row]! - before) : values[row]! - min;
    before = values[row]!;
    if (width <= 3) {
      for (let plane = 0; plane < width; plane++)
        out.bytes[from + plane * count + row] = rest >>> (8 * plane);
      continue;
    }
    for (let plane = 0; plane < width; plane++) {
      const next = Math.floor(rest / 256);
      out.bytes[from + plane * count + row] = rest - next * 256;
      rest = next;
    }
  }
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function bitsOf(value: number): number {
  return value < 2 ** 32 ? 32 - Math.clz32(value) : 32 + bitsOf(Math.floor(value / 2 ** 32));
}

function widthOf(value: number): number {
  let width = 0;
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) width++;
  return width;
}
