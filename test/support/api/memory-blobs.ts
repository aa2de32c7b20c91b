/** The blobs of a snapshot repository in memory, and descriptions of snapshots for them. */

import type { RepositoryBlobs } from "#hub/api/ports/repositories.ts";
import type { SnapshotRecord } from "#hub/api/routes/snapshots/index-snapshots.ts";
import { AppError } from "#proto/kit/errors.ts";

export class MemoryBlobs implements RepositoryBlobs {
  readonly stored = new Map<string, Uint8Array>();

  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.stored.set(key, bytes);
  }

  async get(key: string): Promise<Uint8Array> {
    const found = this.stored.get(key);
    if (found === undefined) throw new AppError("not_found", `${key} isn't there`);
    return found;
  }

  async list(prefix: string): Promise<string[]> {
    return [...this.stored.keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  async remove(key: string): Promise<void> {
    this.stored.delete(key);
  }
}

/** Returns the description of a whole snapshot of an index "a" of one document. */
export function recordOf(snapshot: string, uuid: string, pages: readonly string[]): SnapshotRecord {
  const index = {
    name: "a",
    shards: 1,
    replicas: 0,
    settings: {},
    mapping: {},
    aliases: {},
    docs: 1,
    bytes: 1,
  };
  return {
    format: 1,
    snapshot,
    uuid,
    state: "SUCCESS",
    indices: [{ ...index, pages }],
    includeGlobalState: false,
    version: "6.5.4",
    startMs: 1,
    endMs: 2,
  };
}
