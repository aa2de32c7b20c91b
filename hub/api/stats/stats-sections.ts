/** The table of the statistics of indices: each with its key in JSON, its column and its value. */

import type { IndexCounts, OperationCount, SearchCounts } from "#hub/api/context/index-counters.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import type { ResultCacheStats } from "#hub/search/execute/result-cache.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { fieldBytes, type StatsSource, sum } from "./stats-source.ts";

/** A number of a section. */
export interface Statistic {
  /** Key in the section's JSON. */
  readonly key: string;
  /** Name of the column in `_cat`, without the section. */
  readonly column: string;
  readonly unit: "plain" | "bytes" | "ms";
  readonly value: (source: StatsSource) => number | boolean;
  /** First version that has the statistic, see answersAs. */
  readonly from?: number;
}

type Value = (source: StatsSource) => number;

/** Returns a statistic. Its key names its unit: `…_in_bytes`, `…_in_millis`. */
function stat(key: string, value: Value | number | boolean, column?: string): Statistic {
  const unit = key.endsWith("_in_bytes") ? "bytes" : key.endsWith("_in_millis") ? "ms" : "plain";
  return {
    key,
    column: column ?? key.replace(/_in_(bytes|millis)$/, ""),
    unit,
    value: typeof value === "function" ? value : () => value,
  };
}

/** Returns a statistic that versions before `from` don't have. */
function since(from: number, ...given: Parameters<typeof stat>): Statistic {
  return { ...stat(...given), from };
}

/** Sections under their names in answers, in the order of answers. */
export const SECTIONS: Readonly<Record<string, readonly Statistic[]>> = {
  docs: [
    stat("count", ofShards("docs")),
    stat("deleted", ofShards("deleted")),
    since(800, "total_size_in_bytes", ofShards("bytes")),
  ],
  store: [
    stat("size_in_bytes", ofShards("bytes")),
    since(713, "total_data_set_size_in_bytes", ofShards("bytes")),
    since(709, "reserved_in_bytes", 0),
  ],
  indexing: indexing(),
  get: [
    stat("total", ({ counts }) => operations(counts, "getting").total),
    stat("time_in_millis", ({ counts }) => operations(counts, "getting").timeMs),
    stat("exists_total", ({ counts }) =>
      Math.max(0, operations(counts, "getting").total - count(counts, "missing")),
    ),
    stat("exists_time_in_millis", ({ counts }) => operations(counts, "getting").timeMs),
    stat("missing_total", ({ counts }) => count(counts, "missing")),
    stat("missing_time_in_millis", 0),
    stat("current", ({ counts }) => operations(counts, "getting").current),
  ],
  search: [
    stat("open_contexts", ({ counts }) => operations(counts, "contexts").current),
    ...searching(({ counts }) => counts),
  ],
  merges: [
    stat("current", ({ counts }) => operations(counts, "merging").current),
    stat("current_docs", 0),
    stat("current_size_in_bytes", 0),
    stat("total", ({ counts }) => operations(counts, "merging").total),
    stat("total_time_in_millis", ({ counts }) => operations(counts, "merging").timeMs),
    stat("total_docs", 0),
    stat("total_size_in_bytes", 0),
    ...["total_stopped_time_in_millis", "total_throttled_time_in_millis", "total_auto_throttle_in_bytes"].map(
      (key) => since(700, key, 0),
    ),
  ],
  refresh: [
    stat("total", ({ counts }) => operations(counts, "refreshing").total),
    stat("total_time_in_millis", ({ counts }) => operations(counts, "refreshing").timeMs, "time"),
    // Every refresh makes documents searchable.
    since(702, "external_total", ({ counts }) => operations(counts, "refreshing").total),
    since(
      702,
      "external_total_time_in_millis",
      ({ counts }) => operations(counts, "refreshing").timeMs,
      "external_time",
    ),
    stat("listeners", 0),
  ],
  flush: [
    stat("total", ({ counts }) => operations(counts, "flushing").total),
    stat("total_time_in_millis", ({ counts }) => operations(counts, "flushing").timeMs),
    stat("periodic", 0),
  ],
  // There is no warming: searchers open segments directly.
  warmer: [stat("current", 0), stat("total", 0), stat("total_time_in_millis", 0)],
  // Cached filter results are kept by segment and aren't counted by index.
  query_cache: [...cache(() => 0), stat("total_count", 0), stat("cache_size", 0), stat("cache_count", 0)],
  fielddata: [
    stat("memory_size_in_bytes", ({ shards }) => sum(fieldBytes(shards, "fieldData").values())),
    stat("evictions", 0),
  ],
  completion: [stat("size_in_bytes", ({ shards }) => sum(fieldBytes(shards, "completions").values()))],
  segments: [
    stat("count", ofShards("segments")),
    // Segments are read through the block cache, which isn't counted by index.
    stat("memory_in_bytes", 0),
    stat("terms_memory_in_bytes", 0),
    stat("stored_fields_memory_in_bytes", 0),
    since(700, "term_vectors_memory_in_bytes", 0),
    stat("norms_memory_in_bytes", 0),
    stat("points_memory_in_bytes", 0),
    stat("doc_values_memory_in_bytes", 0),
    stat("index_writer_memory_in_bytes", ofLog("uncommittedBytes")),
    stat("version_map_memory_in_bytes", 0),
    stat("fixed_bit_set_memory_in_bytes", 0, "fixed_bitset_memory"),
    stat("max_unsafe_auto_id_timestamp", -1),
  ],
  // The journal is the transaction log: the messages from which an index would be recovered.
  translog: [
    stat("operations", ofKeptLog("operations", "uncommittedOperations")),
    stat("size_in_bytes", ofKeptLog("bytes", "uncommittedBytes")),
    stat("uncommitted_operations", ofLog("uncommittedOperations")),
    stat("uncommitted_size_in_bytes", ofLog("uncommittedBytes")),
    stat("earliest_last_modified_age", 0),
  ],
  request_cache: cache((source, key) => sum(source.results.map((each) => each[key]))),
  recovery: [stat("current_as_source", 0), stat("current_as_target", 0), stat("throttle_time_in_millis", 0)],
};

