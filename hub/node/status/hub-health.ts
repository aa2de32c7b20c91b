/** The health checks of a running hub: disk, log, shards, pipelines, cluster, agents and certificate. */

import { resolve } from "node:path";
import type { Fleet, FleetAgent } from "#hub/fleet/fleet.ts";
import type { HostThreads } from "#hub/host/client/host-threads.ts";
import type { Journal, JournalState } from "#hub/journal/journal.ts";
import type { CertificateWatch } from "#hub/node/settings/certificate-watch.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import type { ClusterNode } from "#hub/node/wiring/cluster.ts";
import type { Pipelines } from "#hub/node/wiring/pipelines.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { DEAD_LETTER_STREAM, DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import { type Finding, Health, type HealthCheck, OK } from "./health.ts";
import {
  agentsCheck,
  certificateCheck,
  clockCheck,
  clusterCheck,
  deadLettersCheck,
  diskCheck,
  fullStreams,
  logCheck,
  type NamelessIndex,
  namesCheck,
  type Progress,
  progressCheck,
  restartCheck,
  worstOf,
} from "./health-checks.ts";

/** The checked parts. */
export interface HealthSources {
  readonly settings: HubSettings;
  readonly journal: Journal;
  readonly hosts: HostThreads;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly cluster: ClusterNode;
  /** Partitions of the pipeline that stopped, with the reason. */
  readonly stopped: ReadonlyMap<number, string>;
  readonly pipelines: Pipelines;
  readonly fleet: Fleet;
  readonly certificates: CertificateWatch;
  readonly catalog: { withoutName(): readonly NamelessIndex[] };
}

/** Makes the checks of a running hub without starting them. */
export function makeHealth(sources: HealthSources): Health {
  const { settings, journal, cluster, fleet, certificates, log, metrics } = sources;
  const streams = [RAW_STREAM, DOC_STREAM, DEAD_LETTER_STREAM];
  const state = sharedWhilePending((stream) => journal.state(stream));
  const agents = (): readonly FleetAgent[] => fleet.health();
  metrics.gauge(
    "tailrace_cluster_indices_without_name",
    "indices whose name another one has: their documents are kept but not found",
    [],
    (gauge) => gauge.set(sources.catalog.withoutName().length),
  );
  return new Health({
    checks: {
      disk: diskCheck(resolve(settings["path.data"])),
      log: worstOf(
        restartCheck(() => journal.server.starts),
        logCheck({
          states: () => Promise.all(streams.map(state)),
          full: () => fullStreams(journal.fullStreams, agents()),
        }),
      ),
      shards: shardsCheck(sources, state),
      pipelines: pipelinesCheck(sources, state),
      cluster: clusterCheck(cluster),
      agents: agentsCheck(agents, () => systemClock.now()),
      clock: clockCheck(systemClock, agents),
      certificate: certificateCheck({
        certificate: () => certificates.current?.cert,
        problem: () => certificates.problem,
        now: () => systemClock.now(),
      }),
    },
    clock: systemClock,
    log,
    metrics,
  });
}

type StateOf = (stream: string) => Promise<JournalState>;

/** The checks run at the same time: those that ask for the same stream share the answer. */
function sharedWhilePending(stateOf: StateOf): StateOf {
  const pending = new Map<string, Promise<JournalState>>();
  return (stream) => {
    const known = pending.get(stream);
    if (known !== undefined) return known;
    const asked = stateOf(stream).finally(() => pending.delete(stream));
    pending.set(stream, asked);
    return asked;
  };
}

function shardsCheck({ hosts, catalog }: HealthSources, state: StateOf): HealthCheck {
  return worstOf(
    () => finding("failing", hosts.failure),
    () => setBackFinding(hosts),
    namesCheck(() => catalog.withoutName()),
    progressCheck(() => progress(state, DOC_STREAM, hosts.position.sequence), "indexed"),
  );
}

function pipelinesCheck({ journal, stopped, pipelines }: HealthSources, state: StateOf): HealthCheck {
  return worstOf(
    () => finding("failing", stoppedPartitions(stopped)),
    progressCheck(() => progress(state, RAW_STREAM, journal.readUpTo(RAW_STREAM)), "read"),
    () => finding("degraded", pipelines.problem()),
    deadLettersCheck(async () => (await state(DEAD_LETTER_STREAM)).lastSequence),
  );
}

function finding(level: Finding["level"], reason: string): Finding {
  return reason === "" ? OK : { level, reason };
}

/** `done`: sequence up to which the stream was read; undefined if it has no reader yet. */
async function progress(stateOf: StateOf, stream: string, done: number | undefined): Promise<Progress> {
  if (done === undefined) return { done: 0, waiting: 0 };
  const { lastSequence } = await stateOf(stream);
  return { done, waiting: Math.max(0, lastSequence - done) };
}

/** Shards that lost files: failing if documents are missing, degraded while the log is read again. */
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
