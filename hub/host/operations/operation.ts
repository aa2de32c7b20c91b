/** The state on which the operations of a host work. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { PlacedShards } from "#hub/cluster/shards/placed-shards.ts";
import type { ShardHost } from "#hub/cluster/shards/shard-host.ts";
import type { HostSeat } from "#hub/cluster/shards/shard-owner.ts";
import { cacheLimit } from "#hub/engine/files/cache-memory.ts";
import type { HostAddress } from "#hub/host/contract/calls.ts";
import type { NamedIndex } from "#hub/host/contract/hosted-shards.ts";
import type { IncomingCall, Message } from "#hub/host/wire/peer.ts";
import { ResultCache } from "#hub/search/execute/result-cache.ts";
import { SearchService } from "#hub/search/search-service.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { SearchContexts, Snapshots } from "./search-contexts.ts";

/** Maximum of searches that are counted at a time; the oldest is dropped. Callers have a lower limit of their own. */
const MAX_COUNTED = 1_000;

/** The shards of a host with what belongs to them. */
export interface HostState {
  readonly shards: Pick<
    ShardHost,
    "searchers" | "searcher" | "get" | "stats" | "refresh" | "nextRefresh" | "flush" | "forceMerge"
  >;
  /** The shards that have moved to other hubs. */
  readonly placed: Pick<PlacedShards, "isAbsent" | "holds">;
  readonly indices: { byUuid(uuid: string): IndexMetadata | undefined };
  readonly clock: Clock;
  /** Cached results of shards for requests without hits. */
  readonly results: ResultCache;
  readonly contexts: SearchContexts;
  /** Snapshots that other hosts search. */
  readonly snapshots: Snapshots;
  /** Shards that searches have collected. */
  readonly progress: SearchProgress;
  /** Answers the searches of other hosts. */
  readonly service: SearchService;
  readonly seat: HostSeat;
  /**
   * Calls an operation of another host. Throws what it throws; unavailable; cancelled as soon as `signal` is aborted. A
   * later answer of the other host goes to `late`.
   */
  readonly ask: (
    host: HostAddress,
    operation: "asked" | "openSnapshot",
    message: Message,
    signal?: AbortSignal,
    late?: (answer: Required<Message>) => void,
  ) => Promise<Required<Message>>;
}

/** Answers a call. What it throws becomes the caller's error. */
export type Operation = (host: HostState, call: IncomingCall) => Message | Promise<Message>;

/** Makes an operation whose calls have a value of type T. The value isn't checked: both ends have the same version. */
export function operation<T>(
  run: (host: HostState, value: T, call: IncomingCall) => Message | Promise<Message>,
): Operation {
  return (host, call) => run(host, call.value as T, call);
}

/** Returns the named indices that the host has. */
export function indicesOf({ indices }: HostState, named: readonly NamedIndex[]): IndexMetadata[] {
  return named.flatMap(({ uuid }) => indices.byUuid(uuid) ?? []);
}

export const NOTHING: Message = { value: null };

type Given = Pick<HostState, "shards" | "placed" | "indices" | "clock" | "seat" | "ask"> & {
  readonly metrics: Metrics;
};

/** Returns the state of a host with nothing open. */
export function hostState({ metrics, ...given }: Given): HostState {
  const { shards, indices, clock } = given;
  const results = new ResultCache(cacheLimit("results"));
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

/** Number of shards that running searches have collected here, by the name that the caller gave the search. */
class SearchProgress {
  readonly #done = new Map<string, number>();

  /** Records that a shard of a search was collected. */
  note(id: string): void {
    this.#done.set(id, this.of(id) + 1);
    const [oldest] = this.#done.keys();
    if (this.#done.size > MAX_COUNTED && oldest !== undefined) this.#done.delete(oldest);
  }

  /** Returns the number of shards that a search has collected. */
  of(id: string): number {
    return this.#done.get(id) ?? 0;
  }

  forget(ids: readonly string[]): void {
    for (const id of ids) this.#done.delete(id);
  }
}
