/**
 * The part of a search that runs on the host of the shards: collects each shard, merges the results, and fetches the
 * hits of the answer.
 */

import { mergeTree } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { type Steps, sortedSteps, withPauses } from "#hub/search/aggregations/tree/steps.ts";
import { columnField } from "#hub/search/columns/column-values.ts";
import { type CollectOptions, collectShard, type ShardResult } from "#hub/search/execute/collect-shard.ts";
import { type Hit, HitFetcher } from "#hub/search/execute/fetch/fetch-hit.ts";
import { compareHits, type RankedHit } from "#hub/search/execute/hits/ranked-hit.ts";
import { StoredFieldsNode } from "#hub/search/execute/nodes/stored-fields.ts";
import { profileShard } from "#hub/search/execute/profile.ts";
import { rescored } from "#hub/search/execute/rescore.ts";
import { contextFault } from "#hub/search/options/context-fault.ts";
import { answersAs, warningCount } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { type SearchedIndex, ShardContext } from "#hub/search/query/query.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import { compareRanks, type RankOrder } from "#hub/search/sort/key.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { SearchCursor, SearchOptions, SearchShard, ShardFailure } from "./contract.ts";
import { grouped, joined, type PlacedShard } from "./joined-shards.ts";
import { prepareNested, prepareRuntimeFields } from "./prepare-search.ts";
import type { PartialResult } from "./search-call.ts";
import { countUnmatched } from "./skipped-shards.ts";

/** Options of the part of a search that a host runs. */
export interface HostSearchOptions extends SearchOptions {
  /** True if the search has no other shards. */
  readonly isWhole?: boolean;
}

/** Collects `shards` one after the other. A shard that fails is a failure of the result. Throws cancelled, memory_limit. */
export async function collectShards(
  request: SearchRequest,
  shards: readonly SearchShard[],
  options: HostSearchOptions,
): Promise<Collection> {
  const clock = options.clock ?? systemClock;
  const timeoutMs = Math.min(
    request.timeoutMs ?? Number.POSITIVE_INFINITY,
    options.timeLeftMs ?? Number.POSITIVE_INFINITY,
  );
  const control = new SearchControl(clock, options.signal, timeoutMs);
  const nowMs = options.nowMs ?? clock.now();
  const collector = new Collector(request, options, control, nowMs);
  if (options.collapseField !== undefined)
    for (const shard of shards) checkCollapse(shard, options.collapseField, request);
  const groups = grouped(request, shards);
  const unmatched =
    options.countsUnmatched === true ? await countUnmatched(request, shards, nowMs, control) : undefined;
  const isOnly = options.isWhole === true && groups.length === 1;
  for (const group of groups) {
    if (group.length === 1) await collector.add(group[0], isOnly);
    else await collector.addJoined(group, isOnly);
    for (const _ of group) options.progress?.done();
  }
  return withPauses(collectionSteps(request, options, control, collector, unmatched), control);
}

/** A hit of a host with what is needed to fetch it. */
interface FoundHit {
  readonly shardOrder: number;
  readonly result: ShardResult;
  readonly hit: RankedHit;
}

interface FoundShard {
  readonly order: number;
  /** Orders of the shards that were collected with it as one. */
  readonly others: readonly number[];
  readonly result: ShardResult;
  readonly profile: JsonObject | undefined;
}

/** Collects shards and keeps what they found. */
class Collector {
  readonly found: FoundShard[] = [];
  readonly failures: { readonly order: number; readonly failure: ShardFailure }[] = [];
  readonly #request: SearchRequest;
  readonly #options: HostSearchOptions;
  readonly #control: SearchControl;
  readonly #nowMs: number;

  constructor(request: SearchRequest, options: HostSearchOptions, control: SearchControl, nowMs: number) {
    this.#request = request;
    this.#options = options;
    this.#control = control;
    this.#nowMs = nowMs;
  }

