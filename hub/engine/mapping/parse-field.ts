/** Reads one field of a mapping's JSON: types, their parameters, their defaults. */

import type { AppError } from "#proto/kit/errors.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import type { Analysis } from "../analysis/analysis.ts";
import { readContexts } from "./completion-contexts.ts";
import { DEFAULT_DATE_FORMAT, dateFormat, localized } from "./date-format.ts";
import { DEFAULT_NANOS_FORMAT } from "./date-nanos.ts";
import type { Field, FieldType } from "./field.ts";
import { asRecord, ParameterReader, parseError, printValue } from "./parameters.ts";

const SHARED = ["type", "fields", "copy_to", "store", "boost", "meta", "include_in_all"];
const VALUED = [...SHARED, "index", "doc_values", "null_value", "similarity", "index_options"];
const NUMERIC = [...VALUED, "coerce", "ignore_malformed"];

/** Parameters that each type takes. */
const PARAMETERS: Readonly<Record<FieldType, readonly string[]>> = {
  text: [
    ...SHARED,
    "index",
    "doc_values",
    "analyzer",
    "search_analyzer",
    "search_quote_analyzer",
    "norms",
    "index_options",
    "position_increment_gap",
    "fielddata",
    "fielddata_frequency_filter",
    "term_vector",
    "similarity",
    "eager_global_ordinals",
    "index_prefixes",
    "index_phrases",
  ],
  keyword: [
    ...VALUED,
    "ignore_above",
    "normalizer",
    "norms",
    "eager_global_ordinals",
    "split_queries_on_whitespace",
  ],
  long: NUMERIC,
  integer: NUMERIC,
  short: NUMERIC,
  byte: NUMERIC,
  unsigned_long: NUMERIC,
  double: NUMERIC,
  float: NUMERIC,
  half_float: NUMERIC,
  scaled_float: [...NUMERIC, "scaling_factor"],
  date: [...VALUED, "format", "locale", "ignore_malformed"],
  date_nanos: [...VALUED, "format", "locale", "ignore_malformed"],
  boolean: [...VALUED, "ignore_malformed"],
  ip: [...VALUED, "ignore_malformed"],
  geo_point: [...SHARED, "ignore_malformed", "ignore_z_value", "null_value", "index", "doc_values"],
  binary: [...SHARED, "doc_values"],
  completion: [
    ...SHARED,
    "analyzer",
    "search_analyzer",
    "preserve_separators",
    "preserve_position_increments",
    "max_input_length",
    "contexts",
  ],
  token_count: [...VALUED, "analyzer", "enable_position_increments"],
  flattened: [
    "type",
    "depth_limit",
    "doc_values",
    "eager_global_ordinals",
    "ignore_above",
    "index",
    "index_options",
    "meta",
    "null_value",
    "similarity",
    "split_queries_on_whitespace",
  ],
  alias: ["type", "path"],
};

/** Types of later versions, with the type that they are kept as; mappings show the name that was given. */
const KEPT_AS: Readonly<Record<string, FieldType>> = {
  wildcard: "keyword",
  constant_keyword: "keyword",
  version: "keyword",
  match_only_text: "text",
  flat_object: "flattened",
  rank_feature: "float",
};
/** Parameters of them that the types they are kept as haven't; the value of a constant_keyword has no meaning here. */
const OWN_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  constant_keyword: ["value"],
  rank_feature: ["positive_score_impact"],
};
/** Types without values to sort by. */
const NO_COLUMNS: ReadonlySet<FieldType> = new Set<FieldType>(["text", "alias", "completion"]);

/** Types that this engine refuses, with what to use in their place. */
export const REFUSED_TYPES: Readonly<Record<string, string>> = {
  aggregate_metric_double: "index min, max, sum and value_count as fields of their own",
  dense_vector: "there is no search by vectors; keep them in an object with enabled: false",
  histogram: "index the values themselves, in a nested object or documents of their own",
  join: "denormalise the documents in a pipeline",
  percolator: "use alert rules",
  rank_features: "use an object of float fields with function_score and field_value_factor",
  search_as_you_type: "use text with match_bool_prefix or match_phrase_prefix, or completion",
  shape: "use geo_shape for geographic shapes; others are kept in an object with enabled: false",
};

/** Returns true for the name of a leaf type. */
function isFieldType(type: unknown): type is FieldType {
  return typeof type === "string" && Object.hasOwn(PARAMETERS, type);
}

/** Reads a field. `name`: last part of `path`, for messages. Throws mapping_parse. */
export function parseField(
  path: string,
  name: string,
  json: Readonly<Record<string, unknown>>,
  analysis: Analysis,
  isMultiField = false,
): Field {
  const named = json["type"];
  const type = keptAs(named) ?? named;
  if (!isFieldType(type)) throw unknownType(name, type);
  if (isMultiField && type === "flattened")
    throw parseError(
      `Field [${path}]: type [flattened] takes objects and can't be a multi-field; map a field of its own`,
    );
  const known = [...PARAMETERS[type], ...(OWN_PARAMETERS[printValue(named)] ?? [])];
  for (const key of Object.keys(json)) {
    if (known.includes(key)) continue;
    const hint = didYouMean(key, known);
    throw parseError(
      `Mapping definition for [${name}] has unsupported parameters:  [${key} : ${printValue(json[key])}]${hint}`,
    );
  }
  const reader = new ParameterReader(name, type, json);
  const field = leaf(path, type, reader, analysis);
  const children = asRecord(json["fields"]);
  if (children === undefined) return field;
  if (isMultiField) throw parseError(`Field [${name}] of a multi-field cannot have [fields] of its own`);
  const multiFields = Object.entries(children).map(([child, childJson]) =>
    parseField(`${path}.${child}`, child, asRecord(childJson) ?? {}, analysis, true),
  );
  return { ...field, multiFields };
}

