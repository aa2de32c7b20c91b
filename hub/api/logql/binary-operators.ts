/** Operators between numbers and series: arithmetic, comparisons and sets, as PromQL defines them. */

import { AppError } from "#proto/kit/errors.ts";
import { checkSeries, groupedLabels, keyOf, type Labels, type Series } from "./metric-math.ts";
import type { Pace } from "./pace.ts";
import type { Matching, MetricQuery } from "./syntax.ts";

type Operands = Extract<MetricQuery, { kind: "binary" }>;
type Point = number | undefined;

/** Without `on` and `ignoring`, series with the same labels match. */
const ALL: Matching = { on: false, labels: [], many: undefined, include: [] };

/**
 * Applies an operator. Throws request_invalid if a series matches several of the other side, or if two results would
 * have the same labels; and what `pace` throws.
 */
export async function binary(
  query: Operands,
  left: readonly Series[] | number,
  right: readonly Series[] | number,
  pace: Pace,
): Promise<Series[] | number> {
  if (typeof left === "number" && typeof right === "number")
    return Number(applied(query.operator, left, right));
  if (typeof right === "number")
    return mapped(left as readonly Series[], (value) => compared(query, value, right, value));
  if (typeof left === "number") return mapped(right, (value) => compared(query, left, value, value));
  const { operator, matching = ALL } = query;
  if (operator === "and" || operator === "unless" || operator === "or")
    return sets(operator, matching, left, right, pace);
  return matched(query, matching, left, right, pace);
}

function mapped(series: readonly Series[], change: (value: number) => Point): Series[] {
  return series.map(({ labels, points }) => ({
    labels,
    points: points.map((value) => (value === undefined ? undefined : change(value))),
  }));
}

/** Returns the labels by which series of two operands match. */
function sharedLabels(labels: Labels, { on, labels: names }: Matching): Labels {
  return groupedLabels(labels, { without: !on, labels: names });
}

/**
 * Combines two sides step by step: the left's values where the right has one too (and) or has none (unless), or the
 * values of either side (or).
 */
async function sets(
  operator: "and" | "unless" | "or",
  matching: Matching,
  left: readonly Series[],
  right: readonly Series[],
  pace: Pace,
): Promise<Series[]> {
  const present = operator === "or" ? presence(left, matching) : presence(right, matching);
  const chosen = async (series: readonly Series[], wanted: boolean): Promise<Series[]> => {
    const kept: Series[] = [];
    for (const { labels, points } of series) {
      if (pace.isDue) await pace.pause();
      const others = present.get(keyOf(sharedLabels(labels, matching)));
      const values = points.map((value, at) => ((others?.[at] ?? false) === wanted ? value : undefined));
      if (values.some((value) => value !== undefined)) kept.push({ labels, points: values });
    }
    return kept;
  };
  if (operator !== "or") return chosen(left, operator === "and");
  const joined = [...left, ...(await chosen(right, false))];
  checkSeries(joined.length);
  return joined;
}

/** Returns for each set of shared labels at which steps one of the series has a number. */
function presence(series: readonly Series[], matching: Matching): Map<string, boolean[]> {
  const all = new Map<string, boolean[]>();
  for (const { labels, points } of series) {
    const key = keyOf(sharedLabels(labels, matching));
    const steps = all.get(key) ?? points.map(() => false);
    all.set(key, steps);
    for (const [at, value] of points.entries()) if (value !== undefined) steps[at] = true;
  }
  return all;
}

/** Arithmetic and comparisons between matching series. */
async function matched(
  query: Operands,
  matching: Matching,
  left: readonly Series[],
  right: readonly Series[],
  pace: Pace,
): Promise<Series[]> {
  const isManyRight = matching.many === "right";
  const [many, one] = isManyRight ? [right, left] : [left, right];
  const others = onePerKey(one, matching, isManyRight ? "left" : "right");
  const found = new Map<string, Series>();
  for (const { labels, points } of many) {
    if (pace.isDue) await pace.pause();
    const other = others.get(keyOf(sharedLabels(labels, matching)));
    if (other === undefined) continue;
    const values = points.map((value, at): Point => {
      const beside = other.points[at];
      if (value === undefined || beside === undefined) return undefined;
      return isManyRight ? compared(query, beside, value, beside) : compared(query, value, beside, value);
    });
    const own = answerLabels(labels, other.labels, matching);
    const key = keyOf(own);
    if (found.has(key)) throw severalMatches(own, matching);
    found.set(key, { labels: own, points: values });
  }
  return [...found.values()];
}

function onePerKey(series: readonly Series[], matching: Matching, side: string): Map<string, Series> {
  const all = new Map<string, Series>();
  for (const each of series) {
    const shared = sharedLabels(each.labels, matching);
    const key = keyOf(shared);
    if (all.has(key))
      throw new AppError(
        "request_invalid",
        `found duplicate series for the match group ${JSON.stringify(shared)} on the ${side} side of the operation: many-to-many matching is not allowed, matching labels must be unique on one side`,
      );
    all.set(key, each);
  }
  return all;
}

function answerLabels(labels: Labels, other: Labels, matching: Matching): Labels {
  if (matching.many === undefined) return sharedLabels(labels, matching);
  const taken = matching.include.map(
    (name) => [name, Object.hasOwn(other, name) ? other[name]! : ""] as const,
  );
  const own = Object.entries({ ...labels, ...Object.fromEntries(taken) });
  return Object.fromEntries(own.filter(([, value]) => value !== ""));
}

function severalMatches(labels: Labels, { many }: Matching): AppError {
  const what =
    many === undefined
      ? "many-to-one matching must be explicit (group_left/group_right)"
      : "grouping labels must ensure unique matches";
  return new AppError("request_invalid", `multiple matches for labels ${JSON.stringify(labels)}: ${what}`);
}

/** Returns `kept` if the comparison is true; with `bool` 1 or 0. */
function compared({ operator, isBool }: Operands, left: number, right: number, kept: number): Point {
  const result = applied(operator, left, right);
  if (typeof result === "number") return result;
  if (isBool) return result ? 1 : 0;
  return result ? kept : undefined;
}

function applied(operator: string, left: number, right: number): number | boolean {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "%":
      return left % right;
    case "^":
      return left ** right;
    case "==":
      return left === right;
    case "!=":
      return left !== right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
    case "<":
      return left < right;
    default:
      return left <= right;
  }
}
