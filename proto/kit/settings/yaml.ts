/**
 * Settings files as YAML: positions in them for messages ("hub.yml:3:1"), and the words that YAML 1.1 reads as
 * booleans.
 */

import type { TSchema } from "typebox";
import { isMap, isPair, isScalar, isSeq, type Node } from "yaml";
import { isObject } from "#proto/kit/json.ts";

const WORDS: Readonly<Record<string, boolean>> = { yes: true, on: true, no: false, off: false };

/**
 * Returns the position of the part of a value that names and numbers lead to; of the nearest around it where it isn't
 * there.
 */
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

/** The parts of a schema that lead to booleans. */
interface Walked {
  readonly type?: string;
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
}

/**
 * Words that YAML 1.1 reads as booleans (yaml.org/type/bool.html) and YAML 1.2 as text: existing settings files hold them.
 * Returns `value` with the words in place of booleans replaced, where `schema` has booleans. `value` itself isn't changed.
 */
export function readYamlWords(schema: TSchema, value: unknown): unknown {
  const { type, items, properties = {} } = schema as Walked;
  if (type === "boolean" && typeof value === "string") return WORDS[value.toLowerCase()] ?? value;
  if (type === "array" && items !== undefined && Array.isArray(value))
    return value.map((item) => readYamlWords(items, item));
  if (type !== "object" || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const property = properties[name];
      return [name, property === undefined ? member : readYamlWords(property, member)];
    }),
  );
}
