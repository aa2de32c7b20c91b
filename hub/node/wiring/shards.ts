/** Creates the index catalog and the hosts of the shards. */

import { join } from "node:path";
import { versionProfile } from "#hub/api/compat/version.ts";
import { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";
import { HostThreads } from "#hub/host/client/host-threads.ts";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import { SpreadShards } from "#hub/host/client/spread-shards.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import { hostThreads } from "#hub/node/settings/host-threads.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { parseSize } from "#proto/kit/units.ts";

/** Makes the catalog of `indices` without starting it. */
export function makeCatalog({
  indices,
  log,
  compatVersion,
}: {
  readonly indices: StateBucket;
  readonly log: Logger;
  /** Version reported to clients. */
  readonly compatVersion: string;
}): IndexCatalog {
  return new IndexCatalog({
    bucket: indices,
    log,
    now: () => systemClock.now(),
    defaultShards: versionProfile(compatVersion).defaultShards,
  });
}

/**
 * Makes the threads that host the shards below `folder` (path.data) without starting them. Throws unavailable if the
 * engine's kernel is missing.
 */
export function makeHosts({
  folder,
  threads,
  searchMemory,
  cacheMemory,
  log,
  metrics,
}: {
  readonly folder: string;
  /** The setting hub.threads. */
  readonly threads: number;
  /** The setting search.max_memory. */
  readonly searchMemory: string | number;
  /** The setting search.cache_memory. */
  readonly cacheMemory: string | number;
  readonly log: Logger;
  readonly metrics: Metrics;
}): HostThreads {
  threadKernel();
  return new HostThreads({
    folder: join(folder, "engine"),
    count: hostThreads(threads),
    log,
    metrics,
    clock: systemClock,
    searchBytes: parseSize(searchMemory),
    ...(cacheMemory !== "" && { cacheBytes: parseSize(cacheMemory) }),
  });
}

/** Returns the shards of the threads as one. */
export function hostedShards({ hosts }: HostThreads, catalog: IndexCatalog): HostedShards {
  const clients = hosts.map((host) => new ShardsClient(host));
  return clients.length === 1 ? clients[0]! : new SpreadShards(clients, (uuid) => catalog.byUuid(uuid));
}
