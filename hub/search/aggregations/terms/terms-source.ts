/**
 * Chooses the collector of `terms` by the source of the values: a field, the index name, or the value for documents
 * without one.
 */

import { parseIp } from "#hub/engine/bytes/ip.ts";
import { DEFAULT_DATE_FORMAT } from "#hub/engine/mapping/date-format.ts";
import { type Field, type FieldType, isDate } from "#hub/engine/mapping/field.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  BucketCollector,
  collectedTerms,
  KeyTable,
} from "#hub/search/aggregations/buckets/bucket-collector.ts";
import {
  type TermFilter,
  type TermReading,
  termFilter,
} from "#hub/search/aggregations/buckets/terms-filter.ts";
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
import { isWholeType, readBoolean } from "#hub/search/fields/field-terms.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { text } from "#hub/search/options/options.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { ValueScript } from "#hub/search/scripting/document-script.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import { keywordTerms } from "./terms-many.ts";
import { NumberTermsCollector } from "./terms-number.ts";
import { ScriptTermsCollector, wholeKey } from "./terms-script.ts";
import { TextTermsCollector } from "./terms-text.ts";

/** What the keys of an aggregation are: the values of a field, or of what is assumed to be one. */
type KeyType = Pick<Field, "path" | "type" | "format">;

/** The types that values of value_type mean; others mean texts. */
const VALUE_TYPES: ReadonlyMap<string | undefined, FieldType> = new Map([
  ...["long", "integer", "short", "byte"].map((name) => [name, "long"] as const),
  ...["double", "float", "number", "numeric"].map((name) => [name, "double"] as const),
  ["date", "date"],
  ["boolean", "boolean"],
]);

/** The option `value_type`. */
export const VALUE_TYPE = text(
  "type of the values of a script without a field, and of missing where the field is unmapped",
  undefined,
);

/** Warns of a `value_type` that can't count. */
export function warnOfValueType(
  owner: string,
  options: { readonly value_type: string | undefined; readonly missing: unknown; readonly script?: unknown },
): void {
  const { value_type: valueType, missing, script } = options;
  if (valueType !== undefined && script === undefined && missing === undefined)
    warnDeprecated(`[${owner}] [value_type] has no effect here: the type of the field counts`);
}

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
  /** Type assumed for the values of a script without a field, and for `missing` of an unmapped one. */
  readonly valueType: string | undefined;
  readonly format: string | undefined;
}

/** Returns the collector that fits the field. Throws parsing, request_invalid. */
export function termsCollector(
  unfiltered: Omit<TermsContext, "filter">,
  source: TermsSource,
): Collector<TermsState> {
  const { owner, field: name, missing, format } = source;
  const { shard } = unfiltered;
  if (source.script !== undefined) return scriptTerms(unfiltered, source, source.script);
  const isMetadata = name === "_index" || name === "_type";
  const field = isMetadata ? undefined : termsField(shard, name);
  if (field?.type === "geo_point") throw pointFault(field, owner);
  const type = isMetadata || missing === undefined ? field : (field ?? assumedType(source));
  const context = { ...unfiltered, filter: filterOf(source, type, shard) };
  if (name === "_index") return new ConstantTermCollector(context, shard.index);
  if (name === "_type") return new ConstantTermCollector(context, shard.typeName);
  if (field === undefined) return unmapped(context, source, type);
  if (field.type === "text") return new TextTermsCollector(context, field);
  if (!isNumeric(field)) {
    const text = missing === undefined ? undefined : scalarText(missing, "missing");
    const isLeftOut = text !== undefined && context.filter?.(text) === false;
    return keywordTerms(context, field.path, isLeftOut ? undefined : text);
  }
  const absent = missingNumber(missing, field, shard, owner, format);
  return new NumberTermsCollector(context, field, absent, formatOf(field, format));
}

