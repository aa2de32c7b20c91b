/**
 * Holds the files of all shards as they are at one moment, beside a hub that goes on writing: segments never change,
 * so a second name (a hard link) keeps them although a merge removes the first. Each shard is held at a commit point of
 * its own, which its manifest joins to a position of the log.
 */

import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { readManifest } from "#hub/engine/commit/manifest.ts";
import { liveFileName, segmentFileName } from "#hub/engine/commit/shard-segment.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";

/** A merge or commit may remove files while they are linked; the next commit point is taken then. */
const TRIES = 20;
const FOLDER_MODE = 0o750;

/** Links the engine's files of `engine` into `held`, which must not exist. Both lie on one file system. */
export function holdShards(engine: string, held: string): void {
  mkdirSync(held, { recursive: true, mode: FOLDER_MODE });
  // The common position first: what it covers is in every manifest that is read after it.
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
        throw new AppError("unavailable", `${shard} changes faster than it can be read; try again`, {
          cause: error,
        });
    }
  }
}

function linkShard(shard: string, held: string): void {
  mkdirSync(held, FOLDER_MODE);
  const read = readManifest(shard);
  if (read === null) return; // nothing was committed yet: all of it is in the log
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

/** Returns the folders in `folder`; none where it isn't there. */
function foldersIn(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