  /** `isOnly`: nothing is merged with what it finds. */
  async add({ shard, order }: PlacedShard, isOnly = false): Promise<void> {
    try {
      this.found.push({ ...(await this.#collect(shard, order, isOnly)), others: [] });
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === "cancelled") throw error;
      const { name, uuid } = shard.index;
      this.failures.push({ order, failure: { index: name, indexUuid: uuid, shard: shard.shard, error } });
    }
  }

  /** Adds shards as one; each by itself where that fails, so that one that can't be read doesn't keep the others out. */
  async addJoined(group: readonly PlacedShard[], isOnly: boolean): Promise<void> {
    const [order, ...others] = group.map((each) => each.order);
    let result: Omit<FoundShard, "others">;
    try {
      result = await this.#collect(joined(group), order!, isOnly);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === "cancelled") throw error;
      for (const each of group) await this.add(each);
      return;
    }
    this.found.push({ ...result, others });
  }

  async #collect(searched: SearchShard, order: number, isOnly: boolean): Promise<Omit<FoundShard, "others">> {
    const { index, shard, searcher, filter: given, filterPaths, keepsResults } = searched;
    const [request, control] = [this.#request, this.#control];
    const seen = await prepareRuntimeFields(request.runtimeFields, searched, control);
    const context = new ShardContext(index, shard, seen, this.#nowMs);
    const stored = seen === searcher ? context : new ShardContext(index, shard, searcher, this.#nowMs);
    const filter = given === undefined || stored === context ? given : new StoredFieldsNode(given, stored);
    const how: CollectOptions = {
      limit: hitsPerShard(request),
      boost: boostOf(request, index.name),
      filter,
      after: afterOf(this.#options.cursor, order),
      shardOrder: order,
      isOnly,
    };
    const collect = (): Promise<ShardResult> => collectShard(request, context, how, control);
    const keeps = keepsResults !== false && filter === undefined;
    const startMs = performance.now();
    await prepareNested(context, control, request.nestedPaths);
    await prepareNested(stored, control, filterPaths);
    const result = await (keeps ? this.#cached(context, collect, cacheForm(index, isOnly)) : collect());
    const tookMs = performance.now() - startMs;
    const profile = request.profile
      ? {
          ...profiledShard(this.#options.nodeId ?? "", index.name, shard),
          ...(await profileShard(request, context, how, control, tookMs)),
        }
      : undefined;
    return { order, result: await rescored(result, request.rescore, control), profile };
  }

  /** Returns the cached result of an equal request, or the result of `collect`, which is cached if it is complete. */
  async #cached(
    shard: ShardContext,
    collect: () => Promise<ShardResult>,
    form: string,
  ): Promise<ShardResult> {
    const { cache } = this.#options;
    if (cache === undefined) return collect();
    const key = `${form}${cache.key}`;
    const known = cache.results.get(shard, key);
    if (known !== undefined) return { ...known, shard, orders: [], hits: [] };
    const warningsBefore = warningCount();
    const result = await collect();
    // A cached result would be returned without the warnings that the search raised.
    if (!this.#control.timedOut && warningCount() === warningsBefore) cache.results.put(shard, key, result);
    return result;
  }
}

/** Returns what the key of a cached result begins with, so that it is taken for searches of its form alone. */
function cacheForm({ allowsExpensive }: SearchedIndex, isOnly: boolean): string {
  // The only shard may return less than one of several.
  const only = isOnly ? "only " : "";
  return allowsExpensive === false ? `${only}inexpensive ` : only;
}

/** Merges what the shards found. */
function* collectionSteps(
  request: SearchRequest,
  options: SearchOptions,
  control: SearchControl,
  { found, failures }: Collector,
  unmatched: number | undefined,
): Steps<Collection> {
  const orders = found[0]?.result.orders ?? [];
  const hits = yield* bestHits(found, orders, request.from + request.size);
  const partial: PartialResult = {
    searched: found.flatMap(({ order, others }) => [order, ...others]),
    ...(unmatched !== undefined && { unmatched }),
    failures,
    total: found.reduce((sum, { result }) => sum + result.total, 0),
    maxScore: largest(found.map(({ result }) => result.maxScore)),
    hits: hits.map(({ shardOrder, hit: { ranks, segmentOrder, doc } }) => {
      return { ranks, shardOrder, segmentOrder, doc };
    }),
    orders,
    terminatedEarly: found.some(({ result }) => result.terminatedEarly),
    timedOut: control.timedOut,
    aggregations: yield* mergedStates(request, found),
    profiles: found.flatMap(({ order, profile }) => (profile === undefined ? [] : [{ order, profile }])),
  };
  return new Collection(request, options, control, partial, hits);
}

/** What a host found, and the snapshots that its hits are fetched from: valid while the searchers are open. */
export class Collection {
  readonly partial: PartialResult;
  readonly #request: SearchRequest;
  readonly #nodeId: string | undefined;
  readonly #collapseField: string | undefined;
  #control: SearchControl;
  /** Those of `partial.hits`. */
  readonly #hits: readonly FoundHit[];

  constructor(
    request: SearchRequest,
    { nodeId, collapseField }: SearchOptions,
    control: SearchControl,
    partial: PartialResult,
    hits: readonly FoundHit[],
  ) {
    this.#request = request;
    this.#nodeId = nodeId;
    this.#collapseField = collapseField;
    this.#control = control;
    this.partial = partial;
    this.#hits = hits;
  }

  /** True once the time of the request is over. */
  get timedOut(): boolean {
    return this.partial.timedOut || this.#control.timedOut;
  }

  /**
   * Fetches the hits at `places` of `partial.hits`. Throws cancelled, and what fields and scripts refuse. `signal`: instead of
   * the one that collecting had.
   */
  async fetch(places: readonly number[], signal?: AbortSignal): Promise<Hit[]> {
    if (signal !== undefined) this.#control = this.#control.withSignal(signal);
    const fetchers = new Map<number, HitFetcher>();
    const fetched: Hit[] = [];
    for (const position of places) {
      const { shardOrder, result, hit } = this.#hits[position]!;
      let fetcher = fetchers.get(shardOrder);
      if (fetcher === undefined) fetchers.set(shardOrder, (fetcher = this.#fetcher(result.shard)));
      fetched.push(fetcher.fetch(hit));
      if (this.#control.isDue) await this.#control.pause();
    }
    return fetched;
  }

  #fetcher(shard: ShardContext): HitFetcher {
    const { fetch: options, query, sort } = this.#request;
    const boost = boostOf(this.#request, shard.index);
    const sorted = sort.length > 0;
    const [nodeId, collapseField] = [this.#nodeId, this.#collapseField];
    return new HitFetcher({ options, query, sorted, boost, nodeId, collapseField }, shard);
  }
}

function* mergedStates(
  { aggregations }: SearchRequest,
  found: readonly FoundShard[],
): Steps<PartialResult["aggregations"]> {
  if (aggregations.size === 0 || found.length === 0) return undefined;
  return yield* mergeTree(
    aggregations,
    found.map(({ result }) => result.aggregations),
  );
}

function* bestHits(
  found: readonly FoundShard[],
  orders: readonly RankOrder[],
  count: number,
): Steps<FoundHit[]> {
  const all: FoundHit[] = [];
  for (const { order, result } of found) {
    yield;
    for (const hit of result.hits) all.push({ shardOrder: order, result, hit });
  }
  const sorted = yield* sortedSteps(all, (a, b) => {
    if (a.shardOrder === b.shardOrder) return compareHits(orders, a.hit, b.hit);
    return compareRanks(orders, a.hit.ranks, b.hit.ranks) || a.shardOrder - b.shardOrder;
  });
  return sorted.slice(0, count);
}

/** NaN if no score is a number. */
function largest(scores: readonly number[]): number {
  const known = scores.filter((score) => !Number.isNaN(score));
  return known.length === 0 ? Number.NaN : Math.max(...known);
}

/** Hits that a shard has to find: those of the answer, and those that a second pass may bring there. */
function hitsPerShard({ from, size, rescore }: SearchRequest): number {
  const wanted = from + size;
  return wanted === 0 ? 0 : Math.max(wanted, ...rescore.map(({ windowSize }) => windowSize));
}

/** Names a shard in a profile; from 8.6 on also by its parts. */
function profiledShard(node: string, index: string, shard: number): JsonObject {
  const parts = { node_id: node, shard_id: shard, index, cluster: "(local)" };
  return { id: `[${node}][${index}][${shard}]`, ...(answersAs(800) && parts) };
}

/** Hits of equal rank come by shard, then by their position in it. */
function afterOf(cursor: SearchCursor | undefined, shardOrder: number): CollectOptions["after"] {
  if (cursor === undefined) return undefined;
  if (shardOrder < cursor.shardOrder) return { ranks: cursor.ranks };
  if (shardOrder > cursor.shardOrder) return { ranks: cursor.ranks, segmentOrder: -1, doc: -1 };
  return { ranks: cursor.ranks, segmentOrder: cursor.segmentOrder, doc: cursor.doc };
}

function boostOf({ indicesBoost }: SearchRequest, index: string): number {
  return indicesBoost.find(([pattern]) => compileWildcard(pattern).matches(index))?.[1] ?? 1;
}

/** Types of fields that hits can't be collapsed on. */
const NOT_COLLAPSED: ReadonlySet<string> = new Set([
  "date",
  "date_nanos",
  "boolean",
  "ip",
  "geo_point",
  "text",
]);

/** Throws request_invalid if hits of the shard can't be collapsed on a field. */
function checkCollapse(
  { index, shard, searcher }: SearchShard,
  name: string,
  { runtimeFields }: SearchRequest,
): void {
  if (runtimeFields.some((field) => field.name === name)) return;
  const context = new ShardContext(index, shard, searcher, 0);
  const known = context.mapping.resolve(name);
  // From 7 on a text has the error of fields without columns.
  const field = known?.type === "text" && !answersAs(700) ? known : columnField(context, name);
  if (field === undefined) throw contextFault(`no mapping found for \`${name}\` in order to collapse on`);
  if (NOT_COLLAPSED.has(field.type)) {
    throw contextFault(`unknown type for collapse field \`${name}\`, only keywords and numbers are accepted`);
  }
}
