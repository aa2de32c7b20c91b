/** `terms`: documents by the values of a field, the most frequent first. */

import { DEFAULT_DATE_FORMAT } from "#hub/engine/mapping/date-format.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { AppError } from "#proto/kit/errors.ts";
import { UTC } from "#proto/kit/time-zone.ts";
import { columnField, isNumeric } from "../columns.ts";
import { parseDateMath } from "../dates/date-math.ts";
import { readBoolean } from "../field-terms.ts";
import { type JsonObject, scalarText } from "../json.ts";
import { anything, flag, integer, oneOf, text } from "../options.ts";
import type { ShardContext } from "../query.ts";
import { formatOf, RAW } from "../value-format.ts";
import type { Aggregation, BucketBudget, CollectBudget, Collector } from "./aggregation.ts";
import { type AggregationType, readAggregation } from "./aggregation-parser.ts";
import { checkOrder, readOrder } from "./bucket-order.ts";
import { missingNumber, requireField } from "./field-option.ts";
import { ConstantTermCollector } from "./terms-constant.ts";
import { type TermReading, termFilter } from "./terms-filter.ts";
import { keywordTerms } from "./terms-many.ts";
import { NumberTermsCollector } from "./terms-number.ts";
import {
  mergeTerms,
  renderTerms,
  type TermsContext,
  type TermsShape,
  type TermsState,
} from "./terms-state.ts";
import { TextTermsCollector } from "./text-values.ts";

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
      include: options.include,
      exclude: options.exclude,
      missing: options.missing,
      valueType: options.value_type,
      format: options.format,
    });
  },
};

/** Values of value_type that stand for numbers. */
const NUMBER_VALUE_TYPES = ["long", "integer", "short", "byte", "double", "float", "number", "numeric"];

interface TermsOptions {
  readonly field: string;
  readonly shardSize: number;
  readonly include: unknown;
  readonly exclude: unknown;
  readonly missing: unknown;
  /** Type that an unmapped field is taken for. */
  readonly valueType: string | undefined;
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
    const { field: name, missing, format, include, exclude, shardSize } = this.#options;
    const field = name === "_index" || name === "_type" ? undefined : termsField(shard, name);
    if (field?.type === "geo_point") throw pointFault(field);
    const filter = termFilter(include, exclude, readingOf(field, shard));
    const context = { shard, budget, shape: this.#shape, shardSize, filter };
    if (name === "_index") return new ConstantTermCollector(context, shard.index);
    if (name === "_type") return new ConstantTermCollector(context, shard.typeName);
    if (field === undefined) return this.#unmapped(context);
    if (field.type === "text") return new TextTermsCollector(context, field);
    if (!isNumeric(field)) {
      const text = missing === undefined ? undefined : scalarText(missing, "missing");
      return keywordTerms(context, field.path, text);
    }
    const absent = missingNumber(missing, field, shard, "terms");
    return new NumberTermsCollector(context, field, absent, formatOf(field, format));
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
    const { missing, valueType, format } = this.#options;
    if (missing === undefined) {
      return { segment: () => undefined, collect: () => undefined, state: () => this.empty() };
    }
    const text = scalarText(missing, "missing");
    if (valueType === "date") {
      const formats = format ?? DEFAULT_DATE_FORMAT;
      const timeMs = parseDateMath(text, {
        format: formats,
        nowMs: context.shard.nowMs,
        zone: UTC,
        roundUp: false,
      });
      return new ConstantTermCollector(context, timeMs, { kind: "date", formats, zone: "UTC" });
    }
    if (valueType === "boolean") {
      return new ConstantTermCollector(context, text === "true" ? 1 : 0, { kind: "boolean" });
    }
    const isNumber = typeof missing === "number" || NUMBER_VALUE_TYPES.includes(valueType ?? "");
    return new ConstantTermCollector(context, isNumber ? Number(text) : text);
  }
}

/** Returns the field; text needs fielddata. Throws request_invalid. */
export function termsField(shard: ShardContext, name: string): Field | undefined {
  const field = shard.mapping.resolve(name);
  return field?.type === "text" && field.fielddata ? field : columnField(shard, name);
}

/** How include and exclude are read for a field. */
export function readingOf(field: Field | undefined, shard: ShardContext): TermReading {
  const isNumber = field !== undefined && isNumeric(field);
  const date = { format: field?.format ?? "", nowMs: shard.nowMs, zone: UTC, roundUp: false };
  return {
    isText: field === undefined || field.type === "keyword" || field.type === "text",
    isNumber,
    key(value) {
      if (field?.type === "date") return String(parseDateMath(value, date));
      if (field?.type === "boolean")
        return String(readBoolean(field, value === "1" ? "true" : value === "0" ? "false" : value));
      return isNumber && Number.isSafeInteger(Math.trunc(Number(value))) ? String(Number(value)) : value;
    },
  };
}

function pointFault(field: Field): AppError {
  return new AppError(
    "request_invalid",
    `[terms] doesn't work on [${field.path}] of type [geo_point]; points have no single value`,
  );
}
