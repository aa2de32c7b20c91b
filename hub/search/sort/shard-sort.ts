/** Binds the sort keys of a request to a shard. */

import { DEFAULT_DATE_FORMAT, dateFormat } from "#hub/engine/mapping/date-format.ts";
import { DEFAULT_NANOS_FORMAT, parseNanos, printNanos } from "#hub/engine/mapping/date-nanos.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { isNumeric, termsField } from "#hub/search/columns/column-values.ts";
import { printDate } from "#hub/search/dates/date-math.ts";
import { shortest } from "#hub/search/options/json.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { LONG_MAX, LONG_MIN, wholeNumber } from "#hub/search/options/whole-numbers.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DistanceKeySource } from "./distance-key.ts";
import {
  DocKeySource,
  IdKeySource,
  ScoreKeySource,
  ScriptKeySource,
  SharedTextKeySource,
} from "./implicit-keys.ts";
import type { KeySource } from "./key.ts";
import { KeywordKeySource } from "./keyword-key.ts";
import { NestedKeySource } from "./nested-key.ts";
import { comparedType, NumericKeySource, numberKind, type PrintValue } from "./numeric-key.ts";
import type { SortKey } from "./sort-request.ts";

/**
 * The keys of an order in one shard, which is the `shardOrder`th of the search. Throws query_shard for fields that can't be
 * sorted by.
 */
export function bindSort(keys: readonly SortKey[], shard: ShardContext, shardOrder = 0): KeySource[] {
  return keys.map((key) =>
    key.kind === "shard_doc" ? new DocKeySource(key.descending, shard, shardOrder) : bindKey(key, shard),
  );
}

function bindKey(key: Exclude<SortKey, { kind: "shard_doc" }>, shard: ShardContext): KeySource {
  switch (key.kind) {
    case "score":
      return new ScoreKeySource(key.descending);
    case "doc":
      return new DocKeySource(key.descending, shard);
    case "field":
      return nestedOr(key, shard, fieldKey);
    case "distance":
      return nestedOr(key, shard, distanceKey);
    case "script":
      return new ScriptKeySource(key.script, key.descending, shard);
  }
}

type ValueKey = Extract<SortKey, { kind: "field" | "distance" }>;

/** Binds a key to documents, or to the nested objects it names. Throws query_shard for another path. */
function nestedOr<K extends ValueKey>(
  key: K,
  shard: ShardContext,
  bind: (key: K, shard: ShardContext) => KeySource,
): KeySource {
  const outer = bind(key, shard);
  const { nested, descending } = key;
  if (nested === undefined || nested.path === shard.scope.path) return outer;
  const scope = shard.scope.below(nested.path);
  if (scope === undefined) {
    throw new AppError("query_shard", `[nested] failed to find nested object under path [${nested.path}]`, {
      data: place(shard),
    });
  }
  const objects = shard.at(scope);
  const inner = bind(key.kind === "field" ? { ...key, missing: null } : key, objects);
  const mode = key.mode ?? (descending ? "max" : "min");
  return new NestedKeySource({ outer, inner, nested, mode, descending }, objects, shard);
}

function fieldKey(key: Extract<SortKey, { kind: "field" }>, shard: ShardContext): KeySource {
  if (key.field === "_id" || key.field === "_uid") return new IdKeySource(key.descending);
  if (key.field === "_index") return new SharedTextKeySource(shard.index, key.descending);
  if (key.field === "_type") return new SharedTextKeySource(shard.typeName, key.descending);
  const field = termsField(shard, key.field);
  if (field?.type === "geo_point") {
    throw new AppError(
      "request_invalid",
      `can't sort on geo_point field [${key.field}] without using specific sorting feature, like geo_distance`,
    );
  }
  if (field === undefined && key.unmappedType === undefined) throw unmapped(key.field, shard);
  const type = field?.type ?? key.unmappedType!;
  const numeric =
    field === undefined ? type !== "keyword" && type !== "text" && type !== "ip" : isNumeric(field);
  if (!numeric) {
    checkTextMode(key, shard);
    checkNoNumericType(key, type, shard);
    if (key.format !== undefined) warnOfFormat(key.field);
    return new KeywordKeySource(field, key);
  }
  const compared = comparedType(type, key.numericType);
  return new NumericKeySource(field, key, readerOf(field, compared, key.format), printerOf(compared, key));
}

/** Returns what shows the times of a key with a format; undefined where numbers are shown as they are. */
function printerOf(
  type: string | undefined,
  { field, format }: Extract<SortKey, { kind: "field" }>,
): PrintValue | undefined {
  if (format === undefined) return undefined;
  if (type === "date") return unlessEnd((timeMs) => printDate(Number(timeMs), format, UTC));
  if (type === "date_nanos") return unlessEnd((nanos) => printNanos(BigInt(nanos), format));
  warnOfFormat(field);
  return undefined;
}

