/** Creates everything between the log and the listeners, each part with its dependencies. The hub starts the parts. */

import { resolve } from "node:path";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { HubLinks } from "#hub/cluster/links/hub-links.ts";
import type { CopySource } from "#hub/cluster/recovery/copy-source.ts";
import { BodyThreads } from "#hub/cluster/writes/body-threads.ts";
import { DocumentSink } from "#hub/cluster/writes/document-sink.ts";
import { Documents } from "#hub/cluster/writes/documents.ts";
import { Fleet } from "#hub/fleet/fleet.ts";
import { Watermarks } from "#hub/fleet/watermarks.ts";
import type { HostThreads } from "#hub/host/client/host-threads.ts";
import type { Journal } from "#hub/journal/journal.ts";
import { SharedTail } from "#hub/live/shared-tail.ts";
import { AUTH_BUCKET, type OpenedAccess, openAccess } from "#hub/node/access/access.ts";
import { DiskReserve } from "#hub/node/checks/disk-reserve.ts";
import { CertificateWatch } from "#hub/node/settings/certificate-watch.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { makeHealth } from "#hub/node/status/hub-health.ts";
import type { ClusterNode } from "#hub/node/wiring/cluster.ts";
import { joinCluster } from "#hub/node/wiring/cluster-work.ts";
import { logEndOf, makeCopies, makeCopySource, makeHubAnswerer } from "#hub/node/wiring/copies.ts";
import * as routes from "#hub/node/wiring/journal-adapters.ts";
import { followLosses, LogLosses } from "#hub/node/wiring/log-loss.ts";
import { Pipelines } from "#hub/node/wiring/pipelines.ts";
import { makePlacer } from "#hub/node/wiring/placement.ts";
import { logServices, reconcile, refuseIncompleteCopies } from "#hub/node/wiring/shard-log.ts";
import { retentionRules } from "#hub/node/wiring/upkeep.ts";
import { HUB_HEALTH } from "#hub/saved/sample-objects.ts";
import { SavedObjects } from "#hub/saved/saved-objects.ts";
import { ProcessedFloor } from "#hub/upkeep/log-janitor.ts";
import { Monitoring } from "#hub/upkeep/monitoring.ts";
import { settledClock } from "#hub/upkeep/settled-clock.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { laterOf, type Position } from "#proto/position.ts";
import { DOC_STREAM } from "#proto/subjects.ts";
import { Listeners, type ListenersOptions } from "./listeners.ts";

/** Dependencies of the flow; journal, catalog and the hosts' threads are started. */
export interface FlowDependencies {
  readonly settings: HubSettings;
  readonly log: Logger;
  readonly version: string;
  readonly metrics: Metrics;
  readonly journal: Journal;
  readonly catalog: IndexCatalog;
  readonly hosts: HostThreads;
  readonly cluster: ClusterNode;
  readonly links: HubLinks;
  /** When the hub started, ms since 1970. */
  readonly startedMs: number;
}

/** The parts, in the order of their start. */
export interface Flow {
  readonly servers: Listeners;
  readonly opened: OpenedAccess;
  readonly parts: readonly (readonly [name: string, part: Component])[];
}

/** State shared by several parts. */
interface Shared {
  readonly losses: LogLosses;
  /** Last position in DOC at the start. */
  readonly lastDoc: Position;
  readonly watermarks: Watermarks;
  readonly floor: ProcessedFloor;
  /** Partitions of the pipeline that stopped, with the reason. */
  readonly stopped: Map<number, string>;
}

const now = (): number => systemClock.now();

