/** Fields of a mapping as the writer and the search use them. */

const NUMBER_TYPES = [
  "long",
  "integer",
  "short",
  "byte",
  "unsigned_long",
  "double",
  "float",
  "half_float",
  "scaled_float",
] as const;

type NumberType = (typeof NUMBER_TYPES)[number];

export type FieldType =
  | NumberType
  | "text"
  | "keyword"
  | "date"
  | "date_nanos"
  | "boolean"
  | "ip"
  | "geo_point"
  | "binary"
  | "completion"
  | "token_count"
  | "flattened"
  | "alias";

/** The shape in which a field's values are kept beside the inverted index. */
export type ColumnKind = "long" | "unsigned_long" | "double" | "date" | "boolean" | "keyword" | "ip" | "geo";

/** A leaf of a mapping. Settings that weren't given have the defaults of their type. */
export interface Field {
  /** Dotted path from the document's root, multi-field name included (`message.keyword`). */
  readonly path: string;
  readonly type: FieldType;
  /** Searchable. */
  readonly index: boolean;
  /** Sortable and fit for aggregations. */
  readonly docValues: boolean;
  /** Text, token_count: name of the analyzer that makes terms of values; keyword: "keyword". */
  readonly analyzer: string;
  /** Text: name of the analyzer of query text. */
  readonly searchAnalyzer: string;
  /** Text: name of the analyzer of phrases in queries. */
  readonly quoteAnalyzer: string;
  /** Text: length norms are kept. */
  readonly norms: boolean;
  /** Text: positions are kept (phrases work). */
  readonly positions: boolean;
  /** Text: mapped with `index_options: offsets`, so that its length doesn't limit highlighting. */
  readonly offsets: boolean;
  /** token_count: positions without a token, as those of stop words, count. */
  readonly countsGaps: boolean;
  /** Text: gap between the values of an array. */
  readonly positionIncrementGap: number;
  /** Keyword: values of more UTF-16 units aren't indexed, Infinity for no limit; completion: units of a value that are. */
  readonly ignoreAbove: number;
  /** Keyword: name of the normalizer or undefined. */
  readonly normalizer: string | undefined;
  /** Date: formats, `||` between them. */
  readonly format: string;
  /** Stands for an explicit null; undefined: nothing. */
  readonly nullValue: string | number | boolean | undefined;
  /** Values that don't parse leave the field out instead of failing the document. */
  readonly ignoreMalformed: boolean;
  /** Numbers: strings and fractions are accepted. */
  readonly coerce: boolean;
  /** scaled_float only. */
  readonly scalingFactor: number;
  /** Paths that get the value as well. */
  readonly copyTo: readonly string[];
  /** alias only: path of the field meant; else undefined. */
  readonly aliasOf: string | undefined;
  /** Multi-fields: fields fed with the same value. */
  readonly multiFields: readonly Field[];
  /** Text: field data may be loaded for aggregations. */
  readonly fielddata: boolean;
  /** The settings as they were given, the default ones left out, without `fields`; `type` where it is kept as another. */
  readonly given: Readonly<Record<string, unknown>>;
}

/** Returns whether a field's values are times. */
export function isDate(field: Pick<Field, "type">): boolean {
  return field.type === "date" || field.type === "date_nanos";
}

/** Returns how the values of a field are kept in columns, null for types without one. */
export function columnKind(field: Field): ColumnKind | null {
  switch (field.type) {
    case "long":
    case "integer":
    case "short":
    case "byte":
    case "token_count":
    // Nanoseconds since 1970.
    case "date_nanos":
      return "long";
    case "unsigned_long":
      return "unsigned_long";
    case "double":
    case "float":
    case "half_float":
    case "scaled_float":
      return "double";
    case "date":
      return "date";
    case "boolean":
      return "boolean";
    case "keyword":
    case "flattened":
      return "keyword";
    case "ip":
      return "ip";
    case "geo_point":
      return "geo";
    default:
      return null;
  }
}

/** True for a rank_feature, whose values aren't negative. */
export function isFeature({ given }: Field): boolean {
  return given["type"] === "rank_feature";
}

/** What is between the key and the value in the terms of a `flattened` field's keys; no key has it. */
export const KEY_END = "\0";

/** Begins the path of the field that has them, as no name of a mapping or of a metadata field does. */
const KEYED_PREFIX = ".";

/**
 * Returns the field of a segment that holds the values of a `flattened` field after their keys, by the path of that
 * field.
 */
export function keyedPath(path: string): string {
  return KEYED_PREFIX + path;
}

/** True for the path of a field that `keyedPath` named. */
export function isKeyedPath(path: string): boolean {
  return path.startsWith(KEYED_PREFIX);
}

/** Returns the field of a segment that holds the values of a `flattened` field, or those after their keys. */
export function flattenedTerms(field: Field, part: "values" | "keyed"): Field {
  const path = part === "values" ? field.path : keyedPath(field.path);
  return { ...field, path, type: "keyword", ignoreAbove: Number.POSITIVE_INFINITY, nullValue: undefined };
}
