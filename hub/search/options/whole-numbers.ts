/** Whole numbers of 64 bits, many of which a double doesn't hold. */

import { shortest } from "./json.ts";

/** Smallest and largest number of a field of type long. */
export const LONG_MIN = -(2n ** 63n);
export const LONG_MAX = 2n ** 63n - 1n;

/** Digits that 64 bits hold, and those of sums of such numbers. Texts of any length would take seconds to convert. */
const WHOLE = /^[+-]?\d{1,30}$/;

/** Returns the whole number of a text, as bigint beyond 2^53; undefined if it is none, or has more than 30 digits. */
export function wholeNumber(text: string): number | bigint | undefined {
  return WHOLE.test(text) ? shortest(BigInt(text.replace(/^\+/, ""))) : undefined;
}
