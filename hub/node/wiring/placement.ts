/** Makes this hub follow the table of copies while it runs; placement-start.ts does so at its start. */

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { expansionOf } from "#hub/cluster/catalog/index-settings.ts";
import type { HubLinks } from "#hub/cluster/links/hub-links.ts";
import { fetchCopy, whileHeld } from "#hub/cluster/recovery/copy-fetch.ts";
import type { NamedShard } from "#hub/cluster/shards/shard-folders.ts";
import { ownerOf } from "#hub/cluster/shards/shard-owner.ts";
import type { HostThreads } from "#hub/host/client/host-threads.ts";
import { CopyPlacer } from "#hub/host/copies/copy-placer.ts";
import { HubCaller } from "#hub/host/copies/hub-caller.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Position } from "#proto/position.ts";
import { DOC_STREAM } from "#proto/subjects.ts";
import type { ClusterNode } from "./cluster.ts";

/** Time for a copied shard to reach the end of the log. */
const REACH_MS = 120_000;
/** Time for this hub to reach the end of the log before it publishes its shards; after that it tries again. */
const CATCH_UP_MS = 30_000;
/** Times for another hub to reach this one's position, and to confirm that it has a shard. */
const CONFIRM_REACH_MS = 2_000;
const CONFIRM_MS = 10_000;
/** Folder of a shard in transit, below path.data. */
const COMING = "engine-shard";

export interface PlacementWiring {
  readonly settings: HubSettings;
  readonly hosts: HostThreads;
  readonly catalog: IndexCatalog;
  readonly journal: Journal;
  readonly cluster: ClusterNode;
  readonly links: HubLinks;
  /** path.data, absolute. */
  readonly folder: string;
  readonly log: Logger;
}

/** Returns the folder of shards in transit from other hubs. */
export function comingFolder(folder: string): string {
  return join(folder, COMING);
}

/** Returns the folder of a shard's files below that of a copy; undefined if nothing of the shard was committed. */
export function filesOf(copy: string, { uuid, shard }: NamedShard): string | undefined {
  const files = join(copy, uuid, String(shard));
  return existsSync(files) ? files : undefined;
}

/**
 * Makes the part that follows the table of copies, without starting it. `logEnd` returns the position of the last message of
 * DOC.
 */
export function makePlacer(wiring: PlacementWiring, logEnd: () => Promise<Position>): CopyPlacer {
  const { settings, hosts, catalog, cluster, links, log } = wiring;
  const { node } = cluster.identity;
  const caller = new HubCaller({ transport: links, node });
  // The end of the log when this hub joined: under load the current end would always be ahead.
  let joined: { readonly session: string; readonly end: Position } | undefined;
  const catchUp = async (signal: AbortSignal): Promise<void> => {
    const { session } = cluster.membership;
    if (joined?.session !== session) joined = { session, end: await logEnd() };
    await hosts.reach(joined.end, CATCH_UP_MS, signal);
  };
  return new CopyPlacer({
    node,
    places: settings["cluster.copies"] === "replicas",
    view: cluster.copies,
    shards: hosts,
    take: (shard, from, signal) => takeShard(wiring, shard, from, logEnd, signal),
    confirm: (hub, shard, position, signal) => {
      const threads = cluster.others().find(({ id }) => id === hub)?.threads ?? 0;
      return confirmShard(caller, { id: hub, threads }, shard, position, signal);
    },
    catchUp,
    indices: () => catalog.all().map(({ uuid, settings: index }) => ({ uuid, shards: index.numberOfShards })),
    replicas: (uuid) => {
      const index = catalog.byUuid(uuid)?.settings;
      // An index that expands gets its replicas for this hub only after this hub has joined, so its maximum counts.
      return (index && expansionOf(index)?.most) ?? index?.numberOfReplicas ?? Number.POSITIVE_INFINITY;
    },
    membership: cluster.membership,
    live: () => cluster.others().map(({ id }) => id),
    publish: (held) => cluster.copyStore.publish(held),
    refresh: () => cluster.directory.refresh(),
    onChange: (listener) => cluster.directory.onChange(listener),
    clock: systemClock,
    log,
  });
}

/** Returns whether another hub confirms that it has a whole copy of a shard, with everything up to `position` on disk. */
export async function confirmShard(
  caller: HubCaller,
  { id, threads }: { readonly id: string; readonly threads: number },
  { uuid, shard }: NamedShard,
  position: Position,
  signal: AbortSignal,
): Promise<boolean> {
  if (threads === 0) return false;
  const thread = caller.thread({ hub: id, thread: ownerOf(uuid, shard, threads) });
  try {
    await thread.call("reach", position, { timeoutMs: CONFIRM_REACH_MS, signal });
    const options = { timeoutMs: CONFIRM_MS, signal };
    return (await thread.call("holdsShard", { uuid, shard, position }, options)).value === true;
  } catch {
    // Whatever the reason: an unconfirmed shard is kept, and the call is repeated later.
    return false;
  }
}

/**
 * Copies a shard from the first hub that allows it, opens it and waits until it has caught up. Throws the error of the last
 * hub.
 */
async function takeShard(
  wiring: PlacementWiring,
  shard: NamedShard,
  from: readonly string[],
  logEnd: () => Promise<Position>,
  signal: AbortSignal,
): Promise<void> {
  const { journal, links, hosts, folder, log } = wiring;
  const into = comingFolder(folder);
  let why: unknown;
  for (const node of from) {
    try {
      rmSync(into, { recursive: true, force: true });
      const options = { transport: links, node, signal };
      const held = await fetchCopy({ ...options, into, shards: [shard], progress: () => undefined });
      await whileHeld(options, held, async () => {
        if (await journal.isPurgedAfter(DOC_STREAM, held.position))
          throw new AppError("unavailable", "the log has purged what the copy of a shard lacks");
        const end = await logEnd();
        const files = filesOf(into, shard);
        const coming = { ...shard, from: held.position, ...(files !== undefined && { files }) };
        await hosts.take(coming, { end, timeoutMs: REACH_MS, signal });
      });
      log.info({ ...shard, node, bytes: held.bytes }, "a shard was copied from another hub");
      return;
    } catch (error) {
      why = error;
      if (signal.aborted) break;
    } finally {
      rmSync(into, { recursive: true, force: true });
    }
  }
  throw why;
}