function keptAs(type: unknown): FieldType | undefined {
  return typeof type === "string" && Object.hasOwn(KEPT_AS, type) ? KEPT_AS[type] : undefined;
}

function leaf(path: string, type: FieldType, reader: ParameterReader, analysis: Analysis): Field {
  const isText = type === "text";
  const analyzer = analyzerOf(type, reader, analysis);
  const format = dateFormats(type, reader);
  const normalizer = normalizerOf(reader, analysis);
  const options = reader.string("index_options", "positions");
  const copyTo = reader.list("copy_to");
  if (type === "flattened") reader.integer("depth_limit", 0);
  if (type === "completion") readContexts(reader.field, reader.given()["contexts"]);
  const aliasOf = type === "alias" ? reader.required("path") : undefined;
  const scalingFactor = type === "scaled_float" ? reader.positive("scaling_factor") : 1;
  return {
    path,
    type,
    index: type === "binary" || type === "alias" ? false : reader.boolean("index", true),
    docValues: NO_COLUMNS.has(type) ? false : reader.boolean("doc_values", type !== "binary"),
    analyzer,
    ...(isText ? queryAnalyzers(analyzer, reader, analysis) : NO_ANALYZERS),
    norms: isText && reader.boolean("norms", true),
    positions: isText && (options === "positions" || options === "offsets"),
    offsets: isText && options === "offsets",
    countsGaps: reader.boolean("enable_position_increments", true),
    positionIncrementGap: reader.integer("position_increment_gap", 100),
    ignoreAbove:
      type === "completion"
        ? reader.integer("max_input_length", 50)
        : reader.integer("ignore_above", Number.POSITIVE_INFINITY),
    normalizer,
    format,
    nullValue: reader.scalar("null_value"),
    ignoreMalformed: reader.boolean("ignore_malformed", false),
    coerce: reader.boolean("coerce", true),
    scalingFactor,
    copyTo,
    aliasOf,
    multiFields: [],
    fielddata: reader.boolean("fielddata", false),
    given: reader.given(),
  };
}

function analyzerOf(type: FieldType, reader: ParameterReader, analysis: Analysis): string {
  if (type === "token_count" && reader.optional("analyzer") === undefined)
    throw parseError(`Analyzer must be set for field [${reader.field}] but wasn't.`);
  const isAnalysed = type === "text" || type === "token_count";
  return isAnalysed ? reader.analyzer("analyzer", "default", analysis) : "keyword";
}

const NO_ANALYZERS = { searchAnalyzer: "keyword", quoteAnalyzer: "keyword" } as const;

/** Analyzers of query text; a field that names none has those that the index settings define for all such fields. */
function queryAnalyzers(
  analyzer: string,
  reader: ParameterReader,
  analysis: Analysis,
): Pick<Field, "searchAnalyzer" | "quoteAnalyzer"> {
  const isGiven = (parameter: string): boolean => reader.optional(parameter) !== undefined;
  const hasOwn = isGiven("analyzer");
  const search = !hasOwn && analysis.has("default_search") ? "default_search" : analyzer;
  const searchAnalyzer = reader.analyzer("search_analyzer", search, analysis);
  const takesUsual = !hasOwn && !isGiven("search_analyzer") && analysis.has("default_search_quoted");
  const quote = takesUsual ? "default_search_quoted" : searchAnalyzer;
  return { searchAnalyzer, quoteAnalyzer: reader.analyzer("search_quote_analyzer", quote, analysis) };
}

function normalizerOf(reader: ParameterReader, analysis: Analysis): string | undefined {
  const normalizer = reader.optional("normalizer");
  if (normalizer !== undefined && !analysis.hasNormalizer(normalizer)) {
    throw parseError(`normalizer [${normalizer}] not found for field [${reader.field}]`);
  }
  return normalizer;
}

/** Formats of a date; others have the default ones. Throws mapping_parse. */
function dateFormats(type: FieldType, reader: ParameterReader): string {
  if (type !== "date" && type !== "date_nanos") return DEFAULT_DATE_FORMAT;
  const fallback = type === "date" ? DEFAULT_DATE_FORMAT : DEFAULT_NANOS_FORMAT;
  const formats = localized(reader.string("format", fallback), reader.optional("locale"));
  dateFormat(formats);
  return formats;
}

function unknownType(name: string, type: unknown): AppError {
  if (typeof type === "string" && Object.hasOwn(REFUSED_TYPES, type)) {
    return parseError(`field [${name}]: type [${type}] is not offered; ${REFUSED_TYPES[type]}`);
  }
  if (type === undefined) return parseError(`No type specified for field [${name}]`);
  return parseError(
    `No handler for type [${printValue(type)}] declared on field [${name}]${didYouMean(printValue(type), Object.keys(PARAMETERS))}`,
  );
}
