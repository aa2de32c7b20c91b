/**
 * Answers the front's calls on the host of the shards: whole searches, and collecting and fetching as parts of one. Calls and
 * replies are bytes, so that the host may be a thread or a node.
 */

import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { withPauses } from "#hub/search/aggregations/tree/steps.ts";
import type { ResultCache } from "#hub/search/execute/result-cache.ts";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import { parseQueryRequest, parseSearchRequest } from "#hub/search/request/search-request.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { parseCollapse, searchCollapsed } from "./collapse.ts";
import { collectCount } from "./count.ts";
import { collectShards } from "./phases/collect.ts";
import { allFailed, type SearchOptions, type SearchResponse, type SearchShard } from "./phases/contract.ts";
import { fetchedSoon, isSoonFetched } from "./phases/fetch-soon.ts";
import { OpenCollections } from "./phases/open-collections.ts";
import {
  type CollectReply,
  deferHits,
  type FetchCall,
  type FetchReply,
  type SearchOperation,
} from "./phases/remote-host.ts";
import { type CallShard, filterQuery, type PartialResult, type SearchCall } from "./phases/search-call.ts";
import { searchShards } from "./search.ts";
import { collectSuggestions, parseSuggest } from "./suggest.ts";
import { replySteps } from "./wire/reply.ts";
import { decodeValue } from "./wire/value-reader.ts";

export interface SearchServiceOptions {
  /** Opens a shard for one call, which closes it. Throws unavailable if the host doesn't have it. */
  readonly open: (shard: CallShard) => Searcher;
  readonly metrics: Metrics;
  /** Counts a collected shard of the search that has this name. */
  readonly noteShard?: (progress: string) => void;
  readonly results?: ResultCache;
  readonly clock?: Clock;
}

export class SearchService {
  readonly #options: SearchServiceOptions;
  readonly #clock: Clock;
  readonly #collections: OpenCollections;

  constructor(options: SearchServiceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#collections = new OpenCollections(options.metrics, this.#clock);
  }

