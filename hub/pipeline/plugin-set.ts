/** The plugins of one kind, found by name. */

import { nearestName } from "#proto/kit/nearest.ts";

export interface Named {
  readonly name: string;
}

/** A list of plugins, each name once. */
export class PluginSet<T extends Named> {
  /** "filter", "output", "input" or "codec". */
  readonly kind: string;
  readonly #byName = new Map<string, T>();

  /** Throws where two plugins have the same name. */
  constructor(kind: string, plugins: readonly T[]) {
    this.kind = kind;
    for (const plugin of plugins) {
      if (this.#byName.has(plugin.name)) throw new Error(`two ${kind} plugins are named ${plugin.name}`);
      this.#byName.set(plugin.name, plugin);
    }
  }

  get(name: string): T | undefined {
    return this.#byName.get(name);
  }

  get all(): readonly T[] {
    return [...this.#byName.values()];
  }

  /** Returns what to write instead of an unknown name. */
  hint(name: string): string {
    const nearest = nearestName(name, this.#byName.keys());
    if (nearest !== undefined) return `did you mean "${nearest}"?`;
    return `there are: ${[...this.#byName.keys()].sort((a, b) => (a < b ? -1 : 1)).join(", ")}`;
  }
}
