/**
 * Round charts. A ring of shares: its slices and how they are drawn. A gauge: a number on half a ring that is coloured
 * by its limits.
 */

import { type SVGTemplateResult, svg } from "lit";
import {
  type ChartLook,
  formatAxis,
  formatValue,
  niceTicks,
  severityOf,
} from "#ui/services/visualise/chart-look.ts";
import { type ChartData, type Group, groupSums, othersName } from "#ui/services/visualise/series.ts";
import { type Coloured, seriesColours } from "#ui/services/visualise/series-colours.ts";
import { colourClass, type PlotSize, round } from "./chart-plots.ts";

/** Width of the ring, as a part of its radius. */
const BAND = 0.24;
/** The zone above the last limit, as a part of it. */
const BEYOND = 1.25;
const LABEL_ROOM_PX = 24;
/** A larger ring shows no more. */
const MAX_RADIUS_PX = 240;
/** A number's text in the middle is as wide as the ring's inside. */
const LETTERS_ACROSS = 13;
const TEXT_PX = 11;

/** Further values are joined into one slice. */
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

/** Returns the number at the gauge's end: beyond the last limit, or a round one above the value. */
function gaugeEnd(value: number, limits: readonly number[]): number {
  const last = limits.at(-1) ?? 0;
  return niceTicks(0, Math.max(value, last * BEYOND, 0), 4).at(-1)!;
}

/** Half a ring from 0 to `gaugeEnd`, filled up to the number, with a thin ring of its zones outside. */
export function plotGauge(
  value: number,
  { limits, unit }: ChartLook,
  { width, height }: PlotSize,
): SVGTemplateResult {
  const radius = Math.max(30, Math.min(MAX_RADIUS_PX, width / 2 - 12, height - LABEL_ROOM_PX - 8));
  const middle = { x: width / 2, y: Math.min(height - LABEL_ROOM_PX, (height + radius) / 2) };
  const end = gaugeEnd(value, limits);
  const part = (number: number): number => Math.max(0, Math.min(1, number / end));
  const arc = (from: number, to: number, outer: number, inner: number): string =>
    arcPath(middle, outer, inner, part(from), part(to));
  const edges = [0, ...limits.filter((limit) => limit > 0 && limit < end), end];
  const thick = radius * (1 - BAND);
  const text = formatValue(value, unit);
  const size = (thick * 2) / TEXT_PX / Math.max(LETTERS_ACROSS / 2, text.length);
  return svg`<path class="track" d=${arc(0, end, radius - 6, thick)} />
    <path class="zone${severityOf(value, limits)}" d=${arc(0, value, radius - 6, thick)} />
    ${limits.length === 0 ? "" : edges.slice(1).map((edge, at) => svg`<path class="zone${severityOf((edges[at]! + edge) / 2, limits)}" d=${arc(edges[at]!, edge, radius, radius - 4)} />`)}
    <text class="value severity${severityOf(value, limits)}" transform="translate(${round(middle.x)} ${round(middle.y - 6)}) scale(${round(size)})" text-anchor="middle">${text}</text>
    <text class="tick" x=${round(middle.x - (radius + thick) / 2)} y=${round(middle.y + 16)} text-anchor="middle">${formatAxis(0, unit)}</text>
    <text class="tick" x=${round(middle.x + (radius + thick) / 2)} y=${round(middle.y + 16)} text-anchor="middle">${formatAxis(end, unit)}</text>`;
}

/** A part of half a ring, from 0 at the left to 1 at the right. */
function arcPath(
  middle: { readonly x: number; readonly y: number },
  outer: number,
  inner: number,
  from: number,
  to: number,
): string {
  if (to <= from) return "";
  const point = (radius: number, turn: number): string => {
    const angle = Math.PI * (turn - 1);
    return `${round(middle.x + radius * Math.cos(angle))} ${round(middle.y + radius * Math.sin(angle))}`;
  };
  return `M${point(outer, from)}A${round(outer)} ${round(outer)} 0 0 1 ${point(outer, to)}L${point(inner, to)}A${round(inner)} ${round(inner)} 0 0 0 ${point(inner, from)}z`;
}
