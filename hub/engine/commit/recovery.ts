/** Opens a shard's files: uses intact segments, reports damaged ones, removes those that no commit names. */

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { SegmentFile } from "#hub/engine/files/segment-file.ts";
import { Segment } from "#hub/engine/segment/segment.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import { type Manifest, type ManifestSegment, readManifest } from "./manifest.ts";
import { liveFileName, readLiveDocs, ShardSegment, segmentFileName } from "./shard-segment.ts";

/** Bytes of segments that are checked in full when a shard opens; what is beyond is checked as it is read. */
const VERIFY_AT_OPEN_BYTES = 64 * 1024 * 1024;

/** Damaged files are moved here, for inspection. */
const DAMAGED_FOLDER = "damaged";

/** A segment that couldn't be used. */
export interface LostSegment {
  readonly name: string;
  readonly docs: number;
  /** Its documents come from messages after this position. */
  readonly after: Position;
  readonly reason: string;
}

export interface Recovered {
  readonly manifest: Manifest | null;
  readonly segments: ShardSegment[];
  readonly lost: readonly LostSegment[];
  /** Newer manifests that were damaged. */
  readonly damagedManifests: number;
  /** True where the newest manifest is older than the last commit: newer ones are damaged or gone. */
  readonly wentBack: boolean;
  /** From where the log has to be read on. */
  readonly position: Position;
  /** Up to where messages were applied before, but may be missing now; null if nothing is. */
  readonly repairUntil: Position | null;
}

/**
 * Opens what the newest whole manifest names. `committed`: generation of the last commit as far as known elsewhere, 0
 * if it isn't. Throws data_corrupt if there are manifests and none is whole, memory_limit.
 */
export function recover(folder: string, committed: number): Recovered {
  const found = readManifest(folder);
  const wentBack = (found?.manifest.generation ?? 0) < committed || (found?.damaged ?? 0) > 0;
  const leaveOut = wentBack ? setAside : remove;
  if (found === null) {
    for (const name of unknownFiles(folder, new Set())) leaveOut(folder, name);
    return {
      wentBack,
      manifest: null,
      segments: [],
      lost: [],
      damagedManifests: 0,
      position: START,
      repairUntil: null,
    };
  }
  const { manifest, damaged } = found;
  const { segments, lost, known } = openSegments(folder, manifest);
  for (const name of unknownFiles(folder, known)) leaveOut(folder, name);
  const position = lost.reduce(
    (lowest, { after }) => (comparePositions(after, lowest) < 0 ? after : lowest),
    manifest.position,
  );
  const { repairUntil: earlier } = manifest;
  const unfinished = earlier !== null && comparePositions(manifest.position, earlier) < 0 ? earlier : null;
  const repairUntil = lost.length > 0 ? manifest.position : unfinished;
  return { manifest, segments, lost, damagedManifests: damaged, wentBack, position, repairUntil };
}

/** Opens the intact segments of a manifest and sets the others aside. `known`: files of all of them. Throws memory_limit. */
function openSegments(
  folder: string,
  manifest: Manifest,
): { segments: ShardSegment[]; lost: LostSegment[]; known: ReadonlySet<string> } {
  const segments: ShardSegment[] = [];
  const lost: LostSegment[] = [];
  const known = new Set<string>();
  let verifyBytes = VERIFY_AT_OPEN_BYTES;
  // Newest first: recently written files are the most likely to be damaged.
  for (const entry of [...manifest.segments].reverse()) {
    known.add(segmentFileName(entry.name)).add(liveFileName(entry.name, entry.liveGeneration));
    try {
      segments.unshift(openSegment(folder, entry, verifyBytes));
      verifyBytes -= entry.sizeBytes;
    } catch (error) {
      if (toAppError(error).code === "memory_limit") throw withoutMemory(segments, error);
      lost.push({
        name: entry.name,
        docs: entry.docs,
        after: entry.after,
        reason: toAppError(error).message,
      });
      setAside(folder, segmentFileName(entry.name));
      setAside(folder, liveFileName(entry.name, entry.liveGeneration));
    }
  }
  return { segments, lost, known };
}

function openSegment(folder: string, entry: ManifestSegment, verifyBytes: number): ShardSegment {
  const file = SegmentFile.open(entry.name, join(folder, segmentFileName(entry.name)));
  try {
    if (file.sizeBytes <= verifyBytes) file.verify();
    const segment = new Segment(file);
    const isOwn =
      file.sizeBytes === entry.sizeBytes &&
      segment.docCount === entry.docs &&
      (entry.checksum === undefined || file.checksum === entry.checksum);
    if (!isOwn)
      throw new AppError(
        "data_corrupt",
        `${segmentFileName(entry.name)} isn't the segment that the manifest names`,
      );
    let live: Bitset | null = null;
    if (entry.liveGeneration > 0) {
      live = readLiveDocs(join(folder, liveFileName(entry.name, entry.liveGeneration)), segment.docCount);
    }
    return new ShardSegment(segment, entry.after, live, entry.liveGeneration, null);
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Returns the error of a file that nothing is wrong with: it can be opened when there is memory again. */
function withoutMemory(opened: readonly ShardSegment[], error: unknown): unknown {
  for (const { segment } of opened) segment.release();
  return error;
}

function setAside(folder: string, name: string): void {
  mkdirSync(join(folder, DAMAGED_FOLDER), { recursive: true });
  if (existsSync(join(folder, name))) renameSync(join(folder, name), join(folder, DAMAGED_FOLDER, name));
}

function remove(folder: string, name: string): void {
  rmSync(join(folder, name), { force: true });
}

/** The lock file of versions before 1.0, which a crash left behind. */
const FORMER_LOCK = "lock";

/** Returns the files that no commit names, left behind by a crash before the commit. */
function unknownFiles(folder: string, known: ReadonlySet<string>): string[] {
  const endings = [".seg", ".liv", ".tmp"];
  const isOurs = (name: string): boolean =>
    name === FORMER_LOCK || endings.some((ending) => name.endsWith(ending));
  return readdirSync(folder).filter((name) => isOurs(name) && !known.has(name));
}
