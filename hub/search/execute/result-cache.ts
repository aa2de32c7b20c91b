/**
 * Caches shard results of requests without hits: dashboards repeat requests, and only the current index changes. An
 * entry is dropped with its snapshot, or when it is the least recently used.
 */

import { deserialize, serialize } from "node:v8";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { TreeState } from "#hub/search/aggregations/tree/aggregation.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";

/**
 * Maximum number of a state's parts that are examined and kept; larger states are rare and cost little more to compute than
 * to read.
 */
const MAX_PARTS = 20_000;
/** What an entry needs besides its key and its state. */
const ENTRY_BYTES = 200;

/** What a shard found, without hits. */
export interface CountedResult {
  readonly total: number;
  readonly maxScore: number;
  readonly aggregations: TreeState;
  readonly terminatedEarly: boolean;
}

export interface ResultCacheStats {
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
  readonly evictions: number;
}

interface Entry {
  readonly shard: CachedShard;
  readonly key: string;
  /** A CountedResult, serialised so that it can't be changed. */
  readonly result: Uint8Array;
}

/** Entries of a shard, all of one snapshot. */
interface CachedShard {
  readonly index: IndexStatistics;
  /** See `#snapshots`; of several shards that are searched as one, those of all. */
  readonly snapshot: string;
  readonly mappingVersion: number;
  readonly entries: Map<string, Entry>;
}

interface IndexStatistics {
  bytes: number;
  hits: number;
  misses: number;
  evictions: number;
}

/** Indices whose statistics are kept, and shards that have entries; the first ones go first. */
const MAX_INDICES = 20_000;
const MAX_SHARDS = 100_000;

export class ResultCache {
  readonly #limitBytes: number;
  readonly #shards = new Map<string, CachedShard>();
  readonly #statistics = new Map<string, IndexStatistics>();
  /** In the order of their use, the oldest first. */
  readonly #entries = new Set<Entry>();
  /** A number for each snapshot, so that none is held for having been searched. */
  readonly #snapshots = new WeakMap<readonly SegmentReader[], number>();
  #lastSnapshot = 0;
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Returns the shard's cached result for `key` and its current snapshot. */
  get(shard: ShardContext, key: string): CountedResult | undefined {
    const cached = this.#shard(shard);
    const entry = cached.entries.get(key);
    const shards = shard.searcher.parts?.length ?? 1;
    if (entry === undefined) {
      cached.index.misses += shards;
      return undefined;
    }
    cached.index.hits += shards;
    this.#entries.delete(entry);
    this.#entries.add(entry);
    return deserialize(entry.result) as CountedResult;
  }

  /** Caches a result; one that is too large, or isn't plain data, is dropped. */
  put(
    shard: ShardContext,
    key: string,
    { total, maxScore, aggregations, terminatedEarly }: CountedResult,
  ): void {
    if (!isPlain(aggregations)) return;
    const result = serialize({ total, maxScore, aggregations, terminatedEarly });
    const cached = this.#shard(shard);
    const entry = { shard: cached, key, result };
    const before = cached.entries.get(key);
    if (before !== undefined) this.#forget(before);
    if (sizeOf(entry) > this.#limitBytes / 4) return;
    cached.entries.set(key, entry);
    this.#entries.add(entry);
    this.#count(cached, sizeOf(entry));
    for (const oldest of this.#entries) {
      if (this.#bytes <= this.#limitBytes) break;
      oldest.shard.index.evictions++;
      this.#forget(oldest);
    }
  }

  /** Statistics of an index since the hub started. */
  stats(indexUuid: string): ResultCacheStats {
    return { ...(this.#statistics.get(indexUuid) ?? NOTHING) };
  }

  /** Drops all entries of an index. */
  clear(indexUuid: string): void {
    for (const [name, shard] of this.#shards) {
      if (!name.startsWith(`${indexUuid}/`)) continue;
      this.#drop(name, shard);
    }
  }

  #shard({ indexUuid, shard, searcher, mapping }: ShardContext): CachedShard {
    const { parts } = searcher;
    const name = `${indexUuid}/${parts === undefined ? shard : "joined"}`;
    const known = this.#shards.get(name);
    const snapshot = (parts ?? [searcher]).map(({ segments }) => this.#snapshot(segments)).join();
    if (known?.snapshot === snapshot && known.mappingVersion === mapping.version) return known;
    if (known !== undefined) this.#drop(name, known);
    const fresh: CachedShard = {
      index: this.#indexFigures(indexUuid),
      snapshot,
      mappingVersion: mapping.version,
      entries: new Map(),
    };
    this.#shards.set(name, fresh);
    const [oldest] = this.#shards;
    if (this.#shards.size > MAX_SHARDS) this.#drop(oldest![0], oldest![1]);
    return fresh;
  }

  #snapshot(segments: readonly SegmentReader[]): number {
    const known = this.#snapshots.get(segments);
    if (known !== undefined) return known;
    this.#snapshots.set(segments, ++this.#lastSnapshot);
    return this.#lastSnapshot;
  }

  #drop(name: string, shard: CachedShard): void {
    for (const entry of shard.entries.values()) this.#forget(entry);
    this.#shards.delete(name);
  }

  #indexFigures(uuid: string): IndexStatistics {
    const known = this.#statistics.get(uuid);
    if (known !== undefined) return known;
    const fresh = { ...NOTHING };
    setNewest(this.#statistics, uuid, fresh, MAX_INDICES);
    return fresh;
  }

  #forget(entry: Entry): void {
    entry.shard.entries.delete(entry.key);
    if (this.#entries.delete(entry)) this.#count(entry.shard, -sizeOf(entry));
  }

  #count(shard: CachedShard, bytes: number): void {
    this.#bytes += bytes;
    shard.index.bytes += bytes;
  }
}

const NOTHING: ResultCacheStats = { bytes: 0, hits: 0, misses: 0, evictions: 0 };

function sizeOf({ key, result }: Entry): number {
  return ENTRY_BYTES + 2 * key.length + result.length;
}

/** Whether a state is data of at most MAX_PARTS parts, without objects of classes, which would come back as plain ones. */
function isPlain(state: unknown): boolean {
  const left: unknown[] = [state];
  for (let parts = 0; left.length > 0; parts++) {
    const value = left.pop();
    if (parts + left.length > MAX_PARTS) return false;
    if (typeof value === "function" || typeof value === "symbol") return false;
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) continue;
    const inner = partsOf(value);
    if (inner === undefined || inner.length > MAX_PARTS) return false;
    for (const each of inner) left.push(each);
  }
  return true;
}

/** What an object holds; undefined for one of a class. */
function partsOf(value: object): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...(value as Map<unknown, unknown>)];
  if (value instanceof Set) return [...(value as Set<unknown>)];
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.values(value) : undefined;
}
