/**
 * Counters of the operations of this hub's search interface on each index since the hub started: writes, reads,
 * searches and maintenance, and the bytes of documents being written and written. Events of pipelines don't pass
 * through the interface and aren't counted.
 */

import type { Documents, WriteItem } from "#hub/api/ports/documents.ts";
import type { IndexInfo, Indices, Shards } from "#hub/api/ports/indices.ts";
import { bytesOf } from "#hub/cluster/writes/append-run.ts";
import type { WriteResult } from "#hub/cluster/writes/writes.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";

export class WritePressure {
  currentBytes = 0;
  totalBytes = 0;

  /** Counts `bytes` as current while `run` is running. */
  async during<T>(bytes: number, run: () => Promise<T>): Promise<T> {
    this.currentBytes += bytes;
    this.totalBytes += bytes;
    try {
      return await run();
    } finally {
      this.currentBytes -= bytes;
    }
  }
}

/** Operations of one kind. */
export interface OperationCount {
  total: number;
  timeMs: number;
  /** Number running now. */
  current: number;
}

/** Searches of an index, or of a group of them. */
export interface SearchCounts {
  readonly querying: OperationCount;
  /** Searches for suggestions alone, which aren't among `querying`. */
  readonly suggesting: OperationCount;
  /** Scrolls, from their beginning to their end. */
  readonly scrolling: OperationCount;
}

export interface IndexCounts extends SearchCounts {
  /** Write requests, regardless of their number of documents. */
  readonly writing: OperationCount;
  /** Documents indexed and updated. */
  indexed: number;
  /** Documents deleted. */
  deleted: number;
  readonly getting: OperationCount;
  /** Reads that found nothing. */
  missing: number;
  /** Writes that failed. */
  failed: number;
  /** Updates that changed nothing. */
  noops: number;
  /** Scrolls and points in time. */
  readonly contexts: OperationCount;
  /** Searches by the groups that requests named in `stats`. */
  readonly groups: Map<string, SearchCounts>;
  readonly refreshing: OperationCount;
  readonly flushing: OperationCount;
  readonly merging: OperationCount;
}

/** Indices with counters; the least recently used ones are dropped first. */
const MAX_INDICES = 20_000;
/** Groups of one index; others are counted in the sum only. */
const MAX_GROUPS = 100;

export class IndexCounters {
  readonly #clock: Clock;
  readonly #byUuid = new Map<string, IndexCounts>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts of an index; zeros if there were no operations on it. */
  of(uuid: string): IndexCounts {
    const counts = this.#byUuid.get(uuid) ?? newCounts();
    setNewest(this.#byUuid, uuid, counts, MAX_INDICES);
    return counts;
  }

  /** Runs one operation on several indices and counts it for each. */
  async during<T>(
    indices: readonly Pick<IndexInfo, "uuid">[],
    pick: (counts: IndexCounts) => readonly OperationCount[],
    run: () => T | Promise<T>,
  ): Promise<T> {
    const end = this.begin(indices, pick);
    try {
      return await run();
    } finally {
      end();
    }
  }

  /** Counts an operation on several indices as current for each, until the function that it returns is called. */
  begin(
    indices: readonly Pick<IndexInfo, "uuid">[],
    pick: (counts: IndexCounts) => readonly OperationCount[],
  ): () => void {
    const counts = indices.flatMap(({ uuid }) => pick(this.of(uuid)));
    for (const count of counts) count.current++;
    const startMs = this.#clock.monotonic();
    return () => {
      const tookMs = this.#clock.monotonic() - startMs;
      for (const count of counts) {
        count.current--;
        count.total++;
        count.timeMs += tookMs;
      }
    };
  }
}

/** What the hosts keep for a scroll or a point in time, counted from `begin` until it is closed. */
export class CountedContext implements Pick<Shards, "closeContexts"> {
  readonly #shards: Pick<Shards, "closeContexts">;
  readonly #count: () => () => void;
  #end: (() => void) | undefined;

  /** `count` is one of IndexCounters.begin. */
  constructor(shards: Pick<Shards, "closeContexts">, count: () => () => void) {
    this.#shards = shards;
    this.#count = count;
  }

  begin(): void {
    this.#end = this.#count();
  }

