/** Figures of indices as `_stats` and `_nodes/stats` print them, metric by metric. */

import { typeOf } from "#hub/api/compat/mapping-types.ts";
import type { ApiParts } from "#hub/api/context/api-context.ts";
import type { IndexCounts, OperationCount } from "#hub/api/context/index-counters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import type { HostedShardStats } from "#hub/cluster/hosting/hosted-index.ts";
import type { ResultCacheStats } from "#hub/search/execute/result-cache.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** What the figures are made of. */
export interface FigureSource {
  readonly shards: readonly HostedShardStats[];
  /** One for each index; empty for single shards, as operations are counted by index. */
  readonly counts: readonly IndexCounts[];
  /** Likewise. */
  readonly results: readonly ResultCacheStats[];
  /** Mapping type of each of `counts`. */
  readonly types: readonly string[];
}

export interface FigureOptions {
  /** Whether a metric is asked for. */
  readonly wanted: (metric: string) => boolean;
  /** Patterns of the search groups to show. */
  readonly groups: readonly string[];
  /** Patterns of the mapping types to show. */
  readonly types: readonly string[];
  /** Patterns of the fields whose fielddata and completions are shown one by one. */
  readonly fieldDataOf: readonly string[];
  readonly completionsOf: readonly string[];
  /** Whether sizes of segment files are asked for. */
  readonly fileSizes: boolean;
}

/** Returns what the figures of `indices` together are made of. */
export function figureSource(
  { shards, counters, results }: ApiParts,
  indices: readonly IndexInfo[],
): FigureSource {
  return {
    shards: indices.flatMap((index) => shards.stats(index)),
    counts: indices.map(({ uuid }) => counters.of(uuid)),
    results: indices.map(({ uuid }) => results.stats(uuid)),
    types: indices.map(typeOf),
  };
}

type Figures = (source: FigureSource, options: FigureOptions) => JsonObject;

/** Metrics by the name that requests have, with the name that answers have. */
const METRICS: Readonly<Record<string, readonly [key: string, figures: Figures]>> = {
  docs: ["docs", ({ shards }) => ({ count: sum(shards, "docs"), deleted: sum(shards, "deleted") })],
  store: ["store", ({ shards }) => ({ size_in_bytes: sum(shards, "bytes") })],
  indexing: ["indexing", (source, { types }) => indexingByType(source, types)],
  get: ["get", ({ counts }) => getting(counts)],
  search: ["search", ({ counts }, { groups }) => searching(counts, groups)],
  merge: ["merges", ({ counts }) => merging(counts)],
  refresh: ["refresh", ({ counts }) => ({ ...timed(pick(counts, "refreshing")), listeners: 0 })],
  flush: ["flush", ({ counts }) => ({ ...timed(pick(counts, "flushing")), periodic: 0 })],
  // Searchers are opened on segments as they are.
  warmer: ["warmer", () => ({ current: 0, total: 0, total_time_in_millis: 0 })],
  // Results of queries aren't kept.
  query_cache: ["query_cache", () => noCache({ total_count: 0, cache_size: 0, cache_count: 0 })],
  fielddata: ["fielddata", fieldData],
  completion: ["completion", completions],
  segments: ["segments", segments],
  // The journal is the log before segments: what of it an index would be read again from.
  translog: ["translog", translog],
  request_cache: ["request_cache", requestCache],
  recovery: ["recovery", () => ({ current_as_source: 0, current_as_target: 0, throttle_time_in_millis: 0 })],
};

/** Names of metrics that requests may ask for; those without figures are accepted. */
export const METRIC_NAMES: readonly string[] = [...Object.keys(METRICS), "suggest"];

/** Returns the figures of what is asked for. */
export function printFigures(source: FigureSource, options: FigureOptions): JsonObject {
  return Object.fromEntries(
    Object.entries(METRICS)
      .filter(([metric]) => options.wanted(metric))
      .map(([, [key, figures]]) => [key, figures(source, options)]),
  );
}

function sum<K extends "docs" | "deleted" | "bytes" | "segments">(
  shards: readonly HostedShardStats[],
  key: K,
): number {
  return shards.reduce((total, shard) => total + shard[key], 0);
}

type CountName = "writing" | "getting" | "searching" | "refreshing" | "flushing" | "merging";

function pick(counts: readonly IndexCounts[], name: CountName): OperationCount {
  return add(counts.map((each) => each[name]));
}

function add(counts: readonly OperationCount[]): OperationCount {
  return counts.reduce(
    (a, b) => ({ total: a.total + b.total, timeMs: a.timeMs + b.timeMs, current: a.current + b.current }),
    { total: 0, timeMs: 0, current: 0 },
  );
}

function timed({ total, timeMs }: OperationCount): JsonObject {
  return { total, total_time_in_millis: Math.round(timeMs) };
}

function count(counts: readonly IndexCounts[], of: (counts: IndexCounts) => number): number {
  return counts.reduce((total, each) => total + of(each), 0);
}

function indexingByType({ counts, types }: FigureSource, patterns: readonly string[]): JsonObject {
  const each = matchingNames(types, patterns).map((type) => [
    type,
    indexing(counts.filter((_, at) => types[at] === type)),
  ]);
  return { ...indexing(counts), ...(each.length > 0 && { types: Object.fromEntries(each) as JsonObject }) };
}

/** Names that a pattern fits, each once, in order. */
function matchingNames(names: readonly string[], patterns: readonly string[]): string[] {
  const tests = patterns.map((pattern) => compileWildcard(pattern === "_all" ? "*" : pattern));
  return [...new Set(names)].filter((name) => tests.some((test) => test.matches(name))).sort();
}

