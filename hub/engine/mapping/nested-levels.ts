/** Which nested object of a mapping a field belongs to: each nested object is a separate document below its parent. */

import type { ObjectNode } from "./node.ts";

/** The nested objects of a mapping. Paths are dotted; "" stands for the document itself. */
export class NestedLevels {
  /** Paths of the nested objects; one above another comes first. */
  readonly paths: readonly string[];
  readonly #nodes = new Map<string, ObjectNode>();
  /** Whether a field is visible, by level and field. */
  readonly #visible = new Map<string, Map<string, boolean>>();

  /** `objects`: by their paths, those above before those below. */
  constructor(objects: ReadonlyMap<string, ObjectNode>) {
    for (const [path, node] of objects) if (node.kind?.type === "nested") this.#nodes.set(path, node);
    this.paths = [...this.#nodes.keys()];
  }

  has(path: string): boolean {
    return this.#nodes.has(path);
  }

  /** Returns the nested objects that lead from `from` down to `path`, `path` last; undefined if it isn't below. */
  way(from: string, path: string): string[] | undefined {
    const way: string[] = [];
    for (let level = path; level !== from; level = this.above(level)) {
      if (level === "") return undefined;
      way.unshift(level);
    }
    return way;
  }

  /** Returns the innermost nested object that a path is below, "" for none. */
  above(path: string): string {
    for (let dot = path.lastIndexOf("."); dot > 0; dot = path.lastIndexOf(".", dot - 1)) {
      if (this.#nodes.has(path.slice(0, dot))) return path.slice(0, dot);
    }
    return "";
  }

  /** Returns whether documents of a level have a field as their own, or by include_in_parent or include_in_root. */
  isVisible(field: string, level: string): boolean {
    let known = this.#visible.get(level);
    if (known === undefined) this.#visible.set(level, (known = new Map<string, boolean>()));
    let visible = known.get(field);
    if (visible === undefined) known.set(field, (visible = this.#find(field, level)));
    return visible;
  }

  #find(field: string, level: string): boolean {
    for (let own = this.above(field); own !== level; own = this.above(own)) {
      if (own === "") return false;
      const { given } = this.#nodes.get(own)!.kind!;
      if (level === "" && isTrue(given["include_in_root"])) return true;
      if (!isTrue(given["include_in_parent"])) return false;
    }
    return true;
  }
}

function isTrue(value: unknown): boolean {
  return value === true || value === "true";
}
