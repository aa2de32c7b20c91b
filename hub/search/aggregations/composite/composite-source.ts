/** Sources of a composite key: values of a field, or the histogram buckets that contain them. */

import { formatIp, parseIp } from "#hub/engine/bytes/ip.ts";
import { columnKind, type Field, isDate } from "#hub/engine/mapping/field.ts";
import type {
  KeywordColumn,
  NumericColumn,
  SegmentReader,
  TermReader,
} from "#hub/engine/searcher/searcher.ts";
import { readOffset, readRounding, shifted } from "#hub/search/aggregations/histograms/date-intervals.ts";
import { checkZoom, DEFAULT_ZOOM } from "#hub/search/aggregations/histograms/geo-grid.ts";
import { textTerms } from "#hub/search/aggregations/terms/terms-text.ts";
import { fieldTypeFault, requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { isNumeric, numericColumn, termsField } from "#hub/search/columns/column-values.ts";
import { PointValues } from "#hub/search/columns/point-values.ts";
import { formatOf, RAW, type ValueFormat } from "#hub/search/columns/value-format.ts";
import { parseDateMath, timeZone } from "#hub/search/dates/date-math.ts";
import { readTile, sortableTile, tileOf } from "#hub/search/geo/tile.ts";
import { objectOf, onlyEntry, scalarText, shortest } from "#hub/search/options/json.ts";
import {
  anything,
  flag,
  integer,
  number,
  oneOf,
  readOptions,
  refused,
  required,
  text,
  withoutEffect,
} from "#hub/search/options/options.ts";
import { wholeNumber } from "#hub/search/options/whole-numbers.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import {
  readValueScript,
  type ScriptedValue,
  scriptedNumber,
  textsOn,
  type ValueScript,
  valuesOn,
} from "#hub/search/scripting/document-script.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";

/** One part of a key, a bigint beyond 2^53; null for a document without a value. */
export type KeyPart = string | number | bigint | null;

export interface CompositeSource {
  readonly name: string;
  readonly type: "terms" | "histogram" | "date_histogram" | "geotile_grid";
  /** Empty if a script alone makes the values. */
  readonly field: string;
  readonly script: ValueScript | undefined;
  readonly descending: boolean;
  /** Documents without a value have the key null. */
  readonly missingBucket: boolean;
  readonly format: string | undefined;
  readonly zone: string | undefined;
  /** Returns the bucket of a number. */
  readonly round: (value: number) => number;
  /** Of geotile_grid, whose parts are tiles as `sortableTile` writes them. */
  readonly zoom?: number;
}

/** Options that all sources of `composite` have. */
export const SOURCE_OPTIONS = {
  field: text("field of the values", undefined),
  order: oneOf("order of the keys", ["asc", "desc"], "asc"),
  missing_bucket: flag("whether documents without a value have the key null", false),
  missing: refused("use missing_bucket, which gives them the key null"),
  value_type: withoutEffect(text("the type of the field counts", undefined)),
} as const;
const SCRIPTED = {
  ...SOURCE_OPTIONS,
  script: anything("script that returns the values, or one for each of the field as `_value`"),
} as const;
const TERMS = SCRIPTED;
const HISTOGRAM = { ...SCRIPTED, interval: required(number("width of a bucket", undefined)) } as const;
const DATES = {
  ...SCRIPTED,
  interval: anything("calendar unit or fixed time"),
  calendar_interval: text("calendar unit", undefined),
  fixed_interval: text("fixed time", undefined),
  time_zone: text("zone in which buckets begin", undefined),
  offset: anything("time by which buckets begin later: +6h"),
  format: text("format of the keys", undefined),
} as const;
const TILES = {
  ...SOURCE_OPTIONS,
  precision: integer("zoom of the tiles, 0..29", DEFAULT_ZOOM, Number.MIN_SAFE_INTEGER),
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
    const rounding = shifted(readRounding(read, timeZone(read.time_zone), name), readOffset(read.offset));
    return {
      ...shared(name, read),
      type,
      format: read.format,
      zone: read.time_zone,
      round: (value) => rounding.floor(value),
    };
  }
  if (type === "geotile_grid") {
    const { precision, ...rest } = readOptions(type, options, TILES, "aggregation");
    return { ...shared(name, rest), type, zoom: checkZoom(precision), round: (value) => value };
  }
  throw new AppError(
    "parsing",
    `invalid source type [${type}] of [${name}]; use terms, histogram, date_histogram or geotile_grid`,
  );
}