/** Creates the parts without starting them. First compares the log with the positions that the shards remember. */
export async function makeFlow(dependencies: FlowDependencies): Promise<Flow> {
  const { log, journal, catalog, hosts, metrics, cluster } = dependencies;
  const copies = makeCopies(dependencies);
  const { shards } = copies;
  const known = await hosts.open(catalog);
  const lastDoc = await reconcile(journal, known);
  await refuseIncompleteCopies(dependencies, known.position);
  const floor = new ProcessedFloor();
  const losses = new LogLosses({
    journal,
    committed: (incarnation) => cluster.committed(laterOf(known.position, floor.position), incarnation),
  });
  const watermarks = new Watermarks(metrics, (written) => losses.survives(written));
  const shared: Shared = { losses, lastDoc, watermarks, floor, stopped: new Map() };
  const bodies = new BodyThreads({ log, metrics });
  const documents = new Documents({ log: routes.logPort(journal), catalog, shards, now });
  const ages = settledClock(systemClock, log);
  const rules = await journal.bucket("retention");
  const retention = retentionRules({ ...dependencies, shards, clock: ages }, rules);
  const makeSearchable = (): Promise<void> => {
    processing.tail.announce();
    return shards.refreshWritten(catalog.all());
  };
  const written = { shards, documents, bodies, retention, makeSearchable };
  const { opened, servers } = await makeServers(dependencies, written);
  const processing = await makeProcessing(dependencies, shared, { opened, servers });
  const source = makeCopySource(dependencies);
  joinCluster(dependencies, shared, { shards, copies: source, retention, ages, servers, ...processing });
  const parts = await inStartOrder(dependencies, shared, {
    ...copies,
    ...processing,
    source,
    documents,
    bodies,
    opened,
    servers,
  });
  return { servers, opened, parts };
}

/** The parts that read and process the lines of the log. */
interface Processing {
  readonly sink: DocumentSink;
  readonly tail: SharedTail;
  readonly pipelines: Pipelines;
  readonly fleet: Fleet;
}

async function makeProcessing(
  dependencies: FlowDependencies,
  shared: Shared,
  { opened, servers }: Pick<Flow, "opened" | "servers">,
): Promise<Processing> {
  const { log, journal, metrics, cluster } = dependencies;
  const { watermarks, losses } = shared;
  const sink = makeSink(dependencies, shared);
  const tail = new SharedTail({
    transport: journal.core,
    node: cluster.identity.node,
    own: servers.tail,
    metrics,
    clock: systemClock,
  });
  const pipelines = await openPipelines(dependencies, shared, sink, { opened, tail });
  const fleet = new Fleet({
    log,
    port: routes.logPort(journal),
    raw: routes.rawPort(journal),
    watermarks,
    hasOthers: () => cluster.members().length > 1,
    bucket: await journal.bucket("agents"),
    now,
  });
  servers.pipelines = pipelines;
  servers.fleet = fleet;
  followLosses({ journal, losses, pipelines });
  return { sink, tail, pipelines, fleet };
}

interface Made extends Processing, Pick<Flow, "opened" | "servers">, ReturnType<typeof makeCopies> {
  readonly source: CopySource;
  readonly documents: Documents;
  readonly bodies: BodyThreads;
}

/** Returns the parts in the order of their start; they are stopped in reverse. */
async function inStartOrder(
  dependencies: FlowDependencies,
  shared: Shared,
  made: Made,
): Promise<Flow["parts"]> {
  const { settings, journal, hosts, cluster } = dependencies;
  const { shards, age, source, documents, bodies, opened, servers, tail, pipelines, fleet } = made;
  const certificates = makeCertificateWatch(dependencies, servers);
  const health = makeHealth({ ...dependencies, stopped: shared.stopped, pipelines, fleet, certificates });
  servers.health = health;
  const follow = (): Promise<void> => hosts.follow(logServices(dependencies, shared, documents));
  const placed = { ...dependencies, folder: resolve(settings["path.data"]) };
  return [
    ["members", cluster.joining],
    // They start concurrently with the parts that follow; `pipelines` awaits them.
    ["pipeline threads", { start: async () => pipelines.prepare(), stop: () => pipelines.stop() }],
    ["shard feeding", { start: follow, stop: () => hosts.unfollow() }],
    ["documents", { start: async () => documents.start(), stop: async () => documents.stop() }],
    ["large bodies", bodies],
    ["age of the copies", age],
    ["copies", shards],
    ["copies for others", source],
    ["searches of other hubs", makeHubAnswerer(dependencies, age)],
    ["placement of copies", makePlacer(placed, logEndOf(journal))],
    ["live tail of other hubs", tail],
    ["access", opened],
    ["interfaces", { start: async () => void (await servers.prepare()), stop: () => servers.stop() }],
    ["release of partitions", { start: async () => undefined, stop: () => cluster.release() }],
    ["pipeline", pipelines],
    ["fleet", fleet],
    ["duties", cluster.duties],
    ["partitions", cluster.partitions],
    ["monitoring", await makeMonitoring(dependencies, documents, fleet)],
    ["health", health],
    ["listeners", servers],
    ["certificates", certificates],
    ["disk reserve", makeDiskReserve(dependencies)],
  ];
}