function indexing(counts: readonly IndexCounts[]): JsonObject {
  const { timeMs, current } = pick(counts, "writing");
  return {
    index_total: count(counts, ({ indexed }) => indexed),
    index_time_in_millis: Math.round(timeMs),
    index_current: current,
    index_failed: count(counts, ({ failed }) => failed),
    delete_total: count(counts, ({ deleted }) => deleted),
    delete_time_in_millis: 0,
    delete_current: 0,
    noop_update_total: count(counts, ({ noops }) => noops),
    is_throttled: false,
    throttle_time_in_millis: 0,
  };
}

function getting(counts: readonly IndexCounts[]): JsonObject {
  const { total, timeMs, current } = pick(counts, "getting");
  const missing = count(counts, (each) => each.missing);
  const time = Math.round(timeMs);
  return {
    total,
    time_in_millis: time,
    exists_total: Math.max(0, total - missing),
    exists_time_in_millis: time,
    missing_total: missing,
    missing_time_in_millis: 0,
    current,
  };
}

function searching(counts: readonly IndexCounts[], patterns: readonly string[]): JsonObject {
  const names = counts.flatMap(({ groups }) => [...groups.keys()]);
  const groups = matchingNames(names, patterns).map((name) => [
    name,
    searchFigures(add(counts.flatMap((each) => each.groups.get(name) ?? []))),
  ]);
  return {
    open_contexts: 0,
    ...searchFigures(pick(counts, "searching")),
    ...(groups.length > 0 && { groups: Object.fromEntries(groups) as JsonObject }),
  };
}

/** Query and fetch are one operation here. */
function searchFigures({ total, timeMs, current }: OperationCount): JsonObject {
  return {
    query_total: total,
    query_time_in_millis: Math.round(timeMs),
    query_current: current,
    fetch_total: total,
    fetch_time_in_millis: 0,
    fetch_current: 0,
    scroll_total: 0,
    scroll_time_in_millis: 0,
    scroll_current: 0,
    suggest_total: 0,
    suggest_time_in_millis: 0,
    suggest_current: 0,
  };
}

function merging(counts: readonly IndexCounts[]): JsonObject {
  const { total, timeMs, current } = pick(counts, "merging");
  return {
    current,
    current_docs: 0,
    current_size_in_bytes: 0,
    total,
    total_time_in_millis: Math.round(timeMs),
    total_docs: 0,
    total_size_in_bytes: 0,
  };
}

function segments({ shards }: FigureSource, { fileSizes }: FigureOptions): JsonObject {
  const sizeBytes = sum(shards, "bytes");
  return {
    count: sum(shards, "segments"),
    // Segments are read through the block cache, which isn't counted by index.
    memory_in_bytes: 0,
    terms_memory_in_bytes: 0,
    stored_fields_memory_in_bytes: 0,
    norms_memory_in_bytes: 0,
    points_memory_in_bytes: 0,
    doc_values_memory_in_bytes: 0,
    index_writer_memory_in_bytes: 0,
    version_map_memory_in_bytes: 0,
    fixed_bit_set_memory_in_bytes: 0,
    max_unsafe_auto_id_timestamp: -1,
    file_sizes: fileSizes
      ? { seg: { size_in_bytes: sizeBytes, description: "Segment: all parts in one file" } }
      : {},
  };
}

function fieldData({ shards }: FigureSource, { fieldDataOf }: FigureOptions): JsonObject {
  return {
    ...bytesByField(
      shards.map((shard) => shard.fieldData),
      fieldDataOf,
      "memory_size_in_bytes",
    ),
    evictions: 0,
  };
}

function completions({ shards }: FigureSource, { completionsOf }: FigureOptions): JsonObject {
  return bytesByField(
    shards.map((shard) => shard.completions),
    completionsOf,
    "size_in_bytes",
  );
}

/** The sum of all fields under `key`, and below `fields` those that a pattern fits. */
function bytesByField(
  sizes: readonly ReadonlyMap<string, number>[],
  patterns: readonly string[],
  key: string,
): JsonObject {
  const sums = new Map<string, number>();
  for (const [field, bytes] of sizes.flatMap((each) => [...each]))
    sums.set(field, (sums.get(field) ?? 0) + bytes);
  const shown = matchingNames([...sums.keys()], patterns).map((field) => [
    field,
    { [key]: sums.get(field)! },
  ]);
  return {
    [key]: [...sums.values()].reduce((all, bytes) => all + bytes, 0),
    ...(shown.length > 0 && { fields: Object.fromEntries(shown) as JsonObject }),
  };
}

function requestCache({ results }: FigureSource): JsonObject {
  const total = (key: keyof ResultCacheStats): number => results.reduce((all, each) => all + each[key], 0);
  return {
    memory_size_in_bytes: total("bytes"),
    evictions: total("evictions"),
    hit_count: total("hits"),
    miss_count: total("misses"),
  };
}

function noCache(more: JsonObject): JsonObject {
  return { memory_size_in_bytes: 0, evictions: 0, hit_count: 0, miss_count: 0, ...more };
}

function translog({ shards }: FigureSource): JsonObject {
  const total = (key: keyof HostedShardStats["log"]): number =>
    shards.reduce((all, { log }) => all + log[key], 0);
  return {
    operations: total("operations"),
    size_in_bytes: total("bytes"),
    uncommitted_operations: total("uncommittedOperations"),
    uncommitted_size_in_bytes: total("uncommittedBytes"),
    earliest_last_modified_age: 0,
  };
}
