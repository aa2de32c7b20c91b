/** Uninverted text fields of the segments of a thread, those used last; what is evicted is made again when it is needed. */

import type { UninvertedColumn } from "./uninverted-column.ts";

/** Bytes of all columns. */
const LIMIT_BYTES = 128 * 1024 * 1024;

interface Entry {
  readonly owner: object;
  readonly field: string;
  readonly column: UninvertedColumn;
}

/** See the file's comment. */
export class FieldDataCache {
  readonly #limitBytes: number;
  readonly #owners = new Map<object, Map<string, Entry>>();
  /** In the order of their use, the oldest first. */
  readonly #entries = new Set<Entry>();
  #bytes = 0;

  constructor(limitBytes = LIMIT_BYTES) {
    this.#limitBytes = limitBytes;
  }

  /** Returns the column of a field of a segment; `make` makes it where it isn't here. */
  get(owner: object, field: string, make: () => UninvertedColumn): UninvertedColumn {
    let own = this.#owners.get(owner);
    let entry = own?.get(field);
    if (entry !== undefined) {
      this.#entries.delete(entry);
    } else {
      entry = { owner, field, column: make() };
      if (own === undefined) this.#owners.set(owner, (own = new Map()));
      own.set(field, entry);
      this.#bytes += entry.column.sizeBytes;
    }
    this.#entries.add(entry);
    this.#shrink(entry);
    return entry.column;
  }

  /** Lets go of all columns of a segment. */
  drop(owner: object): void {
    for (const entry of this.#owners.get(owner)?.values() ?? []) this.#forget(entry);
  }

  /** Bytes of each field of a segment that is here. */
  sizes(owner: object): ReadonlyMap<string, number> {
    const own = this.#owners.get(owner);
    return new Map([...(own ?? [])].map(([field, { column }]) => [field, column.sizeBytes]));
  }

  /** Bytes of all columns. */
  get sizeBytes(): number {
    return this.#bytes;
  }

  #shrink(kept: Entry): void {
    for (const oldest of this.#entries) {
      if (this.#bytes <= this.#limitBytes || oldest === kept) break;
      this.#forget(oldest);
    }
  }

  #forget(entry: Entry): void {
    if (!this.#entries.delete(entry)) return;
    this.#bytes -= entry.column.sizeBytes;
    const own = this.#owners.get(entry.owner);
    own?.delete(entry.field);
    if (own?.size === 0) this.#owners.delete(entry.owner);
  }
}

let ofThread: FieldDataCache | undefined;

/** Returns the cache of this thread. */
export function fieldDataCache(): FieldDataCache {
  return (ofThread ??= new FieldDataCache());
}
