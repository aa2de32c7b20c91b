/** The documents of which nested objects match a query. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { describeQuery, explainByScore } from "#hub/search/explain/explanation.ts";
import type { JoinedSegment } from "#hub/search/query/nested-scope.ts";
import {
  type DocumentLocation,
  type Explanation,
  type HighlightSink,
  NO_MORE_DOCS,
  type Query,
  type QueryDescription,
  type ScoreMode,
  type ShardContext,
  type Weight,
} from "#hub/search/query/query.ts";
import { Scorer } from "#hub/search/query/scorer.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { AppError } from "#proto/kit/errors.ts";
import { NoneNode } from "./documents.ts";

/** How the score of a document is computed from the scores of its matching objects. */
export type NestedScore = "avg" | "sum" | "min" | "max" | "none";

export interface NestedQuery {
  readonly path: string;
  /** Runs among the objects. */
  readonly query: Query;
  readonly score: NestedScore;
  /** If no object has the path: true, nothing matches; false, the query is refused. */
  readonly ignoreUnmapped: boolean;
}

export class NestedNode implements Query {
  readonly #nested: NestedQuery;

  constructor(nested: NestedQuery) {
    this.#nested = nested;
  }

  /** Throws query_shard if the path isn't a nested object; memory_limit. */
  weight(shard: ShardContext, mode: ScoreMode): Weight {
    const { path, query, score, ignoreUnmapped } = this.#nested;
    shard.checkExpensive("[joining] queries");
    const scope = shard.scope.below(path);
    if (scope === undefined && ignoreUnmapped) return new NoneNode().weight();
    if (scope === undefined) throw unknownPath(path, shard);
    const scores = mode.scores && score !== "none";
    const inner = query.weight(shard.at(scope), { scores, boost: mode.boost });
    return new NestedWeight(inner, scope.joinFrom(shard.scope), mode.scores ? score : "none");
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    const scope = shard.scope.below(this.#nested.path);
    if (scope !== undefined) this.#nested.query.highlight?.(sink, shard.at(scope));
  }

  describe(shard: ShardContext): QueryDescription {
    const { path, query } = this.#nested;
    const scope = shard.scope.below(path);
    const inner = scope === undefined ? path : describeQuery(query, shard.at(scope)).text;
    return { type: "ToParentBlockJoinQuery", text: `ToParentBlockJoinQuery (${inner})` };
  }

  explain(place: DocumentLocation): Explanation {
    return explainByScore(this, place);
  }
}

/** Returns the refusal of a path that isn't a nested object. */
export function unknownPath(path: string, shard: ShardContext): AppError {
  return new AppError("query_shard", `[nested] failed to find nested object under path [${path}]`, {
    data: { index: shard.index, index_uuid: shard.indexUuid },
  });
}

class NestedWeight implements Weight {
  readonly #inner: Weight;
  readonly #joined: ReadonlyMap<SegmentReader, JoinedSegment>;
  readonly #score: NestedScore;

  constructor(inner: Weight, joined: ReadonlyMap<SegmentReader, JoinedSegment>, score: NestedScore) {
    this.#inner = inner;
    this.#joined = joined;
    this.#score = score;
  }

  scorer(segment: SegmentReader): Scorer | null {
    const joined = this.#joined.get(segment);
    if (joined === undefined) return null;
    const objects = this.#inner.scorer(joined.objects);
    return objects === null ? null : new NestedScorer(objects, joined, this.#score);
  }

  get isDear(): boolean {
    return this.#inner.isDear === true;
  }

  count(segment: SegmentReader): number {
    return this.#joined.has(segment) ? -1 : 0;
  }

  async prepare(segment: SegmentReader, control: SearchControl): Promise<void> {
    const joined = this.#joined.get(segment);
    if (joined !== undefined) await this.#inner.prepare?.(joined.objects, control);
  }
}

/** Walks the parents of matching objects. */
class NestedScorer extends Scorer {
  readonly cost: number;
  override readonly isApproximate: boolean;
  /** Positioned on the first matching object after those of the current document. */
  readonly #objects: Scorer;
  readonly #joined: JoinedSegment;
  readonly #mode: NestedScore;
  #score = 0;
  /** Whether the document `#readDoc` matches, if objects are approximate. */
  #isFound = false;
  #readDoc = -1;

  constructor(objects: Scorer, joined: JoinedSegment, mode: NestedScore) {
    super();
    this.#objects = objects;
    this.#joined = joined;
    this.#mode = mode;
    this.cost = objects.cost;
    this.isApproximate = objects.isApproximate;
  }

  next(): number {
    if (this.isApproximate) return this.advance(this.doc + 1);
    if (this.#objects.doc < 0) this.#objects.next();
    return this.#take();
  }

  advance(target: number): number {
    if (this.isApproximate) {
      let doc = this.seek(target);
      while (doc !== NO_MORE_DOCS && !this.matches()) doc = this.seek(doc + 1);
      return doc;
    }
    const { starts } = this.#joined;
    const first = target < starts.length ? starts[target]! : NO_MORE_DOCS;
    if (this.#objects.doc < first) this.#objects.advance(first);
    else if (this.#objects.doc < 0) this.#objects.next();
    return this.#take();
  }

  /** Stops at the next document with an object that may match. */
  override seek(target: number): number {
    if (!this.isApproximate) return this.advance(target);
    const { starts, parents } = this.#joined;
    const first = target < starts.length ? starts[target]! : NO_MORE_DOCS;
    if (this.#objects.doc < first) this.#objects.seek(first);
    const object = this.#objects.doc;
    return (this.doc = object === NO_MORE_DOCS ? NO_MORE_DOCS : parents[object]!);
  }

  override matches(): boolean {
    if (!this.isApproximate || this.#readDoc === this.doc) return !this.isApproximate || this.#isFound;
    this.#readDoc = this.doc;
    this.#isFound = this.#lookTo(this.#joined.starts[this.doc + 1]!);
    return this.#isFound;
  }

  /** Finds matching objects before `end`, and scores them if scores are needed. */
  #lookTo(end: number): boolean {
    const objects = this.#objects;
    while (objects.doc < end && !objects.matches()) objects.seek(objects.doc + 1);
    if (objects.doc >= end) return false;
    if (this.#mode !== "none") this.#score = this.#scoreTo(end, this.#mode);
    return true;
  }

  score(): number {
    return this.#score;
  }

  /** Takes the document of the object at hand, and moves past its objects. */
  #take(): number {
    const objects = this.#objects;
    if (objects.doc === NO_MORE_DOCS) return (this.doc = NO_MORE_DOCS);
    const { starts, parents } = this.#joined;
    const parent = parents[objects.doc]!;
    const end = starts[parent + 1]!;
    if (this.#mode !== "none") this.#score = this.#scoreTo(end, this.#mode);
    else if (objects.doc < end) objects.advance(end);
    return (this.doc = parent);
  }

  /** Returns the score of the matching objects before `end` and moves past them. There is at least one. */
  #scoreTo(end: number, mode: Exclude<NestedScore, "none">): number {
    const objects = this.#objects;
    let [sum, count] = [0, 0];
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const { isApproximate } = this;
    for (; objects.doc < end; isApproximate ? objects.seek(objects.doc + 1) : objects.next()) {
      if (isApproximate && !objects.matches()) continue;
      const score = objects.score();
      sum += score;
      count++;
      least = Math.min(least, score);
      most = Math.max(most, score);
    }
    const scores = { avg: sum / count, sum, min: least, max: most };
    return Math.fround(scores[mode]);
  }
}
