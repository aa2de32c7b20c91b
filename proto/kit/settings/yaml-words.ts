/** Words that YAML 1.1 reads as booleans (yaml.org/type/bool.html) and YAML 1.2 as text: existing settings files hold them. */

import type { TSchema } from "typebox";
import { isObject } from "#proto/kit/json.ts";

const WORDS: Readonly<Record<string, boolean>> = { yes: true, on: true, no: false, off: false };

/** The parts of a schema that lead to booleans. */
interface Walked {
  readonly type?: string;
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
}

/** Returns `value` with the words in place of booleans replaced, where `schema` has booleans. `value` itself isn't changed. */
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
