/** What the queries on points share: their field beside their options, and the field's type. */

import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { GeoNode, type GeoTest } from "#hub/search/execute/nodes/geo.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { fieldOf } from "#hub/search/fields/field-terms.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { flag, type Options, oneOf, readOptions, type Values } from "#hub/search/options/options.ts";
import { COMMON_OPTIONS } from "#hub/search/parse/query-parser.ts";
import type { Query } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Options of every query on points. */
export const GEO_OPTIONS = {
  validation_method: oneOf(
    "accepted; points out of bounds are refused",
    ["STRICT", "COERCE", "IGNORE_MALFORMED"],
    undefined,
  ),
  ignore_malformed: flag("accepted", false),
  coerce: flag("accepted", false),
  ignore_unmapped: flag("whether an index without the field has no hits instead of failing", false),
} as const;

/** Splits `{"<field>": <shape>, <option>: …}`. Throws parsing. */
export function readGeoBody<O extends Options>(
  owner: string,
  body: unknown,
  options: O,
): { field: string; shape: unknown; options: Values<O & typeof COMMON_OPTIONS & typeof GEO_OPTIONS> } {
  const known = { ...COMMON_OPTIONS, ...GEO_OPTIONS, ...options };
  const given: JsonObject = {};
  const fields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(objectOf(body, owner))) {
    if (Object.hasOwn(known, name)) given[name] = value;
    else fields.push([name, value]);
  }
  const [field, second] = fields;
  if (field === undefined) throw new AppError("parsing", `[${owner}] needs a field of type geo_point`);
  if (second !== undefined) {
    throw new AppError(
      "parsing",
      `[${owner}] query doesn't support multiple fields, found [${field[0]}] and [${second[0]}]`,
    );
  }
  return { field: field[0], shape: field[1], options: readOptions(owner, given, known) };
}

/** Returns the documents with a point in `name` that `test` accepts; each scores 1. */
export function geoQuery(name: string, test: GeoTest, ignoreUnmapped: boolean): Query {
  return new MappedNode((shard) => {
    const field = fieldOf(shard, name);
    if (field?.type === "geo_point") return new GeoNode(field.path, test);
    if (field === undefined && ignoreUnmapped) return new NoneNode();
    throw new AppError(
      "query_shard",
      field === undefined
        ? `failed to find geo_point field [${name}]`
        : `field [${name}] is not a geo_point field`,
      { data: { index: shard.index, index_uuid: shard.indexUuid } },
    );
  });
}
