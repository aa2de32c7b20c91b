/** Grams: runs of three bytes. An event without a gram of a text can't contain the text, which is cheap to test. */

/** Slots grams are hashed to; a line of 500 bytes fills an eighth. */
export const GRAM_SLOTS = 4_096;
/** Maximum grams of one literal that are checked. */
const MAX_CHECKED = 4;

/** Returns the slots to check for a lower-case ASCII literal; empty if it is shorter than three bytes. */
export function gramsOf(literal: string): readonly number[] {
  const all: number[] = [];
  for (let at = 0; at + 2 < literal.length; at++)
    all.push(hash(literal.charCodeAt(at), literal.charCodeAt(at + 1), literal.charCodeAt(at + 2)));
  const step = Math.max(1, Math.floor(all.length / MAX_CHECKED));
  return all.filter((_, at) => at % step === 0).slice(0, MAX_CHECKED);
}

/** Reads the grams of one event after another. */
export class GramReader {
  /** Distinct slots of the last event. */
  readonly slots = new Uint16Array(GRAM_SLOTS);
  /** By slot, the number of the event that had it last. */
  readonly #stamps = new Uint32Array(GRAM_SLOTS);
  #stamp = 0;

  /** Returns the number of slots; undefined if the event has letters beyond ASCII: those may fold to ASCII ones. */
  read(source: Uint8Array): number | undefined {
    const stamp = this.#nextStamp();
    const stamps = this.#stamps;
    let count = 0;
    let first = 0;
    let second = 0;
    for (let at = 0; at < source.length; at++) {
      const byte = source[at]!;
      if (byte > 0x7f) return undefined;
      const third = byte >= 65 && byte <= 90 ? byte + 32 : byte;
      const slot = hash(first, second, third);
      if (at > 1 && stamps[slot] !== stamp) {
        stamps[slot] = stamp;
        this.slots[count++] = slot;
      }
      first = second;
      second = third;
    }
    return count;
  }

  #nextStamp(): number {
    this.#stamp += 1;
    if (this.#stamp > 0xffff_fffe) {
      this.#stamps.fill(0);
      this.#stamp = 1;
    }
    return this.#stamp;
  }
}

function hash(a: number, b: number, c: number): number {
  return (Math.imul(a, 961) ^ Math.imul(b, 31) ^ c ^ (a << 3)) & (GRAM_SLOTS - 1);
}
