/** `date_range`: documents by given intervals of time, with date math. */

import { isDate } from "#hub/engine/mapping/field.ts";
import { readValueSource, VALUE_SCRIPT } from "#hub/search/aggregations/buckets/number-source.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { fieldTypeFault } from "#hub/search/aggregations/tree/field-option.ts";
import { formatOf } from "#hub/search/columns/value-format.ts";
import { parseDateMath, timeZone } from "#hub/search/dates/date-math.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { anything, flag, list, required, text } from "#hub/search/options/options.ts";
import { Ranges, readRanges } from "./range.ts";

const OPTIONS = {
  field: text("date field", undefined),
  script: VALUE_SCRIPT,
  ranges: required(list("intervals {key, from, to}; from inclusive, to exclusive; with date math")),
  format: text("format of bounds and printed keys", undefined),
  time_zone: text("time zone of bounds without one", undefined),
  keyed: flag("whether buckets are an object by key", false),
  missing: anything("time of documents without one"),
} as const;

/** Format of bounds if the field isn't mapped. */
const DEFAULT_FORMAT = "strict_date_optional_time||epoch_millis";

export const dateRange: AggregationType = {
  name: "date_range",
  summary: "Documents by given intervals of time; from inclusive, to exclusive.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("date_range", body, OPTIONS);
    const zone = timeZone(options.time_zone);
    return new Ranges({
      name: "date_range",
      source: readValueSource(options, name),
      ranges: readRanges(options.ranges, "date_range"),
      keyed: options.keyed ?? false,
      missing: options.missing,
      format: options.format,
      below,
      checkField(field) {
        if (!isDate(field)) throw fieldTypeFault(field, "date_range");
      },
      // Bounds are times if the field is in no mapping, too.
      formatOf: (field) =>
        field === undefined
          ? { kind: "date", formats: options.format ?? DEFAULT_FORMAT, zone: options.time_zone ?? "UTC" }
          : formatOf(field, options.format, options.time_zone),
      bound(value, shard, field) {
        if (value === undefined || value === null) return undefined;
        const format = options.format ?? field?.format ?? DEFAULT_FORMAT;
        return parseDateMath(scalarText(value, "ranges"), {
          format,
          nowMs: shard.nowMs,
          zone,
          roundUp: false,
        });
      },
    });
  },
};
