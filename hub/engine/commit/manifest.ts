/**
 * The commit point of a shard: which files make it up and which position of the log they cover. Each commit writes a new
 * manifest beside the previous one, which stays as the fallback. Grammar: README.md.
 */

import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { crc32c } from "#hub/engine/encoding/crc32c.ts";
import type { RepeatsState } from "#hub/engine/operations/deduplication.ts";
import type { TombstonesState } from "#hub/engine/operations/versioning.ts";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { Position } from "#proto/position.ts";

/** Version of the format; a higher one is refused. */
export const MANIFEST_VERSION = 1;

/** Manifests kept, the newest included. */
const KEPT_MANIFESTS = 2;

const NAME = /^manifest-(\d+)\.json$/;

export interface ManifestSegment {
  readonly name: string;
  readonly docs: number;
  readonly sizeBytes: number;
  /** CRC-32C of the segment's trailer; manifests of versions before 0.2 have none. */
  readonly checksum?: number;
  /** Generation of the live-docs file; 0: no document is deleted. */
  readonly liveGeneration: number;
  /** The segment's documents come from messages after this position. */
  readonly after: Position;
}

export interface Manifest {
  readonly version: number;
  /** Counts commits, from 1. */
  readonly generation: number;
  /** Everything of the log up to here is in the segments. */
  readonly position: Position;
  /** While what was lost is being read again: up to where. */
  readonly repairUntil: Position | null;
  readonly nextSegment: number;
  readonly nextSeqNo: number;
  readonly mappingVersion: number;
  readonly segments: readonly ManifestSegment[];
  readonly repeats: RepeatsState;
  readonly tombstones: TombstonesState;
}

/** Writes `manifest` durably and removes the ones that are too old. */
export function writeManifest(folder: string, manifest: Manifest): void {
  const json = Buffer.from(JSON.stringify(manifest));
  const check = Buffer.from(`\n${crc32c(json).toString(16).padStart(8, "0")}\n`);
  writeFileAtomic(join(folder, `manifest-${manifest.generation}.json`), Buffer.concat([json, check]));
  for (const generation of generations(folder)) {
    if (generation <= manifest.generation - KEPT_MANIFESTS) {
      rmSync(join(folder, `manifest-${generation}.json`), { force: true });
    }
  }
}

/** Newest whole manifest and how many newer ones were damaged; null if a shard is new. */
export function readManifest(folder: string): { manifest: Manifest; damaged: number } | null {
  const all = generations(folder).sort((a, b) => b - a);
  for (const [damaged, generation] of all.entries()) {
    const manifest = tryRead(join(folder, `manifest-${generation}.json`), generation);
    if (manifest !== null) return { manifest, damaged };
  }
  if (all.length === 0) return null;
  throw new AppError(
    "data_corrupt",
    `no manifest of ${folder} is whole; restore the shard from a snapshot or a replica, or remove the folder to build it from the log again`,
  );
}

/** When a manifest was written, ms since 1970. */
export function manifestTimeMs(folder: string, { generation }: Manifest): number {
  return statSync(join(folder, `manifest-${generation}.json`)).mtimeMs;
}

function generations(folder: string): number[] {
  return readdirSync(folder)
    .map((name) => NAME.exec(name)?.[1])
    .filter((match) => match !== undefined)
    .map(Number);
}

/** Null for a damaged file, and for the copy of another generation. Throws data_corrupt for a version that isn't known. */
function tryRead(path: string, generation: number): Manifest | null {
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(0x0a, bytes.length - 2);
  const json = bytes.subarray(0, Math.max(0, end));
  const check = bytes.toString("latin1", end + 1, bytes.length - 1);
  if (end < 0 || bytes.at(-1) !== 0x0a || check !== crc32c(json).toString(16).padStart(8, "0")) return null;
  const manifest = JSON.parse(json.toString()) as Manifest;
  if (manifest.version !== MANIFEST_VERSION) {
    throw new AppError(
      "data_corrupt",
      `${path} has format version ${manifest.version}, this program supports ${MANIFEST_VERSION}`,
    );
  }
  return manifest.generation === generation ? manifest : null;
}
