/** Counts the documents that match a query. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import {
  NO_MORE_DOCS,
  type Query,
  type ScoreMode,
  ShardContext,
  type Weight,
} from "#hub/search/query/query.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { SearchShard, ShardFailure } from "./phases/contract.ts";

export interface CountResponse {
  readonly count: number;
  readonly failures: readonly ShardFailure[];
}

const COUNTING: ScoreMode = { scores: false, boost: 1 };

/** Counts the live documents of a query. Throws the error of a shard where none could be searched, cancelled. */
export async function countShards(
  query: Query,
  shards: readonly SearchShard[],
  signal: AbortSignal,
): Promise<CountResponse> {
  const control = new SearchControl(systemClock, signal, undefined);
  const failures: ShardFailure[] = [];
  let count = 0;
  for (const { index, shard, searcher, filter } of shards) {
    try {
      const context = new ShardContext(index, shard, searcher, systemClock.now());
      const restricted = filter === undefined ? query : new BooleanNode({ filter: [query, filter] });
      const weight = restricted.weight(context, COUNTING);
      for (const segment of searcher.segments) count += await countSegment(weight, segment, control);
    } catch (error) {
      const failure = toAppError(error);
      if (failure.code === "cancelled") throw failure;
      failures.push({ index: index.name, indexUuid: index.uuid, shard, error: failure });
    }
  }
  if (failures.length > 0 && failures.length === shards.length) {
    throw new AppError(failures[0]!.error.code, "all shards failed", {
      data: { failures },
      cause: failures[0]!.error,
    });
  }
  return { count, failures };
}

async function countSegment(weight: Weight, segment: SegmentReader, control: SearchControl): Promise<number> {
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
