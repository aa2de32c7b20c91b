/** Loads the cursors of partitions from the bucket, and fences other hubs that may still store them. */

import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { START } from "#proto/position.ts";
import { type Cursor, CursorStore, cursorKey, decodeCursor } from "./cursor.ts";
import type { DocLosses } from "./ports.ts";

export interface CursorLoading {
  readonly bucket: StateBucket;
  /** Id of this hub. */
  readonly hub: string;
  /** Random name of this process. */
  readonly owner: string;
  readonly losses: DocLosses;
}

export type Covered = Pick<Cursor, "rawPosition" | "docPosition" | "sources">;

/** What a cursor covers of a partition that is processed from the oldest message of RAW. */
export const NOTHING: Covered = { rawPosition: START, docPosition: START, sources: [] };

export interface LoadedCursor {
  readonly partition: number;
  readonly cursor: Covered;
  readonly store: CursorStore;
}

/**
 * Returns the cursors that are stored of `partitions`. Those that were compared with an incarnation of DOC before
 * `docIncarnation`, or that another hub stored, are compared and stored in this hub's name. Throws data_corrupt, unavailable.
 */
export async function loadCursors(
  options: CursorLoading,
  partitions: ReadonlySet<number>,
  docIncarnation: number,
): Promise<LoadedCursor[]> {
  const keys = (await options.bucket.keys("cursor.")).map((key) => Number(key.slice("cursor.".length)));
  const known = keys.filter((partition) => partitions.has(partition));
  const loaded = await Promise.all(known.map((partition) => loadCursor(options, partition, docIncarnation)));
  return loaded.filter((each) => each !== undefined);
}

async function loadCursor(
  { bucket, owner, hub, losses }: CursorLoading,
  partition: number,
  docIncarnation: number,
): Promise<LoadedCursor | undefined> {
  const key = cursorKey(partition);
  const entry = await bucket.get(key);
  if (entry === null) return undefined;
  let cursor = decodeCursor(key, entry.value);
  const store = new CursorStore(bucket, partition, owner, entry, cursor.epoch, hub);
  // An earlier process of this hub is dead. Another hub may only have been paused: from here on it can't store.
  const isOthers = cursor.hub !== undefined && cursor.hub !== hub;
  if (isOthers || cursor.docIncarnation < docIncarnation)
    cursor = await store.claim(cursor, (found) => compared(found, losses, docIncarnation));
  return { partition, cursor, store };
}

/** Returns the cursor as it is after the losses since it was compared: reset where documents of it are gone. */
function compared(cursor: Cursor, losses: DocLosses, incarnation: number): Cursor {
  const docIncarnation = Math.max(cursor.docIncarnation, incarnation);
  return { ...cursor, ...(!losses.survives(cursor) && NOTHING), docIncarnation };
}
