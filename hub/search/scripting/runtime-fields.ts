/**
 * `runtime_mappings`: fields that a search defines for itself, by a script that gives the values of each document, or
 * from `_source`. They are computed for the whole shard before the search, and then are fields like others.
 */

import { computedBlock } from "#hub/engine/documents/computed-block.ts";
import type { NestedSteps } from "#hub/engine/documents/nested-block.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import type { Searcher, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { readScript, type Script } from "#hub/scripts/script.ts";
import { cast } from "#hub/scripts/values/casts.ts";
import { toJson } from "#hub/scripts/values/json.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Callable } from "#hub/scripts/values/values.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { RawJson } from "#hub/search/options/raw-json.ts";
import { type SearchedIndex, ShardContext } from "#hub/search/query/query.ts";
import { RuntimeReader } from "#hub/search/query/runtime-reader.ts";
import { objectsAt, valuesAt } from "#hub/search/source/source-values.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { DocValues } from "./doc-values.ts";

/** The types of runtime fields, with the type of the language that `emit` takes. */
const TYPES: Readonly<Record<string, string>> = {
  boolean: "boolean",
  date: "long",
  double: "double",
  geo_point: "double",
  ip: "String",
  keyword: "String",
  long: "long",
};

/** Fields of one search, and values that a field may have in one document. */
const MAX_FIELDS = 100;
const MAX_VALUES = 100;

const NAMES = ["params", "doc", "emit()"];

/** A runtime field of a search. */
export interface RuntimeField {
  readonly name: string;
  /** As the mapping of an index would have it. */
  readonly mapping: JsonObject;
  /** Undefined: the values come from `_source`. */
  readonly script: Script | undefined;
  /** True: the value is what the script returns, without emit. */
  readonly returns?: boolean;
  /** True: a document for which the script fails has no value. */
  readonly skipsErrors: boolean;
  /** Names how the values are made, the fields before it included. */
  readonly key: string;
}

/** Reads `runtime_mappings`. Throws mapping_parse, script_failed, not_offered. */
export function readRuntimeFields(given: JsonObject | undefined): readonly RuntimeField[] {
  const entries = Object.entries(given ?? {});
  if (entries.length > MAX_FIELDS)
    throw new AppError("request_invalid", `a search may define at most ${MAX_FIELDS} runtime fields`);
  let before = "";
  return entries.map(([name, definition]) => {
    before += `${JSON.stringify([name, definition])}\n`;
    return readField(name, definition, before);
  });
}

function readField(name: string, given: unknown, key: string): RuntimeField {
  if (!isObject(given))
    throw new AppError(
      "mapping_parse",
      `Expected map for runtime field [${name}] definition but got something else`,
    );
  const { type, script, format, on_script_error: onError = "fail", ...unknown } = given;
  const [parameter] = Object.keys(unknown);
  if (onError !== "fail" && onError !== "continue")
    throw new AppError(
      "mapping_parse",
      `Unknown value [${JSON.stringify(onError)}] for field [on_script_error] - accepted values are [fail, continue]`,
    );
  if (type === undefined)
    throw new AppError("mapping_parse", `No type specified for runtime field [${name}]`);
  if (type === "composite" || type === "lookup")
    throw new AppError(
      "not_offered",
      `runtime fields of type [${type}] can't be used; define each of their fields`,
    );
  if (typeof type !== "string" || !Object.hasOwn(TYPES, type))
    throw new AppError(
      "mapping_parse",
      `The mapper type [${typeof type === "string" ? type : JSON.stringify(type)}] declared on runtime field [${name}] does not exist.`,
    );
  if (parameter !== undefined || (format !== undefined && type !== "date"))
    throw new AppError(
      "mapping_parse",
      `unknown parameter [${parameter ?? "format"}] on runtime field [${name}] of type [${type}]`,
    );
  return {
    name,
    mapping: { type, ...(format !== undefined && { format }) },
    script: script === undefined ? undefined : readScript(script, NAMES, { allowsRegexes: true }),
    skipsErrors: onError === "continue",
    key: `runtime ${key}`,
  };
}

/**
 * Makes the field that the key `at` of `sort` is taken from: what a script returns for each document, a number or a
 * text. Throws script_failed, parsing, not_offered.
 */
export function sortField(given: unknown, type: "number" | "string", at: number): RuntimeField {
  const text = typeof given === "string" ? given : isObject(given) ? given["source"] : undefined;
  if (typeof text === "string" && /\b_score\b/.test(text))
    throw new AppError(
      "not_offered",
      "[_script] that returns a text, or has loops, functions or collections, can't use [_score]",
    );
  return {
    name: `_sort ${at}`,
    mapping: { type: type === "string" ? "keyword" : "double" },
    script: readScript(given, ["params", "doc"]),
    returns: true,
    skipsErrors: false,
    key: `sort ${at} ${type} ${JSON.stringify(given)}`,
  };
}

