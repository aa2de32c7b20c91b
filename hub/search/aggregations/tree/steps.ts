/** Work in steps: the thread serves other work between two steps. */

import type { SearchControl } from "#hub/search/query/search-control.ts";

/** Pauses may be made if it yields; none of its steps takes longer than a millisecond or so. */
export type Steps<T> = Generator<void, T>;

/**
 * Runs steps to their end, with pauses; a step that yields "waits" continues in another turn. Throws cancelled,
 * memory_limit; the steps are ended then, so that they give back what they hold.
 */
export async function withPauses<T>(
  steps: Steps<T> | Generator<undefined | "waits", T>,
  control: SearchControl,
): Promise<T> {
  try {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (value === "waits" || control.isDue) await control.pause();
    }
  } finally {
    steps.return(undefined as never);
  }
}

/** Like `withPauses`; returns undefined if the time of the request is over before, except of the last step. */
export async function untilTimeout<T>(
  steps: Generator<undefined | "waits", T>,
  control: SearchControl,
): Promise<T | undefined> {
  try {
    while (!control.timedOut) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (value === "waits" || control.isDue) await control.pause();
    }
    return undefined;
  } finally {
    steps.return(undefined as never);
  }
}

/** Runs steps to their end. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Returns whether a result has still to be made in steps. */
export function isSteps<T>(made: T | Steps<T>): made is Steps<T> {
  return typeof (made as Partial<Steps<T>> | null | undefined)?.next === "function";
}

/** Items that are sorted at a time: well below a millisecond, also if each is compared by several keys. */
const SORTED_AT_ONCE = 1024;

/** Returns the items in their order; equal ones stay as they were. */
export function* sortedSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  if (items.length <= SORTED_AT_ONCE) return [...items].sort(compare);
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += SORTED_AT_ONCE) {
    runs.push(items.slice(from, from + SORTED_AT_ONCE).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      longer.push(at + 1 < runs.length ? yield* mergedRuns(runs[at]!, runs[at + 1]!, compare) : runs[at]!);
    runs = longer;
  }
  return runs[0] ?? [];
}

function* mergedRuns<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<T[]> {
  const merged: T[] = [];
  let [a, b] = [0, 0];
  while (a < first.length || b < second.length) {
    if (merged.length % SORTED_AT_ONCE === SORTED_AT_ONCE - 1) yield;
    const isFirst = b === second.length || (a < first.length && compare(first[a]!, second[b]!) <= 0);
    merged.push(isFirst ? first[a++]! : second[b++]!);
  }
  return merged;
}
