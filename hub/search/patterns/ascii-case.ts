/** The case of ASCII letters, the only ones whose case `case_insensitive` of queries ignores. */

import type { Node } from "./regexp-tree.ts";

const A = 65;
const Z = 90;
/** From a capital to its small letter. */
const TO_SMALL = 32;

/** Returns a text with small ASCII letters. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns the beginning of a text that is the same in any case. */
export function caselessStart(text: string): string {
  return /^[^A-Za-z]*/.exec(text)![0];
}

/** Returns an expression that matches what `node` matches, in any case. */
export function anyCase(node: Node): Node {
  switch (node.kind) {
    case "empty":
      return node;
    case "set":
      return { ...node, ranges: node.ranges.flatMap(inBothCases) };
    case "sequence":
    case "choice":
    case "intersection":
      return { ...node, parts: node.parts.map(anyCase) };
    case "complement":
    case "repeat":
      return { ...node, part: anyCase(node.part) };
  }
}

function inBothCases(range: readonly [from: number, to: number]): (readonly [number, number])[] {
  const [from, to] = range;
  const ranges: (readonly [number, number])[] = [range];
  const capitals = [Math.max(from, A), Math.min(to, Z)] as const;
  if (capitals[0] <= capitals[1]) ranges.push([capitals[0] + TO_SMALL, capitals[1] + TO_SMALL]);
  const small = [Math.max(from, A + TO_SMALL), Math.min(to, Z + TO_SMALL)] as const;
  if (small[0] <= small[1]) ranges.push([small[0] - TO_SMALL, small[1] - TO_SMALL]);
  return ranges;
}
