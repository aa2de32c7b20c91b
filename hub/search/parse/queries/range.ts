/** `range`: documents with a value between bounds. */

import { timeZone } from "#hub/search/dates/date-math.ts";
import { MappedRangeNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { type Bound, boundsQuery } from "#hub/search/fields/field-range.ts";
import { objectOf, onlyEntry } from "#hub/search/options/json.ts";
import { anything, flag, oneOf, readOptions, text } from "#hub/search/options/options.ts";
import { COMMON_OPTIONS, checkFieldName, type QueryType, withBoost } from "#hub/search/parse/query-parser.ts";
import { AppError } from "#proto/kit/errors.ts";

const OPTIONS = {
  gte: anything("smallest value"),
  gt: anything("value below all"),
  lte: anything("largest value"),
  lt: anything("value above all"),
  from: anything("smallest value; exclusive with include_lower false"),
  to: anything("largest value; exclusive with include_upper false"),
  include_lower: flag("whether [from] itself matches", true),
  include_upper: flag("whether [to] itself matches", true),
  format: text("formats of dates", undefined),
  time_zone: text("time zone of dates without one: +01:00 or Europe/Berlin", undefined),
  relation: oneOf(
    "relation of the document's ranges to that of the query; single values are within it",
    ["intersects", "within", "contains"],
    undefined,
  ),
} as const;

export const range: QueryType = {
  name: "range",
  summary: "Documents with a number, date, keyword or address between bounds.",
  options: OPTIONS,
  parse(body) {
    const { boost, _name, ...fields } = objectOf(body, "range");
    const [field, given] = onlyEntry(fields, "range");
    checkFieldName("range", field);
    const inner = objectOf(given, `range] [${field}`);
    const outer = { ...(boost === undefined ? {} : { boost }), ...(_name === undefined ? {} : { _name }) };
    const options = readOptions("range", { ...outer, ...inner }, { ...COMMON_OPTIONS, ...OPTIONS });
    const bounds = {
      from:
        bound(options.gte, true) ??
        bound(options.gt, false) ??
        bound(options.from, options.include_lower ?? true),
      to:
        bound(options.lte, true) ??
        bound(options.lt, false) ??
        bound(options.to, options.include_upper ?? true),
      format: options.format,
      zone: timeZone(options.time_zone),
    };
    if (Object.values(inner).some((value) => Array.isArray(value))) {
      throw new AppError("parsing", `[range] bounds of [${field}] must be single values`);
    }
    return withBoost(
      new MappedRangeNode((shard) => boundsQuery(shard, field, bounds, options.relation ?? "intersects")),
      options,
    );
  },
};

function bound(value: unknown, inclusive: boolean): Bound | undefined {
  return value === undefined || value === null ? undefined : { value, inclusive };
}
