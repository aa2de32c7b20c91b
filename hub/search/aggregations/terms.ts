/** `terms`: documents by the values of a field, the most frequent first. */

import type { Field } from "#hub/engine/mapping/field.ts";
import { AppError } from "#proto/kit/errors.ts";
import { columnField, isNumeric } from "../columns.ts";
import { type JsonObject, scalarText } from "../json.ts";
import { anything, flag, integer, oneOf, text } from "../options.ts";
import type { ShardContext } from "../query.ts";
import { formatOf, RAW } from "../value-format.ts";
import type { Aggregation, BucketBudget, CollectBudget, Collector } from "./aggregation.ts";
import { type AggregationType, readAggregation } from "./aggregation-parser.ts";
import { checkOrder, readOrder } from "./bucket-order.ts";
import { missingNumber, requireField } from "./field-option.ts";
import { type TermFilter, termFilter } from "./terms-filter.ts";
import { ConstantTermCollector, KeywordTermsCollector } from "./terms-keyword.ts";
import { NumberTermsCollector } from "./terms-number.ts";
import {
  mergeTerms,
  renderTerms,
  type TermsContext,
  type TermsShape,
  type TermsState,
} from "./terms-state.ts";

const OPTIONS = {
  field: text("field of keywords, numbers, dates, booleans or addresses", undefined),
  size: integer("buckets of the answer", 10, 1),
  shard_size: integer("buckets a shard hands on at least", undefined),
  min_doc_count: integer("buckets with fewer documents are left out", 1),
  shard_min_doc_count: integer("accepted; shards hand on all", 0),
  order: anything('order of the buckets: {"_count": "desc"}, {"_key": "asc"}, {"<metric below>": "desc"}'),
  include: anything("regular expression or list of the values that get buckets, or a partition"),
  exclude: anything("regular expression or list of the values that get none"),
  missing: anything("value of documents without one"),
  format: text("format of printed keys", undefined),
  show_term_doc_count_error: flag("whether buckets say how far off they may be", false),
  execution_hint: text("accepted", undefined),
  collect_mode: oneOf("accepted", ["depth_first", "breadth_first"], undefined),
  value_type: text("accepted", undefined),
} as const;

export const terms: AggregationType = {
  name: "terms",
  summary: "Documents by the values of a field, the most frequent first.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("terms", body, OPTIONS);
    const given = readOrder(options.order, "terms");
    const order = given.length > 0 ? given : readOrder({ _count: "desc" }, "terms");
    checkOrder(order, below, name);
    const size = options.size ?? 10;
    const shape = {
      below,
      size,
      minDocCount: options.min_doc_count ?? 1,
      order,
      showError: options.show_term_doc_count_error ?? false,
    };
    return new Terms(shape, {
      field: requireField(options.field, name),
      shardSize: options.shard_size ?? Math.ceil(size * 1.5 + 10),
      filter: termFilter(options.include, options.exclude),
      missing: options.missing,
      format: options.format,
    });
  },
};

interface TermsOptions {
  readonly field: string;
  readonly shardSize: number;
  readonly filter: TermFilter | undefined;
  readonly missing: unknown;
  readonly format: string | undefined;
}

class Terms implements Aggregation<TermsState> {
  readonly #shape: TermsShape;
  readonly #options: TermsOptions;

  constructor(shape: TermsShape, options: TermsOptions) {
    this.#shape = shape;
    this.#options = options;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<TermsState> {
    const { field: name, missing, format, filter, shardSize } = this.#options;
    const context = { shard, budget, shape: this.#shape, shardSize, filter };
    if (name === "_index") return new ConstantTermCollector(context, shard.index);
    if (name === "_type") return new ConstantTermCollector(context, shard.typeName);
    const field = columnField(shard, name);
    if (field?.type === "geo_point") throw pointFault(field);
    if (field === undefined) return this.#unmapped(context);
    if (!isNumeric(field)) {
      return new KeywordTermsCollector(
        context,
        field.path,
        missing === undefined ? undefined : scalarText(missing, "missing"),
      );
    }
    return new NumberTermsCollector(context, field, missingNumber(missing, "terms"), formatOf(field, format));
  }

  merge(states: readonly TermsState[]): TermsState {
    return mergeTerms(states, this.#shape.below);
  }

  render(state: TermsState, budget: BucketBudget): JsonObject {
    return renderTerms(state, this.#shape, budget);
  }

  empty(): TermsState {
    return { buckets: [], others: 0, errorBound: 0, kind: "unmapped", format: RAW };
  }

  typedName({ kind }: TermsState): string {
    return { text: "sterms", long: "lterms", double: "dterms", unmapped: "umterms" }[kind];
  }

  /** Without the field all documents have the value of `missing`, if there is one. */
  #unmapped(context: TermsContext): Collector<TermsState> {
    const { missing } = this.#options;
    if (missing !== undefined) return new ConstantTermCollector(context, missing as string | number);
    return { segment: () => undefined, collect: () => undefined, state: () => this.empty() };
  }
}

function pointFault(field: Field): AppError {
  return new AppError(
    "request_invalid",
    `[terms] doesn't work on [${field.path}] of type [geo_point]; points have no single value`,
  );
}
