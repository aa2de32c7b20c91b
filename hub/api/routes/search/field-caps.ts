/** `_field_caps`: types and capabilities of fields over several indices. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { columnKind, type Field } from "#hub/engine/mapping/field.ts";
import type { Mapping } from "#hub/engine/mapping/mapping.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import {
  type RuntimeField,
  readRuntimeFields,
  runtimeMapping,
} from "#hub/search/scripting/runtime-fields.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { searchedIndices, searchLimits } from "./search-target.ts";

interface Capability {
  readonly type: string;
  readonly searchable: boolean;
  readonly aggregatable: boolean;
  /** Metadata of the field's values from the mapping, e.g. their unit. */
  readonly meta?: JsonObject;
}

/** Fields that every index has. */
const META: Readonly<Record<string, Capability>> = {
  _id: { type: "_id", searchable: true, aggregatable: false },
  _index: { type: "_index", searchable: true, aggregatable: true },
  _type: { type: "_type", searchable: true, aggregatable: true },
  _source: { type: "_source", searchable: false, aggregatable: false },
  _routing: { type: "_routing", searchable: true, aggregatable: false },
  _ignored: { type: "_ignored", searchable: true, aggregatable: false },
};

/** What those before 7.0 list otherwise or besides. */
const OLD_META: Readonly<Record<string, Capability>> = {
  _id: { type: "_id", searchable: true, aggregatable: true },
  _all: { type: "_all", searchable: true, aggregatable: false },
  _field_names: { type: "_field_names", searchable: true, aggregatable: false },
  _parent: { type: "_parent", searchable: false, aggregatable: true },
  _seq_no: { type: "_seq_no", searchable: true, aggregatable: true },
  _uid: { type: "_uid", searchable: false, aggregatable: true },
  _version: { type: "_version", searchable: false, aggregatable: false },
};

/** Capability of an index that lacks a field. */
const UNMAPPED: Capability = { type: "unmapped", searchable: false, aggregatable: false };

export function fieldCapsRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_field_caps", "/{index}/_field_caps"],
      params: ["fields", "include_unmapped", ...RESOLVE_PARAMS],
      action: "search",
      summary: "Lists fields with their types and capabilities.",
      handle: (request) => fieldCaps(parts, request),
    },
  ];
}

async function fieldCaps(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { indices } = parts;
  const patterns = patternsOf(request);
  checkValid(patterns.length === 0 && "no fields specified");
  const resolved = indices.resolve(request.path["index"], resolveOptions(request));
  const runtime = runtimeFieldsOf(request);
  const found = await matchingIndices(parts, request, resolved);
  const tests = patterns.map((pattern) => compileWildcard(pattern));
  const fields = new Map<string, Map<string, [index: string, Capability][]>>();
  for (const index of found) {
    for (const [name, capability] of capabilities(runtimeMapping(runtime, index.mapping))) {
      if (!tests.some((test) => test.matches(name))) continue;
      const types = fields.get(name) ?? new Map<string, [string, Capability][]>();
      fields.set(
        name,
        types.set(capability.type, [...(types.get(capability.type) ?? []), [index.name, capability]]),
      );
    }
  }
  if (request.flag("include_unmapped") === true) addUnmapped(fields, found);
  const described = Object.fromEntries(
    [...fields].map(([name, types]) => [name, describeTypes(name, types)]),
  );
  return json({
    ...(answersAs(700) && { indices: found.map((index) => index.name) }),
    fields: described,
  });
}

/** Returns the indices with a document that matches `index_filter`; without a filter: all. Throws parsing. */
async function matchingIndices(
  parts: ApiContext,
  request: ApiRequest,
  resolved: readonly IndexInfo[],
): Promise<readonly IndexInfo[]> {
  const query = request.object()["index_filter"];
  if (query === undefined) return resolved;
  const found: IndexInfo[] = [];
  for (const index of resolved) {
    const target = { expression: index.name, types: undefined, options: { ignoreUnavailable: true } };
    const { targets } = searchedIndices(parts, target);
    const call = { body: { query }, limits: searchLimits(parts), terminateAfter: 1, targets };
    if ((await parts.shards.count(call, request.signal)).count > 0) found.push(index);
  }
  return found;
}

/** Adds the indices that lack a field which others have. */
function addUnmapped(
  fields: ReadonlyMap<string, Map<string, [index: string, Capability][]>>,
  found: readonly IndexInfo[],
): void {
  for (const types of fields.values()) {
    const known = new Set([...types.values()].flatMap((entries) => entries.map(([index]) => index)));
    const unmapped = found.filter(({ name }) => !known.has(name));
    if (unmapped.length === 0) continue;
    types.set(
      UNMAPPED.type,
      unmapped.map(({ name }) => [name, UNMAPPED]),
    );
  }
}

