/** What the front asks a host for, and what the host found. Plain data, so that it can be sent. */

import type { TreeState } from "#hub/search/aggregations/tree/aggregation.ts";
import { anyOf, BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { type IdSlice, IdSliceNode } from "#hub/search/execute/nodes/slice.ts";
import { QUERIES_BY_NAME } from "#hub/search/parse/queries/all.ts";
import { QueryParser } from "#hub/search/parse/query-parser.ts";
import type { SearchedIndex, SearchLimits } from "#hub/search/query/query.ts";
import type { RankOrder } from "#hub/search/sort/key.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { SearchCursor, SearchShard, ShardFailure } from "./contract.ts";

/** What all hosts of a search get alike. */
export interface SearchDemand {
  /** The body with its look-ups resolved; `collapse` and `suggest` are understood by whole searches only. */
  readonly body: JsonObject;
  readonly limits: SearchLimits;
  /** Version that the request is answered in; see request-version.ts. */
  readonly version: number;
  /** The request's time, ms. */
  readonly nowMs: number;
  /** Time until the request's deadline, ms; undefined: none. What was found until then is the answer. */
  readonly timeLeftMs?: number;
  readonly typedKeys?: boolean;
  /** See SearchOptions. */
  readonly countsUnmatched?: boolean;
  readonly cursor?: SearchCursor;
  /** Shown with each hit when explanations are requested. */
  readonly nodeId?: string;
  /** Name of the request among those whose results are kept; undefined: not kept. */
  readonly cacheKey?: string;
  /** Name under which collected shards are counted. */
  readonly progress?: string;
  /** Field that hits are collapsed on, whose value they show: a shard that can't do that fails the search. */
  readonly collapseField?: string;
}

/** A search in shards of one host. */
export interface SearchCall extends SearchDemand {
  readonly shards: readonly CallShard[];
  /** True: the host fetches what it collected at once if that is little, see isSoonFetched. */
  readonly fetchesIfSoon?: boolean;
  /** The same from hubs of earlier versions. It isn't sent: they fetch any hits for it, with their highlights and scripts. */
  readonly fetches?: boolean;
  /** True: hits that are fetched at once may come as `deferred`, see CollectReply. Earlier versions don't say so. */
  readonly defersHits?: boolean;
}

/** A shard that a host has. */
export interface CallShard {
  readonly index: SearchedIndex;
  /** From 0. */
  readonly shard: number;
  /** Position among all shards of the search. */
  readonly order: number;
  readonly filter?: ShardFilter;
  /** False: results aren't kept for this shard. */
  readonly keepsResults?: boolean;
  /** Id of a snapshot that the host keeps; undefined: the newest. */
  readonly snapshot?: string;
}

/** Which documents of a shard a search sees. */
export interface ShardFilter {
  /** Queries of which a document matches one; none: it sees nothing. */
  readonly anyOf?: readonly JsonObject[];
  /** Only this part of the documents. */
  readonly slice?: IdSlice;
}

/** Returns the query of a filter, none for all documents, and which nested objects it reads. Throws parsing. */
export function filterQuery({
  anyOf: queries,
  slice,
}: ShardFilter): Pick<SearchShard, "filter" | "filterPaths"> {
  const part = slice === undefined ? undefined : new IdSliceNode(slice);
  if (queries === undefined) return part === undefined ? {} : { filter: part };
  if (queries.length === 0) return { filter: new NoneNode() };
  const parsers = queries.map(() => new QueryParser(QUERIES_BY_NAME));
  const any = anyOf(queries.map((query, at) => parsers[at]!.parse(query)));
  const filterPaths = new Set(parsers.flatMap(({ nestedPaths }) => [...nestedPaths]));
  return { filter: part === undefined ? any : new BooleanNode({ filter: [any, part] }), filterPaths };
}

/**
 * What the shards of one host found. Plain data, so that it can be sent to the front, which merges those of all hosts.
 * `HitPosition`: the position of a hit in the order of all hits. `shardOrder`: position of its shard among all shards of
 * the search.
 */
export type HitPosition = SearchCursor;

export interface PartialResult {
  /** Orders of the shards that were searched, ascending. */
  readonly searched: readonly number[];
  /** How many of them can't match by the ranges of their fields; absent unless they were counted. */
  readonly unmatched?: number;
  /** Shards that could not be searched, by their order. */
  readonly failures: readonly { readonly order: number; readonly failure: ShardFailure }[];
  /** Matching live documents. */
  readonly total: number;
  /** Largest score; NaN if there is none. */
  readonly maxScore: number;
  /** The best from + size hits of the host, from the best on. */
  readonly hits: readonly HitPosition[];
  /** How ranks of hits compare; empty without hits. */
  readonly orders: readonly RankOrder[];
  readonly terminatedEarly: boolean;
  readonly timedOut: boolean;
  /** Merged over the shards of the host; undefined if none was searched or none were requested. */
  readonly aggregations: TreeState | undefined;
  /** By the order of the shards; empty if it wasn't requested. */
  readonly profiles: readonly { readonly order: number; readonly profile: JsonObject }[];
}