  closeContexts(ids: readonly string[]): void {
    this.#end?.();
    this.#end = undefined;
    this.#shards.closeContexts(ids);
  }
}

/** Returns the counts of a search whose body names `groups` as its `stats`. */
export function searchCounts(counts: IndexCounts, groups: unknown): SearchCounts[] {
  const names = Array.isArray(groups) ? groups.map(String) : typeof groups === "string" ? [groups] : [];
  const named = names.flatMap((name) => {
    let group = counts.groups.get(name);
    if (group === undefined && counts.groups.size < MAX_GROUPS)
      counts.groups.set(name, (group = newSearchCounts()));
    return group === undefined ? [] : [group];
  });
  return [counts, ...named];
}

/** Wraps `documents` so that every operation is counted. */
export function countDocuments(documents: Documents, indices: Indices, counters: IndexCounters): Documents {
  const resolved = (name: string): IndexInfo[] => {
    const index = indices.get(name);
    return index === undefined ? [] : [index];
  };
  return {
    async write(items, options) {
      const found = [...new Set(items.map(({ index }) => index))].flatMap(resolved);
      const results = await counters.during(
        found,
        ({ writing }) => [writing],
        () => documents.write(items, options),
      );
      for (const [at, result] of results.entries()) {
        const [index] = resolved(result.index);
        if (index !== undefined) countWrite(counters.of(index.uuid), items[at]!, result);
      }
      return results;
    },
    async append(run, options) {
      const found = resolved(run.indexNames[0]!);
      const result = await counters.during(
        found,
        ({ writing }) => [writing],
        () => documents.append(run, options),
      );
      const [index] = result === null ? [] : resolved(result.index);
      if (index === undefined || result === null) return result;
      const counts = counters.of(index.uuid);
      const failed = result.failures.size;
      counts.failed += failed;
      counts.indexed += result.seqNos.length - failed;
      return result;
    },
    async get(name, id, options) {
      const found = resolved(name);
      const document = await counters.during(
        found,
        ({ getting }) => [getting],
        () => documents.get(name, id, options),
      );
      if (document === null) for (const { uuid } of found) counters.of(uuid).missing++;
      return document;
    },
  };
}

/** Maintenance operations of shards that are counted. */
export type Maintenance = Pick<Shards, "refresh" | "flush" | "forceMerge">;

/** Wraps the maintenance of `shards` so that every operation is counted. */
export function countMaintenance(shards: Maintenance, counters: IndexCounters): Maintenance {
  return {
    refresh: (indices) =>
      counters.during(
        indices,
        ({ refreshing }) => [refreshing],
        () => shards.refresh(indices),
      ),
    flush: (indices) =>
      counters.during(
        indices,
        ({ flushing }) => [flushing],
        () => shards.flush(indices),
      ),
    forceMerge: (indices, maxSegments) =>
      counters.during(
        indices,
        ({ merging }) => [merging],
        () => shards.forceMerge(indices, maxSegments),
      ),
  };
}

function countWrite(counts: IndexCounts, item: WriteItem, result: WriteResult): void {
  if ("error" in result) counts.failed++;
  else if (result.result === "noop") counts.noops++;
  else if (item.kind === "delete") counts.deleted++;
  else counts.indexed++;
}

function newCount(): OperationCount {
  return { total: 0, timeMs: 0, current: 0 };
}

function newSearchCounts(): SearchCounts {
  return { querying: newCount(), suggesting: newCount(), scrolling: newCount() };
}

function newCounts(): IndexCounts {
  return {
    ...newSearchCounts(),
    writing: newCount(),
    indexed: 0,
    deleted: 0,
    getting: newCount(),
    missing: 0,
    failed: 0,
    noops: 0,
    contexts: newCount(),
    groups: new Map(),
    refreshing: newCount(),
    flushing: newCount(),
    merging: newCount(),
  };
}

/** Wraps `documents` so that the bytes of their writes are counted. */
export function weighDocuments(documents: Documents, pressure: WritePressure): Documents {
  return {
    get: (index, id, options) => documents.get(index, id, options),
    write: (items, options) =>
      pressure.during(
        items.reduce((sum, item) => sum + ("source" in item ? item.source.length : 0), 0),
        () => documents.write(items, options),
      ),
    append: (run, options) => pressure.during(bytesOf(run), () => documents.append(run, options)),
  };
}
