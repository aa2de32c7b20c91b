/** Creates everything between the log and the listeners, each part with its dependencies. The hub starts the parts. */

import { resolve } from "node:path";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { CopySource } from "#hub/cluster/recovery/copy-source.ts";
import { BodyThreads } from "#hub/cluster/writes/body-threads.ts";
import { DocumentSink } from "#hub/cluster/writes/document-sink.ts";
import { Documents } from "#hub/cluster/writes/documents.ts";
import { Fleet } from "#hub/fleet/fleet.ts";
import { Watermarks } from "#hub/fleet/watermarks.ts";
import type { KnownPositions } from "#hub/host/client/host-link.ts";
import type { HostThreads, HubLogServices } from "#hub/host/client/host-threads.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import type { Journal } from "#hub/journal/journal.ts";
import { SharedTail } from "#hub/live/shared-tail.ts";
import { AUTH_BUCKET, type OpenedAccess, openAccess } from "#hub/node/access/access.ts";
import { DiskReserve } from "#hub/node/checks/disk-reserve.ts";
import { CertificateWatch } from "#hub/node/settings/certificate-watch.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { makeHealth } from "#hub/node/status/hub-health.ts";
import { type ClusterNode, DAMAGED, INCOMPLETE } from "#hub/node/wiring/cluster.ts";
import { logEndOf, makeCopies, makeCopySource, makeHubAnswerer } from "#hub/node/wiring/copies.ts";
import * as routes from "#hub/node/wiring/journal-adapters.ts";
import { Pipelines } from "#hub/node/wiring/pipelines.ts";
import { makePlacer } from "#hub/node/wiring/placement.ts";
import { retentionRules, wireLifecycles, wireRetention } from "#hub/node/wiring/shards.ts";
import { HUB_HEALTH } from "#hub/saved/sample-objects.ts";
import { SavedObjects } from "#hub/saved/saved-objects.ts";
import { LogJanitor, ProcessedFloor } from "#hub/upkeep/log-janitor.ts";
import { Monitoring } from "#hub/upkeep/monitoring.ts";
import type { RetentionRules } from "#hub/upkeep/retention-rules.ts";
import { settledClock } from "#hub/upkeep/settled-clock.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
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
  readonly findings: routes.LogFindings;
  readonly watermarks: Watermarks;
  readonly floor: ProcessedFloor;
  /** Partitions of the pipeline that stopped, with the reason. */
  readonly stopped: Map<number, string>;
}

const now = (): number => systemClock.now();

/** Creates the parts without starting them. First compares the log with the positions that the shards remember. */
export async function makeFlow(dependencies: FlowDependencies): Promise<Flow> {
  const { settings, log, journal, catalog, hosts, metrics, cluster } = dependencies;
  const { shards, age } = makeCopies(dependencies);
  const known = await hosts.open(catalog);
  const findings = await reconcile(journal, known);
  await refuseIncompleteCopies(dependencies, known.position);
  const shared: Shared = {
    findings,
    watermarks: new Watermarks(metrics),
    floor: new ProcessedFloor(),
    stopped: new Map(),
  };
  const port = routes.logPort(journal);
  const bodies = new BodyThreads({ log, metrics });
  const documents = new Documents({ log: port, catalog, shards, now });
  const ages = settledClock(systemClock, log);
  const retention = retentionRules(
    { ...dependencies, shards, clock: ages },
    await journal.bucket("retention"),
  );
  const settle = (): Promise<void> => {
    tail.announce();
    return shards.refreshWritten(catalog.all());
  };
  const { opened, servers } = await makeServers(dependencies, {
    shards,
    documents,
    bodies,
    retention,
    settle,
  });
  const sink = makeSink(dependencies, shared);
  const tail: SharedTail = new SharedTail({
    transport: journal.core,
    node: cluster.identity.node,
    own: servers.tail,
    metrics,
    clock: systemClock,
  });
  const pipelines = await openPipelines(dependencies, shared, sink, { opened, tail });
  servers.pipelines = pipelines;
  const { watermarks } = shared;
  const raw = routes.rawPort(journal);
  const fleet = new Fleet({
    log,
    port,
    raw,
    watermarks,
    hasOthers: () => cluster.members().length > 1,
    bucket: await journal.bucket("agents"),
    now,
  });
  servers.fleet = fleet;
  const copies = makeCopySource(dependencies);
  const feeding = { start: async () => documents.start(), stop: async () => documents.stop() };
  // The pipelines' threads start concurrently with the parts that follow; `pipelines` awaits them.
  const threads = { start: async () => pipelines.prepare(), stop: () => pipelines.stop() };
  const interfaces = { start: async () => void (await servers.prepare()), stop: () => servers.stop() };
  const following = {
    start: () => hosts.follow(logServices(dependencies, shared, documents)),
    stop: () => hosts.unfollow(),
  };
  joinCluster(dependencies, shared, { shards, copies, retention, ages, servers, pipelines, sink });
  const certificates = makeCertificateWatch(dependencies, servers);
  const health = makeHealth({ ...dependencies, stopped: shared.stopped, pipelines, fleet, certificates });
  servers.health = health;
  const parts: readonly (readonly [string, Component])[] = [
    ["members", cluster.joining],
    ["pipeline threads", threads],
    ["shard feeding", following],
    ["documents", feeding],
    ["large bodies", bodies],
    ["age of the copies", age],
    ["copies", shards],
    ["copies for others", copies],
    ["searches of other hubs", makeHubAnswerer(dependencies, age)],
    [
      "placement of copies",
      makePlacer({ ...dependencies, folder: resolve(settings["path.data"]) }, logEndOf(journal)),
    ],
    ["live tail of other hubs", tail],
    ["access", opened],
    ["interfaces", interfaces],
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
  return { servers, opened, parts };
}

/** Compares the log with the positions that the shards remember; begins new incarnations if it was lost or rolled back. */
async function reconcile(journal: Journal, known: KnownPositions): Promise<routes.LogFindings> {
  const before = await journal.state(DOC_STREAM);
  const end = before.lastSequence === 0 ? START : journal.positionOf(DOC_STREAM, before.lastSequence);
  const doc = await journal.reconcile(DOC_STREAM, known.doc);
  await journal.reconcile(RAW_STREAM, known.raw);
  const survived = comparePositions(end, known.position) > 0 ? end : known.position;
  return { docLost: doc.raised, survived };
}

/** Throws unavailable if other hubs have documents that neither this hub nor the log has. */
async function refuseIncompleteCopies(
  { journal, catalog, cluster }: FlowDependencies,
  position: Position,
): Promise<void> {
  const { firstSequence } = await journal.state(DOC_STREAM);
  const needed = journal.positionOf(DOC_STREAM, firstSequence);
  const isNext = comparePositions({ ...position, sequence: position.sequence + 1 }, needed) >= 0;
  if (isNext || firstSequence === 1 || catalog.all().length === 0) return;
  if (await cluster.hasOthers()) throw new AppError("unavailable", INCOMPLETE);
}

async function makeServers(
  dependencies: FlowDependencies,
  parts: Pick<ListenersOptions, "shards" | "documents" | "bodies" | "retention" | "settle">,
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

function makeSink({ journal, catalog, metrics }: FlowDependencies, { findings }: Shared): DocumentSink {
  return new DocumentSink({
    log: routes.logPort(journal),
    catalog,
    metrics,
    now,
    positionOf: (sequence) => journal.positionOf(DOC_STREAM, sequence),
    last: findings.survived,
    refuse: (refused) => routes.keepRefusedDocument(journal, refused),
  });
}

async function openPipelines(
  { settings, journal, version, log, metrics, cluster }: FlowDependencies,
  { findings, watermarks, stopped }: Shared,
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
      onCursor: (event) => watermarks.processed(event),
      onPartitionStopped: (partition, { message }) => stopped.set(partition, message),
    },
    resume: (cursor) => routes.resumption(cursor, findings),
  });
}

