/**
 * Which runs of three bytes an event holds, as a small table of hashes: asked by the filters of a thousand viewers, it
 * answers "can't match" for nearly all of them in a few nanoseconds each. It never says no where there is a match.
 */

/** Slots; a line of 500 bytes fills an eighth. */
const SLOTS = 4_096;
/** Of a literal so many are asked for: the answer is hardly better with more. */
const MAX_ASKED = 4;

const stamps = new Uint32Array(SLOTS);
let stamp = 0;
let owner: Uint8Array | undefined;
let isAscii = true;

/** Returns the hashes to ask for of a lower-case ASCII literal; none where it is shorter than three bytes. */
export function gramsOf(literal: string): readonly number[] {
  const all: number[] = [];
  for (let at = 0; at + 2 < literal.length; at++)
    all.push(hash(literal.charCodeAt(at), literal.charCodeAt(at + 1), literal.charCodeAt(at + 2)));
  const step = Math.max(1, Math.floor(all.length / MAX_ASKED));
  return all.filter((_, at) => at % step === 0).slice(0, MAX_ASKED);
}

/** Returns false where `source`, in lower case, can't hold a literal with these grams. With other letters it always may. */
export function mayHoldGrams(source: Uint8Array, grams: readonly number[]): boolean {
  if (grams.length === 0) return true;
  if (owner !== source) fill(source);
  if (!isAscii) return true;
  for (const gram of grams) if (stamps[gram] !== stamp) return false;
  return true;
}

/** Forgets the event whose table was made last: its bytes may change. */
export function forgetGrams(): void {
  owner = undefined;
}

function fill(source: Uint8Array): void {
  owner = source;
  isAscii = true;
  stamp += 1;
  if (stamp > 0xffff_fffe) {
    stamps.fill(0);
    stamp = 1;
  }
  let first = 0;
  let second = 0;
  for (let at = 0; at < source.length; at++) {
    const byte = source[at]!;
    if (byte > 0x7f) {
      isAscii = false;
      return;
    }
    const third = byte >= 65 && byte <= 90 ? byte + 32 : byte;
    if (at > 1) stamps[hash(first, second, third)] = stamp;
    first = second;
    second = third;
  }
}

function hash(a: number, b: number, c: number): number {
  return (Math.imul(a, 961) ^ Math.imul(b, 31) ^ c ^ (a << 3)) & (SLOTS - 1);
}
