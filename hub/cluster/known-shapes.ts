/**
 * Remembers which paths documents of an index had that needed no new field, so that most documents are checked by
 * one parse and a walk instead of the mapping's full inspection.
 */

import type { Mapping } from "#hub/engine/mapping/mapping.ts";

/** What is below a path: further members, or a value. */
interface Shape {
  readonly members: Map<string, Shape>;
  /** A value that is no object was seen. */
  leaf: boolean;
}

/** Paths remembered of one mapping; beyond it begins anew. */
const PATH_LIMIT = 20_000;

export class KnownShapes {
  #mapping: Mapping | undefined;
  #root: Shape = newShape();
  #paths = 0;

  /** Returns the properties that `mapping` lacks for a document, or null. Throws what Mapping.dynamicUpdate throws. */
  missing(mapping: Mapping, source: Uint8Array, lenient: boolean): Record<string, unknown> | null {
    if (mapping !== this.#mapping || this.#paths > PATH_LIMIT) this.#reset(mapping);
    const document = parse(source);
    if (document !== undefined && isKnown(this.#root, document)) return null;
    const fields = mapping.dynamicUpdate(source, lenient);
    if (fields === null && document !== undefined) this.#learn(this.#root, document);
    return fields;
  }

  #reset(mapping: Mapping): void {
    this.#mapping = mapping;
    this.#root = newShape();
    this.#paths = 0;
  }

  #learn(shape: Shape, value: unknown): void {
    if (Array.isArray(value)) {
      for (const item of value) this.#learn(shape, item);
    } else if (value !== null && typeof value === "object") {
      for (const [key, item] of Object.entries(value)) {
        let member = shape.members.get(key);
        if (member === undefined) {
          member = newShape();
          shape.members.set(key, member);
          this.#paths++;
        }
        this.#learn(member, item);
      }
    } else if (value !== null) {
      shape.leaf = true;
    }
  }
}

function isKnown(shape: Shape, value: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== "object") return shape.leaf;
  if (Array.isArray(value)) return value.every((item) => isKnown(shape, item));
  for (const key in value) {
    const member = shape.members.get(key);
    if (member === undefined || !isKnown(member, (value as Record<string, unknown>)[key])) return false;
  }
  return true;
}

/** Returns the object of `source`; undefined where it is none that plain parsing tells all about. */
function parse(source: Uint8Array): object | undefined {
  try {
    const value: unknown = JSON.parse(
      Buffer.from(source.buffer, source.byteOffset, source.length).toString(),
    );
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function newShape(): Shape {
  return { members: new Map(), leaf: false };
}
