/**
 * Floors: positions up to which RAW is processed for some partitions. A partition without new messages stores no cursor,
 * so that only a floor says where its next hub begins to read.
 *
 * | floor | holds for | written |
 * |---|---|---|
 * | of a hub | the partitions that the hub had when it stored it, or that it gave away then; the next one replaces it | every few seconds, when partitions are given away, and at the end |
 * | of the purge | all partitions | before messages are removed from RAW, and when a hub takes over their removal: an older version recorded nothing |
 *
 * When the partitions of a hub change, its next floor replaces the one that held for the partitions it gave away. These
 * may then have no hub's floor, but the floor of the purge holds for them as well: only processed messages are removed. A
 * reader whose next message was removed loads the floors again, as the removal may be newer than the floors it has.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import { PARTITIONS } from "#proto/subjects.ts";
import type { DocLosses } from "./ports.ts";

const PREFIX = "floor.";
/** No name of a hub in base64url is as short. */
const PURGE_KEY = `${PREFIX}purge`;

/** Attempts to store the floor of the purge while another hub stores it. */
const MAX_ATTEMPTS = 5;

/** What is stored of a floor. */
export interface StoredFloor {
  readonly rawPosition: Position;
  readonly docPosition: Position;
  /** See WrittenDocuments. */
  readonly docIncarnation: number;
  /** Partitions that it holds for, see printPartitions; absent: all. */
  readonly partitions?: string;
}

/** A floor as it is used. */
interface Floor {
  readonly after: Position;
  readonly partitions: ReadonlySet<number> | undefined;
}

/** The floors of all hubs and of the purge. */
export class Floors {
  #floors: readonly Floor[] = [];

  /** Takes what is stored now. Floors of which documents were lost aren't used. Throws data_corrupt. */
  async load(bucket: StateBucket, losses: DocLosses): Promise<void> {
    const floors: Floor[] = [];
    for (const key of await bucket.keys(PREFIX)) {
      const entry = await bucket.get(key);
      if (entry === null) continue;
      const floor = decodeFloor(entry);
      if (!losses.survives(floor)) continue;
      floors.push({ after: floor.rawPosition, partitions: parsePartitions(floor.partitions) });
    }
    this.#floors = floors;
  }

  /** Returns the highest floor that holds for a partition; START: none. */
  of(partition: number): Position {
    let highest = START;
    for (const { after, partitions } of this.#floors) {
      const holds = partitions === undefined || partitions.has(partition);
      if (holds && comparePositions(after, highest) > 0) highest = after;
    }
    return highest;
  }
}

/** Stores the floor of a hub. */
export async function storeFloor(bucket: StateBucket, hub: string, floor: StoredFloor): Promise<void> {
  await bucket.put(`${PREFIX}${Buffer.from(hub).toString("base64url")}`, encodeFloor(floor));
}

/**
 * Records that RAW is about to be purged up to `rawPosition`, all of which was processed. The recorded position only
 * grows. Throws data_corrupt, journal_conflict, unavailable, timeout: then nothing may be removed.
 */
export async function notePurge(bucket: StateBucket, rawPosition: Position): Promise<void> {
  const value = encodeFloor({ rawPosition, docPosition: START, docIncarnation: START.incarnation });
  for (let attempt = 1; ; attempt++) {
    const entry = await bucket.get(PURGE_KEY);
    if (entry !== null && comparePositions(decodeFloor(entry).rawPosition, rawPosition) >= 0) return;
    try {
      if (entry === null) await bucket.create(PURGE_KEY, value);
      else await bucket.update(PURGE_KEY, value, entry.revision);
      return;
    } catch (error) {
      const isConflict = error instanceof AppError && error.code === "journal_conflict";
      if (!isConflict || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

function encodeFloor(floor: StoredFloor): Uint8Array {
  return Buffer.from(JSON.stringify(floor));
}

function decodeFloor({ key, value }: StateEntry): StoredFloor {
  try {
    const stored = JSON.parse(Buffer.from(value).toString()) as Omit<StoredFloor, "docIncarnation"> &
      Partial<StoredFloor>;
    return { ...stored, docIncarnation: stored.docIncarnation ?? stored.docPosition.incarnation };
  } catch (error) {
    const text = `the pipeline's ${key} can't be read; delete it to read the log from an earlier position`;
    throw new AppError("data_corrupt", text, { cause: error });
  }
}

/** Returns a bit for each partition, base64url. */
export function printPartitions(partitions: Iterable<number>): string {
  const bits = Buffer.alloc(PARTITIONS / 8);
  for (const partition of partitions) bits[partition >> 3]! |= 1 << (partition & 7);
  return bits.toString("base64url");
}

function parsePartitions(text: string | undefined): ReadonlySet<number> | undefined {
  if (text === undefined) return undefined;
  const bits = Buffer.from(text, "base64url");
  const found = new Set<number>();
  for (let partition = 0; partition < PARTITIONS; partition++)
    if ((bits[partition >> 3]! & (1 << (partition & 7))) !== 0) found.add(partition);
  return found;
}
