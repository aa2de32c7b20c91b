/** JSON objects: the type that every part uses for them, and the test for it. */

/** A JSON object whose members aren't checked yet. */
export type JsonObject = Record<string, unknown>;

/** Returns true for an object that is neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
