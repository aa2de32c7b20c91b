/** The plugins of one kind, found by name and loaded only if a pipeline names them: some need large libraries. */

import { nearestName } from "#proto/kit/nearest.ts";
import { REFUSED_PLUGINS } from "./refused-plugins.ts";

export interface Named {
  readonly name: string;
}

/** A list of plugins, each name once. */
export class PluginSet<T extends Named> {
  /** "filter", "output", "input" or "codec". */
  readonly kind: string;
  readonly #loaders: ReadonlyMap<string, () => Promise<T>>;
  readonly #loaded = new Map<string, T>();

  /** `loaders` by the plugins' names. */
  constructor(kind: string, loaders: Readonly<Record<string, () => Promise<T>>>) {
    this.kind = kind;
    this.#loaders = new Map(Object.entries(loaders));
  }

  /** Loads the plugins of these names, all without them; names that no plugin has are passed over. */
  async load(names: Iterable<string> = this.#loaders.keys()): Promise<void> {
    await Promise.all([...new Set(names)].map((name) => this.#load(name)));
  }

  /** Returns a plugin; undefined: there is none. It must have been loaded. */
  get(name: string): T | undefined {
    const plugin = this.#loaded.get(name);
    if (plugin === undefined && this.#loaders.has(name)) {
      throw new Error(`the ${this.kind} ${name} was asked for before it was loaded`);
    }
    return plugin;
  }

  /** Those that are loaded, in the order of their names. */
  get all(): readonly T[] {
    return [...this.#loaded.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Returns what to write instead of an unknown name. */
  hint(name: string): string {
    const refused = REFUSED_PLUGINS[this.kind] ?? {};
    if (Object.hasOwn(refused, name)) return refused[name]!;
    const nearest = nearestName(name, this.#loaders.keys());
    if (nearest !== undefined) return `did you mean "${nearest}"?`;
    return `there are: ${[...this.#loaders.keys()].sort((a, b) => (a < b ? -1 : 1)).join(", ")}`;
  }

  async #load(name: string): Promise<void> {
    const load = this.#loaders.get(name);
    if (load === undefined || this.#loaded.has(name)) return;
    const plugin = await load();
    if (plugin.name !== name) throw new Error(`the ${this.kind} ${plugin.name} is listed as ${name}`);
    this.#loaded.set(name, plugin);
  }
}