function shared(
  name: string,
  options: {
    readonly field: string | undefined;
    readonly script?: unknown;
    readonly order: "asc" | "desc" | undefined;
    readonly missing_bucket: boolean | undefined;
  },
): Omit<CompositeSource, "type" | "round"> {
  const { field, script } = options;
  return {
    name,
    field: script === undefined ? requireField(field, name) : (field ?? ""),
    script: script === undefined ? undefined : readValueScript(script, field),
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
  readonly source: CompositeSource;
  /** Undefined if the shard doesn't have it. */
  readonly field: Field | undefined;
  readonly #numbers: number[] = [];
  readonly #exact: bigint[] = [];
  readonly #ordinals: number[] = [];
  readonly #shard: ShardContext;
  /** Of geotile_grid. */
  readonly #points: PointValues | undefined;
  readonly #scripted: ScriptedParts | undefined;
  #numeric: NumericColumn | null = null;
  #keywords: KeywordColumn | null = null;
  #reader: TermReader | undefined;
  /** Of a text field with fielddata. */
  #words: ((doc: number) => ReadonlySet<string>) | undefined;
  /** Texts of the open segment by ordinal, if these are few. */
  #texts: string[] = [];

  constructor(source: CompositeSource, shard: ShardContext) {
    this.name = source.name;
    this.source = source;
    this.#shard = shard;
    this.field = source.field === "" ? undefined : termsField(shard, source.field);
    this.#scripted = source.script === undefined ? undefined : new ScriptedParts(this.field, source, shard);
    if (source.zoom !== undefined) this.#points = new PointValues(shard, source.field, source.type);
    else checkType(this.field, source);
    const hasFractions =
      source.type === "histogram" || (this.field !== undefined && columnKind(this.field) === "double");
    const needsFormat = source.format !== undefined || this.field?.type === "boolean";
    const plain = hasFractions ? RAW : null;
    this.format = needsFormat ? formatOf(this.field, source.format, source.zone) : plain;
  }

  /** True if its texts are addresses, ordered as such; a script makes texts of them. */
  get areAddresses(): boolean {
    return this.field?.type === "ip" && this.#scripted === undefined;
  }

  open(segment: SegmentReader): void {
    this.#points?.open(segment);
    this.#scripted?.open(segment);
    const isColumn = this.#points === undefined && this.#scripted === undefined;
    const field = isColumn ? this.field : undefined;
    const isNumber = field !== undefined && isNumeric(field);
    this.#numeric = isNumber ? numericColumn(segment, field) : null;
    this.#words = field?.type === "text" ? textTerms(this.#shard, field, segment) : undefined;
    const hasKeywords = field !== undefined && !isNumber && this.#words === undefined;
    this.#keywords = hasKeywords ? segment.keywordColumn(field.path) : null;
    this.#reader = this.#keywords?.reader();
    this.#texts = [];
  }

  /** True if documents of the open segment may have several parts. */
  get multiValued(): boolean {
    const column = this.#numeric ?? this.#keywords;
    const isComputed =
      this.#points !== undefined || this.#scripted !== undefined || this.#words !== undefined;
    return isComputed || column?.multiValued === true;
  }

  /** Distinct parts of a document's keys. */
  of(doc: number): readonly KeyPart[] {
    const parts = new Set<KeyPart>();
    if (this.#numeric !== null) this.#addNumbers(doc, this.#numeric, parts);
    const texts = this.#keywords?.read(doc, this.#ordinals) ?? 0;
    for (let at = 0; at < texts; at++) parts.add(this.#text(this.#ordinals[at]!));
    if (this.#points !== undefined) for (const tile of this.#tiles(doc, this.#points)) parts.add(tile);
    for (const word of this.#words?.(doc) ?? []) parts.add(word);
    for (const part of this.#scripted?.of(doc) ?? []) parts.add(part);
    if (parts.size > 0) return [...parts];
    return this.source.missingBucket ? NULL_ONLY : NONE;
  }

  #addNumbers(doc: number, column: NumericColumn, parts: Set<KeyPart>): void {
    if (this.source.type === "terms" && !column.safe) {
      const count = column.readExact(doc, this.#exact);
      for (let at = 0; at < count; at++) parts.add(shortest(this.#exact[at]!));
      return;
    }
    const count = column.read(doc, this.#numbers);
    for (let at = 0; at < count; at++) parts.add(this.source.round(this.#numbers[at]!));
  }

  *#tiles(doc: number, points: PointValues): Generator<string> {
    const count = points.read(doc);
    for (let at = 0; at < count; at++) {
      const tile = tileOf(points.latitudes[at]!, points.longitudes[at]!, this.source.zoom!);
      yield sortableTile(tile);
    }
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
    const field = this.field;
    if (this.source.zoom !== undefined) return sortableTile(readTile(value, this.source.zoom));
    if (this.areAddresses) return addressText(scalarText(value, "after"));
    if (this.#scripted?.areTexts === true || (field !== undefined && !isNumeric(field)))
      return scalarText(value, "after");
    if (typeof value === "number") return value;
    if (typeof value === "bigint") return shortest(value);
    if (typeof value === "boolean") return value ? 1 : 0;
    const given = scalarText(value, "after");
    if (field !== undefined && isDate(field)) {
      const format = this.source.format ?? field.format;
      const zone = timeZone(this.source.zone);
      return parseDateMath(given, { format, nowMs: shard.nowMs, zone, roundUp: false });
    }
    return wholeNumber(given) ?? (Number.isNaN(Number(given)) ? given : Number(given));
  }
}

/** Key parts that a script makes: texts, as in 6.5, unless the source or its field has numbers. */
class ScriptedParts {
  readonly areTexts: boolean;
  readonly #source: CompositeSource;
  readonly #bind: ReturnType<typeof valuesOn>;
  #values: (doc: number) => ScriptedValue[] = () => [];

  constructor(field: Field | undefined, source: CompositeSource, shard: ShardContext) {
    this.areTexts = source.type === "terms" && (field === undefined || !isNumeric(field));
    this.#source = source;
    this.#bind = (this.areTexts ? textsOn : valuesOn)(source.script!, shard);
  }

  open(segment: SegmentReader): void {
    this.#values = this.#bind(segment);
  }

  of(doc: number): KeyPart[] {
    const values = this.#values(doc);
    if (this.areTexts) return values.map(String);
    return values.map((value) => this.#source.round(scriptedNumber(value, "composite")));
  }
}

/** Returns an address as keys have it, of which there are several ways to write; other texts as they are. */
function addressText(text: string): string {
  const bytes = parseIp(text);
  return bytes === null ? text : formatIp(bytes);
}

function checkType(field: Field | undefined, { type }: CompositeSource): void {
  if (field === undefined || isNumeric(field)) return;
  if (field.type === "geo_point" || type !== "terms") throw fieldTypeFault(field, "composite");
}
