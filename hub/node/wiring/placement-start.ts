/** Prepares the shards of this hub for the table of copies, before they are opened. */

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import { fetchCopy } from "#hub/cluster/recovery/copy-fetch.ts";
import { committedPosition, resetPositions } from "#hub/cluster/shards/position-files.ts";
import {
  giveUpShard,
  markedShards,
  markShard,
  moveShardIn,
  type NamedShard,
  shardKey,
  unmarkShard,
} from "#hub/cluster/shards/shard-folders.ts";
import type { HostThreads } from "#hub/host/client/host-threads.ts";
import { HubCaller } from "#hub/host/copies/hub-caller.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import { DOC_STREAM } from "#proto/subjects.ts";
import type { ClusterNode } from "./cluster.ts";
import type { CopyStore, StoredCopies } from "./copy-store.ts";
import { oldestDoc } from "./journal-adapters.ts";
import { comingFolder, confirmShard, filesOf } from "./placement.ts";
import { INCOMPLETE } from "./shard-log.ts";

/** How long a hub that lacks purged messages of the log waits for hubs that have them. */
const LOOK_MS = 120_000;
const PAUSE_MS = 1_000;
const FOLDER_MODE = 0o750;

export interface StartWiring {
  readonly settings: Pick<HubSettings, "cluster.copies">;
  readonly hosts: Pick<HostThreads, "leaveOut" | "whileEnded">;
  readonly catalog: Pick<IndexCatalog, "all">;
  readonly journal: Pick<Journal, "isPurgedAfter" | "majorityState" | "positionOf"> & {
    readonly core: HubTransport;
  };
  readonly cluster: Pick<ClusterNode, "hasOthers"> & {
    readonly copyStore: Pick<CopyStore, "read">;
    readonly identity: { readonly node: string };
  };
  /** path.data, absolute. */
  readonly folder: string;
  readonly log: Logger;
}

/** A shard that was copied into a temporary folder. */
interface Replacement {
  readonly shard: NamedShard;
  readonly files: string | undefined;
  /** Position that the files cover. */
  readonly position: Position;
}

/**
 * Returns whether copies are placed. If so, leaves out the shards that this hub doesn't have, before the others are opened.
 * Throws settings_invalid if this hub is configured to have all shards although others have dropped theirs, and what copying
 * throws.
 */
export async function preparePlacement(wiring: StartWiring, signal: AbortSignal): Promise<boolean> {
  const { settings, cluster, hosts, folder } = wiring;
  const engine = join(folder, "engine");
  rmSync(comingFolder(folder), { recursive: true, force: true });
  // A crash left these incomplete: the position may be past messages that they lack.
  for (const shard of markedShards(engine, "taking")) giveUpShard(engine, shard);
  const gone = markedShards(engine, "gone");
  const stored = await cluster.copyStore.read();
  if (settings["cluster.copies"] === "all" && (stored !== null || gone.length > 0))
    throw new AppError(
      "settings_invalid",
      "the hubs of this cluster have only some of its shards each: set cluster.copies to replicas on this one, too",
    );
  for (const { uuid, shard } of gone) hosts.leaveOut(uuid, shard);
  // If the table was lost, this hub keeps the shards that it has; a new table is made from the shards that hubs have.
  if (stored === null) return gone.length > 0;
  const isBehind = await replaceStale(wiring, stored, signal);
  for (const named of allShards(wiring)) {
    const { uuid, shard } = named;
    if (existsSync(join(engine, uuid, String(shard)))) continue;
    // A shard that is neither in the table nor on another hub is new: its messages are in the log that this hub reads.
    const isPlaced = stored.table.copies[uuid]?.[shard] !== undefined;
    if (!isPlaced && !isBehind && !isElsewhere(stored, named)) continue;
    markShard(engine, named, "gone");
    hosts.leaveOut(uuid, shard);
  }
  return true;
}

/**
 * Replaces shards that lack messages which the log has purged: copies each into a temporary folder, then replaces the old
 * one with it. Gives up shards that the table assigns only to other hubs, if those confirm that they have them. Keeps shards
 * that no other hub has, marked as incomplete. Returns whether the log has purged messages that this hub hasn't read.
 */