/** Returns the runtime fields that the request defines, as in a search. Throws parsing, mapping_parse, script_failed. */
function runtimeFieldsOf(request: ApiRequest): readonly RuntimeField[] {
  const given = request.object()["runtime_mappings"];
  if (given === undefined) return [];
  if (!isObject(given)) throw new AppError("parsing", "[runtime_mappings] must be an object");
  return readRuntimeFields(given);
}

function patternsOf(request: ApiRequest): readonly string[] {
  const given = request.list("fields");
  const body = request.object()["fields"];
  if (given !== undefined && body !== undefined) {
    throw new AppError(
      "request_invalid",
      "can't specify a request body and [fields] request parameter, either specify a request body or the [fields] request parameter",
    );
  }
  return given ?? (Array.isArray(body) ? body.map(String) : typeof body === "string" ? [body] : []);
}

function* capabilities(mapping: Mapping): Iterable<[name: string, Capability]> {
  yield* Object.entries(answersAs(700) ? META : { ...META, ...OLD_META });
  const objects = new Set<string>();
  const ranges = new Set<string>();
  for (const field of mapping.fields()) {
    const parent = field.path.slice(0, Math.max(0, field.path.lastIndexOf(".")));
    const range = mapping.objectKind(parent)?.type;
    if (range?.endsWith("_range") === true) {
      if (!ranges.has(parent)) yield [parent, { type: range, searchable: true, aggregatable: false }];
      ranges.add(parent);
      continue;
    }
    const meant = field.aliasOf === undefined ? field : mapping.field(field.aliasOf);
    if (meant !== undefined) yield [field.path, capabilityOf(meant)];
    for (let at = field.path.lastIndexOf("."); at > 0; at = field.path.lastIndexOf(".", at - 1)) {
      const path = field.path.slice(0, at);
      if (mapping.isObject(path) && !objects.has(path)) objects.add(path);
    }
  }
  for (const path of objects)
    yield [
      path,
      { type: mapping.objectKind(path)?.type ?? "object", searchable: false, aggregatable: false },
    ];
}

function capabilityOf(field: Field): Capability {
  const aggregatable =
    field.type === "text" ? field.fielddata : field.docValues && columnKind(field) !== null;
  const { meta } = field.given;
  return { type: field.type, searchable: field.index, aggregatable, ...(isObject(meta) && { meta }) };
}

function describeTypes(
  name: string,
  types: ReadonlyMap<string, readonly (readonly [string, Capability])[]>,
): JsonObject {
  const isConflict = types.size > 1;
  const metadata = answersAs(713) && { metadata_field: Object.hasOwn(META, name) };
  return Object.fromEntries(
    [...types].map(([type, entries]) => [type, { ...describeType(type, entries, isConflict), ...metadata }]),
  );
}

function describeType(
  type: string,
  entries: readonly (readonly [string, Capability])[],
  isConflict: boolean,
): JsonObject {
  const without = (ability: "searchable" | "aggregatable"): string[] | undefined => {
    const names = entries.filter(([, capability]) => !capability[ability]).map(([name]) => name);
    return names.length > 0 && names.length < entries.length ? names : undefined;
  };
  const [notSearchable, notAggregatable] = [without("searchable"), without("aggregatable")];
  return {
    type,
    searchable: entries.every(([, capability]) => capability.searchable),
    aggregatable: entries.every(([, capability]) => capability.aggregatable),
    ...(isConflict && { indices: entries.map(([name]) => name) }),
    ...(notSearchable !== undefined && { non_searchable_indices: notSearchable }),
    ...(notAggregatable !== undefined && { non_aggregatable_indices: notAggregatable }),
    ...mergedMeta(entries),
  };
}

/** Returns the indices' metadata of a field's values: every distinct text by its key. */
function mergedMeta(entries: readonly (readonly [string, Capability])[]): JsonObject {
  const texts = new Map<string, Set<string>>();
  for (const [, { meta = {} }] of entries) {
    for (const [key, value] of Object.entries(meta))
      texts.set(key, (texts.get(key) ?? new Set()).add(String(value)));
  }
  if (texts.size === 0) return {};
  return { meta: Object.fromEntries([...texts].map(([key, values]) => [key, [...values].sort()])) };
}
