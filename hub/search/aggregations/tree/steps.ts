/** Work in steps: the thread serves other work between two steps. */

import type { SearchControl } from "#hub/search/query/search-control.ts";

/** Pauses may be made where it yields; none of its steps takes longer than a millisecond or so. */
export type Steps<T> = Generator<void, T>;

/** Runs steps to their end, with pauses. Throws cancelled. */
export async function withPauses<T>(steps: Steps<T>, control: SearchControl): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (control.isDue) await control.pause();
  }
}

/** Runs steps to their end. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
