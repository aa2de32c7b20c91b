/**
 * The shards that a call searches: those of this host, and those that other hosts, of this hub or of others, search for it.
 * Calls to them go through the front, which knows the thread that serves.
 */

import type { HostAddress } from "#hub/host/contract/calls.ts";
import { demandOf } from "#hub/host/contract/search-demand.ts";
import { type CountResponse, collectCount, countOnHosts, countShards } from "#hub/search/count.ts";
import type { Hit } from "#hub/search/execute/fetch/fetch-hit.ts";
import { type Collection, collectShards } from "#hub/search/phases/collect.ts";
import {
  allFailed,
  type SearchOptions,
  type SearchResponse,
  type SearchShard,
} from "#hub/search/phases/contract.ts";
import { fetchedSoon, isSoonFetched } from "#hub/search/phases/fetch-soon.ts";
import {
  type HostShards,
  type OpenCollection,
  type SearchHost,
  searchHosts,
} from "#hub/search/phases/scatter.ts";
import type { CallShard, SearchCall } from "#hub/search/phases/search-call.ts";
import type { SearchLimits } from "#hub/search/query/query.ts";
import {
  parseQueryRequest,
  parseSearchRequest,
  type SearchRequest,
} from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import {
  collectSuggestions,
  type NamedSuggester,
  parseSuggest,
  type Suggestions,
  suggest,
  suggestOnHosts,
} from "#hub/search/suggest.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Shards of another host. */
export interface OtherShards extends HostShards {
  readonly address: HostAddress;
}

/** A search body, its parsed form, and the options of its run. */
export interface WantedSearch {
  readonly request: SearchRequest;
  readonly body: JsonObject;
  readonly options: SearchOptions;
}

export class SearchedShards {
  /** Opened shards of this host, with their orders if others are searched too. */
  readonly own: readonly SearchShard[];
  readonly #others: readonly OtherShards[];

  constructor(own: readonly SearchShard[], others: readonly OtherShards[]) {
    this.own = own;
    this.#others = others;
  }

  get count(): number {
    return this.#others.reduce((sum, { shards }) => sum + shards.length, this.own.length);
  }

  /**
   * Returns the result of `parse`. A script that doesn't compile is a failure of all shards, because the 6.5 server compiles
   * scripts for each shard. `closes`: the shards are closed if it throws.
   */
  parsing<T>(parse: () => T, closes = false): T {
    try {
      return parse();
    } catch (error) {
      const places = [...this.own, ...this.#others.flatMap(({ shards }) => shards)];
      if (closes) this.close();
      if (!(error instanceof AppError && error.code === "script_failed") || places.length === 0) throw error;
      throw allFailed(
        places.map(({ index, shard }) => ({ index: index.name, indexUuid: index.uuid, shard, error })),
      );
    }
  }

  /** The shards of other hosts. */
  get others(): readonly OtherShards[] {
    return this.#others;
  }

  close(): void {
    for (const { searcher } of this.own) searcher.close();
  }

  /** See searchShards. */
  search({ request, body, options }: WantedSearch): Promise<SearchResponse> {
    if (this.#others.length === 0) return searchShards(request, this.own, options);
    const { signal, clock = systemClock } = options;
    return searchHosts(request, demandOf(body, options), this.#targets(options, request), { signal, clock });
  }

  /** See countShards; the query is that of `body`. */
  countDocs(body: JsonObject, limits: SearchLimits, signal: AbortSignal): Promise<CountResponse> {
    if (this.#others.length === 0) return countShards(parseQueryRequest(body), this.own, signal);
    const options = { limits, signal };
    return countOnHosts(demandOf(body, options), this.#targets(options), signal);
  }

  /** See suggest; the suggesters are those of `body`. */
  suggest(
    suggesters: readonly NamedSuggester[],
    body: JsonObject,
    options: SearchOptions,
    timeoutMs: number | undefined,
  ): Promise<Suggestions> {
    if (this.#others.length === 0) return suggest(suggesters, this.own, options, timeoutMs);
    const timed = { ...options, ...(timeoutMs !== undefined && { timeLeftMs: timeoutMs }) };
    return suggestOnHosts(suggesters, demandOf(body, timed), this.#targets(timed), options.signal);
  }

  #targets(options: SearchOptions, request?: SearchRequest): HostShards[] {
    if (this.own.length === 0) return [...this.#others];
    const shards = this.own.map(callShard);
    // The others come first, so that they search while this host does.
    const share = shards.length / this.count;
    return [...this.#others, { host: new OwnShards(this.own, share, options, request), shards }];
  }
}

/** The shards of this host among those of a search: nothing is sent. */
class OwnShards implements SearchHost {
  readonly #shards: readonly SearchShard[];
  /** Of all shards of the search, 0..1. */
  readonly #share: number;
  readonly #options: SearchOptions;
  readonly #request: SearchRequest | undefined;

  /** `request`: what the body of the calls means, if that is known already. */
  constructor(
    shards: readonly SearchShard[],
    share: number,
    options: SearchOptions,
    request?: SearchRequest,
  ) {
    this.#shards = shards;
    this.#share = share;
    this.#options = options;
    this.#request = request;
  }

  search({ body, limits }: SearchCall, signal: AbortSignal): Promise<SearchResponse> {
    return searchShards(parseSearchRequest(body, limits), this.#shards, { ...this.#options, signal });
  }

  async collect({ body, limits }: SearchCall, signal: AbortSignal): Promise<OpenCollection> {
    const options = { ...this.#options, signal };
    const request = this.#request ?? parseSearchRequest(body, limits);
    const collection = await collectShards(request, this.#shards, options);
    const soon = await this.#fetchSoon(request, collection);
    return {
      partial: collection.partial,
      fetch: async (places, fetchSignal) => {
        const late = places.filter((position) => position >= soon.length);
        const rest = late.length === 0 ? [] : await collection.fetch(late, fetchSignal);
        // Positions need not ascend: where indices sort a field differently, the page has the order of the first one.
        const lateHits = rest.values();
        const hits = places.map((position) => soon[position] ?? lateHits.next().value!);
        return { hits, timedOut: collection.timedOut };
      },
      close: () => undefined,
    };
  }

  /**
   * Fetches as many hits as this host probably has in the answer, while the others still search. What fails is fetched again if
   * the answer has it: then the search fails, and not the part of this host. Throws cancelled.
   */
  async #fetchSoon(request: SearchRequest, collection: Collection): Promise<readonly Hit[]> {
    if (!isSoonFetched(request)) return [];
    const count = Math.ceil((request.from + request.size) * this.#share);
    try {
      return (await fetchedSoon(collection, count))?.hits ?? [];
    } catch (error) {
      if (error instanceof AppError && error.code === "cancelled") throw error;
      return [];
    }
  }

  async partial<T>(
    operation: "count" | "suggest",
    { body, limits, timeLeftMs }: SearchCall,
    signal: AbortSignal,
  ): Promise<T> {
    const found =
      operation === "count"
        ? await collectCount(parseQueryRequest(body), this.#shards, signal)
        : await collectSuggestions(
            parseSuggest(body, limits),
            this.#shards,
            { ...this.#options, signal },
            timeLeftMs,
          );
    return found as T;
  }
}

function callShard({ index, shard, order = 0 }: SearchShard): CallShard {
  return { index, shard, order };
}
