/** Statistics of this host's shards, and their maintenance: refresh, flush, merge. */

import type { ShardNumbers, ShardSearcher } from "#hub/cluster/shards/contract.ts";
import type { NamedShard } from "#hub/cluster/shards/shard-folders.ts";
import type { ShardSegments } from "#hub/host/contract/calls.ts";
import type { NamedIndex } from "#hub/host/contract/hosted-shards.ts";
import type { Position } from "#proto/position.ts";
import { type HostState, indicesOf, NOTHING, operation } from "./operation.ts";

interface IndicesCall {
  readonly indices: readonly NamedIndex[];
}

/** See HostedShards.stats. */
export const stats = operation<IndicesCall>((host, { indices }) => ({
  value: new Map(indicesOf(host, indices).map((index) => [index.uuid, host.shards.stats(index)])),
}));

/** See HostedShards.segments. */
export const segments = operation<IndicesCall>((host, { indices }) =>
  withSearchers(host, indices, (opened) =>
    opened.map(
      ({ index: { uuid }, shard, searcher }): ShardSegments => ({
        uuid,
        shard,
        segments: searcher.segments.map(({ docCount, liveCount }) => ({ docs: docCount, live: liveCount })),
      }),
    ),
  ),
);

/** See HostedShards.largest. */
export const largest = operation<IndicesCall & { readonly field: string }>((host, { indices, field }) =>
  withSearchers(host, indices, (opened) => {
    const found = new Map<string, number>();
    for (const { index, searcher } of opened) {
      for (const segment of searcher.segments) {
        const max = segment.numericColumn(field)?.max;
        if (max !== undefined) found.set(index.uuid, Math.max(max, found.get(index.uuid) ?? max));
      }
    }
    return found;
  }),
);

/** See HostedShards.refresh. */
export const refresh = operation<IndicesCall & { readonly only?: ShardNumbers }>(async (host, call) => {
  await host.shards.refresh(indicesOf(host, call.indices), call.only);
  return NOTHING;
});

/** See HostedShards.nextRefresh. */
export const nextRefresh = operation<IndicesCall>(async (host, { indices }, { signal }) => {
  await host.shards.nextRefresh(indicesOf(host, indices), signal);
  return NOTHING;
});

/** See HostedShards.flush. */
export const flush = operation<IndicesCall>(async (host) => {
  await host.shards.flush();
  return NOTHING;
});

/** See HostedShards.forceMerge. */
export const forceMerge = operation<IndicesCall & { readonly maxSegments: number }>(
  async (host, { indices, maxSegments }) => {
    await host.shards.forceMerge(indicesOf(host, indices), maxSegments);
    return NOTHING;
  },
);

/**
 * Returns whether this host has a whole copy of a shard with everything up to a position on disk. Another hub then drops its
 * own copy.
 */
export const holdsShard = operation<NamedShard & { readonly position: Position }>(
  ({ placed }, { position, ...shard }) => ({ value: placed.holds(shard, position) }),
);

/** See HostedShards.cacheStats. */
export const cacheStats = operation<IndicesCall>(({ results }, { indices }) => ({
  value: new Map(indices.map(({ uuid }) => [uuid, results.stats(uuid)])),
}));

/** See HostedShards.clearCaches. */
export const clearCaches = operation<IndicesCall>(({ results }, { indices }) => {
  for (const { uuid } of indices) results.clear(uuid);
  return NOTHING;
});

function withSearchers(
  host: HostState,
  indices: readonly NamedIndex[],
  read: (opened: readonly ShardSearcher[]) => unknown,
): { readonly value: unknown } {
  const opened = host.shards.searchers(indicesOf(host, indices));
  try {
    return { value: read(opened) };
  } finally {
    for (const { searcher } of opened) searcher.close();
  }
}
