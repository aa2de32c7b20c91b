/** TreeMap and TreeSet: collections whose members are in order. */

import type { CallContext } from "#hub/scripts/values/values.ts";

/** Characters of a text that are compared in one step. */
const CHARS_A_STEP = 64;
/** Members that are moved in one step, as a power of two. */
const MOVED_SHIFT = 12;

/** Compares two keys. Throws ClassCastException where they have no common order. */
type Order = (a: unknown, b: unknown) => number;

/** Returns where a key is, or belongs, in a sorted list. */
function placeOf(sorted: readonly unknown[], key: unknown, order: Order): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (order(sorted[middle], key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Spends the cost of inserting a new key among the members of a sorted collection: the key is compared with some of
 * them, each of which may be as long. Nothing for other collections.
 */
export function chargeInsertion(collection: object, key: unknown, context: CallContext): void {
  if (!(collection instanceof SortedMap || collection instanceof SortedSet) || collection.has(key)) return;
  const { size } = collection;
  const length = typeof key === "string" ? key.length : 0;
  const comparisons = 32 - Math.clz32(size);
  context.spend(Math.floor(length / CHARS_A_STEP) * comparisons + (size >> MOVED_SHIFT));
}

/** A map that is walked through by its keys' order. */
export class SortedMap extends Map<unknown, unknown> {
  readonly #order: Order;
  readonly #sorted: unknown[] = [];

  constructor(order: Order) {
    super();
    this.#order = order;
  }

  static from(entries: Iterable<readonly [unknown, unknown]>, order: Order, context: CallContext): SortedMap {
    const map = new SortedMap(order);
    for (const [key, value] of entries) {
      chargeInsertion(map, key, context);
      map.set(key, value);
    }
    return map;
  }

  override set(key: unknown, value: unknown): this {
    if (!this.has(key)) this.#sorted.splice(placeOf(this.#sorted, key, this.#order), 0, key);
    return super.set(key, value);
  }

  override delete(key: unknown): boolean {
    if (this.has(key)) this.#sorted.splice(placeOf(this.#sorted, key, this.#order), 1);
    return super.delete(key);
  }

  override clear(): void {
    this.#sorted.length = 0;
    super.clear();
  }

  override keys(): MapIterator<unknown> {
    return this.#sorted.values();
  }

  override *values(): MapIterator<unknown> {
    for (const key of this.#sorted) yield this.get(key);
  }

  override *entries(): MapIterator<[unknown, unknown]> {
    for (const key of this.#sorted) yield [key, this.get(key)];
  }

  override [Symbol.iterator](): MapIterator<[unknown, unknown]> {
    return this.entries();
  }
}

/** A set that is walked through in order. */
export class SortedSet extends Set<unknown> {
  readonly #order: Order;
  readonly #sorted: unknown[] = [];

  constructor(order: Order) {
    super();
    this.#order = order;
  }

  static from(members: Iterable<unknown>, order: Order, context: CallContext): SortedSet {
    const set = new SortedSet(order);
    for (const member of members) {
      chargeInsertion(set, member, context);
      set.add(member);
    }
    return set;
  }

  override add(member: unknown): this {
    if (!this.has(member)) this.#sorted.splice(placeOf(this.#sorted, member, this.#order), 0, member);
    return super.add(member);
  }

  override delete(member: unknown): boolean {
    if (this.has(member)) this.#sorted.splice(placeOf(this.#sorted, member, this.#order), 1);
    return super.delete(member);
  }

  override clear(): void {
    this.#sorted.length = 0;
    super.clear();
  }

  override keys(): SetIterator<unknown> {
    return this.#sorted.values();
  }

  override values(): SetIterator<unknown> {
    return this.#sorted.values();
  }

  override *entries(): SetIterator<[unknown, unknown]> {
    for (const member of this.#sorted) yield [member, member];
  }

  override [Symbol.iterator](): SetIterator<unknown> {
    return this.values();
  }
}
