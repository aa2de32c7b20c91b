/** Random metric aggregations. */

import { type Aggregation, numericField, type Scope } from "./aggregation.ts";
import { type Condition, NO_NUMBER, near } from "./comparing.ts";
import { type Item, type Json, KINDS, numbersOf } from "./documents.ts";
import { fieldsOf } from "./question.ts";
import { withMissing } from "./replaced-values.ts";
import { numberScript } from "./scripts.ts";
import { quantiles } from "./sketches.ts";
import { topHits } from "./top-hits.ts";

type Maker = (scope: Scope) => Aggregation;

const MAKERS: readonly Maker[] = [
  valueCount,
  stats,
  stats,
  extendedStats,
  single,
  single,
  cardinality,
  cardinality,
  topHits,
  topHits,
  quantiles,
  quantiles,
];
const OF_ROOTS: readonly Maker[] = [weightedAverage, scripted, scriptedMetric];

/** More different values than a search can have: all are counted exactly. */
const PRECISE = 40_000;
/** Up to here a count by HyperLogLog++ with that precision is exact. */
const EXACT_VALUES = 3_000;
const ESTIMATE_ERROR = 0.03;

export function randomMetric(scope: Scope): Aggregation {
  return scope.subject.dice.pick(scope.level === "root" ? [...MAKERS, ...OF_ROOTS] : MAKERS)(scope);
}

/** Returns the numbers of documents, with one for those that have none. */
function numbersIn(items: readonly Item[], field: string, missing: number | undefined): number[] {
  return items.flatMap((item) => {
    const numbers = numbersOf(item, field);
    return numbers.length === 0 && missing !== undefined ? [missing] : numbers;
  });
}

