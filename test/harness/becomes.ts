/**
 * What a page shows follows what was done to it, some frames later. A value that is read once may be the one of before,
 * so tests of pages wait for the value that they expect.
 */

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { until } from "./until.ts";

/**
 * Resolves when `read` gives `expected`: an equal value, or a text that a regular expression matches. Throws the
 * difference to the last value at the deadline.
 */
export async function becomes<T>(read: () => Promise<T>, expected: T | RegExp): Promise<void> {
  let last: T | undefined;
  const isExpected = (value: T): boolean =>
    expected instanceof RegExp ? expected.test(String(value)) : isDeepStrictEqual(value, expected);
  try {
    await until(`the value ${String(expected)}`, async () => {
      last = await read();
      return isExpected(last);
    });
  } catch (error) {
    if (last === undefined) throw error;
    if (expected instanceof RegExp) assert.match(String(last), expected);
    assert.deepEqual(last, expected);
  }
}

/** Resolves when `read` gives a value for which `isRight` holds. Throws `what` and the last value at the deadline. */
export async function becomesTrue<T>(
  what: string,
  read: () => Promise<T>,
  isRight: (value: T) => boolean,
): Promise<void> {
  let last: T | undefined;
  await until(what, async () => {
    last = await read();
    return isRight(last);
  }).catch((error: unknown) => {
    throw new Error(`${what}; the last value is ${JSON.stringify(last)}`, { cause: error });
  });
}
