/** Rows of `docs/compatibility.md` for options that searches accept without effect, take as hints, or refuse by name. */

import { REFUSED_TYPES } from "#hub/engine/mapping/parse-field.ts";
import { AGGREGATION_TYPES } from "#hub/search/aggregations/all.ts";
import { SOURCE_OPTIONS } from "#hub/search/aggregations/composite/composite-source.ts";
import { PIPELINES_BY_NAME } from "#hub/search/aggregations/pipeline/all.ts";
import { REFUSED_AGGREGATIONS } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { COLLAPSE_OPTIONS } from "#hub/search/collapse.ts";
import { HIGHLIGHT_OPTIONS } from "#hub/search/highlight/highlight-request.ts";
import { FUZZY_RULE_OPTIONS } from "#hub/search/intervals/rules.ts";
import type { Options } from "#hub/search/options/options.ts";
import { QUERY_TYPES } from "#hub/search/parse/queries/all.ts";
import { REFUSED_QUERIES } from "#hub/search/parse/query-parser.ts";
import { REFUSED_OPTIONS, SEARCH_OPTIONS } from "#hub/search/request/search-request.ts";
import { RANDOM_OPTIONS } from "#hub/search/scoring/score-functions.ts";
import { DISTANCE_SORT_OPTIONS, SORT_OPTIONS } from "#hub/search/sort/sort-request.ts";
import { COMPLETION_OPTIONS, FUZZY_COMPLETION_OPTIONS } from "#hub/search/suggest/completion.ts";
import { DIRECT_GENERATOR_OPTIONS } from "#hub/search/suggest/phrase-candidates.ts";
import { TERM_SUGGESTION_OPTIONS } from "#hub/search/suggest/term.ts";
import type { CompatibilityRow } from "#proto/kit/compatibility-row.ts";

/** Returns the rows, from the schemas of the options and the lists of what is refused. */
export function searchCompatibility(): CompatibilityRow[] {
  return [
    ...QUERY_TYPES.flatMap(({ name, options }) => optionRows(`query \`${name}\``, options)),
    ...[...AGGREGATION_TYPES, ...PIPELINES_BY_NAME.values()].flatMap(({ name, options }) =>
      optionRows(`aggregation \`${name}\``, options),
    ),
    ...optionRows("aggregation `composite`, a source", SOURCE_OPTIONS),
    ...optionRows("query `intervals`, rule `fuzzy`", FUZZY_RULE_OPTIONS),
    ...optionRows("query `function_score`, `random_score`", RANDOM_OPTIONS),
    ...optionRows("search", SEARCH_OPTIONS),
    ...optionRows("search, `sort`", SORT_OPTIONS),
    {
      where: "search, `sort`",
      name: "format of values that aren't times",
      treatment: "no effect",
      note: "they are shown as they are",
    },
    ...optionRows("search, `sort` by `_geo_distance`", DISTANCE_SORT_OPTIONS),
    ...optionRows("search, `collapse`", COLLAPSE_OPTIONS),
    ...optionRows("search, `highlight`", HIGHLIGHT_OPTIONS),
    ...optionRows("suggestion `term`", TERM_SUGGESTION_OPTIONS),
    ...optionRows("suggestion `completion`", COMPLETION_OPTIONS),
    ...optionRows("suggestion `completion`, `fuzzy`", FUZZY_COMPLETION_OPTIONS),
    ...optionRows("suggestion `phrase`, `direct_generator`", DIRECT_GENERATOR_OPTIONS),
    refusal("search", "slice", REFUSED_OPTIONS["slice"]!),
    refusal(
      "field of ranges",
      "several ranges in one document",
      "their bounds are stored separately; map a nested object with a range in each",
    ),
    ...Object.entries(REFUSED_TYPES).map(([name, note]) => refusal("field type", name, note)),
    ...Array.from(REFUSED_QUERIES, ([name, note]) => refusal("query", name, note)),
    ...Array.from(REFUSED_AGGREGATIONS, ([name, note]) => refusal("aggregation", name, note)),
  ];
}

function optionRows(where: string, options: Options): CompatibilityRow[] {
  return Object.entries(options).flatMap(([name, { noEffect, hint, refused }]): CompatibilityRow[] => {
    if (hint !== undefined) return [{ where, name, treatment: "hint", note: hint }];
    if (noEffect !== undefined) return [{ where, name, treatment: "no effect", note: noEffect }];
    return refused === undefined ? [] : [refusal(where, name, refused)];
  });
}

function refusal(where: string, name: string, note: string): CompatibilityRow {
  return { where, name, treatment: "refused", note };
}
