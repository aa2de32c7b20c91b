/** Numbers of series, and functions over them. */

import { AppError } from "#proto/kit/errors.ts";
import { chargeWork, wholeExpression } from "./expressions.ts";
import type { Pace } from "./pace.ts";
import type { Grouping, MetricQuery } from "./syntax.ts";

export type Labels = Readonly<Record<string, string>>;

/** Values by step; undefined: none. */
export interface Series {
  readonly labels: Labels;
  readonly points: (number | undefined)[];
}

/** Maximum number of series of one query, the same as in Loki. */
const MAX_SERIES = 500;
/** Maximum characters of a label that label_replace writes: each may repeat the one before several times. */
const MAX_LABEL = 32_768;

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

/** Returns a key that is equal for equal labels. */
export function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Throws request_invalid if a query has too many series. */
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
    if (name === "sort" || name === "sort_desc") found.push(...sorted(members, name === "sort" ? 1 : -1));
    else if (name === "topk") found.push(...(await extremes(members, count, -1, pace)));
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
    case "stdvar":
      return variance(values);
    case "stddev":
      return Math.sqrt(variance(values));
    default:
      return values.reduce((a, b) => a + b, 0);
  }
}

/** Population variance, not sample variance. */
function variance(values: readonly number[]): number {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
}

/** Sorts series by their last value. */
function sorted(members: readonly Series[], sign: number): Series[] {
  const last = ({ points }: Series): number => points.at(-1) ?? Number.NaN;
  return members.toSorted((a, b) => sign * (last(a) - last(b)));
}

/** Returns the `count` largest or smallest values at each step; a series that is never among them is left out. */
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

/**
 * Writes a label from parts of another label whose whole value matches an expression. Throws request_invalid if two
 * series get the same labels or a label gets too long, and what `pace` throws.
 */
export async function replaced(
  { label, replacement, from, expression }: Extract<MetricQuery, { kind: "label_replace" }>,
  series: readonly Series[] | number,
  pace: Pace,
): Promise<Series[]> {
  if (typeof series === "number")
    throw new AppError("request_invalid", "parse error : label_replace needs series, not a number");
  const whole = wholeExpression(expression);
  const keys = new Set<string>();
  const found: Series[] = [];
  for (const { labels, points } of series) {
    if (pace.isDue) await pace.pause();
    whole.lastIndex = 0;
    const text = Object.hasOwn(labels, from) ? labels[from]! : "";
    chargeWork({ work: 0 }, whole, text);
    const match = whole.exec(text);
    const changed = match === null ? labels : withLabel(labels, label, expanded(replacement, match));
    const key = keyOf(changed);
    if (keys.has(key))
      throw new AppError("request_invalid", `label_replace makes two series with the labels ${key}`);
    keys.add(key);
    found.push({ labels: changed, points });
  }
  return found;
}

function withLabel(labels: Labels, name: string, value: string): Labels {
  const { [name]: _, ...others } = labels;
  return value === "" ? others : { ...others, [name]: value };
}

/** Inserts captured groups: $1, ${1}, $name, ${name}; $$ is a dollar. */
function expanded(template: string, match: RegExpExecArray): string {
  let length = template.length;
  return template.replace(/\$(?:\$|(\w+)|\{(\w+)\})/g, (all, bare?: string, braced?: string) => {
    const name = bare ?? braced;
    if (name === undefined) return all === "$$" ? "$" : "";
    const part = (/^\d+$/.test(name) ? match[Number(name)] : match.groups?.[name]) ?? "";
    length += part.length;
    if (length > MAX_LABEL)
      throw new AppError(
        "request_invalid",
        `label_replace makes a label of more than ${MAX_LABEL} characters`,
      );
    return part;
  });
}
