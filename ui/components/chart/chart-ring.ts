/** A ring of shares: what its slices are, and how they are drawn. */

import { type SVGTemplateResult, svg } from "lit";
import { type ChartData, type Group, groupSums, othersName } from "#ui/services/visualise/series.ts";
import { type Coloured, seriesColours } from "#ui/services/visualise/series-colours.ts";
import { colourClass, type PlotSize, round } from "./chart-plots.ts";

/** More values are one slice. */
const MAX_SHARES = 9;

/** A part of a ring. */
export interface Share {
  readonly group: Group;
  readonly label: string;
  readonly value: number;
  /** 0…1 of the whole. */
  readonly part: number;
}

/** Returns the slices of a chart: its groups, or where the only one is named as what is measured its series. */
export function ringShares(data: ChartData, label: string): Share[] {
  if (data.groups[0]?.key !== label) return sharesOf(data.groups, groupSums(data), MAX_SHARES);
  const names = data.series.map(({ name, value, part }): Group => ({ key: value, label: name, part }));
  return sharesOf(
    names,
    data.series.map(({ values }) => values[0] ?? 0),
    MAX_SHARES,
  );
}

/** Returns the largest `limit` shares and the others as one. */
function sharesOf(groups: readonly Group[], sums: readonly number[], limit: number): Share[] {
  const whole = sums.reduce((sum, value) => sum + Math.max(0, value), 0) || 1;
  const all = groups
    .map((group, at) => ({ group, value: Math.max(0, sums[at]!) }))
    .filter(({ value }) => value > 0)
    .toSorted((a, b) => b.value - a.value);
  const named = all.filter(({ group }) => group.part !== "others").slice(0, limit);
  const rest = all.reduce((sum, one) => sum + (named.includes(one) ? 0 : one.value), 0);
  const shown = named.map(({ group, value }) => ({ group, label: group.label, value }));
  const others: Group = { key: "", label: othersName(), part: "others" };
  if (rest > 0) shown.push({ group: others, label: others.label, value: rest });
  return shown.map((share) => ({ ...share, part: share.value / whole }));
}

/** Returns what a slice's colour is chosen by. */
export function colouredShare({ label, group }: Share): Coloured {
  return { name: label, part: group.part };
}

/** A ring of shares. */
export function plotRing(
  shares: readonly Share[],
  { width, height }: PlotSize,
  cursor: number | undefined,
): SVGTemplateResult {
  const radius = Math.max(20, Math.min(width, height) / 2 - 10);
  const middle = { x: width / 2, y: height / 2 };
  const colours = seriesColours(shares.map(colouredShare));
  let turn = 0;
  return svg`${shares.map(({ part }, at) => {
    const from = turn;
    turn += part;
    const size = at === cursor ? radius + 5 : radius;
    return svg`<path class="fill slice ${colourClass(colours[at]!)}" d=${ringPath(middle, size, radius * 0.58, from, turn)} />`;
  })}`;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A full ring is two halves: an arc can't end where it begins. */
function ringPath(middle: Point, outer: number, inner: number, from: number, to: number): string {
  if (to - from > 0.9999)
    return `${ringPath(middle, outer, inner, 0, 0.5)}${ringPath(middle, outer, inner, 0.5, 0.9999)}`;
  const point = (radius: number, turn: number): string => {
    const angle = turn * 2 * Math.PI - Math.PI / 2;
    return `${round(middle.x + radius * Math.cos(angle))} ${round(middle.y + radius * Math.sin(angle))}`;
  };
  const large = to - from > 0.5 ? 1 : 0;
  return `M${point(outer, from)}A${outer} ${outer} 0 ${large} 1 ${point(outer, to)}L${point(inner, to)}A${inner} ${inner} 0 ${large} 0 ${point(inner, from)}z`;
}
