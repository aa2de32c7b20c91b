/**
 * Holds the committed state of running shards. Segments never change, so a hard link keeps them even if a merge removes the
 * original. Each shard is held at a commit point of its own, whose manifest names the position in the log.
 */

import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isPositionFile } from "#hub/cluster/shards/position-files.ts";
import { readManifest } from "#hub/engine/commit/manifest.ts";
import { liveFileName, segmentFileName } from "#hub/engine/commit/shard-segment.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import type { HeldShard } from "./copy-messages.ts";

/** A merge or commit may remove files while they are being linked; then the next commit point is tried. */
const TRIES = 20;
const FOLDER_MODE = 0o750;

/**
 * Links the engine's files from `engine` into `held`, which must not exist, on the same file system; `wanted`: only those of
 * these shards. Yields to other work of the thread after each shard. Throws unavailable if a shard changes faster than it is
 * linked.
 */
export async function holdShards(engine: string, held: string, wanted?: readonly HeldShard[]): Promise<void> {
  mkdirSync(held, { recursive: true, mode: FOLDER_MODE });
  // The common positions first: every manifest read after them covers them.
  for (const name of namesIn(engine).filter(isPositionFile))
    copyIfThere(join(engine, name), join(held, name));
  for (const uuid of foldersIn(engine)) {
    if (wanted?.some((each) => each.uuid === uuid) === false) continue;
    mkdirSync(join(held, uuid), FOLDER_MODE);
    copyIfThere(join(engine, uuid, "index.json"), join(held, uuid, "index.json"));
    for (const shard of foldersIn(join(engine, uuid))) {
      if (wanted?.some((each) => each.uuid === uuid && String(each.shard) === shard) === false) continue;
      holdShard(join(engine, uuid, shard), join(held, uuid, shard));
      await setImmediate();
    }
  }
}

/** Returns the files below `folder`, relative to it, with slashes, sorted. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
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
  const manifestFile = `manifest-${manifest.generation}.json`;
  copyFileSync(join(shard, manifestFile), join(held, manifestFile));
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

function foldersIn(folder: string): string[] {
  return entriesIn(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

function namesIn(folder: string): string[] {
  return entriesIn(folder).map(({ name }) => name);
}

/** None if `folder` doesn't exist (any more): its index was deleted. */
function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}
