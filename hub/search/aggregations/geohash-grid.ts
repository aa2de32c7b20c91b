/** `geohash_grid`: documents by the cells that their points lie in. */

import { AppError } from "#proto/kit/errors.ts";
import { hashOf } from "../geo.ts";
import type { JsonObject } from "../json.ts";
import { integer, text } from "../options.ts";
import type { ShardContext } from "../query.ts";
import { RAW } from "../value-format.ts";
import type { Aggregation, BucketBudget, CollectBudget, Collector } from "./aggregation.ts";
import { type AggregationType, readAggregation } from "./aggregation-parser.ts";
import { readOrder } from "./bucket-order.ts";
import { BucketCollector, collectedTerms, KeyTable } from "./buckets.ts";
import { requireField } from "./field-option.ts";
import { PointValues } from "./geo-point-field.ts";
import {
  cutTerms,
  mergeTerms,
  renderTerms,
  type TermsShape,
  type TermsState,
  textState,
} from "./terms-state.ts";

const OPTIONS = {
  field: text("field of points", undefined),
  precision: integer("characters of the hashes, 1..12", 5),
  size: integer("buckets of the answer", 10_000, 1),
  shard_size: integer("accepted; shards hand on enough", undefined),
} as const;

export const geohashGrid: AggregationType = {
  name: "geohash_grid",
  summary: "Documents by the cells (geohashes) that their points lie in.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("geohash_grid", body, OPTIONS);
    const precision = options.precision ?? 5;
    if (precision < 1 || precision > 12) {
      throw new AppError(
        "request_invalid",
        `Invalid geohash aggregation precision of ${precision}. Must be between 1 and 12.`,
      );
    }
    const shape: TermsShape = {
      below,
      size: options.size ?? 10_000,
      minDocCount: 1,
      order: readOrder({ _count: "desc" }, "geohash_grid"),
      showError: false,
    };
    return new GeohashGrid(requireField(options.field, name), precision, shape);
  },
};

class GeohashGrid implements Aggregation<TermsState> {
  readonly #field: string;
  readonly #precision: number;
  readonly #shape: TermsShape;

  constructor(field: string, precision: number, shape: TermsShape) {
    this.#field = field;
    this.#precision = precision;
    this.#shape = shape;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<TermsState> {
    const points = new PointValues(shard, this.#field, "geohash_grid");
    const keys = new KeyTable<string>(budget);
    const buckets = new BucketCollector(this.#shape.below, shard, budget);
    const precision = this.#precision;
    const shape = this.#shape;
    return {
      segment(segment) {
        points.open(segment);
        buckets.segment(segment);
      },
      collect(docs, owners, length) {
        for (let at = 0; at < length; at++) {
          const count = points.read(docs[at]!);
          const cells = new Set<string>();
          for (let each = 0; each < count; each++)
            cells.add(hashOf(points.latitudes[each]!, points.longitudes[each]!, precision));
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
    return { buckets: [], others: 0, errorBound: 0, kind: "text", format: RAW };
  }

  typedName(): string {
    return "geohash_grid";
  }
}
