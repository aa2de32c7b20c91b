/** `intervals`: words and their order and distance in a text. */

import { IntervalNode } from "#hub/search/intervals/interval-node.ts";
import { parseRule } from "#hub/search/intervals/rules.ts";
import { objectOf, onlyEntry } from "#hub/search/options/json.ts";
import { readOptions } from "#hub/search/options/options.ts";
import { COMMON_OPTIONS, type QueryType, withBoost } from "#hub/search/parse/query-parser.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";

const OPTIONS = {} as const;

export const intervals: QueryType = {
  name: "intervals",
  summary: "Words, prefixes and patterns, with conditions on their relative positions in a text.",
  options: OPTIONS,
  parse(body, parser) {
    const [field, given] = onlyEntry(objectOf(body, "intervals"), "intervals");
    if (!isObject(given))
      throw new AppError("parsing", `[intervals] needs an object with one rule for [${field}]`);
    const { boost, _name, ...rule } = given;
    const options = readOptions(
      "intervals",
      { ...(boost !== undefined && { boost }), ...(_name !== undefined && { _name }) },
      COMMON_OPTIONS,
    );
    const source = parseRule(rule, parser);
    return withBoost(new IntervalNode((shard) => source(shard, field)), options);
  },
};