async function makeServers(
  dependencies: FlowDependencies,
  parts: Pick<ListenersOptions, "shards" | "documents" | "bodies" | "retention" | "makeSearchable">,
): Promise<{ opened: OpenedAccess; servers: Listeners }> {
  const { settings, journal } = dependencies;
  const opened = await openAccess({
    ...dependencies,
    folder: resolve(settings["path.data"]),
    bucket: await journal.bucket(AUTH_BUCKET),
    natsServer: journal.server,
    documents: parts.documents,
    dashboardUrl: () => servers.addresses.dashboard,
  });
  const servers: Listeners = new Listeners({
    ...dependencies,
    ...parts,
    access: opened.access,
  });
  return { opened, servers };
}

async function makeMonitoring(
  { settings, journal, log, metrics }: FlowDependencies,
  documents: Documents,
  fleet: Fleet,
): Promise<Monitoring> {
  return new Monitoring({
    intervalMs: parseDuration(settings["monitoring.interval"]),
    documents,
    dashboard: HUB_HEALTH,
    saved: new SavedObjects(await journal.bucket("saved"), systemClock),
    agents: () => fleet.health(),
    node: settings["node.name"],
    clock: systemClock,
    log,
    metrics,
  });
}

function makeSink({ journal, catalog, metrics }: FlowDependencies, { lastDoc }: Shared): DocumentSink {
  return new DocumentSink({
    log: routes.logPort(journal),
    catalog,
    metrics,
    now,
    positionOf: (sequence) => journal.positionOf(DOC_STREAM, sequence),
    last: lastDoc,
    refuse: (refused) => routes.keepRefusedDocument(journal, refused),
  });
}

async function openPipelines(
  { settings, journal, version, log, metrics, cluster }: FlowDependencies,
  shared: Shared,
  sink: DocumentSink,
  { opened, tail }: Pick<Flow, "opened"> & { readonly tail: SharedTail },
): Promise<Pipelines> {
  return Pipelines.open({
    settings,
    journal,
    version,
    cluster,
    sharing: { mayWrite: () => cluster.membership.isValid },
    folder: resolve(settings["path.data"]),
    bearer: (...request) => opened.bearer(...request),
    mayIngest: (...request) => opened.mayIngest(...request),
    source: routes.rawSource(journal),
    sink,
    deadLetters: { write: (letter) => routes.keepPipelineLetter(journal, letter) },
    cursors: await journal.bucket("cursors"),
    log,
    metrics,
    clock: systemClock,
    listener: tail,
    events: {
      onCursor: (event) => shared.watermarks.processed(event),
      onPartitionStopped: (partition, { message }) => shared.stopped.set(partition, message),
    },
    losses: shared.losses,
  });
}

function makeDiskReserve({ settings, log, metrics }: FlowDependencies): DiskReserve {
  return new DiskReserve({ folder: resolve(settings["path.data"]), clock: systemClock, log, metrics });
}

function makeCertificateWatch(
  { settings, log, journal }: FlowDependencies,
  servers: Listeners,
): CertificateWatch {
  return new CertificateWatch({
    settings,
    clock: systemClock,
    log,
    onChange: (tls) => {
      servers.useCertificate(tls);
      journal.server.reload();
    },
  });
}
