/** Random choices of a run, the same for the same seed. */

import { randomFrom } from "#test/harness/random.ts";

/** Seeds are multiplied by a prime, as the generator's first numbers are alike where its seeds are near each other. */
const SPREAD = 7_919;

export class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomFrom(Math.imul(seed, SPREAD));
  }

  /** A whole number 0..limit - 1. */
  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  /** A whole number low..high. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True with the given probability, 0..1. */
  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** `count` results of `make`. */
  times<T>(count: number, make: (at: number) => T): T[] {
    return Array.from({ length: count }, (_, at) => make(at));
  }

  /** Different items in random order, `count` at most. */
  some<T>(items: readonly T[], count: number): T[] {
    const left = [...items];
    const chosen: T[] = [];
    while (chosen.length < count && left.length > 0) chosen.push(...left.splice(this.below(left.length), 1));
    return chosen;
  }
}
