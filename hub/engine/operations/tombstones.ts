/** Versions of deleted documents, kept for a while so that a late write with an older version is recognised. */

/** How long after its deletion a version is remembered, in the log's time. As index.gc_deletes. */
const KEEP_MS = 60_000;

/** Versions remembered, at most; the oldest go first. */
const MAX_TOMBSTONES = 50_000;

interface Tombstone {
  readonly version: number;
  readonly seqNo: number;
  /** When it was deleted by the clock of the log, ms since 1970-01-01 UTC. */
  readonly timeMs: number;
}

/** What a manifest keeps of them. */
export type TombstonesState = readonly (readonly [id: string, tombstone: Tombstone])[];

/** Depends on the log only, never on this machine's clock, so that every replay comes to the same versions. */
export class Tombstones {
  readonly #byId: Map<string, Tombstone>;

  constructor(state: TombstonesState = []) {
    this.#byId = new Map(state);
  }

  get(id: string): Tombstone | undefined {
    return this.#byId.get(id);
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  /** Notes a deletion. */
  add(id: string, tombstone: Tombstone): void {
    this.#byId.delete(id);
    this.#byId.set(id, tombstone);
    for (const [oldId, old] of this.#byId) {
      if (old.timeMs + KEEP_MS >= tombstone.timeMs && this.#byId.size <= MAX_TOMBSTONES) break;
      this.#byId.delete(oldId);
    }
  }

  /** The document is back. */
  remove(id: string): void {
    if (this.#byId.size > 0) this.#byId.delete(id);
  }

  state(): TombstonesState {
    return [...this.#byId];
  }
}
