/** Decides whether one run of a script takes about as long as reading its text: nothing in it can loop. */

import { isTooDeep } from "#hub/scripts/painless/painless.ts";
import type { Script } from "#hub/scripts/script.ts";

/** Parts of scripts that loop, or that make values which others read at length. */
const LENGTHY: ReadonlySet<unknown> = new Set([
  "while",
  "do",
  "for",
  "each",
  "lambda",
  "reference",
  "call",
  "new",
  "new-array",
  "list",
  "map",
  "regex",
  "try",
]);

/** Returns true if a script has no loops, functions and collections of its own. */
export function isQuick({ compiled }: Script): boolean {
  const { functions, statements } = compiled.syntax;
  try {
    return functions.length === 0 && isQuickPart(statements);
  } catch (error) {
    if (isTooDeep(error)) return false;
    throw error;
  }
}

function isQuickPart(part: unknown): boolean {
  if (typeof part !== "object" || part === null) return true;
  if ("kind" in part && LENGTHY.has(part.kind)) return false;
  return Object.values(part).every(isQuickPart);
}
