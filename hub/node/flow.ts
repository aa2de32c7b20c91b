/** Creates everything between the log and the listeners, each part with its dependencies. The hub starts the parts. */

import { resolve } from "node:path";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { DocumentSink } from "#hub/cluster/writes/document-sink.ts";
import { Documents } from "#hub/cluster/writes/documents.ts";
import { Fleet } from "#hub/fleet/fleet.ts";
import { Watermarks } from "#hub/fleet/watermarks.ts";
import type { KnownPositions } from "#hub/host/client/host-link.ts";
import type { HostThreads, HubLogServices } from "#hub/host/client/host-threads.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import { CopyCalls } from "#hub/host/copies/copy-calls.ts";
import { type Reach, SharedShards } from "#hub/host/copies/shared-shards.ts";
import type { Journal } from "#hub/journal/journal.ts";
import { SharedTail } from "#hub/live/shared-tail.ts";
import { AUTH_BUCKET, type OpenedAccess, openAccess } from "#hub/node/access/access.ts";
import { CertificateWatch } from "#hub/node/settings/certificate-watch.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { clusterCheck } from "#hub/node/status/cluster-check.ts";
import { type Finding, Health, OK } from "#hub/node/status/health.ts";
import {
  diskCheck,
  logCheck,
  type Progress,
  progressCheck,
  restartCheck,
  worstOf,
} from "#hub/node/status/health-checks.ts";
import { type ClusterNode, INCOMPLETE } from "#hub/node/wiring/cluster.ts";
import * as routes from "#hub/node/wiring/journal-adapters.ts";
import { Pipelines } from "#hub/node/wiring/pipelines.ts";
import { hostedShards, retentionRules, wireRetention } from "#hub/node/wiring/shards.ts";
import { HUB_HEALTH } from "#hub/saved/sample-objects.ts";
import { SavedObjects } from "#hub/saved/saved-objects.ts";
import { LogJanitor, ProcessedFloor } from "#hub/upkeep/log-janitor.ts";
import { Monitoring } from "#hub/upkeep/monitoring.ts";
import type { RetentionRules } from "#hub/upkeep/retention-rules.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import { DEAD_LETTER_STREAM, DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import { Listeners } from "./listeners.ts";

/** Dependencies of the flow; journal and catalog are started, the hosts' threads are. */
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

