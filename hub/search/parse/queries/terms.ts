/** `terms` and `term`: documents with one of several exact values, or with one. */

import { anyOf } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { ConstantNode, MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { boundsQuery, isRangeField } from "#hub/search/fields/field-range.ts";
import { exactListQuery, exactQuery } from "#hub/search/fields/field-terms.ts";
import { caselessQuery, patternQuery } from "#hub/search/fields/pattern-query.ts";
import { objectOf, onlyEntry, scalarText } from "#hub/search/options/json.ts";
import { flag, readOptions } from "#hub/search/options/options.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { COMMON_OPTIONS, type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";
import { foldCase } from "#hub/search/patterns/ascii-case.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Values of one query whatever the settings; more are refused before they cost anything. */
const MAX_TERMS = 1_000_000;

export const terms: QueryType = {
  name: "terms",
  aliases: ["in"],
  summary: "Documents with any of these values.",
  options: {},
  parse(body) {
    const { boost, _name, ...fields } = objectOf(body, "terms");
    const options = readOptions("terms", { boost, _name }, COMMON_OPTIONS);
    const [field, values] = onlyEntry(fields, "terms");
    if (field === "") throw new AppError("request_invalid", "field name cannot be null.");
    if (!Array.isArray(values)) {
      throw new AppError(
        "parsing",
        `[terms] query requires an array of values for [${field}]; a look-up needs [index], [id] and [path]`,
      );
    }
    if (values.length > MAX_TERMS) {
      throw new AppError(
        "request_invalid",
        `The number of terms [${values.length}] used in the Terms Query request has exceeded the allowed maximum of [${MAX_TERMS}]; split the request.`,
      );
    }
    if (values.includes(null)) throw new AppError("request_invalid", "No value specified for terms query");
    const query = new MappedNode((shard) => {
      checkCount(values.length, shard.maxTermsCount);
      const parts = exactListQuery(shard, field, values);
      return parts.length === 0 ? new NoneNode() : anyOf(parts);
    });
    return withBoost(new ConstantNode(query), options);
  },
};

/** From 7.0 on throws request_invalid; 6.x only warns. */
function checkCount(count: number, allowed: number): void {
  if (count <= allowed) return;
  if (answersAs(700)) {
    throw new AppError(
      "request_invalid",
      `The number of terms [${count}] used in the Terms Query request has exceeded the allowed maximum of [${allowed}]. This maximum can be set by changing the [index.max_terms_count] index level setting.`,
    );
  }
  warnDeprecated(
    `Deprecated: the number of terms [${count}] used in the Terms Query request has exceeded the allowed maximum of [${allowed}]. This maximum can be set by changing the [index.max_terms_count] index level setting.`,
  );
}

const TERM_OPTIONS = {
  case_insensitive: flag("whether ASCII letters of a text match in any case", false),
} as const;

export const term: QueryType = {
  name: "term",
  summary: "Documents with exactly this value.",
  options: TERM_OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("term", body, TERM_OPTIONS, ["value", "term"]);
    if (options.case_insensitive === true) {
      const given = scalarText(value, "term");
      const query = patternQuery("case insensitive term", field, given, caselessQuery, foldCase(given));
      return withBoost(query, options);
    }
    const query = new MappedNode((shard) => {
      if (!isRangeField(shard, field)) return exactQuery(shard, field, value);
      const point = { value, inclusive: true };
      return boundsQuery(shard, field, { from: point, to: point, zone: UTC });
    });
    return withBoost(query, options);
  },
};
