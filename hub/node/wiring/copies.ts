/** Connects this hub's shards with the copies of other hubs. */

import { join, resolve } from "node:path";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { HubLinks } from "#hub/cluster/links/hub-links.ts";
import { CopySource } from "#hub/cluster/recovery/copy-source.ts";
import type { HostThreads } from "#hub/host/client/host-threads.ts";
import type { HubThread } from "#hub/host/contract/calls.ts";
import { ChosenCopies } from "#hub/host/copies/chosen-copies.ts";
import { ContextCopies } from "#hub/host/copies/context-copies.ts";
import { CopyAge } from "#hub/host/copies/copy-age.ts";
import { CopyCalls } from "#hub/host/copies/copy-calls.ts";
import type { CopyHolders } from "#hub/host/copies/copy-choice.ts";
import { EarlyCollects } from "#hub/host/copies/early-collects.ts";
import { HubAnswerer } from "#hub/host/copies/hub-answerer.ts";
import { HubCaller } from "#hub/host/copies/hub-caller.ts";
import { PlacedCopies } from "#hub/host/copies/placed-copies.ts";
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

/**
 * Load, in searches, that is added for a hub whose renewal is late, and for a copy that lacks documents: they are ranked
 * after all others.
 */
const LATE_LOAD = 500;
const PARTIAL_LOAD = 1_000_000;

/** A read waits this long for servers of the log whose answers to their leader are late by a moment. */
const LATE_ANSWER_MS = 2_000;

interface CopiesWiring {
  readonly settings: HubSettings;
  readonly hosts: HostThreads;
  readonly catalog: IndexCatalog;
  readonly journal: Journal;
  readonly cluster: ClusterNode;
  readonly links: HubLinks;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Makes the shards as copies of those of other hubs, and the tracker of their age; starts nothing. */
export function makeCopies(wiring: CopiesWiring): { readonly shards: SharedShards; readonly age: CopyAge } {
  const { hosts, journal, cluster, links, log, metrics } = wiring;
  const logEnd = logEndOf(journal);
  const { node } = cluster.identity;
  const age = new CopyAge({
    logEnd,
    applied: () => hosts.position,
    isShared: () => cluster.members().some(({ id, state }) => id !== node && state === "live"),
    refresh: () => hostedShards(hosts, wiring.catalog).refresh(wiring.catalog.all()),
    clock: systemClock,
    log,
  });
  const calls = new CopyCalls({
    transport: links,
    node,
    others: () => cluster.others(),
    log,
    metrics,
  });
  const reach: Reach = (...call) => hosts.reach(...call);
  const own = chosenCopies(wiring, age);
  const shards = new SharedShards({
    own,
    elsewhere: (...call) => own.getElsewhere(...call),
    reach,
    age,
    indices: () => wiring.catalog.all(),
    calls,
    logEnd,
    log,
    clock: systemClock,
  });
  return { shards, age };
}

/** Returns a function that reads the position of the last message of DOC. It throws unavailable or timeout. */
export function logEndOf(journal: Journal): () => Promise<Position> {
  return async () => {
    if (!journal.connected) throw new AppError("unavailable", "the connection to NATS is lost");
    const found = await journal.state(DOC_STREAM);
    const { messages, lastSequence } = found.hasMajority
      ? found
      : await journal.majorityState(DOC_STREAM, LATE_ANSWER_MS);
    return messages === 0 ? START : journal.positionOf(DOC_STREAM, lastSequence);
  };
}

/** Combines the shards of this hub with those of the others for searches; threads call other hubs from now on. */
function chosenCopies(
  { hosts, catalog, journal, cluster, links, metrics }: CopiesWiring,
  age: CopyAge,
): PlacedCopies {
  const { node } = cluster.identity;
  const caller = new HubCaller({ transport: links, node });
  const early = new EarlyCollects({
    index: (uuid) => catalog.byUuid(uuid),
    askHub: (at, operation, { value, parts }, signal) =>
      at.hub === node
        ? hosts.hosts[at.thread]!.call(operation, value, { parts, signal })
        : caller.call(at, operation, value, { parts, signal }),
    isServing: () => hosts.isServing,
    metrics,
  });
  hosts.useHubs((...question) => early.ask(...question));
  const shared = {
    holders: copyHolders(hosts, cluster, caller),
    thread: (at: HubThread) => caller.thread(at),
    shards: (uuid: string) => catalog.byUuid(uuid)?.settings.numberOfShards ?? 0,
    nameOf: (uuid: string) => catalog.byUuid(uuid)?.name ?? "",
    behind: () => age.behind(),
    othersBehind: (hub: string, sinceMs: number) => caller.behind(hub, sinceMs),
    early,
    clock: systemClock,
  };
  const own = hostedShards(hosts, catalog);
  const chosen = new ChosenCopies({ ...shared, own, metrics });
  const contexts = new ContextCopies({ ...shared, own: chosen });
  return new PlacedCopies({ ...shared, own: contexts, logEnd: logEndOf(journal) });
}

function copyHolders(hosts: HostThreads, cluster: ClusterNode, caller: HubCaller): CopyHolders {
  const { copies, identity } = cluster;
  return {
    node: identity.node,
    get isAlone() {
      return !copies.isPlaced && cluster.others().length === 0;
    },
    isHere: (uuid, shard) => hosts.hasShard(uuid, shard),
    elsewhere: (uuid, shard) => {
      const others = cluster.others().filter(({ threads }) => threads > 0);
      const asked = copies.isPlaced ? copies.readers(others, uuid, shard) : others;
      return asked.map(({ id, threads, isLate }) => {
        const isWhole = !copies.isPlaced || copies.has(id, uuid, shard);
        const load = caller.load(id) + (isLate ? LATE_LOAD : 0) + (isWhole ? 0 : PARTIAL_LOAD);
        const isExpected = copies.isPlaced && !copies.reads(id, uuid, shard);
        return { id, threads, load, isExpected };
      });
    },
  };
}

/** Makes the part that answers the searches of other hubs, without starting it. */
export function makeHubAnswerer(
  { hosts: { hosts }, cluster, links, metrics }: CopiesWiring,
  age: CopyAge,
): HubAnswerer {
  const { node } = cluster.identity;
  const isLive = (hub: string): boolean => cluster.others().some(({ id }) => id === hub);
  const behind = (): ReturnType<CopyAge["behind"]> => age.behind();
  return new HubAnswerer({
    transport: links,
    node,
    hosts,
    isLive,
    behind,
    clock: systemClock,
    metrics,
  });
}

/** Makes the part from which other hubs copy this one's shards, without starting it. */
export function makeCopySource({ settings, links, cluster, log, metrics }: CopiesWiring): CopySource {
  const folder = resolve(settings["path.data"]);
  return new CopySource({
    transport: links,
    node: cluster.identity.node,
    engine: join(folder, "engine"),
    held: join(folder, "copies-held"),
    clock: systemClock,
    log,
    metrics,
  });
}
