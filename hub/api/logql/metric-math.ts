/** Numbers of series: functions over series, and operators between them. */

import { AppError } from "#proto/kit/errors.ts";
import type { Pace } from "./pace.ts";
import type { Grouping } from "./syntax.ts";

export type Labels = Readonly<Record<string, string>>;

/** Numbers by step; undefined: there is none. */
export interface Series {
  readonly labels: Labels;
  readonly points: (number | undefined)[];
}

/** Series of one query; as many as the real server answers at most. */
const MAX_SERIES = 500;

/** Returns the labels that a grouping leaves. */
export function groupedLabels(labels: Labels, grouping: Grouping | undefined): Labels {
  if (grouping === undefined) return {};
  const names = grouping.without
    ? Object.keys(labels).filter((name) => !grouping.labels.includes(name))
    : grouping.labels;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(labels, name) ? labels[name]! : "";
      return value === "" ? [] : [[name, value]];
    }),
  );
}

/** A text that is the same for the same labels. */
export function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Throws request_invalid where a query has too many series. */
export function checkSeries(count: number): void {
  if (count <= MAX_SERIES) return;
  throw new AppError("request_invalid", `maximum of series (${MAX_SERIES}) reached for a single query`);
}

/** Joins series by labels. Throws what `pace` throws. */
export async function overSeries(
  series: readonly Series[],
  name: string,
  grouping: Grouping | undefined,
  count: number,
  pace: Pace,
): Promise<Series[]> {
  const groups = new Map<string, { labels: Labels; members: Series[] }>();
  for (const each of series) {
    const labels = groupedLabels(each.labels, grouping);
    const key = keyOf(labels);
    const group = groups.get(key) ?? { labels, members: [] };
    groups.set(key, group);
    group.members.push(each);
  }
  checkSeries(groups.size);
  const found: Series[] = [];
  for (const { labels, members } of groups.values()) {
    if (pace.isDue) await pace.pause();
    if (name === "topk") found.push(...(await extremes(members, count, -1, pace)));
    else if (name === "bottomk") found.push(...(await extremes(members, count, 1, pace)));
    else found.push({ labels, points: await joinedPoints(members, name, pace) });
  }
  return found;
}

async function joinedPoints(
  members: readonly Series[],
  name: string,
  pace: Pace,
): Promise<(number | undefined)[]> {
  const all: (number | undefined)[] = [];
  for (const at of members[0]!.points.keys()) {
    if (pace.isDue) await pace.pause();
    const values = members.map(({ points }) => points[at]).filter((value) => value !== undefined);
    all.push(values.length === 0 ? undefined : joined(values, name));
  }
  return all;
}

function joined(values: readonly number[], name: string): number {
  switch (name) {
    case "avg":
      return values.reduce((a, b) => a + b, 0) / values.length;
    case "min":
      return Math.min(...values);
    case "max":
      return Math.max(...values);
    case "count":
      return values.length;
    default:
      return values.reduce((a, b) => a + b, 0);
  }
}

/** At each step the `count` largest or smallest; a series that is never among them is left out. */
async function extremes(
  members: readonly Series[],
  count: number,
  sign: number,
  pace: Pace,
): Promise<Series[]> {
  const kept = members.map(({ labels, points }) => ({
    labels,
    points: points.map((): number | undefined => undefined),
  }));
  for (const at of members[0]!.points.keys()) {
    if (pace.isDue) await pace.pause();
    const ranked = members
      .map(({ points }, member) => ({ member, value: points[at] }))
      .filter((each): each is { member: number; value: number } => each.value !== undefined)
      .sort((a, b) => sign * (a.value - b.value));
    for (const { member, value } of ranked.slice(0, count)) kept[member]!.points[at] = value;
  }
  return kept.filter(({ points }) => points.some((point) => point !== undefined));
}

/** Applies an operator between numbers or series with the same labels. */
export function binary(
  operator: string,
  left: Series[] | number,
  right: Series[] | number,
): Series[] | number {
  if (typeof left === "number" && typeof right === "number") return Number(applied(operator, left, right));
  if (typeof right === "number")
    return mapped(left as Series[], (value) => compared(operator, value, right, value));
  if (typeof left === "number") return mapped(right, (value) => compared(operator, left, value, value));
  const others = new Map(right.map((series) => [keyOf(series.labels), series]));
  return left.flatMap(({ labels, points }) => {
    const other = others.get(keyOf(labels));
    if (other === undefined) return [];
    const values = points.map((value, at) => {
      const beside = other.points[at];
      return value === undefined || beside === undefined
        ? undefined
        : compared(operator, value, beside, value);
    });
    return [{ labels, points: values }];
  });
}

function mapped(series: readonly Series[], change: (value: number) => number | undefined): Series[] {
  return series.map(({ labels, points }) => ({
    labels,
    points: points.map((value) => (value === undefined ? undefined : change(value))),
  }));
}

/** A comparison keeps the number of the series where it holds. */
function compared(operator: string, left: number, right: number, kept: number): number | undefined {
  const result = applied(operator, left, right);
  if (typeof result === "number") return result;
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
