/**
 * Finds, of the filters of a thousand viewers, the few that an event may match: by the runs of three bytes (grams) it
 * holds. Never leaves out one that matches.
 */

/** Slots grams are hashed to; a line of 500 bytes fills an eighth. */
const SLOTS = 4_096;
/** Of a literal so many are looked at. */
const MAX_ASKED = 4;

const stamps = new Uint32Array(SLOTS);
let stamp = 0;

/** Returns the slots to ask for of a lower-case ASCII literal; none where it is shorter than three bytes. */
export function gramsOf(literal: string): readonly number[] {
  const all: number[] = [];
  for (let at = 0; at + 2 < literal.length; at++)
    all.push(hash(literal.charCodeAt(at), literal.charCodeAt(at + 1), literal.charCodeAt(at + 2)));
  const step = Math.max(1, Math.floor(all.length / MAX_ASKED));
  return all.filter((_, at) => at % step === 0).slice(0, MAX_ASKED);
}

/** Distinct slots of the event that was looked at last, from 0 to `slotCount`. */
const slots = new Uint16Array(SLOTS);
let slotCount = 0;

/** Filters (or what stands for them) found by the grams that an event must hold for them. */
export class GramIndex<T> {
  /** By slot; an array, as an event asks it some hundred times. */
  readonly #bySlot: (Set<T> | undefined)[] = Array.from({ length: SLOTS }, () => undefined);
  /** Those that ask for no gram. */
  readonly #others = new Set<T>();
  readonly #slotOf = new Map<T, number>();

  /** Adds one below the gram by which the fewest are found. */
  add(item: T, grams: readonly number[]): void {
    const sizeOf = (slot: number): number => this.#bySlot[slot]?.size ?? 0;
    const slot = grams.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0];
    if (slot === undefined) {
      this.#others.add(item);
      return;
    }
    this.#slotOf.set(item, slot);
    this.#bySlot[slot] = (this.#bySlot[slot] ?? new Set<T>()).add(item);
  }

  delete(item: T): void {
    this.#others.delete(item);
    const slot = this.#slotOf.get(item);
    if (slot === undefined) return;
    this.#slotOf.delete(item);
    const set = this.#bySlot[slot];
    set?.delete(item);
    if (set?.size === 0) this.#bySlot[slot] = undefined;
  }

  /** Calls `take` with each that `source` may match, once. */
  forEachCandidate(source: Uint8Array, take: (item: T) => void): void {
    for (const item of this.#others) take(item);
    if (this.#slotOf.size === 0) return;
    if (!fill(source)) {
      for (const item of this.#slotOf.keys()) take(item);
      return;
    }
    for (let at = 0; at < slotCount; at++) {
      const set = this.#bySlot[slots[at]!];
      if (set !== undefined) for (const item of set) take(item);
    }
  }
}

/** Notes the grams of an event; returns false where it has letters beyond ASCII: those may fold to ASCII ones. */
function fill(source: Uint8Array): boolean {
  slotCount = 0;
  stamp += 1;
  if (stamp > 0xffff_fffe) {
    stamps.fill(0);
    stamp = 1;
  }
  let first = 0;
  let second = 0;
  for (let at = 0; at < source.length; at++) {
    const byte = source[at]!;
    if (byte > 0x7f) return false;
    const third = byte >= 65 && byte <= 90 ? byte + 32 : byte;
    const slot = hash(first, second, third);
    if (at > 1 && stamps[slot] !== stamp) {
      stamps[slot] = stamp;
      slots[slotCount++] = slot;
    }
    first = second;
    second = third;
  }
  return true;
}

function hash(a: number, b: number, c: number): number {
  return (Math.imul(a, 961) ^ Math.imul(b, 31) ^ c ^ (a << 3)) & (SLOTS - 1);
}
