/** Drawing of shares as a ring. */

import { msg } from "@lit/localize";
import { type SVGTemplateResult, svg } from "lit";
import type { Group } from "#ui/services/visualise/series.ts";
import { colourClass, type PlotSize, round } from "./chart-plots.ts";

/** A part of a ring. */
export interface Share {
  readonly label: string;
  readonly value: number;
  /** 0…1 of the whole. */
  readonly part: number;
}

/** Returns the largest `limit` shares and the others as one. */
export function sharesOf(groups: readonly Group[], sums: readonly number[], limit: number): Share[] {
  const whole = sums.reduce((sum, value) => sum + Math.max(0, value), 0) || 1;
  const all = groups
    .map(({ label }, at) => ({ label, value: Math.max(0, sums[at]!) }))
    .filter(({ value }) => value > 0)
    .toSorted((a, b) => b.value - a.value);
  const rest = all.slice(limit).reduce((sum, { value }) => sum + value, 0);
  const shown = all.slice(0, limit);
  if (rest > 0) shown.push({ label: msg("Others"), value: rest });
  return shown.map(({ label, value }) => ({ label, value, part: value / whole }));
}

/** A ring of shares. */
export function plotRing(
  shares: readonly Share[],
  { width, height }: PlotSize,
  cursor: number | undefined,
): SVGTemplateResult {
  const radius = Math.max(20, Math.min(width, height) / 2 - 10);
  const middle = { x: width / 2, y: height / 2 };
  let turn = 0;
  return svg`${shares.map(({ part }, at) => {
    const from = turn;
    turn += part;
    const size = at === cursor ? radius + 5 : radius;
    return svg`<path class="fill slice ${colourClass(at)}" d=${ringPath(middle, size, radius * 0.58, from, turn)} />`;
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
