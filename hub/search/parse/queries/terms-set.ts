/** `terms_set`: documents with at least as many of the values as a field or a script of the document says. */

import { numericColumn } from "#hub/search/columns/column-values.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { type Needed, TermsSetNode } from "#hub/search/execute/nodes/terms-set.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { exactQuery } from "#hub/search/fields/field-terms.ts";
import { objectOf, onlyEntry } from "#hub/search/options/json.ts";
import { anything, list, readOptions, required, text } from "#hub/search/options/options.ts";
import { COMMON_OPTIONS, type QueryType, withBoost } from "#hub/search/parse/query-parser.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { numberOn, readScoreScript } from "#hub/search/scripting/document-script.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Steps of one run of a script: a scorer looks at some documents without a pause. */
const MAX_STEPS = 1000;

const OPTIONS = {
  terms: required(list("the values")),
  minimum_should_match_field: text("field that holds how many have to match", undefined),
  minimum_should_match_script: anything(
    "script that returns how many have to match; it sees params.num_terms, the number of values",
  ),
} as const;

export const termsSet: QueryType = {
  name: "terms_set",
  summary: "Documents with at least the number of these values that one of their fields gives.",
  options: OPTIONS,
  parse(body, parser) {
    const [field, given] = onlyEntry(objectOf(body, "terms_set"), "terms_set");
    const options = readOptions("terms_set", objectOf(given, field), { ...COMMON_OPTIONS, ...OPTIONS });
    const values = options.terms ?? [];
    parser.countClauses(values.length);
    const needed = readNeeded(options, values.length);
    const query = new MappedNode((shard) => {
      const counts = needed(shard);
      if (counts === undefined) return new NoneNode();
      return new TermsSetNode(
        values.map((value) => exactQuery(shard, field, value)),
        counts,
      );
    });
    return withBoost(query, options);
  },
};

/**
 * Returns what binds the number that has to match to a shard, which has none without the field. Throws
 * request_invalid, script_failed.
 */
function readNeeded(
  {
    minimum_should_match_field: counted,
    minimum_should_match_script: given,
  }: {
    readonly minimum_should_match_field: string | undefined;
    readonly minimum_should_match_script: unknown;
  },
  count: number,
): (shard: ShardContext) => Needed | undefined {
  if (counted !== undefined && given !== undefined)
    throw new AppError(
      "request_invalid",
      "[terms_set] takes either [minimum_should_match_field] or [minimum_should_match_script], not both",
    );
  if (counted !== undefined)
    return (shard) => {
      const field = shard.mapping.resolve(counted);
      if (field === undefined) return undefined;
      return (segment) => {
        const column = numericColumn(segment, field);
        return (doc) => column?.first(doc) ?? Number.NaN;
      };
    };
  if (given === undefined)
    throw new AppError("request_invalid", "No minimum should match has been specified");
  const read = readScoreScript(given);
  const script = { ...read, params: { ...read.params, num_terms: count } };
  return (shard) => {
    const bind = numberOn(script, shard, MAX_STEPS);
    return (segment) => {
      const numberOf = bind(segment);
      return (doc) => Math.trunc(numberOf(doc, 0));
    };
  };
}
