/** Whole numbers of a range, `<1-31>`, as a part of a regular expression. */

import type { Node } from "./regexp-tree.ts";

const ZERO = 48;
const ANY_DIGIT = digits(0, 9);

/**
 * Returns what matches the numbers from `least` to `most`, which are digits. Of the same length: with as many digits; else with
 * any zeros before them.
 */
export function decimalInterval(least: string, most: string): Node {
  const [low, high] = Number(least) <= Number(most) ? [least, most] : [most, least];
  if (low.length === high.length) return between(low, high);
  const parts: Node[] = [];
  const [first, last] = [String(Number(low)), String(Number(high))];
  for (let length = first.length; length <= last.length; length++) {
    const from = length === first.length ? first : `1${"0".repeat(length - 1)}`;
    const to = length === last.length ? last : "9".repeat(length);
    parts.push(between(from, to));
  }
  const zeros: Node = { kind: "repeat", part: digits(0, 0), min: 0, max: Number.POSITIVE_INFINITY };
  return { kind: "sequence", parts: [zeros, { kind: "choice", parts }] };
}

/** Numbers between two of the same length, in their order. */
function between(from: string, to: string): Node {
  if (from === "") return { kind: "empty" };
  const [low, high] = [Number(from[0]), Number(to[0])];
  const [rest, last] = [from.slice(1), to.slice(1)];
  if (low === high) return sequence(digits(low, low), between(rest, last));
  const parts = [
    sequence(digits(low, low), between(rest, "9".repeat(rest.length))),
    sequence(digits(high, high), between("0".repeat(last.length), last)),
  ];
  if (high - low > 1) parts.push(sequence(digits(low + 1, high - 1), ...rest.split("").map(() => ANY_DIGIT)));
  return { kind: "choice", parts };
}

function digits(from: number, to: number): Node {
  return { kind: "set", ranges: [[ZERO + from, ZERO + to]], negated: false };
}

function sequence(...parts: Node[]): Node {
  return { kind: "sequence", parts };
}