/** Creates the parts without starting them. First compares the log with what the shards remember. */
export async function makeFlow(dependencies: FlowDependencies): Promise<Flow> {
  const { log, journal, catalog, hosts, metrics, cluster } = dependencies;
  const shards = makeShards(dependencies);
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
  const documents = new Documents({ log: port, catalog, shards, now });
  const retention = retentionRules({ ...dependencies, shards }, await journal.bucket("retention"));
  const { opened, servers } = await makeServers(dependencies, shards, documents, retention);
  const sink = makeSink(dependencies, shared);
  const tail = new SharedTail({
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
  const feeding = { start: async () => documents.start(), stop: async () => documents.stop() };
  // The pipelines' threads start concurrently with the parts that follow; `pipelines` awaits them.
  const threads = { start: async () => pipelines.prepare(), stop: () => pipelines.stop() };
  const interfaces = { start: async () => void (await servers.prepare()), stop: () => servers.stop() };
  const following = {
    start: () => hosts.follow(logServices(dependencies, shared, documents)),
    stop: () => hosts.unfollow(),
  };
  joinCluster(dependencies, shared, { shards, retention, servers, pipelines, sink });
  const health = makeHealth(dependencies, shared, pipelines);
  servers.health = health;
  const parts: readonly (readonly [string, Component])[] = [
    ["members", cluster.joining],
    ["pipeline threads", threads],
    ["shard feeding", following],
    ["documents", feeding],
    ["copies", shards],
    ["live tail of other hubs", tail],
    ["access", opened],
    ["interfaces", interfaces],
    ["pipeline", pipelines],
    ["fleet", fleet],
    ["duties", cluster.duties],
    ["partitions", cluster.partitions],
    ["monitoring", await makeMonitoring(dependencies, documents, fleet)],
    ["health", health],
    ["listeners", servers],
    ["certificates", makeCertificateWatch(dependencies, servers)],
  ];
  return { servers, opened, parts };
}

/** Makes the shards as copies of those that other hubs have. */
function makeShards({ hosts, catalog, journal, cluster, log, metrics }: FlowDependencies): SharedShards {
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

/** Compares the log with what the shards remember; begins new incarnations if it was lost or rolled back. */
async function reconcile(journal: Journal, known: KnownPositions): Promise<routes.LogFindings> {
  const before = await journal.state(DOC_STREAM);
  const end = before.lastSequence === 0 ? START : journal.positionOf(DOC_STREAM, before.lastSequence);
  const doc = await journal.reconcile(DOC_STREAM, known.doc);
  await journal.reconcile(RAW_STREAM, known.raw);
  const survived = comparePositions(end, known.position) > 0 ? end : known.position;
  return { docLost: doc.raised, survived };
}

/** Throws settings_invalid where other hubs have documents that neither this hub nor the log has. */
async function refuseIncompleteCopies(
  { journal, catalog, cluster }: FlowDependencies,
  position: Position,
): Promise<void> {
  const { firstSequence } = await journal.state(DOC_STREAM);
  const needed = journal.positionOf(DOC_STREAM, firstSequence);
  const isNext = comparePositions({ ...position, sequence: position.sequence + 1 }, needed) >= 0;
  if (isNext || firstSequence === 1 || catalog.all().length === 0) return;
  if (await cluster.hasOthers()) throw new AppError("settings_invalid", INCOMPLETE);
}

async function makeServers(
  dependencies: FlowDependencies,
  shards: HostedShards,
  documents: Documents,
  retention: RetentionRules,
): Promise<{ opened: OpenedAccess; servers: Listeners }> {
  const { settings, journal } = dependencies;
  const opened = await openAccess({
    ...dependencies,
    folder: resolve(settings["path.data"]),
    bucket: await journal.bucket(AUTH_BUCKET),
    natsServer: journal.server,
    documents,
    dashboardUrl: () => servers.addresses.dashboard,
  });
  const servers: Listeners = new Listeners({
    ...dependencies,
    shards,
    documents,
    retention,
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

/** Returns what the shards need of the log, and what their results and commits lead to. */
function logServices(
  { journal, cluster }: FlowDependencies,
  { watermarks, floor }: Shared,
  documents: Documents,
): HubLogServices {
  return {
    read: (after, signal) => routes.readDocs(journal, after, signal),
    oldest: async () => {
      if (await cluster.hasOthers()) throw new AppError("data_corrupt", INCOMPLETE);
      return routes.oldestDoc(journal);
    },
    // A write is answered by the shards of the hub that it was sent to, so that a read there finds it.
    reply: (subject, data) => documents.deliver(subject, data),
    deadLetter: (message, reason) => routes.keepDocMessage(journal, message, reason),
    onCommitted: (position) => {
      floor.committed(position);
      watermarks.committed(cluster.committed(position));
    },
  };
}

/** Gives the cluster's membership what it reports, and the work of the hub that has the duties. */
function joinCluster(
  dependencies: FlowDependencies,
  { floor, watermarks }: Shared,
  parts: {
    readonly shards: HostedShards;
    readonly retention: RetentionRules;
    readonly servers: Listeners;
    readonly pipelines: Pipelines;
    readonly sink: DocumentSink;
  },
): void {
  const { cluster } = dependencies;
  const { shards, servers, pipelines, sink } = parts;
  // Its metrics are the process's: the lease may be lost and taken again.
  const retention = wireRetention({ ...dependencies, shards }, parts.retention);
  cluster.use({
    progress: {
      httpAddress: () => servers.httpAddress,
      doc: () => floor.position,
      raw: () => floor.advance(pipelines.processed ?? START, sink.last),
      needsAllPartitions: () => pipelines.isStateful,
    },
    runner: pipelines,
    duties: () => [
      ["janitor", makeJanitor(dependencies)],
      ["retention", retention],
    ],
  });
  // Others' commits arrive with their records.
  cluster.directory.onChange(() => watermarks.committed(cluster.committed(floor.position)));
}

function makeHealth(
  { settings, journal, hosts, log, metrics, cluster }: FlowDependencies,
  { stopped }: Shared,
  pipelines: Pipelines,
): Health {
  const streams = [RAW_STREAM, DOC_STREAM, DEAD_LETTER_STREAM];
  const behind = async (stream: string, done: number | undefined): Promise<Progress> => {
    if (done === undefined) return { done: 0, waiting: 0 }; // nobody reads it yet
    const { lastSequence } = await journal.state(stream);
    return { done, waiting: Math.max(0, lastSequence - done) };
  };
  const report = (level: Finding["level"], reason: string): Finding =>
    reason === "" ? OK : { level, reason };
  return new Health({
    checks: {
      disk: diskCheck(resolve(settings["path.data"])),
      log: worstOf(
        restartCheck(() => journal.server.starts),
        logCheck({
          states: () => Promise.all(streams.map((stream) => journal.state(stream))),
          full: () => journal.fullStreams,
        }),
      ),
      shards: worstOf(
        () => report("failing", hosts.failure),
        () => setBackFinding(hosts),
        progressCheck(() => behind(DOC_STREAM, hosts.position.sequence), "indexed"),
      ),
      pipelines: worstOf(
        () => report("failing", stoppedPartitions(stopped)),
        progressCheck(() => behind(RAW_STREAM, journal.readUpTo(RAW_STREAM)), "read"),
        () => report("degraded", pipelines.trouble()),
      ),
      cluster: clusterCheck(cluster),
    },
    clock: systemClock,
    log,
    metrics,
  });
}

/** Shards that lost files: failing where documents are missing, degraded while the log is read again. */
function setBackFinding({ setBack: found }: HostThreads): Finding {
  if (found === null) return OK;
  return { level: found.isIncomplete ? "failing" : "degraded", reason: found.reason };
}

function stoppedPartitions(stopped: ReadonlyMap<number, string>): string {
  const [first] = stopped;
  if (first === undefined) return "";
  const [partition, reason] = first;
  return `${stopped.size} partitions stopped, among them ${partition}: ${reason}`;
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
