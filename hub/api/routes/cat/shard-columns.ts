/** Hidden columns of `_cat/shards`: figures of 6.5 by shard. Those without a value here are counted by index only (`_stats`). */

import type { HostedShardStats } from "#hub/cluster/hosting/hosted-index.ts";
import type { Column, Row } from "./table.ts";

/** Names in the order of the help, with what they mean. */
const FIGURES: readonly (readonly [name: string, help: string])[] = [
  ["sync_id", "sync id; segments are the same on all copies without one"],
  ["unassigned.reason", "reason shard is unassigned"],
  ["unassigned.at", "time shard became unassigned (UTC)"],
  ["unassigned.for", "time has been unassigned"],
  ["unassigned.details", "additional details as to why the shard became unassigned"],
  ["recoverysource.type", "recovery source type"],
  ["completion.size", "size of completion"],
  ["fielddata.memory_size", "used fielddata cache"],
  ["fielddata.evictions", "fielddata evictions"],
  ["query_cache.memory_size", "used query cache"],
  ["query_cache.evictions", "query cache evictions"],
  ["flush.total", "number of flushes"],
  ["flush.total_time", "time spent in flush"],
  ["get.current", "number of current get ops"],
  ["get.time", "time spent in get"],
  ["get.total", "number of get ops"],
  ["get.exists_time", "time spent in successful gets"],
  ["get.exists_total", "number of successful gets"],
  ["get.missing_time", "time spent in failed gets"],
  ["get.missing_total", "number of failed gets"],
  ["indexing.delete_current", "number of current deletions"],
  ["indexing.delete_time", "time spent in deletions"],
  ["indexing.delete_total", "number of delete ops"],
  ["indexing.index_current", "number of current indexing ops"],
  ["indexing.index_time", "time spent in indexing"],
  ["indexing.index_total", "number of indexing ops"],
  ["indexing.index_failed", "number of failed indexing ops"],
  ["merges.current", "number of current merges"],
  ["merges.current_docs", "number of current merging docs"],
  ["merges.current_size", "size of current merges"],
  ["merges.total", "number of completed merge ops"],
  ["merges.total_docs", "docs merged"],
  ["merges.total_size", "size merged"],
  ["merges.total_time", "time spent in merges"],
  ["refresh.total", "total refreshes"],
  ["refresh.time", "time spent in refreshes"],
  ["refresh.external_total", "total external refreshes"],
  ["refresh.external_time", "time spent in external refreshes"],
  ["refresh.listeners", "number of pending refresh listeners"],
  ["search.fetch_current", "current fetch phase ops"],
  ["search.fetch_time", "time spent in fetch phase"],
  ["search.fetch_total", "total fetch ops"],
  ["search.open_contexts", "open search contexts"],
  ["search.query_current", "current query phase ops"],
  ["search.query_time", "time spent in query phase"],
  ["search.query_total", "total query phase ops"],
  ["search.scroll_current", "open scroll contexts"],
  ["search.scroll_time", "time scroll contexts held open"],
  ["search.scroll_total", "completed scroll contexts"],
  ["segments.count", "number of segments"],
  ["segments.memory", "memory used by segments"],
  ["segments.index_writer_memory", "memory used by index writer"],
  ["segments.version_map_memory", "memory used by version map"],
  ["segments.fixed_bitset_memory", "memory used by fixed bit sets"],
  ["seq_no.max", "max sequence number"],
  ["seq_no.local_checkpoint", "local checkpoint"],
  ["seq_no.global_checkpoint", "global checkpoint"],
  ["warmer.current", "current warmer ops"],
  ["warmer.total", "total warmer ops"],
  ["warmer.total_time", "time spent in warmers"],
];

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  "segments.count": ["sc", "segmentsCount"],
  "unassigned.reason": ["ur"],
  "unassigned.at": ["ua"],
  "unassigned.for": ["uf"],
  "unassigned.details": ["ud"],
};

/** The columns. */
export const shardFigureColumns: readonly Column[] = FIGURES.map(([name, help]) => ({
  name,
  ...(ALIASES[name] !== undefined && { aliases: ALIASES[name] }),
  help,
  hidden: true,
  ...(name.startsWith("refresh.external") && { from: 702 }),
  right: !name.startsWith("unassigned") && name !== "sync_id",
}));

/** Cells of a shard that is there. */
export function shardFigures({ segments, log }: HostedShardStats): Row {
  return {
    "recoverysource.type": "EXISTING_STORE",
    "segments.count": segments,
    "segments.memory": { bytes: 0 },
    "segments.index_writer_memory": { bytes: log.uncommittedBytes },
    "indexing.index_total": log.operations,
  };
}
