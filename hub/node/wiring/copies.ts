/** Joins this hub's shards with the copies that other hubs have. */

import { join, resolve } from "node:path";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { CopySource } from "#hub/cluster/recovery/copy-source.ts";
import type { HostThreads } from "#hub/host/client/host-threads.ts";
import { ChosenCopies } from "#hub/host/copies/chosen-copies.ts";
import { CopyCalls } from "#hub/host/copies/copy-calls.ts";
import { HubAnswerer } from "#hub/host/copies/hub-answerer.ts";
import { HubCaller } from "#hub/host/copies/hub-caller.ts";
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
export function makeCopies(wiring: CopiesWiring): SharedShards {
  const { hosts, journal, cluster, log, metrics } = wiring;
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
    own: chosenCopies(wiring),
    reach,
    calls,
    logEnd,
    log,
    clock: systemClock,
  });
}

/** Makes the shards of this hub with those of the others, for searches; threads call other hubs from now on. */
function chosenCopies({ hosts, catalog, journal, cluster, metrics }: CopiesWiring): ChosenCopies {
  const { node } = cluster.identity;
  const caller = new HubCaller({ transport: journal.core, node });
  hosts.useHubs((at, operation, { value, parts }, signal) =>
    at.hub === node
      ? hosts.hosts[at.thread]!.call(operation, value, { parts, signal })
      : caller.call(at, operation, value, { parts, signal }),
  );
  return new ChosenCopies({
    own: hostedShards(hosts, catalog),
    holders: {
      node,
      get isAlone() {
        return cluster.others().length === 0;
      },
      isHere: () => true,
      elsewhere: () =>
        cluster
          .others()
          .filter(({ threads }) => threads > 0)
          .map(({ id, threads }) => ({ id, threads, load: caller.load(id) })),
    },
    thread: (at) => caller.thread(at),
    shards: (uuid) => catalog.byUuid(uuid)?.settings.numberOfShards ?? 0,
    clock: systemClock,
    metrics,
  });
}

/** Makes what answers the searches of other hubs; it is not started. */
export function makeHubAnswerer({ hosts: { hosts }, journal, cluster, metrics }: CopiesWiring): HubAnswerer {
  const { node } = cluster.identity;
  return new HubAnswerer({ transport: journal.core, node, hosts, clock: systemClock, metrics });
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
