/** The order in which runtime fields are computed: fields that a script reads come first. */

import type { Script } from "#hub/scripts/script.ts";
import { AppError } from "#proto/kit/errors.ts";

/** A field by what it is computed from. */
interface Scripted {
  readonly name: string;
  /** Undefined: it reads no other field. */
  readonly script: Script | undefined;
}

/** A field's name in a script: doc['name'], doc.get("name"), doc.containsKey('name'). */
const QUOTED = /\bdoc\s*(?:\[|\.\s*(?:get|containsKey)\s*\()\s*(?:'([^']*)'|"([^"]*)")/g;
/** doc.name */
const PLAIN = /\bdoc\s*\.\s*([A-Za-z_]\w*)/g;
/** doc[params.name]: the field is known only when the script runs. */
const BY_PARAMETER = /\bdoc\s*(?:\[|\.\s*get\s*\()\s*params\b/;

/**
 * Returns the fields, each after those that its script reads; else in their order. A field that reads its own name reads the
 * index's field. Throws request_invalid if fields read each other.
 */
export function inOrder<T extends Scripted>(fields: readonly T[]): T[] {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const ordered = new Set<T>();
  const add = (field: T, above: readonly string[]): void => {
    if (ordered.has(field)) return;
    const way = [...above, field.name];
    if (above.includes(field.name))
      throw new AppError(
        "request_invalid",
        `Cyclic dependency detected while resolving runtime fields: ${way.slice(way.indexOf(field.name)).join(" -> ")}`,
      );
    for (const name of namesIn(field)) {
      const read = name === field.name ? undefined : byName.get(name);
      if (read !== undefined) add(read, way);
    }
    ordered.add(field);
  };
  for (const field of fields) add(field, []);
  return [...ordered];
}

function namesIn({ script }: Scripted): Set<string> {
  if (script === undefined) return new Set();
  const { source } = script.compiled;
  const names = [...source.matchAll(QUOTED), ...source.matchAll(PLAIN)].map(
    ([, first, second]) => first ?? second!,
  );
  if (BY_PARAMETER.test(source))
    for (const value of Object.values(script.params)) if (typeof value === "string") names.push(value);
  return new Set(names);
}
