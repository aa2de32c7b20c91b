/** Random documents of every kind of field. */

import { DAY_MS, HOUR_MS, MINUTE_MS } from "#proto/kit/units.ts";
import type { Dice } from "./dice.ts";
import type { Json } from "./documents.ts";

export const MAPPING = {
  properties: {
    u: { type: "long" },
    at: { type: "date" },
    k: { type: "keyword" },
    kk: { type: "keyword" },
    ks: { type: "keyword" },
    n: { type: "long" },
    m: { type: "integer" },
    d: { type: "double" },
    f: { type: "float" },
    h: { type: "half_float" },
    c: { type: "scaled_float", scaling_factor: 4 },
    z: { type: "short", null_value: -7 },
    ka: { type: "alias", path: "ks" },
    na: { type: "alias", path: "n" },
    b: { type: "boolean" },
    ip: { type: "ip" },
    t: { type: "text", fielddata: true, term_vector: "with_positions_offsets" },
    s: { type: "text" },
    p: { properties: { k: { type: "keyword" }, n: { type: "long" } } },
    o: {
      type: "nested",
      properties: {
        k: { type: "keyword" },
        n: { type: "long" },
        at: { type: "date" },
        t: { type: "text" },
        q: { type: "nested", properties: { k: { type: "keyword" }, n: { type: "integer" } } },
      },
    },
  },
};

/** Words that are one, two or more edits apart. */
export const WORDS = [
  "alpha",
  "alpah",
  "alphas",
  "beta",
  "betas",
  "gamma",
  "gama",
  "delta",
  "dleta",
  "zeta",
  "theta",
  "kappa",
] as const;

/** Middles of the times of documents: changes of the clocks, a leap day, an ordinary time. */
const MIDDLES = [
  Date.UTC(2018, 2, 25, 1),
  Date.UTC(2018, 9, 28, 1),
  Date.UTC(2018, 2, 11, 7),
  Date.UTC(2018, 10, 4, 6),
  Date.UTC(2018, 1, 18, 2),
  Date.UTC(2016, 1, 29),
  Date.UTC(2021, 6, 1),
];

/** Multiples of a number are all different below a prime: more than the documents of any round. */
const STEP = 7_919;
const PRIME = 104_729;

/** How the documents of a round are made. */
export interface Shape {
  readonly documents: number;
  readonly middleMs: number;
  readonly spanMs: number;
  /** Documents come in the order of their times. */
  readonly isSorted: boolean;
  /** Probability that a field is missing, and that it has several values. */
  readonly missing: Readonly<Record<string, number>>;
  readonly several: Readonly<Record<string, number>>;
  /** Different values of `kk` and `m`. */
  readonly manyKeys: number;
  readonly manyNumbers: number;
}

const OPTIONAL = ["at", "k", "kk", "ks", "n", "m", "d", "f", "h", "c", "z", "b", "ip", "t", "s", "p", "o"];

export function randomShape(dice: Dice): Shape {
  const missing = Object.fromEntries(OPTIONAL.map((field) => [field, dice.pick([0, 0, 0.05, 0.3, 0.9])]));
  const several = Object.fromEntries(
    OPTIONAL.map((field) => [field, dice.chance(field.endsWith("s") ? 0.7 : 0.25) ? 0.3 : 0]),
  );
  several["o"] = dice.pick([0, 0.6]);
  return {
    documents: dice.pick([1, 3, 30, 200, 200, 600, 600, 2_500]),
    middleMs: dice.pick(MIDDLES),
    spanMs: dice.pick([6 * HOUR_MS, 2 * DAY_MS, 30 * DAY_MS, 500 * DAY_MS]),
    isSorted: dice.chance(0.6),
    missing,
    several,
    manyKeys: dice.pick([5, 50, 2_000]),
    manyNumbers: dice.pick([4, 100, 100_000]),
  };
}

/** Makes documents; the field `u` is another number in each document. */
export class Documents {
  readonly #dice: Dice;
  readonly #shape: Shape;
  #made = 0;

  constructor(dice: Dice, shape: Shape) {
    this.#dice = dice;
    this.#shape = shape;
  }

  next(): Json {
    const dice = this.#dice;
    const document: Json = { u: this.#unique() };
    const add = (field: string, make: () => unknown): void => {
      if (dice.chance(this.#shape.missing[field]!)) {
        if (dice.chance(0.1)) document[field] = dice.pick([null, [], [null]]);
        return;
      }
      document[field] = dice.chance(this.#shape.several[field]!) ? dice.times(dice.below(4), make) : make();
    };
    const { manyKeys, manyNumbers } = this.#shape;
    add("at", () => this.#time());
    add("k", () => `k${Math.min(dice.below(6), dice.below(6))}`);
    add("kk", () => `w${dice.below(manyKeys)}`);
    add("ks", () => `s${Math.min(dice.below(20), dice.below(20))}`);
    add("n", () => dice.below(100) - 50);
    add("m", () => dice.below(manyNumbers));
    add("d", () => dice.below(4_000) / 4 - 200);
    // Fractions that all of these types hold exactly.
    for (const field of ["f", "h", "c"]) add(field, () => dice.below(800) / 4 - 100);
    add("z", () => (dice.chance(0.1) ? null : dice.below(50)));
    add("b", () => dice.chance(0.3));
    add("ip", () => `10.${dice.below(2)}.${dice.pick([0, 2, 10])}.${dice.below(200)}`);
    add("t", () => this.#text());
    add("s", () => this.#text());
    add("p", () => ({ k: `s${dice.below(5)}`, n: dice.below(20) }));
    add("o", () => this.#object());
    return document;
  }

  /** Not ascending, so that the order of `u` isn't that of documents. */
  #unique(): number {
    return ((this.#made++ * STEP) % PRIME) + 1;
  }

  #object(): Json {
    const object: Json = {};
    const dice = this.#dice;
    if (dice.chance(0.9)) object["k"] = `s${dice.below(5)}`;
    if (dice.chance(0.9)) object["n"] = dice.below(20);
    if (dice.chance(0.8)) object["at"] = this.#time();
    if (dice.chance(0.5)) object["t"] = this.#text();
    const part = (): Json => ({ k: `s${dice.below(4)}`, ...(dice.chance(0.8) ? { n: dice.below(9) } : {}) });
    if (dice.chance(0.5)) object["q"] = dice.chance(0.5) ? part() : dice.times(dice.below(4), part);
    return object;
  }

  #time(): unknown {
    const { middleMs, spanMs, isSorted, documents } = this.#shape;
    const dice = this.#dice;
    const offset = isSorted ? Math.min(1, this.#made / documents) * spanMs : dice.below(spanMs);
    let timeMs = Math.floor(middleMs - spanMs / 2 + offset) + dice.below(1_000);
    if (dice.chance(0.3)) timeMs -= timeMs % (15 * MINUTE_MS);
    return dice.chance(0.3) ? timeMs : new Date(timeMs).toISOString();
  }

  #text(): string {
    const dice = this.#dice;
    const words = dice.times(1 + dice.below(8), () => {
      const word = WORDS[Math.min(dice.below(WORDS.length), dice.below(WORDS.length))]!;
      return dice.chance(0.2) ? word.toUpperCase() : word;
    });
    return words.join(dice.pick([" ", " ", ", ", ". "]));
  }
}
