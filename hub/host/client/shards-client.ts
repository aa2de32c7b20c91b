/** Implements operations on the shards of a host as calls to it. */

import type { ShardNumbers } from "#hub/cluster/shards/contract.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import type {
  ContextCall,
  Count,
  CountCall,
  DocumentFacts,
  ExplainCall,
  Explained,
  FoundDocumentFacts,
  FoundTermVectors,
  NamedShard,
  OpenedPoint,
  OperationName,
  PageCall,
  PointCall,
  SearchBody,
  SearchCall,
  ShardSegments,
  TermVectorsCall,
  ValidateCall,
  Validation,
} from "#hub/host/contract/calls.ts";
import { type Found, unpackFound } from "#hub/host/contract/found.ts";
import {
  type FoundDocuments,
  type HostedShards,
  type NamedIndex,
  REFRESHED,
  type ReadDocument,
  type Refreshed,
  type RefreshedDocument,
} from "#hub/host/contract/hosted-shards.ts";
import type { CallOptions, Message } from "#hub/host/wire/peer.ts";
import type { ResultCacheStats } from "#hub/search/execute/result-cache.ts";

/** A host that can be called. */
export interface CallableHost {
  call(operation: OperationName | "reach", value: unknown, options?: CallOptions): Promise<Required<Message>>;
  notify(operation: string, value: unknown): void;
}

/** Time for reading one document or statistics, ms; only a host that is stuck takes longer. */
const SHORT_MS = 30_000;

/** Time for a count that only informs, ms. */
const PROGRESS_MS = 1_000;

export class ShardsClient implements HostedShards {
  readonly #host: CallableHost;

  constructor(host: CallableHost) {
    this.#host = host;
  }

  async check(call: SearchBody): Promise<void> {
    await this.#host.call("check", call, { timeoutMs: SHORT_MS });
  }

  async search(call: SearchCall, signal: AbortSignal): Promise<Found> {
    const { limitMs: timeoutMs = 0 } = call;
    return unpackFound(await this.#host.call("search", call, { signal, timeoutMs, inSlices: true }));
  }

  openContext(call: ContextCall, signal: AbortSignal): Promise<Found> {
    return this.#opening(call.id, async () =>
      unpackFound(await this.#host.call("openContext", call, { signal, inSlices: true })),
    );
  }

  async nextPage(call: PageCall, signal: AbortSignal): Promise<Found> {
    return unpackFound(await this.#host.call("nextPage", call, { signal }));
  }

  openDocuments(call: ContextCall, signal: AbortSignal): Promise<FoundDocuments> {
    return this.#opening(call.id, async () =>
      unpackDocuments(await this.#host.call("openDocuments", call, { signal, inSlices: true })),
    );
  }

  async nextDocuments(call: PageCall, signal: AbortSignal): Promise<FoundDocuments> {
    return unpackDocuments(await this.#host.call("nextDocuments", call, { signal }));
  }

  openPoint(call: PointCall, signal: AbortSignal): Promise<OpenedPoint> {
    return this.#opening(call.id, async () => {
      const { value } = await this.#host.call("openPoint", call, { signal });
      return { targets: call.targets, failed: value as readonly NamedShard[] };
    });
  }

  async progress(id: string): Promise<number> {
    return (await this.#host.call("progress", id, { timeoutMs: PROGRESS_MS })).value as number;
  }

  closeContexts(ids: readonly string[]): void {
    this.#host.notify("closeContexts", ids);
  }

  async count(call: CountCall, signal: AbortSignal): Promise<Count> {
    return (await this.#host.call("count", call, { signal, inSlices: true })).value as Count;
  }

  async validate(call: ValidateCall, signal: AbortSignal): Promise<readonly Validation[]> {
    return (await this.#host.call("validate", call, { signal, inSlices: true }))
      .value as readonly Validation[];
  }

  async explain(
    call: ExplainCall,
    signal: AbortSignal,
  ): Promise<(Explained & { readonly source: Uint8Array }) | null> {
    const { value, parts } = await this.#host.call("explain", call, { signal });
    return value === null ? null : { ...(value as Explained), source: parts[0]! };
  }

  async termVectors(call: TermVectorsCall, signal: AbortSignal): Promise<FoundTermVectors> {
    return (await this.#host.call("termVectors", call, { signal })).value as FoundTermVectors;
  }

  async get({ uuid }: NamedIndex, shard: number, id: string): Promise<ReadDocument | null> {
    const { value, parts } = await this.#host.call(
      "get",
      { index: { uuid }, shard, id },
      { timeoutMs: SHORT_MS },
    );
    return value === null ? null : { ...(value as DocumentFacts), source: parts[0]! };
  }

  async getRefreshed(indices: readonly NamedIndex[], id: string): Promise<RefreshedDocument | null> {
    const { value, parts } = await this.#host.call(
      "getRefreshed",
      { indices: named(indices), id },
      { timeoutMs: SHORT_MS },
    );
    return value === null ? null : { ...(value as Omit<RefreshedDocument, "source">), source: parts[0]! };
  }

  stats(indices: readonly NamedIndex[]): Promise<ReadonlyMap<string, readonly HostedShardStats[]>> {
    return this.#onIndices("stats", indices);
  }

  segments(indices: readonly NamedIndex[]): Promise<ShardSegments[]> {
    return this.#onIndices("segments", indices);
  }

  largest(indices: readonly NamedIndex[], field: string): Promise<ReadonlyMap<string, number>> {
    return this.#onIndices("largest", indices, { field });
  }

  async refresh(indices: readonly NamedIndex[], only?: ShardNumbers): Promise<Refreshed> {
    await this.#host.call("refresh", { indices: named(indices), only });
    return REFRESHED;
  }

  async nextRefresh(indices: readonly NamedIndex[], signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await this.#host.call("nextRefresh", { indices: named(indices) }, { signal });
  }

  async flush(indices: readonly NamedIndex[]): Promise<void> {
    await this.#host.call("flush", { indices: named(indices) });
  }

  async forceMerge(indices: readonly NamedIndex[], maxSegments: number): Promise<void> {
    await this.#host.call("forceMerge", { indices: named(indices), maxSegments });
  }

  cacheStats(indices: readonly NamedIndex[]): Promise<ReadonlyMap<string, ResultCacheStats>> {
    return this.#onIndices("cacheStats", indices);
  }

  async clearCaches(indices: readonly NamedIndex[]): Promise<void> {
    await this.#onIndices("clearCaches", indices);
  }

  async #onIndices<T>(
    operation: OperationName,
    indices: readonly NamedIndex[],
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<T> {
    const call = { indices: named(indices), ...more };
    return (await this.#host.call(operation, call, { timeoutMs: SHORT_MS })).value as T;
  }

  /** Closes the context of a call that failed here: the host may have opened it nevertheless. */
  async #opening<T>(id: string, open: () => Promise<T>): Promise<T> {
    try {
      return await open();
    } catch (error) {
      this.closeContexts([id]);
      throw error;
    }
  }
}

function named(indices: readonly NamedIndex[]): NamedIndex[] {
  return indices.map(({ uuid }) => ({ uuid }));
}

function unpackDocuments({ value, parts }: Required<Message>): FoundDocuments {
  const { total, documents } = value as {
    readonly total: number;
    readonly documents: readonly FoundDocumentFacts[];
  };
  return { total, documents: documents.map((facts, at) => ({ ...facts, source: parts[at]! })) };
}