function maybeMissing({ subject: { dice } }: Scope, field: string): number | undefined {
  return KINDS[field] === "number" && dice.chance(0.2) ? dice.between(-5, 20) : undefined;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** Sums cancel each other out: an error is one of the largest parts. */
function nearSum(numbers: readonly number[]): Condition {
  return near(total(numbers), 1e-9, 1e-12 * total(numbers.map(Math.abs)) + 1e-9);
}

function least(numbers: readonly number[]): number {
  return numbers.reduce((found, each) => Math.min(found, each), Number.POSITIVE_INFINITY);
}

function most(numbers: readonly number[]): number {
  return numbers.reduce((found, each) => Math.max(found, each), Number.NEGATIVE_INFINITY);
}

function valueCount(scope: Scope): Aggregation {
  const field = scope.subject.dice.pick(fieldsOf(scope.level));
  const values = withMissing(scope, field);
  return {
    body: { value_count: { field, ...values.options } },
    expect: (items) => ({ value: items.reduce((count, item) => count + values.valuesOf(item).length, 0) }),
  };
}

function statsOf(numbers: readonly number[]): Json {
  if (numbers.length === 0) return { count: 0, min: null, max: null, avg: null, sum: null };
  return {
    count: numbers.length,
    min: least(numbers),
    max: most(numbers),
    sum: nearSum(numbers),
    avg: near(total(numbers) / numbers.length, 1e-9, 1e-9),
  };
}

function stats(scope: Scope): Aggregation {
  const field = numericField(scope);
  const missing = maybeMissing(scope, field);
  return {
    body: { stats: { field, ...(missing === undefined ? {} : { missing }) } },
    expect: (items) => statsOf(numbersIn(items, field, missing)),
  };
}

function extendedStats(scope: Scope): Aggregation {
  // The variance of times is a difference of sums of squares beyond 2^53: nobody documents how exact it is.
  const field = scope.subject.dice.pick([
    ...fieldsOf(scope.level, "number"),
    ...(scope.level === "root" ? ["u"] : []),
  ]);
  const sigma = scope.subject.dice.pick([1, 2, 3]);
  return {
    body: { extended_stats: { field, sigma } },
    expect(items) {
      const numbers = numbersIn(items, field, undefined);
      if (numbers.length === 0) return { ...statsOf(numbers), sum_of_squares: null, variance: null };
      const average = total(numbers) / numbers.length;
      const squares = total(numbers.map((each) => each * each));
      const variance = total(numbers.map((each) => (each - average) ** 2)) / numbers.length;
      // Computed as the mean of squares less the square of the mean.
      const slack = 1e-10 * (squares / numbers.length) + 1e-9;
      const deviation = Math.sqrt(variance);
      const deviationSlack = variance === 0 ? Math.sqrt(slack) : slack / deviation;
      return {
        ...statsOf(numbers),
        sum_of_squares: near(squares),
        variance: near(variance, 1e-9, slack),
        std_deviation: near(deviation, 1e-9, deviationSlack),
        std_deviation_bounds: {
          upper: near(average + sigma * deviation, 1e-9, sigma * deviationSlack + 1e-9),
          lower: near(average - sigma * deviation, 1e-9, sigma * deviationSlack + 1e-9),
        },
      };
    },
  };
}

function single(scope: Scope): Aggregation {
  const field = numericField(scope);
  const missing = maybeMissing(scope, field);
  const kind = scope.subject.dice.pick(["min", "max", "sum", "avg"]);
  return {
    body: { [kind]: { field, ...(missing === undefined ? {} : { missing }) } },
    expect: (items) => ({ value: singleValue(kind, numbersIn(items, field, missing)) }),
  };
}

function singleValue(kind: string, numbers: readonly number[]): unknown {
  if (kind === "sum") return nearSum(numbers);
  if (numbers.length === 0) return null;
  if (kind === "min") return least(numbers);
  return kind === "max" ? most(numbers) : near(total(numbers) / numbers.length, 1e-9, 1e-9);
}

function cardinality(scope: Scope): Aggregation {
  const field = scope.subject.dice.pick(fieldsOf(scope.level));
  const values = withMissing(scope, field);
  return {
    body: { cardinality: { field, precision_threshold: PRECISE, ...values.options } },
    expect(items) {
      const count = new Set(items.flatMap(values.valuesOf)).size;
      return { value: count < EXACT_VALUES ? count : near(count, ESTIMATE_ERROR) };
    },
  };
}

function weightedAverage({ subject }: Scope): Aggregation {
  const { dice } = subject;
  const missing = dice.chance(0.5) ? 2 : undefined;
  // A document with several weights is refused; `m` may have several values, which all count with the weight.
  return {
    body: {
      weighted_avg: {
        value: { field: "m", ...(missing === undefined ? {} : { missing }) },
        weight: { field: "u" },
      },
    },
    expect(items) {
      let sum = 0;
      let weights = 0;
      for (const item of items) {
        const [weight] = numbersOf(item, "u") as [number];
        for (const value of numbersIn([item], "m", missing)) {
          sum += value * weight;
          weights += weight;
        }
      }
      return {
        value: weights === 0 ? NO_NUMBER : near(sum / weights),
      };
    },
  };
}

function scripted({ subject }: Scope): Aggregation {
  const { source, of } = numberScript(subject);
  const kind = subject.dice.pick(["min", "max", "sum", "avg"]);
  return {
    body: { [kind]: { script: { source } } },
    expect: (items) => ({ value: singleValue(kind, items.map(of)) }),
  };
}

function scriptedMetric(): Aggregation {
  const script = {
    init_script: "state.sum = 0L; state.count = 0",
    map_script: "if (doc['n'].size() > 0) { state.sum += doc['n'].value } state.count++",
    combine_script: "return [state.sum, state.count]",
    reduce_script:
      "long sum = 0; long count = 0; for (s in states) { if (s != null) { sum += s[0]; count += s[1] } } return [sum, count]",
  };
  return {
    body: { scripted_metric: script },
    expect: (items) => ({
      value: [
        total(items.map((item) => (numbersOf(item, "n").length === 0 ? 0 : least(numbersOf(item, "n"))))),
        items.length,
      ],
    }),
  };
}
