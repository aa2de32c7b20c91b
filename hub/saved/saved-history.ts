/** Former versions of saved objects, under `history/<type>/<id>/<revision>` in the bucket of the objects. */

import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";

/** Versions kept of an object; the oldest go first. */
const MAX_VERSIONS = 20;

export class SavedHistory {
  readonly #bucket: StateBucket;

  constructor(bucket: StateBucket) {
    this.#bucket = bucket;
  }

  /** Keeps a version that is about to be replaced. */
  async keep({ key, value, revision }: StateEntry): Promise<void> {
    await this.#bucket.put(keyOf(key, revision), value);
    const known = await this.revisions(key);
    await Promise.all(known.slice(MAX_VERSIONS).map((old) => this.#bucket.delete(keyOf(key, old))));
  }

  /** Returns the versions of an object under its key, the newest first. */
  async list(key: string): Promise<StateEntry[]> {
    const revisions = (await this.revisions(key)).slice(0, MAX_VERSIONS);
    const entries = await Promise.all(revisions.map((revision) => this.get(key, revision)));
    return entries.filter((entry) => entry !== null);
  }

  /** Returns one version, or null. */
  async get(key: string, revision: number): Promise<StateEntry | null> {
    const entry = await this.#bucket.get(keyOf(key, revision));
    return entry === null ? null : { key, value: entry.value, revision };
  }

  /** Forgets versions of an object. */
  async forget(key: string, revisions: readonly number[]): Promise<void> {
    await Promise.all(revisions.map((revision) => this.#bucket.delete(keyOf(key, revision))));
  }

  /** Returns the revisions of all versions that are kept under an object's key, the newest first. */
  async revisions(key: string): Promise<number[]> {
    const prefix = `history/${key}/`;
    const keys = await this.#bucket.keys(prefix);
    return keys.map((one) => Number(one.slice(prefix.length))).toSorted((a, b) => b - a);
  }
}

function keyOf(key: string, revision: number): string {
  return `history/${key}/${revision}`;
}
