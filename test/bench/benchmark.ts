/** The types of a benchmark and its results. */

import type { Workspace } from "#test/harness/workspace.ts";

/** One measured case. */
export interface Result {
  /** "access lines, parsed". */
  readonly case: string;
  readonly value: number;
  /** "lines per CPU-second". */
  readonly unit: string;
  /** What `reference` did with the same data in the same run; null where nothing compares. */
  readonly reference: { readonly name: string; readonly value: number } | null;
  /** What it has to be on an idle machine; undefined: nothing was promised. */
  readonly target?: Target;
  /** Why there is no value; undefined where there is one. */
  readonly failure?: string;
}

/** A part of a benchmark that can be measured by itself. */
export interface Case {
  readonly name: string;
  readonly measure: (context: BenchmarkContext) => Promise<readonly Result[]>;
}

/** A bound that belongs to what is measured. */
export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** Returns true where a value keeps its target. */
export function keeps(value: number, target: Target): boolean {
  return "atMost" in target ? value <= target.atMost : value >= target.atLeast;
}

/** What somebody asked for can't be done; the message says what to write. */
export class UsageError extends Error {}

export interface BenchmarkContext {
  /** Folder and ends of the run. */
  readonly workspace: Workspace;
  /** Multiplies the amount of data; 1 is what is published, less is a trial. */
  readonly scale: number;
  /** Documents instead of what the scale gives, where a benchmark has documents. */
  readonly docs: number | undefined;
  /** Folder in which data that takes long to make stays for the next run. */
  readonly keep: string | undefined;
  /** Only cases whose names hold it, where a benchmark can leave some out; empty: all. */
  readonly only: string;
  /** Other programs to measure beside, where a benchmark does so; empty: none. */
  readonly with: string;
  /** Tells the person who waits. */
  readonly progress: (text: string) => void;
}

/** One benchmark; its file's name is its name. */
export interface Benchmark {
  readonly name: string;
  /** One line for the list. */
  readonly about: string;
  run(context: BenchmarkContext): Promise<Result[]>;
}

/**
 * Measures the cases that are meant, one after the other. One that fails says so and keeps no other from its result.
 * Throws UsageError if none is meant.
 */
export async function measureCases(cases: readonly Case[], context: BenchmarkContext): Promise<Result[]> {
  const meant = cases.filter(({ name }) => name.includes(context.only));
  if (meant.length === 0)
    throw new UsageError(
      `no case is named ${context.only}; there are ${cases.map(({ name }) => name).join(", ")}`,
    );
  const results: Result[] = [];
  for (const { name, measure } of meant) {
    try {
      results.push(...(await measure(context)));
    } catch (error) {
      const failure = (error as Error).message;
      results.push({ case: name, value: Number.NaN, unit: "", reference: null, failure });
    }
  }
  return results;
}

/** Returns the value at the share `p` (0..1) of `values`, by nearest rank; NaN of none. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? Number.NaN;
}
