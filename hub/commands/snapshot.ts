/** `tailrace-hub snapshot create|list|restore`: backs up a hub's data and restores it. */

import { resolve } from "node:path";
import { StreamArchive } from "#hub/journal/streams/stream-archive.ts";
import { type HubSettings, loadHubSettings } from "#hub/node/settings/hub-settings.ts";
import { loadCommandSettings } from "#hub/node/settings/reach-file.ts";
import { withConnection } from "#hub/node/wiring/state-session.ts";
import { type BlobStore, DirectoryBlobs, S3Blobs } from "#hub/snapshot/blob-store.ts";
import { readSnapshot, snapshotNames } from "#hub/snapshot/contents.ts";
import { checkHoldsData, createSnapshot } from "#hub/snapshot/create.ts";
import { checkEmpty, finishRestore, restoreFiles, restoreStreams } from "#hub/snapshot/restore.ts";
import { AppError } from "#proto/kit/errors.ts";
import { checkFolderOwner } from "#proto/kit/files/folder-owner.ts";
import type { Logger } from "#proto/kit/log.ts";
import { type SnapshotCommand, usageError } from "./arguments.ts";
import { mib } from "./terminal.ts";

export interface SnapshotSurroundings {
  readonly log: Logger;
  /** Version of this program. */
  readonly version: string;
}

/** Runs the command and reports on standard output. Throws AppErrors with the remedy. */
export async function runSnapshotCommand(
  command: SnapshotCommand,
  { log, version }: SnapshotSurroundings,
): Promise<void> {
  const store = openStore(command.address);
  if (command.action === "list") {
    const names = await snapshotNames(store);
    if (names.length === 0) throw new AppError("not_found", `${store.address} holds no snapshot`);
    for (const name of names) say(name);
    return;
  }
  const place = { file: command.config, overrides: command.overrides };
  if (command.action === "create")
    await create(command, loadCommandSettings(place, process.env), store, { log, version });
  else await restore(command, loadHubSettings(place, process.env), store, log);
}

async function create(
  command: SnapshotCommand,
  settings: HubSettings,
  store: BlobStore,
  { log, version }: SnapshotSurroundings,
): Promise<void> {
  const nowMs = Date.now();
  const name = command.snapshot ?? new Date(nowMs).toISOString().replace(/[:.]/g, "-").toLowerCase();
  const folder = resolve(settings["path.data"]);
  checkHoldsData(folder);
  if (settings["cluster.copies"] === "replicas")
    throw new AppError(
      "usage_invalid",
      "this hub has only some of its cluster's shards (cluster.copies: replicas): take a snapshot of the indices with PUT _snapshot/<repository>/<name> instead",
    );
  const { tally } = await withConnection(settings, log, (connection) =>
    createSnapshot({
      name,
      folder,
      store,
      archive: new StreamArchive(connection),
      product: version,
      nowMs,
      progress: say,
    }),
  );
  say(
    `snapshot ${name} is in ${store.address}: ${mib(tally.bytes)} MiB, ${mib(tally.newBytes)} MiB of it new`,
  );
  say("it contains the hub's keys and tokens: protect it like the hub");
}

async function restore(
  command: SnapshotCommand,
  settings: HubSettings,
  store: BlobStore,
  log: Logger,
): Promise<void> {
  checkSingle(settings);
  const name = command.snapshot ?? (await snapshotNames(store)).at(-1);
  if (name === undefined) throw usageError(`${store.address} holds no snapshot`);
  const folder = resolve(settings["path.data"]);
  checkEmpty(folder);
  checkFolderOwner(folder, "tailrace-hub");
  const options = { snapshot: await readSnapshot(store, name), store, folder, progress: say };
  await restoreFiles(options);
  await withConnection(settings, log, (connection) => restoreStreams(options, new StreamArchive(connection)));
  finishRestore(folder);
  say(`snapshot ${name} is restored into ${folder}; agents resend what came after it when the hub starts`);
}

/**
 * Throws settings_invalid for a hub whose log is stored by several hubs: streams can't be restored into one part of their
 * store.
 */
function checkSingle(settings: HubSettings): void {
  if (settings["discovery.seed_hosts"].length === 0) return;
  throw new AppError(
    "settings_invalid",
    "a snapshot can't be restored into a hub of discovery.seed_hosts, whose log several hubs store: restore it as a single hub, with an empty discovery.seed_hosts and a path.data of its own, start that one and copy its indices with " +
      '"tailrace-hub import cluster http://HOST:9200"; or restore indices through a repository of _snapshot. docs/backup.md explains it',
  );
}

function openStore(address: string): BlobStore {
  return address.startsWith("s3://")
    ? new S3Blobs(address, process.env)
    : new DirectoryBlobs(resolve(address));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