/** Keys are numbers if the field or value_type is numeric, whole ones for a value_type such as long; else texts, as in 6.5. */
function scriptTerms(
  unfiltered: Omit<TermsContext, "filter">,
  source: TermsSource,
  script: ValueScript,
): Collector<TermsState> {
  const { owner, field: name, missing, format } = source;
  const { shard } = unfiltered;
  const field = name === "" ? undefined : termsField(shard, name);
  const type = field ?? assumedType(source);
  const number = type !== undefined && isNumeric(type) ? type : undefined;
  const text = missing === undefined ? undefined : scalarText(missing, "missing");
  return new ScriptTermsCollector(
    { ...unfiltered, filter: filterOf(source, number, shard) },
    {
      script,
      format: number === undefined ? undefined : formatOf(number, format),
      isWhole: field === undefined && number !== undefined && hasWholeKeys(number),
      missing: number === undefined ? text : missingNumber(missing, number, shard, owner, format),
    },
  );
}

/** Without the field all documents have the value of `missing`, if there is one. `type`: the one assumed, undefined for texts. */
function unmapped(
  context: TermsContext,
  { owner, missing, format }: TermsSource,
  type: KeyType | undefined,
): Collector<TermsState> {
  if (missing === undefined) {
    return { segment: () => undefined, collect: () => undefined, state: () => NO_TERMS };
  }
  const number = type === undefined ? undefined : missingNumber(missing, type, context.shard, owner, format);
  if (type === undefined || number === undefined)
    return new ConstantTermCollector(
      context,
      typeof missing === "number" ? missing : scalarText(missing, "missing"),
    );
  return hasWholeKeys(type)
    ? new ConstantTermCollector(context, wholeKey(number), formatOf(type, format))
    : new ConstantTermCollector(context, number, formatOf(type, format), "double");
}

/** Returns the type that `value_type` means; undefined for texts. */
function assumedType({ field, valueType, format }: TermsSource): KeyType | undefined {
  const type = VALUE_TYPES.get(valueType);
  return type === undefined ? undefined : { path: field, type, format: format ?? DEFAULT_DATE_FORMAT };
}

function hasWholeKeys(type: KeyType): boolean {
  return isWholeType(type) || isDate(type) || type.type === "boolean";
}

function filterOf(
  { include, exclude, owner }: TermsSource,
  type: KeyType | undefined,
  shard: ShardContext,
): TermFilter | undefined {
  return termFilter(include, exclude, readingOf(type, shard), owner);
}

/** How include and exclude are read for a field. */
export function readingOf(field: KeyType | undefined, shard: ShardContext): TermReading {
  const isNumber = field !== undefined && isNumeric(field);
  const date = { format: field?.format ?? "", nowMs: shard.nowMs, zone: UTC, roundUp: false };
  return {
    isText: field === undefined || field.type === "keyword" || field.type === "text",
    isNumber,
    bytes: (key) => (field?.type === "ip" ? parseIp(key) : null) ?? Buffer.from(key),
    key(value) {
      if (!isNumber) return value;
      if (isDate(field)) return String(parseDateMath(value, date));
      if (field.type === "boolean")
        return String(readBoolean(field, value === "1" ? "true" : value === "0" ? "false" : value));
      const number = value.trim() === "" ? Number.NaN : Number(value);
      // Whole keys beyond 2^53 are their digits.
      const isKey = isWholeType(field) ? Number.isSafeInteger(Math.trunc(number)) : !Number.isNaN(number);
      return isKey ? String(number) : value;
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
  readonly #kind: TermsState["kind"];
  readonly #keys: KeyTable<string | number>;
  readonly #buckets: BucketCollector;

  constructor(
    context: TermsContext,
    value: string | number,
    format: ValueFormat = RAW,
    kind: TermsState["kind"] = typeof value === "string" ? "text" : "long",
  ) {
    this.#context = context;
    this.#format = format;
    this.#kind = kind;
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
    const { shape, shard, filter } = this.#context;
    // With min_doc_count 0 the value has a bucket if any document has it.
    if (
      shape.minDocCount === 0 &&
      shard.searcher.segments.length > 0 &&
      filter?.(String(this.#value)) !== false
    )
      this.#keys.bucket(owner, this.#value);
    const terms = collectedTerms(this.#keys.of(owner), this.#buckets);
    const handed = atOnce(handOn(this.#context, terms, this.#keys.owners));
    return { ...handed, parts: 1, kind: this.#kind, format: this.#format };
  }
}