/** A shard as a search sees it. */
interface SearchedShard {
  readonly index: SearchedIndex;
  readonly shard: number;
  readonly searcher: Searcher;
}

/** Returns the snapshot of a shard with the fields, made in steps. Throws memory_limit, script_failed. */
export function* withRuntimeFields(
  fields: readonly RuntimeField[],
  { index, shard, searcher }: SearchedShard,
): NestedSteps<Searcher> {
  let seen = searcher;
  for (const field of fields) {
    const context = new ShardContext(index, shard, seen, 0);
    const segments: SegmentReader[] = [];
    for (const segment of seen.segments) segments.push(yield* computed(field, context, segment));
    const { totalDocs } = searcher;
    seen = { segments, mapping: mappingWith(seen.mapping, field), totalDocs, close: () => searcher.close() };
  }
  return seen;
}

function* computed(
  field: RuntimeField,
  shard: ShardContext,
  segment: SegmentReader,
): NestedSteps<SegmentReader> {
  const { name, mapping, key } = field;
  const { analysis } = shard.mapping;
  const own = Mapping.parse(
    { properties: { [name]: { type: mapping["type"] } } },
    { index: shard.index, analysis },
  );
  const valuesOf = field.script === undefined ? fromSource(name, segment) : byScript(field, shard, segment);
  const sourceOf = (doc: number): string => writeJson({ [name]: valuesOf(doc) });
  const block = yield* computedBlock(segment, { key, mapping: own, sourceOf });
  return new RuntimeReader(segment, block.objects, name, key);
}

/** A field of the index that has the name is not seen. */
function mappingWith(mapping: Mapping, { name, mapping: own }: RuntimeField): Mapping {
  const known = mapping.field(name);
  const json = known === undefined ? {} : without(mapping.toJSON(), name.split("."));
  const base = known === undefined ? mapping : Mapping.parse(json, { index: "", analysis: mapping.analysis });
  return base.merge({ properties: { [name]: own } });
}

/** Returns a mapping's JSON without the property at a path. */
function without(json: JsonObject, path: readonly string[]): JsonObject {
  const [first, ...rest] = path as [string, ...string[]];
  const properties = { ...(json["properties"] as JsonObject) };
  if (rest.length === 0) delete properties[first];
  else properties[first] = without(properties[first] as JsonObject, rest);
  return { ...json, properties };
}

function fromSource(name: string, segment: SegmentReader): (doc: number) => unknown {
  return (doc) => {
    const source = sourceOf(segment, doc);
    return [...valuesAt(source, name), ...objectsAt(source, name)];
  };
}

function sourceOf(segment: SegmentReader, doc: number): JsonObject {
  return new RawJson(segment.source(doc)).parse() as JsonObject;
}

function byScript(
  field: RuntimeField,
  shard: ShardContext,
  segment: SegmentReader,
): (doc: number) => unknown[] {
  const script = field.script!;
  const values = new DocValues(shard);
  const readsSource = script.compiled.source.includes("_source");
  return (doc) => {
    const emitted: unknown[] = [];
    const emit = new Callable((...given) => {
      if (emitted.length >= MAX_VALUES) throw tooMany(field.name);
      emitted.push(emittedValue(field, given));
      return null;
    });
    values.move(segment, doc);
    const params = readsSource ? { ...script.params, _source: sourceOf(segment, doc) } : script.params;
    try {
      const value = script.compiled.run([params, values, emit]);
      if (field.returns === true) return [emittedValue(field, [value])];
    } catch (error) {
      if (!field.skipsErrors || toAppError(error).code !== "script_failed") throw error;
      return [];
    }
    return emitted;
  };
}

/** Returns what a document of the index would hold. */
function emittedValue({ name, mapping }: RuntimeField, given: readonly unknown[]): unknown {
  const type = mapping["type"] as string;
  const wanted = type === "geo_point" ? 2 : 1;
  if (given.length !== wanted)
    throw new ScriptException(
      "IllegalArgumentException",
      `emit of the runtime field [${name}] takes ${wanted} arguments, not ${given.length}`,
    );
  const [first, second] = given.map((value) => toJson(cast(value, TYPES[type]!, false)));
  return type === "geo_point" ? { lat: first, lon: second } : first;
}

function tooMany(name: string): ScriptException {
  return new ScriptException(
    "IllegalArgumentException",
    `Runtime field [${name}] is emitting [${MAX_VALUES + 1}] values while the maximum number of values allowed is [${MAX_VALUES}]`,
  );
}
