/**
 * An order bound to a shard. Within a segment every key of a document is a number, the smaller the earlier;
 * between segments and shards ranks are compared: such numbers, or text.
 */

import { dateFormat } from "#hub/engine/mapping/date-format.ts";
import { parseNanos } from "#hub/engine/mapping/date-nanos.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { isNumeric, termsField } from "#hub/search/columns/column-values.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DistanceKeySource } from "./distance-key.ts";
import { IdKeySource } from "./id-key.ts";
import { DocKeySource, ScoreKeySource } from "./implicit-keys.ts";
import { KeywordKeySource } from "./keyword-key.ts";
import { NumericKeySource } from "./numeric-key.ts";
import type { SortKey } from "./sort-request.ts";

/** Position of a hit by one key: a number, or text; ±Infinity for missing text. */
export type Rank = number | string;

/** What an answer's `sort` shows. */
export type SortValue = number | string | bigint | null;

/** One key in one shard. */
export interface KeySource {
  segment(segment: SegmentReader): SegmentKey;
  /** Compares ranks of different segments or shards. */
  compare(a: Rank, b: Rank): number;
  /** Rank of a value of search_after. Throws request_invalid. */
  rankOf(value: unknown): Rank;
}

/** One key in one segment. */
export interface SegmentKey {
  /** Writes the keys of documents (ascending) to `out`. */
  load(docs: Int32Array, scores: Float32Array | null, length: number, out: Float64Array): void;
  /** Rank of a document whose key is `key`. */
  rank(doc: number, key: number): Rank;
  /** What is shown of it. */
  value(doc: number, key: number): SortValue;
  /** Key at which a rank stands in this segment; between two keys where no document has it. */
  keyOf(rank: Rank): number;
  /** Smallest key that a document of the column block may have; absent where that isn't known. */
  bestOfBlock?(block: number): number;
  /**
   * Removes documents of blocks [from, to) from `words` (one bit per document of these) that can't have a key at or below
   * `bound`; some that can't may stay.
   */
  narrow?(from: number, to: number, bound: number, words: Uint32Array): void;
}

/** The keys of an order in one shard. Throws query_shard for fields that can't be sorted by. */
export function bindSort(keys: readonly SortKey[], shard: ShardContext): KeySource[] {
  return keys.map((key) => bindKey(key, shard));
}

/** Compares hits by their ranks. */
export function compareRanks(sources: readonly KeySource[], a: readonly Rank[], b: readonly Rank[]): number {
  for (let at = 0; at < sources.length; at++) {
    const result = sources[at]!.compare(a[at]!, b[at]!);
    if (result !== 0) return result;
  }
  return 0;
}

function bindKey(key: SortKey, shard: ShardContext): KeySource {
  switch (key.kind) {
    case "score":
      return new ScoreKeySource(key.descending);
    case "doc":
      return new DocKeySource(key.descending, shard);
    case "field":
      return fieldKey(key, shard);
    case "distance":
      return distanceKey(key, shard);
  }
}

function fieldKey(key: Extract<SortKey, { kind: "field" }>, shard: ShardContext): KeySource {
  if (key.field === "_id" || key.field === "_uid") return new IdKeySource(key.descending);
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
  if (!numeric) return new KeywordKeySource(field, key);
  return new NumericKeySource(field, key, readerOf(field));
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

/** Reads values of search_after and `missing`. */
function readerOf(field: Field | undefined): (value: unknown) => number {
  return (value) => {
    if (typeof value === "number" || typeof value === "bigint") return Number(value);
    if (typeof value === "boolean") return value ? 1 : 0;
    const text = String(value);
    const parsed = numberOf(text, field);
    if (text !== "" && !Number.isNaN(parsed)) return parsed;
    if (text === "true" || text === "false") return text === "true" ? 1 : 0;
    throw new AppError(
      "request_invalid",
      `Failed to parse search_after value for field [${field?.path ?? ""}]: "${text}"`,
    );
  };
}

/** A value as it stands in the field's column, NaN where it is none. */
function numberOf(text: string, field: Field | undefined): number {
  if (field?.type === "date") return dateFormat(field.format).parse(text);
  // A count is one of nanoseconds, as answers have it.
  if (field?.type !== "date_nanos" || /^-?\d+$/.test(text)) return Number(text);
  return Number(parseNanos(text, field.format) ?? Number.NaN);
}

function unmapped(name: string, shard: ShardContext): AppError {
  return new AppError("query_shard", `No mapping found for [${name}] in order to sort on`, {
    data: place(shard),
  });
}

function place(shard: ShardContext): Record<string, unknown> {
  return { index: shard.index, index_uuid: shard.indexUuid };
}
