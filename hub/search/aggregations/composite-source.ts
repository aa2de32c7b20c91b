/** Sources of a composite key: values of a field, or the buckets of a histogram that they fall into. */

import type { Field } from "#hub/engine/mapping/field.ts";
import type { KeywordColumn, NumericColumn, SegmentReader, TermReader } from "#hub/engine/searcher.ts";
import { AppError } from "#proto/kit/errors.ts";
import { columnField, isNumeric, numericColumn } from "../columns.ts";
import { parseDateMath } from "../dates/date-math.ts";
import { timeZone } from "../dates/time-zone.ts";
import { isObject, objectOf, onlyEntry, scalarText } from "../json.ts";
import { anything, flag, number, oneOf, readOptions, required, text } from "../options.ts";
import type { ShardContext } from "../query.ts";
import { formatOf, type ValueFormat } from "../value-format.ts";
import { PartNumbers } from "./composite-parts.ts";
import { readRounding } from "./date-histogram.ts";
import { fieldTypeFault } from "./field-option.ts";

/** One part of a key; null stands for a document without a value. */
export type KeyPart = string | number | null;

export interface CompositeSource {
  readonly name: string;
  readonly type: "terms" | "histogram" | "date_histogram";
  readonly field: string;
  readonly descending: boolean;
  /** Documents without a value have the key null. */
  readonly missingBucket: boolean;
  readonly format: string | undefined;
  readonly zone: string | undefined;
  /** Returns the bucket of a number. */
  readonly round: (value: number) => number;
}

const SHARED = {
  field: required(text("field of the values", undefined)),
  order: oneOf("order of the keys", ["asc", "desc"], "asc"),
  missing_bucket: flag("whether documents without a value have the key null", false),
  missing: anything("not offered; use missing_bucket"),
  value_type: text("accepted", undefined),
} as const;
const TERMS = SHARED;
const HISTOGRAM = { ...SHARED, interval: required(number("width of a bucket", undefined)) } as const;
const DATES = {
  ...SHARED,
  interval: anything("calendar unit or fixed time"),
  calendar_interval: text("calendar unit", undefined),
  fixed_interval: text("fixed time", undefined),
  time_zone: text("zone in which buckets begin", undefined),
  format: text("format of the keys", undefined),
} as const;

/** Reads `{name: {type: {…}}}`. Throws parsing, request_invalid. */
export function readSource(given: unknown): CompositeSource {
  const [name, inner] = onlyEntry(objectOf(given, "composite] [sources"), "composite] [sources");
  const [type, body] = onlyEntry(objectOf(inner, name), name);
  const options = objectOf(body, type);
  if (type === "terms") {
    return {
      ...shared(name, readOptions(type, options, TERMS, "aggregation")),
      type,
      round: (value) => value,
    };
  }
  if (type === "histogram") {
    const { interval, ...rest } = readOptions(type, options, HISTOGRAM, "aggregation");
    if (interval === undefined || interval <= 0) {
      throw new AppError(
        "request_invalid",
        `[interval] must be greater than 0 for [histogram] source [${name}]`,
      );
    }
    return { ...shared(name, rest), type, round: (value) => Math.floor(value / interval) * interval };
  }
  if (type === "date_histogram") {
    const read = readOptions(type, options, DATES, "aggregation");
    const rounding = readRounding(read, timeZone(read.time_zone), name);
    return {
      ...shared(name, read),
      type,
      format: read.format,
      zone: read.time_zone,
      round: (value) => rounding.floor(value),
    };
  }
  throw new AppError(
    "parsing",
    `invalid source type [${type}] of [${name}]; use terms, histogram or date_histogram`,
  );
}

function shared(
  name: string,
  options: {
    readonly field: string | undefined;
    readonly order: "asc" | "desc" | undefined;
    readonly missing_bucket: boolean | undefined;
  },
): Omit<CompositeSource, "type" | "round"> {
  return {
    name,
    field: options.field ?? "",
    descending: options.order === "desc",
    missingBucket: options.missing_bucket ?? false,
    format: undefined,
    zone: undefined,
  };
}

/** Values of a segment up to which their texts are kept while it is open. */
const MAX_TEXTS = 16_384;

const NONE: readonly KeyPart[] = [];
const NULL_ONLY: readonly KeyPart[] = [null];

/** Key parts of a source, document by document. */
export class SourceValues {
  readonly name: string;
  /** How numbers of this source are printed; null: as they are. */
  readonly format: ValueFormat | null;
  readonly #source: CompositeSource;
  readonly #field: Field | undefined;
  readonly #numbers: number[] = [];
  readonly #ordinals: number[] = [];
  #numeric: NumericColumn | null = null;
  #keywords: KeywordColumn | null = null;
  #reader: TermReader | undefined;
  /** Texts of the open segment by ordinal, where these are few. */
  #texts: string[] = [];

  constructor(source: CompositeSource, shard: ShardContext) {
    this.name = source.name;
    this.#source = source;
    this.#field = columnField(shard, source.field);
    const isNumber = this.#field === undefined || isNumeric(this.#field);
    if (this.#field?.type === "geo_point" || (!isNumber && source.type !== "terms")) {
      throw fieldTypeFault(this.#field!, "composite");
    }
    const needsFormat = source.format !== undefined || this.#field?.type === "boolean";
    this.format = needsFormat ? formatOf(this.#field, source.format, source.zone) : null;
  }

  open(segment: SegmentReader): void {
    const field = this.#field;
    const isNumber = field !== undefined && isNumeric(field);
    this.#numeric = isNumber ? numericColumn(segment, field) : null;
    this.#keywords = field === undefined || isNumber ? null : segment.keywordColumn(field.path);
    this.#reader = this.#keywords?.reader();
    this.#texts = [];
  }

  /** Returns what numbers the parts of whole batches. */
  numbered(): PartNumbers {
    return new PartNumbers(this.#field, this.#source);
  }

  /** Distinct parts of a document's keys. */
  of(doc: number): readonly KeyPart[] {
    const parts = new Set<KeyPart>();
    const numbers = this.#numeric?.read(doc, this.#numbers) ?? 0;
    for (let at = 0; at < numbers; at++) parts.add(this.#source.round(this.#numbers[at]!));
    const texts = this.#keywords?.read(doc, this.#ordinals) ?? 0;
    for (let at = 0; at < texts; at++) parts.add(this.#text(this.#ordinals[at]!));
    if (parts.size > 0) return [...parts];
    return this.#source.missingBucket ? NULL_ONLY : NONE;
  }

  #text(ordinal: number): string {
    if (this.#keywords!.cardinality > MAX_TEXTS) return this.#reader!.text(ordinal);
    return (this.#texts[ordinal] ??= this.#reader!.text(ordinal));
  }

  /** Reads a part of `after`. Throws parsing. */
  read(value: unknown, shard: ShardContext): KeyPart {
    if (value === null || value === undefined) return null;
    if (isObject(value) || Array.isArray(value))
      throw new AppError("parsing", `[after] of [${this.name}] must be a single value`);
    const field = this.#field;
    if (field !== undefined && !isNumeric(field)) return scalarText(value, "after");
    if (typeof value === "number") return value;
    if (typeof value === "boolean") return value ? 1 : 0;
    const given = scalarText(value, "after");
    if (field?.type === "date") {
      const format = this.#source.format ?? field.format;
      const zone = timeZone(this.#source.zone);
      return parseDateMath(given, { format, nowMs: shard.nowMs, zone, roundUp: false });
    }
    return Number.isNaN(Number(given)) ? given : Number(given);
  }
}
