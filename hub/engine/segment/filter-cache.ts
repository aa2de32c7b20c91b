/**
 * Sets of documents that conditions gave, by segment and condition: those requested again, used last. One for all
 * segments of a thread. A set doesn't change, since a segment doesn't; deleted documents are in it.
 */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { cacheLimit } from "#hub/engine/files/cache-memory.ts";

/** Conditions of a segment that are remembered as requested once. */
const MAX_SEEN = 256;

/** Weight of a set of no documents. */
const EMPTY_BYTES = 64;

interface Entry {
  readonly owner: object;
  readonly key: string;
  readonly set: Bitset | null;
}

/** What is known of a segment. */
interface Owned {
  readonly sets: Map<string, Entry>;
  /** Conditions that were requested once. */
  readonly seen: Set<string>;
}

interface FilterCacheStats {
  readonly bytes: number;
  readonly sets: number;
  readonly hits: number;
  readonly misses: number;
}

/** See the file's comment. */
export class FilterCache {
  readonly #limitBytes: number;
  readonly #owners = new Map<object, Owned>();
  /** In the order of their use, the oldest first. */
  readonly #entries = new Set<Entry>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /**
   * Returns the set of `key`; `find` gives it where it isn't here. It is kept from the second time on, unless it is
   * undefined: no answer is none.
   */
  get<T extends Bitset | null | undefined>(owner: object, key: string, find: () => T): T | Bitset | null {
    let own = this.#owners.get(owner);
    if (own === undefined) this.#owners.set(owner, (own = { sets: new Map(), seen: new Set() }));
    const known = own.sets.get(key);
    if (known !== undefined) {
      this.#hits++;
      this.#entries.delete(known);
      this.#entries.add(known);
      return known.set;
    }
    this.#misses++;
    const set = find();
    if (set === undefined) return set;
    if (own.seen.delete(key)) this.#add(own, { owner, key, set });
    else this.#note(own, key);
    return set;
  }

  /** Releases all sets of an owner. */
  drop(owner: object): void {
    for (const entry of this.#owners.get(owner)?.sets.values() ?? []) this.#forget(entry);
    this.#owners.delete(owner);
  }

  /** Releases everything. */
  clear(): void {
    for (const owner of this.#owners.keys()) this.drop(owner);
  }

  stats(): FilterCacheStats {
    return { bytes: this.#bytes, sets: this.#entries.size, hits: this.#hits, misses: this.#misses };
  }

  #note({ seen }: Owned, key: string): void {
    seen.add(key);
    const [oldest] = seen;
    if (seen.size > MAX_SEEN) seen.delete(oldest!);
  }

  #add(own: Owned, entry: Entry): void {
    if (sizeOf(entry) > this.#limitBytes / 2) return;
    own.sets.set(entry.key, entry);
    this.#entries.add(entry);
    this.#bytes += sizeOf(entry);
    for (const oldest of this.#entries) {
      if (this.#bytes <= this.#limitBytes) break;
      this.#owners.get(oldest.owner)?.sets.delete(oldest.key);
      this.#forget(oldest);
    }
  }

  #forget(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#bytes -= sizeOf(entry);
  }
}

function sizeOf({ set }: Entry): number {
  return EMPTY_BYTES + (set?.words.byteLength ?? 0);
}

let ofThread: FilterCache | undefined;

/** Returns the cache of this thread. */
export function filterCache(): FilterCache {
  return (ofThread ??= new FilterCache(cacheLimit("filters")));
}
