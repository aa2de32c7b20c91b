/** Positions in a settings file, for messages: "hub.yml:3:1". */

import { isMap, isPair, isScalar, isSeq, type Node } from "yaml";

/** Returns the place of the part of a value that names and numbers lead to; of the nearest around it where it isn't there. */
export type PlaceOf = (path: readonly string[]) => string;

/**
 * Returns how many characters are before the part of `node` that `path` leads to: before a key, or an item of a list.
 * `offset`: of `node` itself. A name may be dotted where the file has it nested.
 */
export function offsetOf(node: unknown, path: readonly string[], offset: number): number {
  const [name, ...rest] = path;
  if (name === undefined) return offset;
  if (isSeq(node)) {
    const item = node.items[Number(name)] as Node | undefined;
    return item === undefined ? offset : offsetOf(item, rest, item.range?.[0] ?? offset);
  }
  if (!isMap(node)) return offset;
  for (const pair of node.items) {
    if (!isPair(pair) || !isScalar(pair.key)) continue;
    const key = String(pair.key.value);
    const at = pair.key.range?.[0] ?? offset;
    if (key === name) return offsetOf(pair.value, rest, at);
    if (name.startsWith(`${key}.`)) return offsetOf(pair.value, [name.slice(key.length + 1), ...rest], at);
  }
  return offset;
}
