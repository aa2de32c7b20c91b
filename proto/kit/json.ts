/** JSON objects: the type that every part uses for them, and the test for it. */

/** A JSON object whose members aren't checked yet. */
export type JsonObject = Record<string, unknown>;

/** Returns true for an object that is neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns true if objects and arrays of a value nest deeper than `depth`: `JSON.stringify` and walks need stack for each. */
export function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  for (const inner of Object.values(value)) if (isDeeper(inner, depth - 1)) return true;
  return false;
}

/** Sets a member by its literal name: `__proto__`, which an assignment would take for the prototype, is a name like any other. */
export function setMember(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
