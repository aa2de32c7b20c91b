/**
 * `inner_hits`: the nested objects of a hit that match a nested query, with the position of each in its document.
 */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { RankedHit } from "#hub/search/execute/hits/ranked-hit.ts";
import { TopHits } from "#hub/search/execute/hits/top-hits.ts";
import type { JoinedSegment, NestedScope } from "#hub/search/query/nested-scope.ts";
import type { ShardContext, Weight } from "#hub/search/query/query.ts";
import { bindSort } from "#hub/search/sort/shard-sort.ts";
import { BY_SCORE, isByScore, needsScores } from "#hub/search/sort/sort-request.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import type { InnerHits } from "./fetch-request.ts";

/** Returns an object as it is shown. */
export type FetchObject = (hit: RankedHit) => JsonObject;

/** Finds the objects of one nested query, hit by hit. */
export class InnerHitsSearch {
  readonly #request: InnerHits;
  readonly #shard: ShardContext | undefined;
  readonly #joined: ReadonlyMap<SegmentReader, JoinedSegment>;
  readonly #weight: Weight | undefined;
  readonly #fetch: FetchObject | undefined;

  /** `fetcher` makes what shows objects of a level. Throws memory_limit. */
  constructor(
    request: InnerHits,
    shard: ShardContext,
    fetcher: (request: InnerHits, objects: ShardContext) => FetchObject,
  ) {
    this.#request = request;
    const scope = shard.scope.below(request.path);
    this.#shard = scope === undefined ? undefined : shard.at(scope);
    this.#joined = scope?.joinFrom(shard.scope) ?? new Map();
    if (this.#shard === undefined) return;
    this.#weight = request.query.weight(this.#shard, { scores: true, boost: 1 });
    this.#fetch = fetcher(request, this.#shard);
  }

  /** Returns the objects of a document as `inner_hits` shows them. */
  of(segment: SegmentReader, doc: number): JsonObject {
    const joined = this.#joined.get(segment);
    const found = joined === undefined ? undefined : this.#find(joined, doc);
    const { from, size } = this.#request;
    const hits = (found?.hits ?? []).slice(from, from + size).map(this.#fetch!);
    return { hits: { total: found?.total ?? 0, max_score: found?.maxScore ?? null, hits } };
  }

  #find(joined: JoinedSegment, doc: number) {
    const { from, size, sort, trackScores } = this.#request;
    const keys = isByScore(sort) ? BY_SCORE : sort;
    const sources = bindSort(keys, this.#shard!);
    const scored = trackScores || needsScores(keys);
    const top = new TopHits({
      limit: Math.max(1, from + size),
      sources,
      after: undefined,
      keepScores: scored,
    });
    top.segment(joined.objects, 0);
    const scorer = this.#weight!.scorer(joined.objects);
    const end = joined.starts[doc + 1]!;
    const [object, score] = [new Int32Array(1), new Float32Array(1)];
    let total = 0;
    let maxScore: number | null = null;
    for (let at = scorer?.advance(joined.starts[doc]!) ?? end; at < end; at = scorer!.next()) {
      total++;
      object[0] = at;
      score[0] = scorer!.score();
      if (scored) maxScore = Math.max(maxScore ?? Number.NEGATIVE_INFINITY, score[0]);
      top.collect(object, score, 1);
    }
    return { total, maxScore, hits: total === 0 ? [] : top.finish() };
  }
}

/** Returns `_nested` of an object: the field and the number of it, and of each object below, from the outermost. */
export function nestedIdentity(scope: NestedScope, segment: SegmentReader, doc: number): JsonObject {
  let inner: JsonObject | undefined;
  let [level, objects, object] = [scope, segment, doc];
  for (; level.above !== undefined; level = level.above) {
    const place = level.placeOf(objects, object);
    const prefix = level.above.path === "" ? 0 : level.above.path.length + 1;
    inner = {
      field: level.path.slice(prefix),
      offset: place.offset,
      ...(inner !== undefined && { _nested: inner }),
    };
    [objects, object] = [place.segment, place.parent];
  }
  return inner ?? {};
}

/** Returns the object at `path` of a document that holds one object there. */
export function nestedPart(document: JsonObject, path: string): JsonObject {
  let part: unknown = document;
  for (const name of path.split(".")) part = isObject(part) ? part[name] : undefined;
  return isObject(part) ? part : {};
}
