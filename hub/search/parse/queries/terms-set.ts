/** `terms_set`: documents with at least as many of the values as a number in the document. */

import { numericColumn } from "#hub/search/columns/column-values.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { TermsSetNode } from "#hub/search/execute/nodes/terms-set.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { exactQuery } from "#hub/search/fields/field-terms.ts";
import { objectOf, onlyEntry } from "#hub/search/options/json.ts";
import { anything, list, readOptions, required, text } from "#hub/search/options/options.ts";
import { COMMON_OPTIONS, type QueryType, withBoost } from "#hub/search/parse/query-parser.ts";
import { AppError } from "#proto/kit/errors.ts";

const OPTIONS = {
  terms: required(list("the values")),
  minimum_should_match_field: text("field that holds how many have to match", undefined),
  minimum_should_match_script: anything("scripts aren't offered"),
} as const;

export const termsSet: QueryType = {
  name: "terms_set",
  summary: "Documents with at least the number of these values that one of their fields gives.",
  options: OPTIONS,
  parse(body, parser) {
    const [field, given] = onlyEntry(objectOf(body, "terms_set"), "terms_set");
    const options = readOptions("terms_set", objectOf(given, field), { ...COMMON_OPTIONS, ...OPTIONS });
    const counted = options.minimum_should_match_field;
    if (counted === undefined) {
      throw new AppError(
        "request_invalid",
        "[terms_set] needs [minimum_should_match_field]; scripts aren't offered",
      );
    }
    const values = options.terms ?? [];
    parser.countClauses(values.length);
    const query = new MappedNode((shard) => {
      const needed = shard.mapping.resolve(counted);
      if (needed === undefined) return new NoneNode();
      return new TermsSetNode(
        values.map((value) => exactQuery(shard, field, value)),
        (segment) => {
          const column = numericColumn(segment, needed);
          return (doc) => column?.first(doc) ?? Number.NaN;
        },
      );
    });
    return withBoost(query, options);
  },
};
