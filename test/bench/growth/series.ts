/** Values that were measured at several sizes, and how fast they grow: the slope of their logarithms. */

import type { Result, Target } from "../benchmark.ts";

/** Twice as much may cost twice as much; the rest is for what else runs on the machine. */
export const LINEAR: Target = { atMost: 1.1 };
/** Nearly the same whatever the size is. */
export const LEVEL: Target = { atMost: 0.5 };

/** One measured value. */
export interface Sample {
  /** "disk". */
  readonly measure: string;
  readonly unit: string;
  readonly value: number;
  /** What the exponent may be; undefined: nothing is promised. */
  readonly growth?: Target;
}

interface Measure {
  readonly unit: string;
  readonly growth: Target | undefined;
  readonly points: (readonly [size: number, value: number])[];
}

/** The samples of a dimension, such as documents or agents. */
export class Series {
  readonly #dimension: string;
  readonly #measures = new Map<string, Measure>();

  constructor(dimension: string) {
    this.#dimension = dimension;
  }

  add(size: number, samples: readonly Sample[]): void {
    for (const { measure, unit, value, growth } of samples) {
      const known = this.#measures.get(measure) ?? { unit, growth, points: [] };
      known.points.push([size, value]);
      this.#measures.set(measure, known);
    }
  }

  /** For each measure its value at each size, then its exponent where it has two sizes at least. */
  results(): Result[] {
    const results: Result[] = [];
    for (const [measure, { unit, growth, points }] of this.#measures) {
      for (const [size, value] of points)
        results.push({
          case: `${measure}, ${size.toLocaleString("en")} ${this.#dimension}`,
          value,
          unit,
          reference: null,
        });
      if (points.length < 2) continue;
      results.push({
        case: `${measure} by ${this.#dimension}`,
        value: exponentOf(points),
        unit: "exponent",
        reference: null,
        ...(growth !== undefined && { target: growth }),
      });
    }
    return results;
  }

  /** A row for each measure as Markdown: its values by size and its exponent. */
  table(): string {
    const sizes = [
      ...new Set([...this.#measures.values()].flatMap(({ points }) => points.map(([size]) => size))),
    ];
    const rows = [
      [`by ${this.#dimension}`, ...sizes.map((size) => size.toLocaleString("en")), "exponent"],
      ["---", ...sizes.map(() => "---"), "---"],
    ];
    for (const [measure, { unit, points }] of this.#measures) {
      const values = sizes.map((size) => points.find(([at]) => at === size)?.[1]);
      const exponent = points.length < 2 ? "" : exponentOf(points).toFixed(2);
      rows.push([`${measure}, ${unit}`, ...values.map(printed), exponent]);
    }
    return rows.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
  }
}

/**
 * Returns the slope of the line through the logarithms of sizes and values by least squares: 1 where values grow as sizes
 * do, 0 where they stay. Values below a hundredth count as a hundredth: they are zero as far as they can be measured.
 */
export function exponentOf(points: readonly (readonly [size: number, value: number])[]): number {
  const logs = points.map(([size, value]) => [Math.log(size), Math.log(Math.max(value, 0.01))] as const);
  const mean = (at: 0 | 1): number => logs.reduce((sum, log) => sum + log[at], 0) / logs.length;
  const [meanSize, meanValue] = [mean(0), mean(1)];
  let [both, squares] = [0, 0];
  for (const [size, value] of logs) {
    both += (size - meanSize) * (value - meanValue);
    squares += (size - meanSize) ** 2;
  }
  return both / squares;
}

/** Returns at most `count` sizes up to `largest`, each `factor` times the one before. */
export function sizesUpTo(largest: number, count: number, factor: number): number[] {
  const sizes = Array.from({ length: count }, (_, at) => Math.round(largest / factor ** (count - 1 - at)));
  return [...new Set(sizes.map((size) => Math.max(1, size)))];
}

function printed(value: number | undefined): string {
  if (value === undefined) return "";
  return value.toLocaleString("en", { maximumFractionDigits: value < 1 ? 3 : value < 100 ? 1 : 0 });
}