  /** Answers a call of RemoteSearchHost. Throws what the search throws, data_corrupt for a call that can't be read. */
  async handle(operation: SearchOperation, payload: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const call = decodeValue(payload) as SearchCall & FetchCall;
    const warnings = new Set<string>();
    const value = await gatherWarnings(warnings, call.version, () => this.#run(operation, call, signal));
    const control = new SearchControl(this.#clock, signal, undefined);
    return withPauses(replySteps(value, warnings), control);
  }

  stop(): void {
    this.#collections.stop();
  }

  #run(operation: SearchOperation, call: SearchCall & FetchCall, signal: AbortSignal): Promise<unknown> {
    switch (operation) {
      case "search":
        return this.#search(call, signal);
      case "collect":
        return this.#collect(call, signal);
      case "fetch":
        return this.#fetch(call, signal);
      case "count":
        return this.#with(call, async ({ shards, failures }) => {
          const partial = await collectCount(parseQueryRequest(call.body), shards, signal);
          return { ...partial, failures: [...partial.failures, ...failures] };
        });
      case "suggest":
        return this.#with(call, async ({ shards, failures }) => {
          const suggesters = parseSuggest(call.body, call.limits);
          const options = this.#searchOptions(call, signal);
          const partial = await collectSuggestions(suggesters, shards, options, call.timeLeftMs);
          return { ...partial, failures: [...partial.failures, ...failures] };
        });
      case "close":
        this.#collections.close(call.id);
        return Promise.resolve();
    }
  }

  /** Opens the shards of a call while `run` runs. */
  async #with<T>(call: SearchCall, run: (opened: Opened) => Promise<T>): Promise<T> {
    const opened = this.#open(call.shards);
    try {
      return await run(opened);
    } finally {
      opened.close();
    }
  }

  #search(call: SearchCall, signal: AbortSignal): Promise<SearchResponse> {
    return this.#with(call, async (opened) => {
      if (opened.shards.length === 0 && opened.failures.length > 0) throw allFailed(failuresOf(opened));
      const collapse = parseCollapse(call.body);
      const options = this.#searchOptions(call, signal);
      const response =
        collapse === undefined
          ? await searchShards(parseSearchRequest(call.body, call.limits), opened.shards, options)
          : await searchCollapsed(call.body, collapse, call.limits, opened.shards, options);
      return withFailures(response, opened);
    });
  }

  async #collect(call: SearchCall, signal: AbortSignal): Promise<CollectReply> {
    const opened = this.#open(call.shards);
    let kept = false;
    try {
      const request = parseSearchRequest(call.body, call.limits);
      const collection = await collectShards(request, opened.shards, this.#searchOptions(call, signal));
      const partial = {
        ...collection.partial,
        failures: [...collection.partial.failures, ...opened.failures],
      };
      new SearchControl(this.#clock, signal, undefined).check();
      if (partial.hits.length === 0) return { id: undefined, partial };
      const mayBeSoon = call.fetchesIfSoon === true || call.fetches === true;
      const isSoon = mayBeSoon && isSoonFetched(request);
      const fetched = isSoon ? await fetchedSoon(collection) : undefined;
      if (fetched !== undefined) {
        const sent = call.defersHits === true ? { deferred: deferHits(fetched) } : { fetched };
        return { id: undefined, partial, ...sent };
      }
      kept = true;
      return { id: this.#collections.open(collection, opened.close), partial };
    } finally {
      if (!kept) opened.close();
    }
  }

  async #fetch({ id, places }: FetchCall, signal: AbortSignal): Promise<FetchReply> {
    const collection = this.#collections.get(id);
    try {
      const hits = await collection.fetch(places, signal);
      return { hits, timedOut: collection.timedOut, closed: true };
    } finally {
      this.#collections.close(id); // whoever merges fetches once
    }
  }

  #searchOptions(call: SearchCall, signal: AbortSignal): SearchOptions {
    const { shards: _, body: __, version: ___, cacheKey, progress: id, ...options } = call;
    const { results, noteShard } = this.#options;
    return {
      ...options,
      signal,
      clock: this.#clock,
      ...(id !== undefined && noteShard !== undefined && { progress: { id, done: () => noteShard(id) } }),
      ...(cacheKey !== undefined && results !== undefined && { cache: { results, key: cacheKey } }),
    };
  }

  /** Opens the shards that can be opened. */
  #open(wanted: readonly CallShard[]): Opened {
    const shards: SearchShard[] = [];
    const failures: Opened["failures"][number][] = [];
    for (const each of wanted) {
      const { filter, snapshot: _, ...shard } = each;
      try {
        const filtered = filter === undefined ? {} : filterQuery(filter);
        const searcher = this.#options.open(each);
        shards.push({ ...shard, searcher, ...filtered });
      } catch (error) {
        const { name, uuid } = each.index;
        const failure = { index: name, indexUuid: uuid, shard: each.shard, error: toAppError(error) };
        failures.push({ order: each.order, failure });
      }
    }
    return {
      shards,
      failures,
      close: () => {
        for (const { searcher } of shards) searcher.close();
      },
    };
  }
}

/** The shards of a call, and those that could not be opened. */
interface Opened {
  readonly shards: readonly SearchShard[];
  readonly failures: PartialResult["failures"];
  readonly close: () => void;
}

function failuresOf({ failures }: Opened): SearchResponse["shards"]["failures"] {
  return failures.map(({ failure }) => failure);
}

function withFailures(response: SearchResponse, opened: Opened): SearchResponse {
  if (opened.failures.length === 0) return response;
  const { total, failures } = response.shards;
  return {
    ...response,
    shards: {
      ...response.shards,
      total: total + opened.failures.length,
      failures: [...failures, ...failuresOf(opened)],
    },
  };
}
