/** Functions over the lines of a range: one number for each step, in time linear in samples and steps. */

import type { Labels, Series } from "./metric-math.ts";
import type { Pace } from "./pace.ts";

/** Steps between two looks at the time. */
const STEPS_A_LOOK = 64;

/** Samples of one series: time in ms and what counts. */
export interface Samples {
  readonly labels: Labels;
  readonly times: number[];
  readonly values: number[];
}

/**
 * Returns the series of a range function over samples in any order: of each step those of (step - range, step]. Throws
 * what `pace` throws.
 */
export async function overRange(
  { labels, times, values }: Samples,
  name: string,
  rangeMs: number,
  steps: readonly number[],
  pace: Pace,
): Promise<Series> {
  const order = times.map((_, at) => at).sort((a, b) => times[a]! - times[b]!);
  const join = name === "min_over_time" ? Math.min : name === "max_over_time" ? Math.max : add;
  const window = new Window(
    order.map((at) => values[at]!),
    join,
  );
  const points: (number | undefined)[] = [];
  for (const [at, step] of steps.entries()) {
    if (at % STEPS_A_LOOK === 0 && pace.isDue) await pace.pause();
    while (window.end < order.length && times[order[window.end]!]! <= step) window.push();
    while (window.size > 0 && times[order[window.start]!]! <= step - rangeMs) window.shift();
    points.push(window.size === 0 ? undefined : result(window, name, rangeMs));
  }
  return { labels, points };
}

function add(a: number, b: number): number {
  return a + b;
}

function result({ total, size }: Window, name: string, rangeMs: number): number {
  if (name === "rate" || name === "bytes_rate") return (total * 1000) / rangeMs;
  return name === "avg_over_time" ? total / size : total;
}

/**
 * A window that moves over values and knows what joins them. Nothing is taken away from a sum, so that neither rounding nor
 * an infinite value outlasts its place in the window.
 */
class Window {
  start = 0;
  end = 0;
  readonly #values: readonly number[];
  readonly #join: (a: number, b: number) => number;
  /** At each place before `#middle`: the values from there to `#middle`, joined. */
  readonly #front: Float64Array;
  #middle = 0;
  /** The values from `#middle` to the end, joined. */
  #back: number | undefined;

  constructor(values: readonly number[], join: (a: number, b: number) => number) {
    this.#values = values;
    this.#join = join;
    this.#front = new Float64Array(values.length);
  }

  get size(): number {
    return this.end - this.start;
  }

  /** Of a window that isn't empty. */
  get total(): number {
    if (this.start === this.#middle) return this.#back!;
    const front = this.#front[this.start]!;
    return this.#back === undefined ? front : this.#join(front, this.#back);
  }

  /** Takes the next value in. */
  push(): void {
    const value = this.#values[this.end++]!;
    this.#back = this.#back === undefined ? value : this.#join(this.#back, value);
  }

  /** Leaves the oldest value out. */
  shift(): void {
    if (this.start === this.#middle) this.#turn();
    this.start++;
  }

  #turn(): void {
    for (let at = this.end - 1; at >= this.start; at--) {
      const value = this.#values[at]!;
      this.#front[at] = at === this.end - 1 ? value : this.#join(value, this.#front[at + 1]!);
    }
    this.#middle = this.end;
    this.#back = undefined;
  }
}
