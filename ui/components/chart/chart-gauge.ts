/** A gauge: a number on half a ring that is coloured by its limits. */

import { type SVGTemplateResult, svg } from "lit";
import {
  type ChartLook,
  formatAxis,
  formatValue,
  niceTicks,
  severityOf,
} from "#ui/services/visualise/chart-look.ts";
import { type PlotSize, round } from "./chart-plots.ts";

/** Width of the ring, as a part of its radius. */
const BAND = 0.24;
/** The zone above the last limit, as a part of it. */
const BEYOND = 1.25;
const LABEL_ROOM_PX = 24;
/** A larger one says no more. */
const MAX_RADIUS_PX = 240;
/** A number's text in the middle is as wide as the ring's inside. */
const LETTERS_ACROSS = 13;
const TEXT_PX = 11;

/** Returns the number at the gauge's end: beyond the last limit, or a round one above the value. */
export function gaugeEnd(value: number, limits: readonly number[]): number {
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
