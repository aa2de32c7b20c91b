/** Which operators of Lucene's regular expressions beyond the usual ones are read; without them their signs are characters. */

import { AppError } from "#proto/kit/errors.ts";

/** Values of `flags` of a query, with their bits in `flags_value`. */
export const REGEXP_FLAGS = {
  /** `a&b`: what both match. */
  INTERSECTION: 1,
  /** `~a`: what the following part doesn't match. */
  COMPLEMENT: 2,
  /** `#`: nothing. */
  EMPTY: 4,
  /** `@`: anything. */
  ANYSTRING: 8,
  /** `<automaton>`: there are no named ones. */
  AUTOMATON: 16,
  /** `<1-31>`: numbers of a range. */
  INTERVAL: 32,
  NONE: 0,
  ALL: 0xffff,
} as const;

/** Reads names divided by `|`; no names are all. Throws request_invalid. */
export function parseRegexpFlags(text: string): number {
  if (text === "") return REGEXP_FLAGS.ALL;
  let bits = 0;
  for (const part of text.split("|").filter((each) => each !== "")) {
    const name = part.toUpperCase();
    if (!Object.hasOwn(REGEXP_FLAGS, name))
      throw new AppError("request_invalid", `Unknown regexp flag [${part}]`);
    bits |= REGEXP_FLAGS[name as keyof typeof REGEXP_FLAGS];
  }
  return bits;
}
