/** The dependencies of the routes of the search interface. */

import type { ErrorContext } from "#hub/api/http/error-body.ts";
import type { HealthReport } from "#hub/api/ports/administration.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import type { Documents, LargeBodies } from "#hub/api/ports/documents.ts";
import type { Indices, Shards } from "#hub/api/ports/indices.ts";
import type { IngestPipelines } from "#hub/api/ports/pipelines.ts";
import type { SnapshotRepositories } from "#hub/api/ports/repositories.ts";
import type { StoredScripts } from "#hub/api/ports/scripts.ts";
import type { FindStored } from "#hub/scripts/script.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { AsyncSearches } from "./async-searches.ts";
import { blockDocuments } from "./index-blocks.ts";
import {
  countDocuments,
  countMaintenance,
  IndexCounters,
  type Maintenance,
  WritePressure,
  weighDocuments,
} from "./index-counters.ts";
import { ingestDocuments } from "./ingest-documents.ts";
import { PointContexts } from "./point-contexts.ts";
import { RequestTurns, ShardsInTurn } from "./request-turns.ts";
import { RestUsage } from "./rest-usage.ts";
import { SlowQueries } from "./slow-queries.ts";
import type { TaskResults } from "./task-results.ts";
import { Tasks } from "./tasks.ts";
import { VotingExclusions } from "./voting-exclusions.ts";

export interface ApiDependencies {
  readonly indices: Indices;
  readonly documents: Documents;
  /** Absent: large bodies are parsed on this thread. */
  readonly bodies?: LargeBodies;
  readonly shards: Shards;
  readonly cluster: Cluster;
  /** Absolute path of the folder of everything that the hub stores. */
  readonly dataFolder: string;
  readonly clock: Clock;
  /** Version that answers name unless a request asks for another, e.g. "6.5.4". */
  readonly compatVersion: string;
  readonly errors: ErrorContext;
  /** Duration, ms, from which a search is logged as slow; absent: none is. */
  readonly slowQueryMs?: number;
  /** Timeout, ms, of searches that name none; absent: no limit. */
  readonly searchTimeoutMs?: number;
  /** host:port patterns that _reindex may read from; absent: none. */
  readonly remoteHosts?: readonly string[];
  /** Absent: there are no ingest pipelines. */
  readonly ingest?: IngestPipelines;
  /** The health of the hub's parts; absent: they aren't checked. */
  readonly health?: () => HealthReport;
  /** Absent: there are no snapshot repositories. */
  readonly repositories?: SnapshotRepositories;
  /** Absent: there are no stored scripts. */
  readonly scripts?: StoredScripts;
  /** Absent: results of tasks are kept in memory only. */
  readonly taskResults?: TaskResults;
}

/** The dependencies, wrapped to count their operations, and the state that routes share. */
export interface ApiContext extends ApiDependencies {
  readonly counters: IndexCounters;
  /** Refresh, flush and merge, counted. */
  readonly maintenance: Maintenance;
  readonly remoteHosts: readonly string[];
  /** Stopped by its owner. */
  readonly tasks: Tasks;
  readonly slowQueries: SlowQueries;
  /** Stopped by its owner. */
  readonly points: PointContexts;
  /** Stopped by its owner. */
  readonly asyncSearches: AsyncSearches;
  readonly pressure: WritePressure;
  /** Limits concurrent searches and bulk requests; `shards` waits for its turns by itself. */
  readonly turns: RequestTurns;
  readonly votingExclusions: VotingExclusions;
  readonly usage: RestUsage;
}

/** Returns the function that finds stored scripts. */
export function findStored({ scripts }: Pick<ApiContext, "scripts">): FindStored {
  return (id) => scripts?.get(id);
}

/** Returns the context of the routes over the rest of the hub. */
export function apiContext(dependencies: ApiDependencies, log: Logger): ApiContext {
  const { documents, indices, shards, cluster, clock } = dependencies;
  const counters = new IndexCounters(clock);
  const pressure = new WritePressure();
  const turns = new RequestTurns();
  const tasks = new Tasks(clock);
  return {
    ...dependencies,
    shards: new ShardsInTurn(shards, turns.searches),
    turns,
    documents: ingestDocuments(
      blockDocuments(
        countDocuments(weighDocuments(documents, pressure), indices, counters),
        indices,
        cluster,
      ),
      dependencies.ingest,
      indices,
      clock,
    ),
    maintenance: countMaintenance(shards, counters),
    counters,
    pressure,
    votingExclusions: new VotingExclusions(),
    usage: new RestUsage(clock),
    remoteHosts: dependencies.remoteHosts ?? [],
    tasks,
    asyncSearches: new AsyncSearches(tasks, cluster, clock),
    points: new PointContexts(cluster, clock),
    slowQueries: new SlowQueries(clock, log, dependencies.slowQueryMs ?? Number.POSITIVE_INFINITY),
  };
}
