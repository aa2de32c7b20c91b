/** Fields that the engine keeps of its own accord beside those of the mapping. */

import type { Field } from "#hub/engine/mapping/field.ts";

/** Names that a document can't use at its root. */
export const METADATA_NAMES: ReadonlySet<string> = new Set([
  "_id",
  "_index",
  "_type",
  "_source",
  "_routing",
  "_ignored",
  "_field_names",
  "_seq_no",
  "_version",
]);

/** A keyword field that no mapping names. */
export function metadataField(path: string): Field {
  return {
    path,
    type: "keyword",
    index: true,
    docValues: true,
    analyzer: "keyword",
    searchAnalyzer: "keyword",
    norms: false,
    positions: false,
    offsets: false,
    positionIncrementGap: 0,
    ignoreAbove: Number.POSITIVE_INFINITY,
    normalizer: undefined,
    format: "",
    nullValue: undefined,
    ignoreMalformed: false,
    coerce: false,
    scalingFactor: 1,
    copyTo: [],
    aliasOf: undefined,
    multiFields: [],
    fielddata: false,
    given: {},
  };
}
