/**
 * A query that uses only the fields of the index, not those that a search defines: documents hidden by a filter stay
 * hidden.
 */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { describeQuery, explainByScore } from "#hub/search/explain/explanation.ts";
import type {
  DocumentLocation,
  Explanation,
  Query,
  QueryDescription,
  ScoreMode,
  ShardContext,
  Weight,
} from "#hub/search/query/query.ts";
import type { Scorer } from "#hub/search/query/scorer.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { WrappedQuery, WrappedWeight } from "./wrapped-query.ts";

/** See the file's comment. */
export class StoredFieldsNode extends WrappedQuery {
  readonly #inner: Query;
  readonly #stored: ShardContext;

  /** `stored`: the shard without the fields that the search defines. */
  constructor(inner: Query, stored: ShardContext) {
    super();
    this.#inner = inner;
    this.#stored = stored;
  }

  override weight(shard: ShardContext, mode: ScoreMode): Weight {
    const stored = this.#stored.searcher.segments;
    const segments = new Map(shard.searcher.segments.map((segment, at) => [segment, stored[at]!]));
    return new StoredFieldsWeight(this.#inner.weight(this.#stored, mode), segments);
  }

  override describe(): QueryDescription {
    return describeQuery(this.#inner, this.#stored);
  }

  override explain(place: DocumentLocation): Explanation {
    return explainByScore(this, place);
  }

  protected inner(): Query {
    return this.#inner;
  }
}

class StoredFieldsWeight extends WrappedWeight {
  readonly #stored: ReadonlyMap<SegmentReader, SegmentReader>;
  override readonly set: Weight["set"];
  override readonly cost: Weight["cost"];

  constructor(inner: Weight, stored: ReadonlyMap<SegmentReader, SegmentReader>) {
    super(inner);
    this.#stored = stored;
    this.set = inner.set === undefined ? undefined : (segment) => inner.set!(stored.get(segment)!);
    this.cost = inner.cost === undefined ? undefined : (segment) => inner.cost!(stored.get(segment)!);
  }

  /** The same condition over the fields of the search may find other documents. */
  override get key(): string | undefined {
    return this.inner.key === undefined ? undefined : `stored>${this.inner.key}`;
  }

  override scorer(segment: SegmentReader): Scorer | null {
    return this.inner.scorer(this.#stored.get(segment)!);
  }

  override count(segment: SegmentReader): number {
    return this.inner.count(this.#stored.get(segment)!);
  }

  override async prepare(segment: SegmentReader, control: SearchControl): Promise<void> {
    await this.inner.prepare?.(this.#stored.get(segment)!, control);
  }
}
