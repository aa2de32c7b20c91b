/**
 * Holds the files of all shards while a snapshot is taken of a running hub. Segments never change, so a hard link
 * keeps them even if a merge removes the original. Each shard is held at a commit point of its own, whose manifest
 * names the position in the log.
 */

import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { readManifest } from "#hub/engine/commit/manifest.ts";
import { liveFileName, segmentFileName } from "#hub/engine/commit/shard-segment.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";

/** A merge or commit may remove files while they are linked; the next commit point is tried then. */
const TRIES = 20;
const FOLDER_MODE = 0o750;

/** Links the engine's files from `engine` into `held`, which must not exist, on the same file system. */
export function holdShards(engine: string, held: string): void {
  mkdirSync(held, { recursive: true, mode: FOLDER_MODE });
  // The common position first: every manifest read after it covers it.
  copyIfThere(join(engine, "position.json"), join(held, "position.json"));
  for (const uuid of foldersIn(engine)) {
    mkdirSync(join(held, uuid), FOLDER_MODE);
    copyIfThere(join(engine, uuid, "index.json"), join(held, uuid, "index.json"));
    for (const shard of foldersIn(join(engine, uuid)))
      holdShard(join(engine, uuid, shard), join(held, uuid, shard));
  }
}

function holdShard(shard: string, held: string): void {
  for (let tries = 1; ; tries++) {
    try {
      linkShard(shard, held);
      return;
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      rmSync(held, { recursive: true, force: true });
      if (!existsSync(shard)) return; // the index was deleted meanwhile
      if (tries === TRIES)
        throw new AppError("unavailable", `${shard} changes faster than it can be copied; try again`, {
          cause: error,
        });
    }
  }
}

function linkShard(shard: string, held: string): void {
  mkdirSync(held, FOLDER_MODE);
  const read = readManifest(shard);
  if (read === null) return; // nothing was committed yet: everything is in the log
  const { manifest } = read;
  copyFileSync(
    join(shard, `manifest-${manifest.generation}.json`),
    join(held, `manifest-${manifest.generation}.json`),
  );
  for (const { name, liveGeneration } of manifest.segments) {
    const files = [segmentFileName(name)];
    if (liveGeneration > 0) files.push(liveFileName(name, liveGeneration));
    for (const file of files) linkSync(join(shard, file), join(held, file));
  }
}

function copyIfThere(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

/** Returns the subfolders of `folder`; none if it doesn't exist. */
function foldersIn(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
