/** `rate`: documents, or the sum or number of a field's values, in a unit of time of the date_histogram above. */

import type {
  Aggregation,
  BucketBudget,
  BucketPeriod,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { isSteps, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { printValue } from "#hub/search/columns/value-format.ts";
import { anything, oneOf, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";
import { sum } from "./numeric-metric.ts";
import { valueCount } from "./value-count.ts";

/** Units of fixed length, ms. */
const UNIT_MS = {
  second: 1_000,
  minute: 60_000,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
} as const;

/** Units of months. */
const UNIT_MONTHS = { month: 1, quarter: 3, year: 12 } as const;

type Unit = keyof typeof UNIT_MS | keyof typeof UNIT_MONTHS;

const UNITS: readonly Unit[] = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];

const OPTIONS = {
  field: text("field of numbers; without it documents are counted", undefined),
  script: anything("script that makes the numbers"),
  unit: oneOf("unit of time; without it the interval of the histogram", UNITS, undefined),
  mode: oneOf("what of the values counts", ["sum", "value_count"], "sum"),
  format: text("format of the printed value", undefined),
} as const;

export const rate: AggregationType = {
  name: "rate",
  summary: "Documents or values in a unit of time; below a date_histogram.",
  options: OPTIONS,
  buckets: false,
  parse(body, context) {
    const { field, script, unit, mode, format } = readAggregation("rate", body, OPTIONS);
    if (!context.above.includes("date_histogram"))
      throw new AppError(
        "request_invalid",
        `The rate aggregation can only be used inside a date histogram; put [${context.name}] below one`,
      );
    const hasScript = script !== undefined && script !== null;
    const values = { ...(field !== undefined && { field }), ...(hasScript && { script }) };
    if (field === undefined && !hasScript) return new Rate(new DocumentCount(), unit, format);
    const type = mode === "value_count" ? valueCount : sum;
    return new Rate(type.parse(values, context), unit, format);
  },
};

class Rate implements Aggregation {
  readonly #values: Aggregation;
  readonly #unit: Unit | undefined;
  readonly #format: string | undefined;

  /** `values`: the dividends. */
  constructor(values: Aggregation, unit: Unit | undefined, format: string | undefined) {
    this.#values = values;
    this.#unit = unit;
    this.#format = format;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector {
    return this.#values.collector(shard, budget);
  }

  merge(states: readonly unknown[]): unknown {
    return this.#values.merge(states);
  }

  *render(state: unknown, budget: BucketBudget): Steps<JsonObject> {
    const made = this.#values.render(state, budget);
    const { value: total } = isSteps(made) ? yield* made : made;
    const value = Number(total) / unitsOf(this.#unit, budget.period);
    const pattern = this.#format;
    const printed = pattern === undefined ? undefined : printValue({ kind: "decimal", pattern }, value);
    return { value: fraction(value), ...(printed !== undefined && { value_as_string: printed }) };
  }

  empty(): unknown {
    return this.#values.empty();
  }

  typedName(): string {
    return "rate";
  }
}

/** How many units a bucket is long. Throws request_invalid if that isn't the same for all buckets. */
function unitsOf(unit: Unit | undefined, period: BucketPeriod | undefined): number {
  if (unit === undefined || period === undefined) return 1;
  if (unit in UNIT_MS) return (period.endMs - period.startMs) / UNIT_MS[unit as keyof typeof UNIT_MS];
  if (period.months !== undefined) return period.months / UNIT_MONTHS[unit as keyof typeof UNIT_MONTHS];
  throw new AppError(
    "request_invalid",
    `Cannot use month-based rate unit [${unit}] with non-month based calendar interval histogram; only week, day, hour, minute and second are supported for this histogram`,
  );
}

/** Counts documents. */
class DocumentCount implements Aggregation<number> {
  collector(): Collector<number> {
    const counts: number[] = [];
    return {
      segment: () => undefined,
      collect: (_docs, buckets, length) => {
        for (let at = 0; at < length; at++) counts[buckets[at]!] = (counts[buckets[at]!] ?? 0) + 1;
      },
      state: (bucket) => counts[bucket] ?? 0,
    };
  }

  merge(states: readonly number[]): number {
    return states.reduce((total, state) => total + state, 0);
  }

  render(value: number): JsonObject {
    return { value };
  }

  empty(): number {
    return 0;
  }

  typedName(): string {
    return "value_count";
  }
}
