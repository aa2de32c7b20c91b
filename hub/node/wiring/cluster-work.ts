/** What this hub does for its cluster: what it reports, the partitions it processes, and the duties while it holds them. */

import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { CopySource } from "#hub/cluster/recovery/copy-source.ts";
import type { DocumentSink } from "#hub/cluster/writes/document-sink.ts";
import type { Watermarks } from "#hub/fleet/watermarks.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { notePurge } from "#hub/pipeline/runtime/floors.ts";
import { LogJanitor, type ProcessedFloor } from "#hub/upkeep/log-janitor.ts";
import type { RetentionRules } from "#hub/upkeep/retention-rules.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { MIB, parseDuration, parseSize } from "#proto/kit/units.ts";
import { laterOf, START } from "#proto/position.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import type { ClusterNode } from "./cluster.ts";
import type { Pipelines } from "./pipelines.ts";
import { wireLifecycles, wireRetention } from "./upkeep.ts";

/** nats-server may rewrite one of its files when it purges a part of it: all messages of such a file must be processed. */
const LEAST_KEPT_BYTES = 8 * MIB;

export interface ClusterWorkWiring {
  readonly settings: HubSettings;
  readonly journal: Journal;
  readonly catalog: IndexCatalog;
  readonly cluster: ClusterNode;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** State that is reported, and that of partitions that stopped. */
export interface Reported {
  readonly watermarks: Watermarks;
  readonly floor: ProcessedFloor;
  /** With the reasons. */
  readonly stopped: Map<number, string>;
}

/** The parts that work for the cluster, or whose progress is reported. */
export interface ClusterWork {
  readonly shards: HostedShards;
  readonly copies: CopySource;
  readonly retention: RetentionRules;
  readonly ages: Clock;
  readonly servers: { readonly httpAddress: string };
  readonly pipelines: Pipelines;
  readonly sink: DocumentSink;
}

/** Gives the cluster's membership the values that it reports, and the work of the hub that holds the duties. */
export function joinCluster(
  wiring: ClusterWorkWiring,
  { floor, watermarks, stopped }: Reported,
  parts: ClusterWork,
): void {
  const { cluster } = wiring;
  const { shards, copies, ages, servers, pipelines, sink } = parts;
  // Created once because its metrics belong to the process: the lease may be lost and taken again.
  const aged = { ...wiring, shards, clock: ages };
  const retention = wireRetention(aged, parts.retention);
  const isHeld = (): boolean => cluster.duties.held;
  const lifecycles = wireLifecycles(aged, isHeld);
  cluster.use({
    progress: {
      httpAddress: () => servers.httpAddress,
      doc: () => copies.needed(floor.position),
      raw: () => {
        // Documents of partitions that were taken over are behind the last one that this hub wrote.
        const doc = laterOf(pipelines.written, sink.last);
        return floor.advance(pipelines.processed ?? START, doc, cluster.committed(floor.position));
      },
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
      ["janitor", makeJanitor(wiring, isHeld)],
      ["retention", retention],
      ["copies", cluster.copyStore.allocator(wiring.catalog, isHeld)],
      ["lifecycles", lifecycles],
    ],
  });
  // Others' commits arrive with their records.
  cluster.directory.onChange(() => watermarks.committed(cluster.committed(floor.position)));
}

/** Returns the part that purges the log, nothing once this hub has lost the duties. Throws settings_invalid. */
function makeJanitor(
  { settings, journal, log, cluster }: ClusterWorkWiring,
  isHeld: () => boolean,
): LogJanitor {
  return new LogJanitor({
    clock: systemClock,
    log,
    keepBytes: keptBytes(settings["journal.keep_bytes"]),
    keepMs: parseDuration(settings["journal.keep"]),
    streams: [
      {
        name: RAW_STREAM,
        done: () => (isHeld() ? cluster.rawDone() : START),
        beforePurge: async (position) => notePurge(await journal.bucket("cursors"), position),
      },
      { name: DOC_STREAM, done: (isTight) => (isHeld() ? cluster.docDone(isTight) : START) },
    ],
    state: (stream) => journal.state(stream),
    positionOf: (stream, sequence) => journal.positionOf(stream, sequence),
    sequenceAt: (stream, position) => journal.sequenceAt(stream, position),
    purge: (stream, { incarnation, sequence }) =>
      journal.purge(stream, { incarnation, sequence: sequence + 1 }),
  });
}

function keptBytes(value: string | number): number {
  const bytes = parseSize(value);
  if (bytes >= LEAST_KEPT_BYTES) return bytes;
  throw new AppError("settings_invalid", `journal.keep_bytes: ${value} is less than 8mb`);
}