async function replaceStale(
  wiring: StartWiring,
  stored: StoredCopies,
  signal: AbortSignal,
): Promise<boolean> {
  const { journal, folder, log } = wiring;
  const engine = join(folder, "engine");
  const position = committedPosition(engine, log);
  const isPurged = await journal.isPurgedAfter(DOC_STREAM, position);
  const stale = isPurged ? shardsHere(wiring) : markedShards(engine, "incomplete");
  if (!isPurged && !stale.some((shard) => isElsewhere(stored, shard))) return false;
  const found = isPurged ? await untilFound(wiring, stale, stored, signal) : stored;
  const elsewhere = stale.filter((shard) => isElsewhere(found, shard));
  const surplus = new Set<string>();
  for (const shard of elsewhere) if (await isSurplus(wiring, found, shard, signal)) surplus.add(keyOf(shard));
  const needed = elsewhere.filter((shard) => !surplus.has(keyOf(shard)));
  const kept = stale.filter((shard) => !isElsewhere(found, shard));
  const counts = { replaced: needed.length, givenUp: surplus.size, kept: kept.length };
  log.warn({ position, ...counts }, "shards of this hub lack documents that the log has purged");
  const copies = await copyAside(wiring, found, needed, signal);
  const oldest = await oldestDoc(journal);
  if (copies.some((copy) => comparePositions(copy.position, oldest) < 0))
    throw new AppError(
      "unavailable",
      "the log has purged messages that the copies of shards lack; restart this hub",
    );
  const base = isPurged ? oldest : position;
  const lowest = [base, ...copies.map((copy) => copy.position)].toSorted(comparePositions)[0]!;
  await wiring.hosts.whileEnded(async () => {
    mkdirSync(engine, { recursive: true, mode: FOLDER_MODE });
    for (const shard of elsewhere) if (surplus.has(keyOf(shard))) giveUpShard(engine, shard);
    for (const { shard, files } of copies) moveShardIn(engine, shard, files);
    for (const shard of kept) markShard(engine, shard, "incomplete");
    resetPositions(engine, lowest);
    for (const { shard } of copies) unmarkShard(engine, shard);
  });
  rmSync(comingFolder(folder), { recursive: true, force: true });
  return isPurged;
}

/** Returns whether the table assigns a shard only to other hubs, and each of them confirms that it has it. */
async function isSurplus(
  { journal, cluster }: StartWiring,
  { table, hubs }: StoredCopies,
  shard: NamedShard,
  signal: AbortSignal,
): Promise<boolean> {
  const { node } = cluster.identity;
  const holders = table.copies[shard.uuid]?.[shard.shard] ?? [];
  if (holders.length === 0 || holders.includes(node)) return false;
  const caller = new HubCaller({ transport: journal.core, node });
  const oldest = await oldestDoc(journal);
  for (const id of holders) {
    const hub = hubs.find((each) => each.id === id && each.has(shard.uuid, shard.shard));
    if (hub === undefined || !(await confirmShard(caller, hub, shard, oldest, signal))) return false;
  }
  return true;
}

/** Copies shards from hubs that have them, all shards of a hub at once. Throws what copying throws. */
async function copyAside(
  { journal, folder, log }: StartWiring,
  { hubs }: StoredCopies,
  shards: readonly NamedShard[],
  signal: AbortSignal,
): Promise<Replacement[]> {
  const byHub = Map.groupBy(shards, ({ uuid, shard }) => hubs.find(({ has }) => has(uuid, shard))!.id);
  const copies: Replacement[] = [];
  for (const [node, wanted] of byHub) {
    const into = join(comingFolder(folder), node);
    mkdirSync(comingFolder(folder), { recursive: true, mode: FOLDER_MODE });
    const options = { transport: journal.core, node, signal, into, shards: wanted };
    const { position, bytes } = await fetchCopy({ ...options, progress: () => undefined });
    log.info({ node, shards: wanted.length, bytes }, "shards were copied from another hub");
    copies.push(...wanted.map((shard) => ({ shard, files: filesOf(into, shard), position })));
  }
  return copies;
}

/** Waits for the hubs that have these shards: all may be starting. Throws unavailable if there is no table of copies any more. */
async function untilFound(
  { cluster }: StartWiring,
  shards: readonly NamedShard[],
  stored: StoredCopies,
  signal: AbortSignal,
): Promise<StoredCopies> {
  const lastMs = systemClock.monotonic() + LOOK_MS;
  let found = stored;
  while (systemClock.monotonic() < lastMs && !signal.aborted) {
    if (shards.every((shard) => isElsewhere(found, shard))) break;
    if (!(await cluster.hasOthers())) break;
    await systemClock.sleep(PAUSE_MS, signal);
    const now = await cluster.copyStore.read();
    if (now === null) throw new AppError("unavailable", INCOMPLETE);
    found = now;
  }
  signal.throwIfAborted();
  return found;
}

function isElsewhere({ hubs }: StoredCopies, { uuid, shard }: NamedShard): boolean {
  return hubs.some(({ has }) => has(uuid, shard));
}

function shardsHere(wiring: StartWiring): NamedShard[] {
  const engine = join(wiring.folder, "engine");
  return allShards(wiring).filter(({ uuid, shard }) => existsSync(join(engine, uuid, String(shard))));
}

function allShards({ catalog }: StartWiring): NamedShard[] {
  return catalog
    .all()
    .flatMap(({ uuid, settings }) =>
      Array.from({ length: settings.numberOfShards }, (_, shard) => ({ uuid, shard })),
    );
}

function keyOf({ uuid, shard }: NamedShard): string {
  return shardKey(uuid, shard);
}
