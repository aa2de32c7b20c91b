/**
 * Cached parts of segments' files; beyond the limit, parts that weren't used since the last check are evicted (clock
 * algorithm). One cache for all segments of a thread. Bytes that are still referenced stay valid until they are
 * garbage-collected.
 */

import { cacheLimit } from "./cache-memory.ts";

/** A part above this share of the limit isn't kept: it would push out everything else. */
const LARGEST_SHARE = 1 / 2;

/** What the bytes belong to: a file that is open. */
type ExtentOwner = object;

interface Entry {
  readonly owner: ExtentOwner;
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** Since it came or was passed over. Noting it must be cheap: a merge does it for each term. */
  isUsed: boolean;
}

interface ExtentCacheStats {
  readonly bytes: number;
  readonly limitBytes: number;
  readonly hits: number;
  readonly misses: number;
  readonly evictions: number;
}

/** See the file's comment. */
export class ExtentCache {
  readonly #limitBytes: number;
  /** By offset, of each owner. */
  readonly #byOwner = new Map<ExtentOwner, Map<number, Entry>>();
  /** In the order in which they will be looked at. */
  readonly #entries = new Set<Entry>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Returns the bytes of `owner` at `offset`; `read` gives them where they aren't here. Not to be changed. */
  get(owner: ExtentOwner, offset: number, length: number, read: () => Uint8Array): Uint8Array {
    const known = this.#byOwner.get(owner)?.get(offset);
    if (known !== undefined && known.bytes.length === length) {
      this.#hits++;
      known.isUsed = true;
      return known.bytes;
    }
    this.#misses++;
    const bytes = read();
    if (bytes.length === length && length <= this.#limitBytes * LARGEST_SHARE)
      this.#add({ owner, offset, bytes, isUsed: false });
    return bytes;
  }

  /** Releases everything of an owner. */
  drop(owner: ExtentOwner): void {
    for (const entry of this.#byOwner.get(owner)?.values() ?? []) this.#forget(entry);
    this.#byOwner.delete(owner);
  }

  stats(): ExtentCacheStats {
    return {
      bytes: this.#bytes,
      limitBytes: this.#limitBytes,
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
    };
  }

  #add(entry: Entry): void {
    let own = this.#byOwner.get(entry.owner);
    if (own === undefined) this.#byOwner.set(entry.owner, (own = new Map()));
    const before = own.get(entry.offset);
    if (before !== undefined) this.#forget(before);
    own.set(entry.offset, entry);
    this.#entries.add(entry);
    this.#bytes += entry.bytes.length;
    for (const oldest of this.#entries) {
      if (this.#bytes <= this.#limitBytes) break;
      if (oldest.isUsed) {
        this.#passOver(oldest);
        continue;
      }
      this.#byOwner.get(oldest.owner)?.delete(oldest.offset);
      this.#forget(oldest);
      this.#evictions++;
    }
  }

  #passOver(entry: Entry): void {
    entry.isUsed = false;
    this.#entries.delete(entry);
    this.#entries.add(entry);
  }

  #forget(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#bytes -= entry.bytes.length;
  }
}

let ofThread: ExtentCache | undefined;

/** Returns the cache of this thread. */
export function extentCache(): ExtentCache {
  return (ofThread ??= new ExtentCache(cacheLimit("files")));
}