/** Returns the functions by which shards read the log, and those that receive their results and commits. */
function logServices(
  { journal, cluster }: FlowDependencies,
  { watermarks, floor }: Shared,
  documents: Documents,
): HubLogServices {
  return {
    read: (after, signal) => routes.readDocs(journal, after, signal),
    oldest: async () => {
      if (await cluster.hasOthers()) throw new AppError("data_corrupt", DAMAGED);
      return routes.oldestDoc(journal);
    },
    // A write is answered by the shards of the hub that received it, so that a read there finds it. If copies are placed and
    // that hub lacks the shard, the hubs that have it answer.
    reply: (subject, data) => {
      if (!documents.deliver(subject, data) && cluster.copies.isPlaced) journal.core.publish(subject, data);
    },
    deadLetter: (message, reason) => routes.keepDocMessage(journal, message, reason),
    onCommitted: (position) => {
      floor.committed(position);
      watermarks.committed(cluster.committed(position));
    },
  };
}

/** Gives the cluster's membership the values that it reports, and the work of the hub that holds the duties. */
function joinCluster(
  dependencies: FlowDependencies,
  { floor, watermarks, stopped }: Shared,
  parts: {
    readonly shards: HostedShards;
    readonly copies: CopySource;
    readonly retention: RetentionRules;
    readonly ages: Clock;
    readonly servers: Listeners;
    readonly pipelines: Pipelines;
    readonly sink: DocumentSink;
  },
): void {
  const { cluster } = dependencies;
  const { shards, copies, ages, servers, pipelines, sink } = parts;
  // Created once because its metrics belong to the process: the lease may be lost and taken again.
  const aged = { ...dependencies, shards, clock: ages };
  const retention = wireRetention(aged, parts.retention);
  const lifecycles = wireLifecycles(aged, () => cluster.duties.held);
  cluster.use({
    progress: {
      httpAddress: () => servers.httpAddress,
      doc: () => copies.needed(floor.position),
      raw: () => floor.advance(pipelines.processed ?? START, sink.last),
      needsAllPartitions: () => pipelines.isStateful,
    },
    runner: {
      assign: async (partitions) => {
        await pipelines.assign(partitions);
        // Partitions of other hubs are no longer a fault of this one.
        for (const partition of stopped.keys()) if (!partitions.has(partition)) stopped.delete(partition);
      },
      abandon: () => pipelines.abandon(),
    },
    duties: () => [
      ["janitor", makeJanitor(dependencies)],
      ["retention", retention],
      ["copies", cluster.copyAllocator(dependencies.catalog)],
      ["lifecycles", lifecycles],
    ],
  });
  // Others' commits arrive with their records.
  cluster.directory.onChange(() => watermarks.committed(cluster.committed(floor.position)));
}

function makeJanitor({ journal, log, cluster }: FlowDependencies): LogJanitor {
  return new LogJanitor({
    clock: systemClock,
    log,
    streams: [
      { name: RAW_STREAM, done: () => cluster.rawDone() },
      { name: DOC_STREAM, done: () => cluster.docDone() },
    ],
    state: (stream) => journal.state(stream),
    purge: (stream, { incarnation, sequence }) =>
      journal.purge(stream, { incarnation, sequence: sequence + 1 }),
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
