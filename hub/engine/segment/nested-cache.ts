/** Nested objects of the segments of a thread as segments of their own, those used last; evicted ones are made again. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";

/** Bytes of all blocks. */
const LIMIT_BYTES = 128 * 1024 * 1024;

/** Documents of which nothing could be computed. */
export interface FailedDocuments {
  readonly docs: Bitset;
  /** What the first of them threw. */
  readonly error: unknown;
}

/** The nested objects of one path in one segment, in the order of their parents. */
export interface NestedBlock {
  /** One document per object; null where there is none. */
  readonly objects: SegmentReader | null;
  /** Objects of parent p are [starts[p], starts[p + 1]). */
  readonly starts: Int32Array;
  /** Parent of each object. */
  readonly parents: Int32Array;
  readonly sizeBytes: number;
  /** Of computed objects. */
  readonly failed?: FailedDocuments | undefined;
  /** Lets go of what caches hold of the objects. Searches that are under way may go on reading them. */
  release(): void;
}

interface Entry {
  readonly owner: object;
  readonly path: string;
  readonly block: NestedBlock;
}

/** See the file's comment. */
export class NestedCache {
  readonly #limitBytes: number;
  readonly #owners = new Map<object, Map<string, Entry>>();
  /** In the order of their use, the oldest first. */
  readonly #entries = new Set<Entry>();
  #bytes = 0;

  constructor(limitBytes = LIMIT_BYTES) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes of all blocks. */
  get sizeBytes(): number {
    return this.#bytes;
  }

  get(owner: object, path: string): NestedBlock | undefined {
    const entry = this.#owners.get(owner)?.get(path);
    if (entry === undefined) return undefined;
    this.#entries.delete(entry);
    this.#entries.add(entry);
    return entry.block;
  }

  /** Keeps a block that isn't here yet. A block larger than the limit is kept until the next one comes. */
  put(owner: object, path: string, block: NestedBlock): void {
    const entry = { owner, path, block };
    let own = this.#owners.get(owner);
    if (own === undefined) this.#owners.set(owner, (own = new Map()));
    own.set(path, entry);
    this.#entries.add(entry);
    this.#bytes += block.sizeBytes;
    for (const oldest of this.#entries) {
      if (this.#bytes <= this.#limitBytes || oldest === entry) break;
      this.#forget(oldest);
    }
  }

  /** Lets go of all blocks of a segment. */
  drop(owner: object): void {
    for (const entry of this.#owners.get(owner)?.values() ?? []) this.#forget(entry);
  }

  #forget(entry: Entry): void {
    if (!this.#entries.delete(entry)) return;
    this.#bytes -= entry.block.sizeBytes;
    const own = this.#owners.get(entry.owner);
    own?.delete(entry.path);
    if (own?.size === 0) this.#owners.delete(entry.owner);
    entry.block.release();
  }
}

let ofThread: NestedCache | undefined;

/** Returns the cache of this thread. */
export function nestedCache(): NestedCache {
  return (ofThread ??= new NestedCache());
}