/** Returns the statistics of writes, of one mapping type or of all. */
export function indexing(): Statistic[] {
  return [
    // The operations of a single shard are known only from its log.
    stat("index_total", (source) =>
      source.counts.length > 0 ? count(source.counts, "indexed") : ofLog("operations")(source),
    ),
    stat("index_time_in_millis", ({ counts }) => operations(counts, "writing").timeMs),
    stat("index_current", ({ counts }) => operations(counts, "writing").current),
    stat("index_failed", ({ counts }) => count(counts, "failed")),
    stat("delete_total", ({ counts }) => count(counts, "deleted")),
    stat("delete_time_in_millis", 0),
    stat("delete_current", 0),
    stat("noop_update_total", ({ counts }) => count(counts, "noops")),
    stat("is_throttled", false),
    stat("throttle_time_in_millis", 0),
  ];
}

/** Returns the statistics of searches, of one group or of all. Query and fetch are one operation here. */
export function searching(of: (source: StatsSource) => readonly SearchCounts[]): Statistic[] {
  const counted = (name: string, kind: keyof SearchCounts): Statistic[] => {
    const operation = (source: StatsSource): OperationCount => add(of(source).map((each) => each[kind]));
    return [
      stat(`${name}_total`, (source) => operation(source).total),
      stat(`${name}_time_in_millis`, (source) => operation(source).timeMs),
      stat(`${name}_current`, (source) => operation(source).current),
    ];
  };
  return [
    ...counted("query", "querying"),
    stat("fetch_total", (source) => add(of(source).map(({ querying }) => querying)).total),
    ...["fetch_time_in_millis", "fetch_current"].map((key) => stat(key, 0)),
    ...counted("scroll", "scrolling"),
    ...counted("suggest", "suggesting"),
  ];
}

function cache(of: (source: StatsSource, key: keyof ResultCacheStats) => number): Statistic[] {
  return [
    stat("memory_size_in_bytes", (source) => of(source, "bytes")),
    stat("evictions", (source) => of(source, "evictions")),
    stat("hit_count", (source) => of(source, "hits")),
    stat("miss_count", (source) => of(source, "misses")),
  ];
}

/** Returns the sum of a number of all shards. */
export function ofShards(key: "docs" | "deleted" | "bytes" | "segments"): Value {
  return ({ shards }) => sum(shards.map((shard) => shard[key]));
}

function ofLog(key: keyof HostedShardStats["log"]): Value {
  return ({ shards }) => sum(shards.map(({ log }) => log[key]));
}

/** From 7.4 on the log contains only uncommitted operations; before, they are kept for some time after a commit. */
function ofKeptLog(key: keyof HostedShardStats["log"], uncommitted: keyof HostedShardStats["log"]): Value {
  return (source) => ofLog(answersAs(704) ? uncommitted : key)(source);
}

type CountName = "writing" | "getting" | "contexts" | "refreshing" | "flushing" | "merging";

function operations(counts: readonly IndexCounts[], name: CountName): OperationCount {
  return add(counts.map((each) => each[name]));
}

/** Returns the sum; the time in whole ms. */
function add(counts: readonly OperationCount[]): OperationCount {
  return {
    total: sum(counts.map(({ total }) => total)),
    timeMs: Math.round(sum(counts.map(({ timeMs }) => timeMs))),
    current: sum(counts.map(({ current }) => current)),
  };
}

function count(
  counts: readonly IndexCounts[],
  name: "indexed" | "deleted" | "missing" | "failed" | "noops",
): number {
  return sum(counts.map((each) => each[name]));
}
