/** Percentiles and what is computed of them. They are estimates of a t-digest, whose error is one of ranks. */

import { type Aggregation, numericField, type Scope } from "./aggregation.ts";
import { type Condition, NO_NUMBER, within } from "./comparing.ts";
import { type Item, numbersOf } from "./documents.ts";
import { someValue } from "./question.ts";

const PERCENTS = [0, 1, 25, 50, 90, 99, 100];
/**
 * By how much of all values a rank may be off. A centroid of compression 100 holds up to 4·N·q(1−q)/100 values: 1 % in the
 * middle; interpolation between two of them adds as much, and merging of shards as well.
 */
const RANK_ERROR = 0.04;

export function quantiles(scope: Scope): Aggregation {
  const makers = [percentiles, percentileRanks, medianDeviation];
  return scope.subject.dice.pick(scope.level === "root" ? [...makers, highRange] : makers)(scope);
}

function ascending(items: readonly Item[], field: string): number[] {
  return items.flatMap((item) => numbersOf(item, field)).sort((a, b) => a - b);
}

/** Values of which the percentile may be any: between neighbours of the exact rank, and the digest's error beside it. */
function percentileBounds(values: readonly number[], percent: number): Condition {
  const rank = (percent / 100) * values.length;
  // Interpolation reaches to the values beside those of the rank.
  const error = RANK_ERROR * values.length * (percent === 0 || percent === 100 ? 0 : 1) + 1;
  const at = (index: number): number => values[Math.max(0, Math.min(values.length - 1, index))]!;
  const slack = 1e-9 * Math.max(Math.abs(values[0]!), Math.abs(values.at(-1)!));
  return within(at(Math.floor(rank - error) - 1) - slack, at(Math.ceil(rank + error)) + slack);
}

function percentiles(scope: Scope): Aggregation {
  const field = numericField(scope);
  const percents = scope.subject.dice.some(PERCENTS, 3).sort((a, b) => a - b);
  return {
    body: { percentiles: { field, percents } },
    expect(items) {
      const values = ascending(items, field);
      const expected = (percent: number): unknown => {
        if (values.length === 0) return NO_NUMBER;
        if (percent === 0) return values[0];
        return percent === 100 ? values.at(-1) : percentileBounds(values, percent);
      };
      return {
        values: Object.fromEntries(percents.map((percent) => [percent.toFixed(1), expected(percent)])),
      };
    },
  };
}

function percentileRanks(scope: Scope): Aggregation {
  const field = numericField(scope);
  const wanted = Number(someValue(scope.subject, field));
  return {
    body: { percentile_ranks: { field, values: [wanted], keyed: false } },
    expect(items) {
      const values = ascending(items, field);
      if (values.length === 0) return {};
      const below = values.filter((value) => value < wanted).length;
      const upTo = values.filter((value) => value <= wanted).length;
      const error = RANK_ERROR + 1 / values.length;
      const rank = within(
        100 * Math.max(0, below / values.length - error),
        100 * Math.min(1, upTo / values.length + error),
      );
      return { values: [{ key: wanted, value: rank }] };
    },
  };
}

function medianDeviation(scope: Scope): Aggregation {
  const field = numericField(scope);
  return {
    body: { median_absolute_deviation: { field } },
    expect(items) {
      const values = ascending(items, field);
      if (values.length === 0) return {};
      // Both medians may be any value near the middle.
      const low = values[Math.max(0, Math.floor(values.length * (0.5 - RANK_ERROR)) - 2)]!;
      const high = values[Math.min(values.length - 1, Math.ceil(values.length * (0.5 + RANK_ERROR)) + 1)]!;
      const bounds = [low, high].map((median) =>
        values.map((value) => Math.abs(value - median)).sort((a, b) => a - b),
      );
      const at = (list: readonly number[], rank: number): number =>
        list[Math.max(0, Math.min(list.length - 1, rank))]!;
      const shift = high - low;
      const least = Math.min(
        ...bounds.map((list) => at(list, Math.floor(list.length * (0.5 - RANK_ERROR)) - 2)),
      );
      const most = Math.max(
        ...bounds.map((list) => at(list, Math.ceil(list.length * (0.5 + RANK_ERROR)) + 1)),
      );
      return {
        value: within(
          Math.max(0, least - shift) - 1e-9 * Math.abs(high),
          most + shift + 1e-9 * Math.abs(high),
        ),
      };
    },
  };
}

/** Significant decimal digits that an HDR histogram keeps of each value. */
const DIGITS = 3;

/** Percentiles of an HDR histogram: the value at the rank, except for its last digits. It takes no negative numbers. */
function highRange(scope: Scope): Aggregation {
  const field = scope.subject.dice.pick(["m", "u"]);
  const percents = [1, 25, 50, 99];
  const hdr = { number_of_significant_value_digits: DIGITS };
  return {
    body: { percentiles: { field, percents, hdr } },
    expect(items) {
      const values = ascending(items, field);
      if (values.length === 0) return {};
      const expected = (percent: number): Condition => {
        const rank = Math.ceil((percent / 100) * values.length);
        const at = (index: number): number => values[Math.max(0, Math.min(values.length - 1, index))]!;
        const error = 10 ** -DIGITS;
        return within(at(rank - 2) * (1 - error) - error, at(rank) * (1 + error) + error);
      };
      return {
        values: Object.fromEntries(percents.map((percent) => [percent.toFixed(1), expected(percent)])),
      };
    },
  };
}
