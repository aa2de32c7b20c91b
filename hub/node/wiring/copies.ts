/** Joins this hub's shards with the copies that other hubs have. */

import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { HostThreads } from "#hub/host/client/host-threads.ts";
import { CopyCalls } from "#hub/host/copies/copy-calls.ts";
import { type Reach, SharedShards } from "#hub/host/copies/shared-shards.ts";
import type { Journal } from "#hub/journal/journal.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { type Position, START } from "#proto/position.ts";
import { DOC_STREAM } from "#proto/subjects.ts";
import type { ClusterNode } from "./cluster.ts";
import { hostedShards } from "./shards.ts";

interface CopiesWiring {
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
