/** Joins this hub's shards with the copies that other hubs have. */

import { join, resolve } from "node:path";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { CopySource } from "#hub/cluster/recovery/copy-source.ts";
import type { HostThreads } from "#hub/host/client/host-threads.ts";
import { CopyCalls } from "#hub/host/copies/copy-calls.ts";
import { type Reach, SharedShards } from "#hub/host/copies/shared-shards.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { type Position, START } from "#proto/position.ts";
import { DOC_STREAM } from "#proto/subjects.ts";
import type { ClusterNode } from "./cluster.ts";
import { hostedShards } from "./shards.ts";

interface CopiesWiring {
  readonly settings: HubSettings;
  readonly hosts: HostThreads;
  readonly catalog: IndexCatalog;
  readonly journal: Journal;
  readonly cluster: ClusterNode;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Makes the shards as copies of those that other hubs have; they are not started. */
export function makeCopies({ hosts, catalog, journal, cluster, log, metrics }: CopiesWiring): SharedShards {
  const calls = new CopyCalls({
    transport: journal.core,
    node: cluster.identity.node,
    others: () => cluster.others(),
    log,
    metrics,
  });
  const logEnd = async (): Promise<Position> => {
    if (!journal.connected) throw new AppError("unavailable", "the connection to NATS is lost");
    const { messages, lastSequence } = await journal.state(DOC_STREAM);
    return messages === 0 ? START : journal.positionOf(DOC_STREAM, lastSequence);
  };
  const reach: Reach = (...call) => hosts.reach(...call);
  return new SharedShards({
    own: hostedShards(hosts, catalog),
    reach,
    calls,
    logEnd,
    log,
    clock: systemClock,
  });
}

/** Makes what lets other hubs copy this one's shards; it is not started. */
export function makeCopySource({ settings, journal, cluster, log, metrics }: CopiesWiring): CopySource {
  const folder = resolve(settings["path.data"]);
  return new CopySource({
    transport: journal.core,
    node: cluster.identity.node,
    engine: join(folder, "engine"),
    held: join(folder, "copies-held"),
    clock: systemClock,
    log,
    metrics,
  });
}
