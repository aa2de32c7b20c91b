/** Reads the JSON of documents in ingest pipelines: numbers keep their kind, as processors and scripts tell 5.0 from 5. */

import { parseDocument } from "#hub/scripts/values/json.ts";
import { isDeeper, isObject, type JsonObject } from "#proto/kit/json.ts";

/** Objects and arrays in one another, as many as Jackson takes. */
const MAX_NESTING = 1_000;

/** Returns the value that a text holds; undefined if it isn't JSON, or nests so deep that those who walk it ran out of stack. */
export function parseDocumentJson(text: string): unknown {
  try {
    const value = parseDocument(text, "raw");
    return text.length > 2 * MAX_NESTING && isDeeper(value, MAX_NESTING) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Like `parseDocumentJson`; undefined also where the text holds no object. */
export function parseFields(text: string): JsonObject | undefined {
  const value = parseDocumentJson(text);
  return isObject(value) ? value : undefined;
}
