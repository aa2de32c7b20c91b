/** `terms`: documents by the values of a field, the most frequent first. By several fields: composite/multi-terms.ts. */

import {
  mergeTerms,
  NO_TERMS,
  renderTerms,
  type TermsShape,
  type TermsState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type {
  Aggregation,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { orderOfTerms } from "#hub/search/aggregations/tree/bucket-order.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { anything, flag, hint, integer, oneOf, text, withoutEffect } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { readValueScript } from "#hub/search/scripting/document-script.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { type TermsSource, termsCollector, VALUE_TYPE, warnOfValueType } from "./terms-source.ts";

const OPTIONS = {
  field: text("field of keywords, numbers, dates, booleans or addresses", undefined),
  script: anything("script that makes the values; with a field, it sees each value as _value"),
  size: integer("buckets of the answer", 10, 1),
  shard_size: integer("buckets a shard returns at least", undefined),
  min_doc_count: integer("buckets with fewer documents are left out", 1),
  shard_min_doc_count: withoutEffect(integer("each shard returns all its terms", 0)),
  order: anything('order of the buckets: {"_count": "desc"}, {"_key": "asc"}, {"<metric below>": "desc"}'),
  include: anything("regular expression or list of the values that get buckets, or a partition"),
  exclude: anything("regular expression or list of the values to exclude"),
  missing: anything("value of documents without one"),
  format: text("format of printed keys", undefined),
  show_term_doc_count_error: flag("whether buckets contain the maximum error of their counts", false),
  execution_hint: hint(text("how other engines compute it", undefined)),
  collect_mode: hint(oneOf("how other engines compute it", ["depth_first", "breadth_first"], undefined)),
  value_type: VALUE_TYPE,
} as const;

export const terms: AggregationType = {
  name: "terms",
  summary: "Documents by the values of a field, the most frequent first.",
  options: OPTIONS,
  buckets: true,
  joined: "gains",
  parse(body, { name, below }) {
    const options = readAggregation("terms", body, OPTIONS);
    warnOfValueType("terms", options);
    const order = orderOfTerms(options.order, "terms", name, below);
    const size = options.size ?? 10;
    const shape = {
      below,
      size,
      minDocCount: options.min_doc_count ?? 1,
      order,
      showError: options.show_term_doc_count_error ?? false,
    };
    return new Terms(shape, options.shard_size ?? Math.ceil(size * 1.5 + 10), {
      owner: "terms",
      ...sourceOf(options, name),
      include: options.include,
      exclude: options.exclude,
      missing: options.missing,
      valueType: options.value_type,
      format: options.format,
    });
  },
};

function sourceOf(
  { field, script }: { readonly field: string | undefined; readonly script: unknown },
  name: string,
): Pick<TermsSource, "field" | "script"> {
  if (script === undefined || script === null) return { field: requireField(field, name) };
  return { field: field ?? "", script: readValueScript(script, field) };
}

class Terms implements Aggregation<TermsState> {
  readonly #shape: TermsShape;
  readonly #shardSize: number;
  readonly #source: TermsSource;

  constructor(shape: TermsShape, shardSize: number, source: TermsSource) {
    this.#shape = shape;
    this.#shardSize = shardSize;
    this.#source = source;
  }

  collector(shard: ShardContext, budget: CollectBudget, isFinal = false): Collector<TermsState> {
    const [shape, shardSize] = [this.#shape, this.#shardSize];
    return termsCollector({ shard, budget, shape, shardSize, isFinal }, this.#source);
  }

  merge(states: readonly TermsState[]): Steps<TermsState> {
    return mergeTerms(states, this.#shape.below);
  }

  render(state: TermsState, budget: BucketBudget): Steps<JsonObject> {
    return renderTerms(state, this.#shape, budget);
  }

  empty(): TermsState {
    return NO_TERMS;
  }

  typedName({ kind }: TermsState): string {
    return { text: "sterms", long: "lterms", double: "dterms", unmapped: "sterms" }[kind];
  }
}
