/**
 * `flatten_graph`: flattens the paths of a synonym graph into one sequence of positions, since an index stores no token
 * lengths. As in Lucene's FlattenGraphFilter, each position moves to as many steps after the first as the longest path
 * to it has.
 */

import type { Token } from "#hub/engine/analysis/parts/token.ts";

/** Returns the tokens of a graph with positions at which the words of each way follow one another. */
export function flattenGraph(tokens: Token[]): Token[] {
  if (!tokens.some(({ positionLength = 1 }) => positionLength > 1)) return tokens;
  const moved = new Map<number, number>();
  const sorted = tokens.toSorted((a, b) => a.position - b.position);
  for (const { position, positionLength = 1 } of sorted) {
    if (!moved.has(position)) moved.set(position, behindGap(moved, position));
    const end = position + positionLength;
    moved.set(end, Math.max(moved.get(end) ?? 0, moved.get(position)! + 1));
  }
  return sorted
    .map((token) => {
      const { position: from, positionLength: length = 1, ...rest } = token;
      const position = moved.get(from)!;
      const positionLength = moved.get(from + length)! - position;
      return { ...rest, position, ...(positionLength > 1 ? { positionLength } : {}) };
    })
    .sort((a, b) => a.position - b.position);
}

/** Returns where a position goes that no token leads to: its distance from the one before stays. */
function behindGap(moved: ReadonlyMap<number, number>, position: number): number {
  let before = position - 1;
  while (before >= 0 && !moved.has(before)) before--;
  return before < 0 ? position : moved.get(before)! + position - before;
}
