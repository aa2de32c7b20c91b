/**
 * `runtime_mappings`: fields that a search defines for itself, by a script that returns the values of each document, or
 * from `_source`. They are computed for the whole shard before the search, and then behave like other fields.
 */

import { hash } from "node:crypto";
import { computedBlock } from "#hub/engine/documents/computed-block.ts";
import type { NestedSteps } from "#hub/engine/documents/nested-block.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import type { Searcher, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { readScript, type Script } from "#hub/scripts/script.ts";
import { cast } from "#hub/scripts/values/casts.ts";
import { toJson } from "#hub/scripts/values/json.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Callable } from "#hub/scripts/values/values.ts";
import { RawJson, writeJson } from "#hub/search/options/json-writer.ts";
import { type SearchedIndex, ShardContext } from "#hub/search/query/query.ts";
import { RuntimeReader } from "#hub/search/query/runtime-reader.ts";
import { objectsAt, valuesAt } from "#hub/search/source/source-values.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { DocValues } from "./doc-values.ts";
import { inOrder } from "./runtime-order.ts";

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

/** Maximum number of fields of one search, and of values of a field in one document. */
const MAX_FIELDS = 100;
const MAX_VALUES = 100;
/** Maximum characters of all values of a field in one document. */
const MAX_CHARACTERS = 1024 * 1024;

/** Maximum steps of the script for one document: other work runs between two documents, well within 50 ms. */
const MAX_STEPS = 25_000;

/** Metadata that each document has besides its fields. */
const METADATA: ReadonlySet<string> = new Set([
  "_id",
  "_index",
  "_type",
  "_source",
  "_routing",
  "_version",
  "_seq_no",
  "_primary_term",
  "_field_names",
  "_ignored",
  "_nested_path",
  "_doc_count",
  "_tier",
  "_score",
  "_doc",
]);

const NAMES = ["params", "doc", "emit()"];

/** A runtime field of a search. */
export interface RuntimeField {
  readonly name: string;
  /** The field in the form of an index's mapping. */
  readonly mapping: JsonObject;
  /** Undefined: the values come from `_source`. */
  readonly script: Script | undefined;
  /** True: only the search's sort reads it, no pattern finds it; the value is what the script returns, without emit. */
  readonly isSortKey?: boolean;
  /** True: a document for which the script fails has no value. */
  readonly skipsErrors: boolean;
  /** Identifies how the values are computed, including the fields before it. */
  readonly key: string;
}

/** Parses `runtime_mappings`; each field comes after those that it reads. Throws mapping_parse, script_failed, not_offered. */
export function readRuntimeFields(given: JsonObject | undefined): readonly RuntimeField[] {
  const entries = Object.entries(given ?? {});
  if (entries.length > MAX_FIELDS)
    throw new AppError("request_invalid", `a search may define at most ${MAX_FIELDS} runtime fields`);
  const fields = inOrder(entries.map(([name, definition]) => readField(name, definition)));
  let key = "runtime";
  return fields.map((field) => {
    key = hash("sha256", JSON.stringify([key, field.name, given![field.name]]), "base64url");
    return { ...field, key };
  });
}

function readField(name: string, given: unknown): RuntimeField {
  if (METADATA.has(name))
    throw new AppError("mapping_parse", `a runtime field can't have the name [${name}] of a metadata field`);
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
    key: "",
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
    isSortKey: true,
    skipsErrors: false,
    key: `sort ${at} ${type} ${JSON.stringify(given)}`,
  };
}

/** Returns the mapping of an index with the fields in place of those that have their names. Throws mapping_parse. */
export function runtimeMapping(fields: readonly RuntimeField[], mapping: Mapping): Mapping {
  for (const { name } of fields) checkName(name, mapping);
  return mapping.overlaid(
    fields.map((field) => ownMapping(field, mapping, field.mapping).field(field.name)!),
    fields.filter(({ isSortKey }) => isSortKey === true).map(({ name }) => name),
  );
}

function checkName(name: string, { nested }: Mapping): void {
  const level = nested.has(name) ? name : nested.above(name);
  if (level === "") return;
  throw new AppError(
    "mapping_parse",
    `the runtime field [${name}] is one of the nested objects at [${level}]: only fields of whole documents can be computed`,
  );
}

function ownMapping({ name }: RuntimeField, { analysis }: Mapping, definition: JsonObject): Mapping {
  return Mapping.parse({ properties: { [name]: definition } }, { index: "", analysis });
}

/** Computes in steps the fields of a segment; returns it with them. Throws memory_limit, script_failed, mapping_parse. */
export function* withRuntimeFields(
  fields: readonly RuntimeField[],
  { index, shard, searcher }: { index: SearchedIndex; shard: number; searcher: Searcher },
  segment: SegmentReader,
): NestedSteps<SegmentReader> {
  let seen = segment;
  for (const [at, field] of fields.entries()) {
    const mapping = runtimeMapping(fields.slice(0, at), searcher.mapping);
    const context = new ShardContext(index, shard, { ...searcher, segments: [seen], mapping }, 0);
    seen = yield* computed(field, context, seen);
  }
  return seen;
}

function* computed(
  field: RuntimeField,
  shard: ShardContext,
  segment: SegmentReader,
): NestedSteps<SegmentReader> {
  const { name, key, script } = field;
  const { type } = field.mapping;
  // Scripts return dates in milliseconds.
  const definition =
    script === undefined ? field.mapping : { type, ...(type === "date" && { format: "epoch_millis" }) };
  const mapping = ownMapping(field, shard.mapping, definition);
  const valuesOf = script === undefined ? fromSource(name, segment) : byScript(field, script, shard, segment);
  const sourceOf = (doc: number): string => writeJson({ [name]: valuesOf(doc) });
  const block = yield* computedBlock(segment, { key, mapping, sourceOf, isOfDocument });
  return new RuntimeReader(segment, block, name, key);
}

/** A script that takes too long usually does so for many documents, and would have to fail for each. */
function isOfDocument(error: unknown): boolean {
  const { code, data } = toAppError(error);
  const cause = data["caused_by"];
  return code === "script_failed" && !(isObject(cause) && cause["type"] === "painless_error");
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
  script: Script,
  shard: ShardContext,
  segment: SegmentReader,
): (doc: number) => unknown[] {
  const values = new DocValues(shard);
  const readsSource = script.compiled.source.includes("_source");
  return (doc) => {
    const emitted: unknown[] = [];
    let characters = 0;
    const emit = new Callable((...given) => {
      if (emitted.length >= MAX_VALUES) throw tooMany(field.name, "values", MAX_VALUES + 1, MAX_VALUES);
      const value = emittedValue(field, given);
      if (typeof value === "string") characters += value.length;
      if (characters > MAX_CHARACTERS) throw tooMany(field.name, "characters", characters, MAX_CHARACTERS);
      emitted.push(value);
      return null;
    });
    values.move(segment, doc);
    const params = readsSource ? { ...script.params, _source: sourceOf(segment, doc) } : script.params;
    try {
      const value = script.compiled.run([params, values, emit], MAX_STEPS);
      if (field.isSortKey === true) return [emittedValue(field, [value])];
    } catch (error) {
      if (!field.skipsErrors || toAppError(error).code !== "script_failed") throw error;
      return [];
    }
    return emitted;
  };
}

/** Returns an emitted value in the form of a document of the index. */
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

function tooMany(name: string, what: string, count: number, most: number): ScriptException {
  return new ScriptException(
    "IllegalArgumentException",
    `Runtime field [${name}] is emitting [${count}] ${what} while the maximum number of values allowed is [${most}]`,
  );
}