/** Shows the ends of 64 bits as numbers: documents without a value are there, which isn't a time. */
function unlessEnd(print: PrintValue): PrintValue {
  return (value) => (value === LONG_MIN || value === LONG_MAX ? value : print(value));
}

function warnOfFormat(field: string): void {
  warnDeprecated(`[sort] [format] has no effect on [${field}]: only times are printed`);
}

/** Throws query_shard for a mode that only numbers have. */
function checkTextMode({ mode }: Extract<SortKey, { kind: "field" }>, shard: ShardContext): void {
  if (mode === undefined || mode === "min" || mode === "max") return;
  throw new AppError("query_shard", "we only support AVG, MEDIAN and SUM on number based fields", {
    data: place(shard),
  });
}

/** Throws query_shard for a `numeric_type` of a field that has no numbers. */
function checkNoNumericType(
  { numericType }: Extract<SortKey, { kind: "field" }>,
  type: string,
  shard: ShardContext,
): void {
  if (numericType === undefined) return;
  throw new AppError(
    "query_shard",
    `[numeric_type] option cannot be set on a non-numeric field, got ${type}`,
    { data: place(shard) },
  );
}

function distanceKey(key: Extract<SortKey, { kind: "distance" }>, shard: ShardContext): KeySource {
  const field = shard.mapping.resolve(key.field);
  if (field === undefined && !key.ignoreUnmapped) {
    throw new AppError(
      "query_shard",
      `failed to find mapper for [${key.field}] for geo distance based sort`,
      { data: place(shard) },
    );
  }
  if (field !== undefined && field.type !== "geo_point") {
    throw new AppError(
      "query_shard",
      `[${key.field}] is of type [${field.type}]; [_geo_distance] sorts by geo_point fields only`,
      { data: place(shard) },
    );
  }
  return new DistanceKeySource(field?.path, key);
}

/** Sums of values are below it. */
const WHOLE_END = 10n ** 30n;
/** Characters of a refused text that are shown. */
const SHOWN_TEXT = 80;

/**
 * Reads values of search_after and `missing` as those of a type. Elasticsearch's SearchAfterBuilder takes a number for a whole one without its
 * fraction, and a text only if it is one.
 */
function readerOf(
  field: Field | undefined,
  type: string | undefined,
  format: string | undefined,
): (value: unknown) => number | bigint {
  const usual = type === "date_nanos" ? DEFAULT_NANOS_FORMAT : DEFAULT_DATE_FORMAT;
  const formats = [format, field?.format ?? usual].filter((each) => each !== undefined).join("||");
  // A shard without the field gets what others show, which are times if they have a format.
  const fallback = field === undefined && format !== undefined ? "date" : undefined;
  const isWhole = numberKind(type) === "whole";
  return (value) => {
    if (typeof value === "bigint" && -WHOLE_END < value && value < WHOLE_END) return shortest(value);
    if (typeof value === "number") return isWhole ? Math.trunc(value) : value;
    if (typeof value === "boolean") return value ? 1 : 0;
    const text = String(value);
    const parsed = isWhole ? wholeOf(text, type, formats, fallback) : Number(text);
    if (text !== "" && !Number.isNaN(parsed)) return parsed;
    if (text === "true" || text === "false") return text === "true" ? 1 : 0;
    throw new AppError(
      "request_invalid",
      `Failed to parse search_after value for field [${field?.path ?? ""}]: "${text.slice(0, SHOWN_TEXT)}"`,
    );
  };
}

/** Returns a value of a type of whole numbers, NaN if it is none. `format`: of times; `fallback`: type of texts that aren't a number. */
function wholeOf(text: string, type: string | undefined, format: string, fallback?: string): number | bigint {
  if (type === "date") return dateFormat(format).parse(text);
  // A number is in nanoseconds, as in answers.
  const whole = wholeNumber(text);
  if (whole !== undefined) return whole;
  if (type !== "date_nanos") return fallback === undefined ? Number.NaN : wholeOf(text, fallback, format);
  const nanos = parseNanos(text, format);
  return nanos === null ? Number.NaN : shortest(nanos);
}

function unmapped(name: string, shard: ShardContext): AppError {
  return new AppError("query_shard", `No mapping found for [${name}] in order to sort on`, {
    data: place(shard),
  });
}

function place(shard: ShardContext): Record<string, unknown> {
  return { index: shard.index, index_uuid: shard.indexUuid };
}
