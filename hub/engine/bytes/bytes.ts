/** Byte strings as terms and ids: order, equality, text. */

const ENCODER = new TextEncoder();

/** Returns a negative number, 0 or a positive number as `a` sorts before, with or after `b`. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = a[index]! - b[index]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Longer texts are encoded faster by the encoder than byte by byte. */
const SHORT_LENGTH = 64;

/** UTF-8 of a text; bytes come back as they are. */
export function toBytes(term: string | Uint8Array): Uint8Array {
  if (typeof term !== "string") return term;
  if (term.length > SHORT_LENGTH) return ENCODER.encode(term);
  const bytes = new Uint8Array(term.length);
  for (let index = 0; index < term.length; index++) {
    const unit = term.charCodeAt(index);
    if (unit >= 0x80) return ENCODER.encode(term);
    bytes[index] = unit;
  }
  return bytes;
}

const copy: (
  this: Uint8Array,
  target: Uint8Array,
  targetStart: number,
  sourceStart: number,
  sourceEnd: number,
) => number = Buffer.prototype.copy;

/**
 * Copies source[from..to) to `target` from `at` on. Where one of them is the kernel's shared memory, `set` would copy it
 * in single words, ten times slower.
 */
export function copyBytes(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): void {
  copy.call(source, target, at, from, to);
}
