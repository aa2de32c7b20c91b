/**
 * Chooses the collector of `terms` by the source of the values: a field, the index name, or the value for documents
 * without one.
 */

import { parseIp } from "#hub/engine/bytes/ip.ts";
import { DEFAULT_DATE_FORMAT } from "#hub/engine/mapping/date-format.ts";
import { type Field, isDate } from "#hub/engine/mapping/field.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  BucketCollector,
  collectedTerms,
  KeyTable,
} from "#hub/search/aggregations/buckets/bucket-collector.ts";
import { type TermReading, termFilter } from "#hub/search/aggregations/buckets/terms-filter.ts";
import {
  handOn,
  NO_TERMS,
  type TermsContext,
  type TermsState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type { Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { missingNumber } from "#hub/search/aggregations/tree/field-option.ts";
import { atOnce } from "#hub/search/aggregations/tree/steps.ts";
import { isNumeric, termsField } from "#hub/search/columns/column-values.ts";
import { formatOf, RAW, type ValueFormat } from "#hub/search/columns/value-format.ts";
import { parseDateMath } from "#hub/search/dates/date-math.ts";
import { readBoolean } from "#hub/search/fields/field-terms.ts";
import { scalarText } from "#hub/search/options/json.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { ValueScript } from "#hub/search/scripting/document-script.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import { keywordTerms } from "./terms-many.ts";
import { NumberTermsCollector } from "./terms-number.ts";
import { ScriptTermsCollector } from "./terms-script.ts";
import { TextTermsCollector } from "./terms-text.ts";

/** Values of value_type that mean numbers: whole ones, and all. */
const WHOLE_VALUE_TYPES = ["long", "integer", "short", "byte"];
const NUMBER_VALUE_TYPES = [...WHOLE_VALUE_TYPES, "double", "float", "number", "numeric"];

/** Options of an aggregation that select which values get buckets. */
export interface TermsSource {
  /** Name of the aggregation's type, for messages. */
  readonly owner: string;
  readonly field: string;
  /** Makes the values instead of the field, or of each of its values. */
  readonly script?: ValueScript;
  readonly include: unknown;
  readonly exclude: unknown;
  readonly missing: unknown;
  /** Type assumed for an unmapped field. */
  readonly valueType: string | undefined;
  readonly format: string | undefined;
}

/** Returns the collector that fits the field. Throws parsing, request_invalid. */
export function termsCollector(
  unfiltered: Omit<TermsContext, "filter">,
  source: TermsSource,
): Collector<TermsState> {
  const { owner, field: name, missing, format, include, exclude } = source;
  const { shard } = unfiltered;
  if (source.script !== undefined) return scriptTerms(unfiltered, source, source.script);
  const field = name === "_index" || name === "_type" ? undefined : termsField(shard, name);
  if (field?.type === "geo_point") throw pointFault(field, owner);
  const context = { ...unfiltered, filter: termFilter(include, exclude, readingOf(field, shard), owner) };
  if (name === "_index") return new ConstantTermCollector(context, shard.index);
  if (name === "_type") return new ConstantTermCollector(context, shard.typeName);
  if (field === undefined) return unmapped(context, source);
  if (field.type === "text") return new TextTermsCollector(context, field);
  if (!isNumeric(field)) {
    const text = missing === undefined ? undefined : scalarText(missing, "missing");
    return keywordTerms(context, field.path, text);
  }
  const absent = missingNumber(missing, field, shard, owner, format);
  return new NumberTermsCollector(context, field, absent, formatOf(field, format));
}

/** Keys are numbers if the field or value_type is numeric, whole ones for a value_type such as long; else texts, as in 6.5. */
function scriptTerms(
  unfiltered: Omit<TermsContext, "filter">,
  { owner, field: name, missing, valueType, format, include, exclude }: TermsSource,
  script: ValueScript,
): Collector<TermsState> {
  const { shard } = unfiltered;
  const field = name === "" ? undefined : termsField(shard, name);
  const isNumber = field === undefined ? NUMBER_VALUE_TYPES.includes(valueType ?? "") : isNumeric(field);
  const reading = isNumber && field === undefined ? NUMBERS : readingOf(isNumber ? field : undefined, shard);
  const filter = termFilter(include, exclude, reading, owner);
  return new ScriptTermsCollector(
    { ...unfiltered, filter },
    {
      script,
      format: isNumber ? formatOf(field, format) : undefined,
      isWhole: field === undefined && WHOLE_VALUE_TYPES.includes(valueType ?? ""),
      missing: missing === undefined || missing === null ? undefined : scalarText(missing, "missing"),
    },
  );
}

/** Without the field all documents have the value of `missing`, if there is one. */
function unmapped(context: TermsContext, { missing, valueType, format }: TermsSource): Collector<TermsState> {
  if (missing === undefined) {
    return { segment: () => undefined, collect: () => undefined, state: () => NO_TERMS };
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

/** How include and exclude are read for numbers that belong to no field. */
const NUMBERS: TermReading = {
  isText: false,
  isNumber: true,
  bytes: (key) => Buffer.from(key),
  key: (value) => {
    const number = value.trim() === "" ? Number.NaN : Number(value);
    return Number.isNaN(number) ? value : String(number);
  },
};

/** How include and exclude are read for a field. */
export function readingOf(field: Field | undefined, shard: ShardContext): TermReading {
  const isNumber = field !== undefined && isNumeric(field);
  const date = { format: field?.format ?? "", nowMs: shard.nowMs, zone: UTC, roundUp: false };
  return {
    isText: field === undefined || field.type === "keyword" || field.type === "text",
    isNumber,
    bytes: (key) => (field?.type === "ip" ? parseIp(key) : null) ?? Buffer.from(key),
    key(value) {
      if (field !== undefined && isDate(field)) return String(parseDateMath(value, date));
      if (field?.type === "boolean")
        return String(readBoolean(field, value === "1" ? "true" : value === "0" ? "false" : value));
      return isNumber && Number.isSafeInteger(Math.trunc(Number(value))) ? String(Number(value)) : value;
    },
  };
}

function pointFault(field: Field, owner: string): AppError {
  return new AppError(
    "request_invalid",
    `[${owner}] doesn't work on [${field.path}] of type [geo_point]; points have no single value`,
  );
}

export class ConstantTermCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #value: string | number;
  readonly #format: ValueFormat;
  readonly #keys: KeyTable<string | number>;
  readonly #buckets: BucketCollector;

  constructor(context: TermsContext, value: string | number, format: ValueFormat = RAW) {
    this.#context = context;
    this.#format = format;
    this.#value = value;
    this.#keys = new KeyTable(context.budget);
    this.#buckets = new BucketCollector(context.shape.below, context.shard, context.budget);
  }

  segment(segment: SegmentReader): void {
    this.#buckets.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    if (this.#context.filter?.(String(this.#value)) === false) return;
    for (let at = 0; at < length; at++)
      this.#buckets.add(docs[at]!, this.#keys.bucket(owners[at]!, this.#value));
    this.#buckets.flush();
  }

  state(owner: number): TermsState {
    const terms = collectedTerms(this.#keys.of(owner), this.#buckets);
    const handed = atOnce(handOn(this.#context, terms, this.#keys.owners));
    return {
      ...handed,
      parts: 1,
      kind: typeof this.#value === "string" ? "text" : "long",
      format: this.#format,
    };
  }
}
