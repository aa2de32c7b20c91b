/** Drawing of charts as SVG: lines, areas and bars over groups, bars beside names. */

import { nothing, type SVGTemplateResult, svg } from "lit";
import { formatTick, shorten } from "#ui/services/text/format.ts";
import {
  type ChartLook,
  formatAxis,
  limitSeverity,
  linearScale,
  logScale,
} from "#ui/services/visualise/chart-look.ts";
import { type ChartData, labelledGroups, type TimeMark } from "#ui/services/visualise/series.ts";
import { seriesColours } from "#ui/services/visualise/series-colours.ts";

export interface PlotSize {
  /** px */
  readonly width: number;
  readonly height: number;
}

/** Where the groups are, for the cursor. */
export interface Frame extends PlotSize {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A lower plot has no space for its axis' title. */
const TITLED_PX = 160;
/** Width of a letter of the labels, about. */
export const LETTER_PX = 6.6;
/** Width of a label below the axis. */
export const LABEL_PX = 92;

/** Returns the part of a plot that holds the groups. */
export function frameOf({ width, height }: PlotSize): Frame {
  return {
    width,
    height,
    left: 56,
    right: width - 12,
    top: height < TITLED_PX ? 10 : 24,
    bottom: height - 26,
  };
}

/** Returns the number of the group at `x`, px. */
export function groupAt({ left, right }: Frame, groups: number, x: number): number {
  return Math.max(0, Math.min(groups - 1, Math.floor(((x - left) / (right - left)) * groups)));
}

/** Returns the class of a colour of `seriesColours`. */
export function colourClass(colour: number): string {
  return `s${colour + 1}`;
}

/** The group under the cursor, or the first and the last group of the range that is being selected. */
export type Mark = number | { readonly from: number; readonly to: number } | undefined;

/** Marks the group under the cursor, or the range that is being selected. */
export function markOf(
  mark: Mark,
  x: (group: number) => number,
  band: number,
  { top, bottom }: Frame,
): SVGTemplateResult | typeof nothing {
  if (mark === undefined) return nothing;
  const { from, to } = typeof mark === "number" ? { from: mark, to: mark } : mark;
  const left = x(Math.min(from, to)) - band / 2;
  const width = Math.max(1, (Math.abs(to - from) + 1) * band);
  return svg`<rect class="cursor ${from === to ? "" : "range"}" x=${left} y=${top} width=${width} height=${bottom - top} />`;
}

/** Returns the lines that mark times between the groups; those outside of them are left out. */
export function timeMarks(
  { groups }: ChartData,
  marks: readonly TimeMark[],
  { left, right, top, bottom }: Frame,
): SVGTemplateResult[] {
  const startsMs = groups.map(({ key }) => Number(key));
  const stepMs = (startsMs[1] ?? Number.NaN) - startsMs[0]!;
  const band = (right - left) / groups.length;
  return marks.flatMap(({ atMs }) => {
    const at = startsMs.findLastIndex((startMs) => startMs <= atMs);
    const part = (atMs - (startsMs[at] ?? 0)) / ((startsMs[at + 1] ?? Number.NaN) - startsMs[at]! || stepMs);
    if (at < 0 || !(part < 1)) return [];
    const x = round(left + (at + part) * band);
    return [
      svg`<line class="mark" x1=${x} x2=${x} y1=${top} y2=${bottom} /><path class="mark-head" d="M${x - 4} ${top}h8l-4 6Z" />`,
    ];
  });
}

/** How groups are drawn, and what is marked in them. */
export interface GroupsDrawing {
  readonly look: ChartLook;
  /** The measure: the axis' title. */
  readonly label: string;
  readonly mark: Mark;
}

/** Lines, stacked areas or stacked bars. */
export function plotGroups(
  kind: "line" | "area" | "bar",
  data: ChartData,
  size: PlotSize,
  { look, label, mark }: GroupsDrawing,
): SVGTemplateResult {
  const frame = frameOf(size);
  const isStacked = kind !== "line" && data.isAdditive;
  const layers = isStacked ? stack(data) : besideEachOther(data);
  const ends = layers.flatMap((layer) => layer.map(({ to }) => to ?? 0));
  const scale = look.isLog ? logScale(ends) : linearScale([...ends, ...look.limits], size.height);
  const y = (value: number): number => frame.bottom - scale.at(value) * (frame.bottom - frame.top);
  const band = (frame.right - frame.left) / Math.max(1, data.groups.length);
  const x = (group: number): number => frame.left + (group + 0.5) * band;
  const colours = seriesColours(data.series);
  const slots = isStacked ? 1 : layers.length;
  const shapes = layers.map((layer, series) =>
    kind === "bar"
      ? barsOf(layer, colours[series]!, x, y, { band, slots, slot: isStacked ? 0 : series })
      : pathsOf(kind, layer, colours[series]!, x, y),
  );
  return svg`${axesOf(data, frame, scale.ticks, { look, label, x, y })}
    ${markOf(mark, x, band, frame)}
    ${isStacked ? shapes.toReversed() : shapes}
    ${limitsOf(look, frame, y)}`;
}

/** Lines at the limits that lie within the scale. */
function limitsOf(
  { limits, unit }: ChartLook,
  frame: Frame,
  y: (value: number) => number,
): SVGTemplateResult[] {
  return limits
    .filter((limit) => y(limit) >= frame.top - 1 && y(limit) <= frame.bottom)
    .map((limit) => {
      const at = round(y(limit));
      const name = `limit severity${limitSeverity(limits.indexOf(limit), limits)}`;
      return svg`<line class=${name} x1=${frame.left} x2=${frame.right} y1=${at} y2=${at} />
        <text class="label" x=${frame.right} y=${at - 4} text-anchor="end">${formatAxis(limit, unit)}</text>`;
    });
}

/** Start and end of a group's part; undefined: nothing was measured. */
export interface Piece {
  readonly from: number;
  readonly to: number | undefined;
}

/** Each series on top of those before it. */
export function stack({ groups, series }: ChartData): Piece[][] {
  const heights = groups.map(() => 0);
  return series.map(({ values }) =>
    values.map((value, at) => {
      const from = heights[at]!;
      heights[at] = from + (value ?? 0);
      return { from, to: heights[at] };
    }),
  );
}

/** Each series from zero: their sum has no meaning. */
export function besideEachOther({ series }: ChartData): Piece[][] {
  return series.map(({ values }) => values.map((to) => ({ from: 0, to })));
}

/** Position of a group's bars: px of the group, bars beside each other in it, number of this one. */
interface BarPosition {
  readonly band: number;
  readonly slots: number;
  readonly slot: number;
}

function barsOf(
  layer: readonly Piece[],
  colour: number,
  x: (group: number) => number,
  y: (value: number) => number,
  { band, slots, slot }: BarPosition,
): SVGTemplateResult {
  const all = Math.max(1, Math.min(64 * slots, band * 0.86));
  const width = Math.max(1, all / slots);
  const path = layer
    .map(({ from, to }, at) => {
      if (to === undefined || to === from) return "";
      const height = Math.max(1, y(from) - y(to));
      return `M${round(x(at) - all / 2 + slot * width)} ${round(y(from))}v${round(-height)}h${round(width)}v${round(height)}z`;
    })
    .join("");
  return svg`<path class="fill ${colourClass(colour)}" d=${path} />`;
}

function pathsOf(
  kind: "line" | "area",
  layer: readonly Piece[],
  colour: number,
  x: (group: number) => number,
  y: (value: number) => number,
): SVGTemplateResult {
  let line = "";
  let isPen = false;
  for (const [at, { to }] of layer.entries()) {
    if (to !== undefined) line += `${isPen ? "L" : "M"}${round(x(at))} ${round(y(to))}`;
    isPen = to !== undefined;
  }
  const alone = layer.flatMap(({ to }, at) =>
    to !== undefined && layer[at - 1]?.to === undefined && layer[at + 1]?.to === undefined
      ? [svg`<circle class="fill ${colourClass(colour)}" cx=${round(x(at))} cy=${round(y(to))} r="2.5" />`]
      : [],
  );
  const stroke = svg`<path class="stroke ${colourClass(colour)}" d=${line} />`;
  if (kind === "line") return svg`${stroke}${alone}`;
  return svg`<path class="area ${colourClass(colour)}" d=${areaPath(layer, x, y)} />${stroke}${alone}`;
}

/** Returns the outline of a layer's area: one closed shape for each run of measured groups, nothing where none was measured. */
export function areaPath(
  layer: readonly Piece[],
  x: (group: number) => number,
  y: (value: number) => number,
): string {
  let path = "";
  let upper = "";
  let lower = "";
  for (const [at, { from, to }] of layer.entries()) {
    if (to !== undefined) {
      upper += `${upper === "" ? "M" : "L"}${round(x(at))} ${round(y(to))}`;
      lower = `L${round(x(at))} ${round(y(from))}${lower}`;
    }
    if (upper !== "" && layer[at + 1]?.to === undefined) {
      path += `${upper}${lower}z`;
      upper = "";
      lower = "";
    }
  }
  return path;
}

interface AxisPositions extends Pick<GroupsDrawing, "look" | "label"> {
  readonly x: (group: number) => number;
  readonly y: (value: number) => number;
}

function axesOf(
  data: ChartData,
  frame: Frame,
  ticks: readonly number[],
  { look, label, x, y }: AxisPositions,
): SVGTemplateResult {
  const { groups } = data;
  const labels = labelledGroups(
    groups.length,
    frame.right - frame.left,
    data.isTime ? LABEL_PX * 0.8 : LABEL_PX,
  );
  const title = shorten(label, Math.floor((frame.right - 4) / LETTER_PX));
  return svg`${frame.height < TITLED_PX ? nothing : svg`<text class="tick" x="4" y="12">${title}</text>`}
  ${ticks.map(
    (
      tick,
    ) => svg`<line class="grid" x1=${frame.left} x2=${frame.right} y1=${round(y(tick))} y2=${round(y(tick))} />
      <text class="tick" x=${frame.left - 8} y=${round(y(tick)) + 4} text-anchor="end">${formatAxis(tick, look.unit)}</text>`,
  )}
  ${labels.map(
    (at) =>
      svg`<text class="tick" x=${round(x(at))} y=${frame.bottom + 17} text-anchor="middle">${axisLabel(data, at)}</text>`,
  )}`;
}

/** Returns a group's label for the axis: of a time only what differs from the labels beside it. */
export function axisLabel({ isTime, isUtc, groups }: ChartData, at: number): string {
  const { label, key } = groups[at]!;
  if (!isTime) return shorten(label, Math.floor(LABEL_PX / LETTER_PX));
  const next = groups[at + 1] ?? groups[at - 1];
  const stepMs = next === undefined ? 0 : Math.abs(Number(next.key) - Number(key));
  return formatTick(Number(key), stepMs, isUtc);
}

/** Returns a length with as much of it as a screen shows. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
