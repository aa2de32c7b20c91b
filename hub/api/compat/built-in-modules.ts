/** Modules of other servers whose work is built in here: clients look for them in `_nodes/plugins`. */

import type { JsonObject } from "#proto/kit/json.ts";

const MODULES: readonly (readonly [name: string, description: string])[] = [
  ["aggs-matrix-stats", "Aggregation matrix_stats"],
  ["analysis-common", "Analyzers, tokenizers and token filters"],
  ["ingest-common", "Processors of ingest pipelines"],
  ["ingest-geoip", "Processor geoip"],
  ["ingest-user-agent", "Processor user_agent"],
  ["lang-expression", "Lucene expressions as scripts"],
  ["lang-mustache", "Mustache templates of searches"],
  ["lang-painless", "Painless scripts"],
  ["mapper-extras", "Field types scaled_float and rank_feature"],
  ["rank-eval", "Quality of searches"],
  ["reindex", "Copies, and changes by query"],
];

/** Returns the modules as the body of a node of that version has them. */
export function builtInModules(version: string): JsonObject[] {
  return MODULES.map(([name, description]) => ({
    name,
    version,
    elasticsearch_version: version,
    description,
    extended_plugins: [],
    has_native_controller: false,
  }));
}
