/** Counts the documents that match a query, on shards of this thread or of several hosts. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { askHosts } from "#hub/search/phases/ask-hosts.ts";
import { prepareNested } from "#hub/search/phases/prepare-search.ts";
import type { HostShards } from "#hub/search/phases/scatter.ts";
import type { PartialResult, SearchDemand } from "#hub/search/phases/search-call.ts";
import { NO_MORE_DOCS, type ScoreMode, ShardContext, type Weight } from "#hub/search/query/query.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import type { QueryRequest } from "#hub/search/request/search-request.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { SearchShard, ShardFailure } from "./phases/contract.ts";

export interface CountResponse {
  readonly count: number;
  readonly failures: readonly ShardFailure[];
}

/** Result of the shards of one host. Plain data, so that it can be sent. */
interface PartialCount {
  readonly count: number;
  /** Shards that were counted. */
  readonly counted: number;
  /** Shards that could not be counted, by their order. */
  readonly failures: PartialResult["failures"];
}

const COUNTING: ScoreMode = { scores: false, boost: 1 };

/** Counts the live documents of a query. Throws the error of a shard if none could be searched, cancelled. */
export async function countShards(
  request: QueryRequest,
  shards: readonly SearchShard[],
  signal: AbortSignal,
): Promise<CountResponse> {
  return mergeCounts([await collectCount(request, shards, signal)]);
}

/** Counts the documents of `demand.body.query`. Throws as countShards does. */
export async function countOnHosts(
  demand: SearchDemand,
  targets: readonly HostShards[],
  signal: AbortSignal,
): Promise<CountResponse> {
  const partials = await askHosts(targets, signal, {
    ask: ({ host, shards }, either) => host.partial<PartialCount>("count", { ...demand, shards }, either),
    unanswered: (failures): PartialCount => ({ count: 0, counted: 0, failures }),
  });
  return mergeCounts(partials);
}

/** Merges the counts of hosts. Throws the error of a shard if none could be counted. */
function mergeCounts(partials: readonly PartialCount[]): CountResponse {
  const failures = partials
    .flatMap((partial) => partial.failures)
    .toSorted((a, b) => a.order - b.order)
    .map(({ failure }) => failure);
  const [first] = failures;
  if (first !== undefined && partials.every(({ counted }) => counted === 0))
    throw new AppError(first.error.code, "all shards failed", { data: { failures }, cause: first.error });
  return { count: partials.reduce((sum, { count }) => sum + count, 0), failures };
}

/** Counts in shards of one host. Throws cancelled. */
export async function collectCount(
  { query, nestedPaths }: QueryRequest,
  shards: readonly SearchShard[],
  signal: AbortSignal,
): Promise<PartialCount> {
  const control = new SearchControl(systemClock, signal, undefined);
  const failures: PartialResult["failures"][number][] = [];
  let count = 0;
  for (const [at, { index, shard, searcher, filter, filterPaths, order }] of shards.entries()) {
    try {
      const context = new ShardContext(index, shard, searcher, systemClock.now());
      const restricted = filter === undefined ? query : new BooleanNode({ filter: [query, filter] });
      await prepareNested(context, control, nestedPaths, filterPaths);
      const weight = restricted.weight(context, COUNTING);
      for (const segment of context.searcher.segments) count += await countSegment(weight, segment, control);
    } catch (error) {
      const failure = toAppError(error);
      if (failure.code === "cancelled") throw failure;
      const { name, uuid } = index;
      failures.push({ order: order ?? at, failure: { index: name, indexUuid: uuid, shard, error: failure } });
    }
  }
  return { count, counted: shards.length - failures.length, failures };
}

async function countSegment(weight: Weight, segment: SegmentReader, control: SearchControl): Promise<number> {
  await weight.prepare?.(segment, control);
  const known = weight.count(segment);
  if (known >= 0) return known;
  const docs = new Int32Array(1024);
  const scorer = weight.scorer(segment);
  let count = 0;
  while (scorer !== null && scorer.doc !== NO_MORE_DOCS) {
    const length = scorer.fill(docs, null);
    const live = segment.liveDocs;
    if (live === null) count += length;
    else for (let at = 0; at < length; at++) if (live.has(docs[at]!)) count++;
    if (control.isDue) await control.pause();
  }
  return count;
}
