/** `top_metrics`: values of the first documents in a sort order. */

import type { Aggregation, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { isSteps, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { formatOf, printValue } from "#hub/search/columns/value-format.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { printedNumber } from "#hub/search/options/json-writer.ts";
import { anything, integer, readOptions, required, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { topHits } from "./top-hits.ts";

/** Documents of a bucket: index.top_metrics_max_size. */
const MAX_SIZE = 10;

/** Fields of one aggregation. */
const MAX_METRICS = 100;

const OPTIONS = {
  metrics: required(anything("{field}, or a list of them: the fields to return for each document")),
  sort: anything("order of the documents by one key; by score without it"),
  size: integer("documents of each bucket", 1, 1),
} as const;
const METRIC_OPTIONS = { field: required(text("field", undefined)) } as const;

export const topMetrics: AggregationType = {
  name: "top_metrics",
  summary: "Values of the documents of each bucket that come first by [sort].",
  options: OPTIONS,
  buckets: false,
  joined: "never",
  parse(body, context) {
    const { metrics: given, sort, size } = readAggregation("top_metrics", body, OPTIONS);
    const list = (Array.isArray(given) ? given : [given]) as readonly unknown[];
    const fields = list.map(
      (each) =>
        readOptions("top_metrics] [metrics", objectOf(each, "metrics"), METRIC_OPTIONS, "aggregation").field,
    );
    if (fields.length === 0 || fields.length > MAX_METRICS)
      throw new AppError(
        "request_invalid",
        `[metrics] of [${context.name}] must name 1 to ${MAX_METRICS} fields`,
      );
    if (size > MAX_SIZE)
      throw new AppError(
        "request_invalid",
        `[top_metrics.size] must not be more than [${MAX_SIZE}] but was [${size}]. This limit can be set by changing the [index.top_metrics_max_size] index level setting.`,
      );
    const keys: unknown = Array.isArray(sort) && sort.length === 1 ? sort[0] : sort;
    if (Array.isArray(keys) || (isObject(keys) && Object.keys(keys).length !== 1))
      throw new AppError("request_invalid", "only one sort key is allowed for top_metrics");
    // A field that is named twice, or a pattern, would not be shown as requested.
    const shown = { size, _source: false, docvalue_fields: fields.map((field) => ({ field })) };
    const hits = topHits.parse({ ...shown, ...(keys !== undefined && { sort: keys }) }, context);
    return new TopMetrics(hits as Aggregation<HitsState>, fields, sortField(keys));
  },
};

/** The field of a sort key; undefined for the score and others that aren't fields. */
function sortField(key: unknown): string | undefined {
  const name = isObject(key) ? Object.keys(key)[0] : key;
  return typeof name === "string" && !name.startsWith("_") ? name : undefined;
}

/** Part of the state of top_hits that is read here. */
interface HitsState {
  readonly hits: readonly { readonly hit: JsonObject }[];
}

/** The best documents, with their sort values as printed. */
type TopState = HitsState & { readonly format?: ReturnType<typeof formatOf> };

class TopMetrics implements Aggregation<TopState> {
  readonly #hits: Aggregation<HitsState>;
  readonly #fields: readonly string[];
  readonly #sortField: string | undefined;

  constructor(hits: Aggregation<HitsState>, fields: readonly string[], sort: string | undefined) {
    this.#hits = hits;
    this.#fields = fields;
    this.#sortField = sort;
  }

  collector(...[shard, budget]: Parameters<Aggregation["collector"]>): Collector<TopState> {
    const inner = this.#hits.collector(shard, budget);
    const format = this.#formatOn(shard);
    return {
      segment: (segment) => inner.segment(segment),
      collect: (docs, buckets, length) => inner.collect(docs, buckets, length),
      state: (bucket) => ({ ...inner.state(bucket), ...(format !== undefined && { format }) }),
    };
  }

  *merge(states: readonly TopState[]): Steps<TopState> {
    const format = states.find((state) => state.format !== undefined)?.format;
    const merged = this.#hits.merge(states);
    return { ...(isSteps(merged) ? yield* merged : merged), ...(format !== undefined && { format }) };
  }

  render(state: TopState): JsonObject {
    return {
      top: state.hits.map(({ hit }) => ({ sort: sortOf(hit, state.format), metrics: this.#of(hit) })),
    };
  }

  empty(): TopState {
    return this.#hits.empty();
  }

  /** The number of a field in the first document; without a name that of the only field. */
  metric(state: TopState, name: string): number | undefined {
    const field = name === "" && this.#fields.length === 1 ? this.#fields[0]! : name;
    if (!this.#fields.includes(field)) return undefined;
    const [first] = state.hits;
    const value = first === undefined ? null : this.#of(first.hit)[field];
    return printedNumber(value) ?? Number.NaN;
  }

  typedName(): string {
    return "top_metrics";
  }

  /** The first value of each field. */
  #of({ fields }: JsonObject): Record<string, unknown> {
    const found = isObject(fields) ? fields : {};
    return Object.fromEntries(
      this.#fields.map((name) => {
        const values = found[name];
        return [name, Array.isArray(values) ? (values[0] as unknown) : null];
      }),
    );
  }

  #formatOn({ mapping }: ShardContext): ReturnType<typeof formatOf> | undefined {
    if (this.#sortField === undefined) return undefined;
    const format = formatOf(mapping.resolve(this.#sortField));
    return format.kind === "date" ? format : undefined;
  }
}

/** Times are shown as the field prints them. */
function sortOf(hit: JsonObject, format: TopState["format"]): unknown[] {
  if (!Array.isArray(hit["sort"])) return [hit["_score"]];
  return hit["sort"].map((value: unknown) =>
    typeof value === "number" && format !== undefined ? (printValue(format, value) ?? value) : value,
  );
}
