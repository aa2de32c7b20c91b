/** Modules of other servers whose work is built in here: clients look for them in `_nodes/plugins`. */

import { answersAs } from "#hub/search/options/request-version.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** With the classes that other servers name, without the package of all. */
const MODULES: readonly (readonly [name: string, className: string, description: string])[] = [
  ["aggs-matrix-stats", "search.aggregations.matrix.MatrixAggregationPlugin", "Aggregation matrix_stats"],
  ["analysis-common", "analysis.common.CommonAnalysisPlugin", "Analyzers, tokenizers and token filters"],
  ["ingest-common", "ingest.common.IngestCommonPlugin", "Processors of ingest pipelines"],
  ["ingest-geoip", "ingest.geoip.IngestGeoIpPlugin", "Processor geoip"],
  ["ingest-user-agent", "ingest.useragent.IngestUserAgentPlugin", "Processor user_agent"],
  ["lang-expression", "script.expression.ExpressionPlugin", "Lucene expressions as scripts"],
  ["lang-mustache", "script.mustache.MustachePlugin", "Mustache templates of searches"],
  ["lang-painless", "painless.PainlessPlugin", "Painless scripts"],
  ["mapper-extras", "index.mapper.MapperExtrasPlugin", "Field types scaled_float and rank_feature"],
  ["rank-eval", "index.rankeval.RankEvalPlugin", "Quality of searches"],
  ["reindex", "index.reindex.ReindexPlugin", "Copies, and changes by query"],
];

/** Returns the modules as the body of a node of that version has them. */
export function builtInModules(version: string): JsonObject[] {
  return MODULES.map(([name, className, description]) => ({
    name,
    version,
    elasticsearch_version: version,
    java_version: "1.8",
    description,
    classname: `org.elasticsearch.${className}`,
    extended_plugins: [],
    has_native_controller: false,
    ...(answersAs(800) && { licensed: false }),
  }));
}
