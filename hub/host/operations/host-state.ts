/** Makes what the operations of a host work on. */

import { cacheSharers } from "#hub/engine/files/extent-cache.ts";
import { RESULT_BYTES, ResultCache } from "#hub/search/execute/result-cache.ts";
import { SearchService } from "#hub/search/search-service.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { HostState } from "./operation.ts";
import { SearchContexts } from "./search-contexts.ts";
import { SearchProgress } from "./search-progress.ts";
import { Snapshots } from "./snapshots.ts";

type Given = Pick<HostState, "shards" | "placed" | "indices" | "clock" | "seat" | "ask"> & {
  readonly metrics: Metrics;
};

/** Returns the state of a host with nothing open. */
export function hostState({ metrics, ...given }: Given): HostState {
  const { shards, indices, clock } = given;
  const results = new ResultCache(Math.floor(RESULT_BYTES / cacheSharers()));
  const snapshots = new Snapshots();
  const progress = new SearchProgress();
  const service = new SearchService({
    metrics,
    results,
    clock,
    noteShard: (id) => progress.note(id),
    open({ index: { name, uuid }, shard, snapshot }) {
      if (snapshot !== undefined) return snapshots.searcher(snapshot, uuid, shard);
      const index = indices.byUuid(uuid);
      if (index !== undefined) return shards.searcher(index, shard);
      throw new AppError("unavailable", `the index [${name}] was deleted`);
    },
  });
  return { ...given, results, snapshots, progress, service, contexts: new SearchContexts() };
}
