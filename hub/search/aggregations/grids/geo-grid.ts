/** Grids of cells that points lie in: what `geohash_grid` and `geotile_grid` have in common. */

import {
  BucketCollector,
  collectedTerms,
  KeyTable,
} from "#hub/search/aggregations/buckets/bucket-collector.ts";
import {
  cutTerms,
  mergeTerms,
  NO_TERMS,
  renderTerms,
  type TermsShape,
  type TermsState,
  textState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type {
  Aggregation,
  AggregationTree,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { readOrder } from "#hub/search/aggregations/tree/bucket-order.ts";
import { PointValues } from "#hub/search/columns/point-values.ts";
import { isInBox } from "#hub/search/geo/box.ts";
import type { GeoBox } from "#hub/search/geo/point.ts";
import { integer, object, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Buckets of the answer unless the request says otherwise. */
const DEFAULT_SIZE = 10_000;

/** Options of every grid but its precision. */
export const GRID_OPTIONS = {
  field: text("field of points", undefined),
  size: integer("buckets of the answer", DEFAULT_SIZE, 1),
  shard_size: integer("accepted; shards hand on enough", undefined),
  bounds: object("box that points must lie in: {top_left, bottom_right}"),
} as const;

export interface Grid {
  /** Name of the aggregation's type. */
  readonly type: string;
  readonly field: string;
  readonly size: number | undefined;
  readonly bounds: GeoBox | undefined;
  readonly below: AggregationTree;
  /** Key of the cell that a point lies in. */
  readonly cellOf: (lat: number, lon: number) => string;
}

export class GeoGrid implements Aggregation<TermsState> {
  readonly #grid: Grid;
  readonly #shape: TermsShape;

  constructor(grid: Grid) {
    this.#grid = grid;
    this.#shape = {
      below: grid.below,
      size: grid.size ?? DEFAULT_SIZE,
      minDocCount: 1,
      order: readOrder({ _count: "desc" }, grid.type),
      showError: false,
    };
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<TermsState> {
    const { field, type, bounds, cellOf } = this.#grid;
    const points = new PointValues(shard, field, type);
    const keys = new KeyTable<string>(budget);
    const shape = this.#shape;
    const buckets = new BucketCollector(shape.below, shard, budget);
    return {
      segment(segment) {
        points.open(segment);
        buckets.segment(segment);
      },
      collect(docs, owners, length) {
        for (let at = 0; at < length; at++) {
          const count = points.read(docs[at]!);
          const cells = new Set<string>();
          for (let each = 0; each < count; each++) {
            const [lat, lon] = [points.latitudes[each]!, points.longitudes[each]!];
            if (bounds === undefined || isInBox(bounds, lat, lon)) cells.add(cellOf(lat, lon));
          }
          for (const cell of cells) buckets.add(docs[at]!, keys.bucket(owners[at]!, cell));
        }
        buckets.flush();
      },
      state(owner) {
        return textState(cutTerms(collectedTerms(keys.of(owner), buckets), shape, shape.size));
      },
    };
  }

  merge(states: readonly TermsState[]): TermsState {
    return mergeTerms(states, this.#shape.below);
  }

  render(state: TermsState, budget: BucketBudget): JsonObject {
    const { buckets } = renderTerms(state, this.#shape, budget);
    return { buckets };
  }

  empty(): TermsState {
    return { ...NO_TERMS, kind: "text" };
  }

  typedName(): string {
    return this.#grid.type;
  }
}
