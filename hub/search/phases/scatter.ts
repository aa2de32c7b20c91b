/**
 * Searches shards of several hosts: all collect at the same time, their partial results are merged here, and the hits of
 * the answer are fetched from the hosts that have them. One host answers as a whole.
 */

import { withPauses } from "#hub/search/aggregations/tree/steps.ts";
import type { Hit } from "#hub/search/execute/fetch/fetch-hit.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { type ErrorCode, toAppError } from "#proto/kit/errors.ts";
import { askHosts, failuresOf } from "./ask-hosts.ts";
import { allFailed, type FetchedHits, type SearchResponse } from "./contract.ts";
import { type MergedHit, mergePartials } from "./merge.ts";
import type { CallShard, PartialResult, SearchCall, SearchDemand } from "./search-call.ts";

/** A host of shards. Errors that aren't the request's fault count as failures of its shards. */
export interface SearchHost {
  /** Runs the whole search, as the only host. */
  search(call: SearchCall, signal: AbortSignal): Promise<SearchResponse>;
  collect(call: SearchCall, signal: AbortSignal): Promise<OpenCollection>;
  /** Counts, or looks for suggestions. `T`: the partial result of the operation. */
  partial<T>(operation: "count" | "suggest", call: SearchCall, signal: AbortSignal): Promise<T>;
}

/** What a host found and keeps until it is closed. */
export interface OpenCollection {
  readonly partial: PartialResult;
  /** Fetches hits by their indexes in `partial.hits`. */
  fetch(places: readonly number[], signal: AbortSignal): Promise<FetchedHits>;
  close(): void;
}

/** A host with its part of the shards. */
export interface HostShards {
  readonly host: SearchHost;
  readonly shards: readonly CallShard[];
}

export interface ScatterOptions {
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/**
 * Searches the shards of all `targets`; `request` is what `demand.body` means. Throws the error of a shard if none
 * could be searched, too_many_buckets, what hosts say of the request, cancelled.
 */
export async function searchHosts(
  request: SearchRequest,
  demand: SearchDemand,
  targets: readonly HostShards[],
  { signal, clock = systemClock }: ScatterOptions,
): Promise<SearchResponse> {
  const [first] = targets;
  if (first !== undefined && targets.length === 1) return searchOne(demand, first, signal);
  const startMs = clock.monotonic();
  const opened = await collectAll(demand, targets, signal);
  try {
    const control = new SearchControl(clock, signal, undefined);
    control.check();
    const partials = opened.map(({ partial }) => partial);
    const { hits, answer } = await withPauses(mergePartials(request, partials, demand), control);
    const fetched = await fetchAll(hits, opened, signal);
    const timedOut = answer.timedOut || fetched.timedOut;
    return { ...answer, hits: fetched.hits, timedOut, tookMs: Math.round(clock.monotonic() - startMs) };
  } finally {
    for (const collection of opened) collection.close();
  }
}

/** If the only host can't be reached, all shards failed. */
async function searchOne(
  demand: SearchDemand,
  { host, shards }: HostShards,
  signal: AbortSignal,
): Promise<SearchResponse> {
  try {
    return await host.search({ ...demand, shards }, signal);
  } catch (thrown) {
    const error = toAppError(thrown);
    const isUnreached = UNREACHED.has(error.code) && error.data["failures"] === undefined;
    throw isUnreached ? allFailed(failuresOf(shards, error).map(({ failure }) => failure)) : error;
  }
}

/** Errors of hosts that gave no answer. */
const UNREACHED: ReadonlySet<ErrorCode> = new Set(["unavailable", "timeout", "closed"]);

/** Collects on all hosts at the same time; if the search fails, what others opened is closed. */
function collectAll(
  demand: SearchDemand,
  targets: readonly HostShards[],
  signal: AbortSignal,
): Promise<OpenCollection[]> {
  return askHosts(targets, signal, {
    ask: ({ host, shards }, either) => host.collect({ ...demand, shards }, either),
    unanswered: (failures) => ({
      partial: { ...NOTHING_FOUND, failures },
      fetch: () => Promise.resolve({ hits: [], timedOut: false }),
      close: () => undefined,
    }),
    discard: (collection) => collection.close(),
  });
}

const NOTHING_FOUND: PartialResult = {
  searched: [],
  failures: [],
  total: 0,
  maxScore: Number.NaN,
  hits: [],
  orders: [],
  terminatedEarly: false,
  timedOut: false,
  aggregations: undefined,
  profiles: [],
};

/** Fetches hits from the hosts that have some, all at the same time. */
async function fetchAll(
  hits: readonly MergedHit[],
  opened: readonly OpenCollection[],
  signal: AbortSignal,
): Promise<FetchedHits> {
  const wanted = opened.map((): { readonly places: number[]; readonly at: number[] } => ({
    places: [],
    at: [],
  }));
  for (const [at, { partial, place }] of hits.entries()) {
    wanted[partial]!.places.push(place);
    wanted[partial]!.at.push(at);
  }
  const all: Hit[] = [];
  let timedOut = false;
  await Promise.all(
    opened.map(async (collection, partial) => {
      const { places, at } = wanted[partial]!;
      if (places.length === 0) return;
      const fetched = await collection.fetch(places, signal);
      timedOut ||= fetched.timedOut;
      for (const [each, hit] of fetched.hits.entries()) all[at[each]!] = hit;
    }),
  );
  return { hits: all, timedOut };
}
