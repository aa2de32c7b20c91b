/** `common`: as match; every word counts alike, as rare words score higher anyway. */

import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { minimumShouldMatch } from "#hub/search/fields/minimum-should-match.ts";
import { matchQuery } from "#hub/search/fields/text-query.ts";
import { anything, number, oneOf, text } from "#hub/search/options/options.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";

const OPTIONS = {
  cutoff_frequency: number("accepted; all words count alike", undefined),
  low_freq_operator: oneOf("whether any or all words have to be found", ["or", "and"], "or"),
  high_freq_operator: oneOf("accepted", ["or", "and"], "or"),
  minimum_should_match: anything("how many words have to be found, or {low_freq, high_freq}"),
  analyzer: text("analyzer instead of the field's", undefined),
} as const;

export const common: QueryType = {
  name: "common",
  summary: "Documents that hold words of a text.",
  options: OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("common", body, OPTIONS, ["query"]);
    const given = options.minimum_should_match;
    const minimum: unknown = isObject(given) ? given["low_freq"] : given;
    if (minimum !== undefined && typeof minimum !== "string" && typeof minimum !== "number")
      throw new AppError(
        "parsing",
        "[common] [minimum_should_match] must be a number or a text such as 2<75%",
      );
    const wanted = minimum === undefined ? undefined : String(minimum);
    minimumShouldMatch(wanted);
    const query = new MappedNode((shard) =>
      matchQuery(shard, field, value, {
        operator: options.low_freq_operator ?? "or",
        minimumShouldMatch: wanted,
        analyzer: options.analyzer,
        lenient: false,
        zeroTerms: new NoneNode(),
      }),
    );
    return withBoost(query, options);
  },
};
