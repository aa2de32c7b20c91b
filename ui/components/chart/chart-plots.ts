/** Drawing of charts as SVG: lines, areas and bars over groups, bars beside names. */

import { nothing, type SVGTemplateResult, svg } from "lit";
import { formatShort, formatTick } from "#ui/services/text/format.ts";
import { type ChartData, labelledGroups, niceTicks, shorten } from "#ui/services/visualise/series.ts";
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

/** Width of a letter of the labels, about. */
export const LETTER_PX = 6.6;
/** Width of a label below the axis. */
export const LABEL_PX = 92;
const ROW_PX = 28;

/** Returns the part of a plot that holds the groups. */
export function frameOf({ width, height }: PlotSize): Frame {
  return { width, height, left: 52, right: width - 12, top: 10, bottom: height - 26 };
}

/** Returns the number of the group at `x`, px. */
export function groupAt({ left, right }: Frame, groups: number, x: number): number {
  return Math.max(0, Math.min(groups - 1, Math.floor(((x - left) / (right - left)) * groups)));
}

/** Returns the class of a colour of `seriesColours`. */
export function colourClass(colour: number): string {
  return `s${colour + 1}`;
}

/** The group that is looked at, or the first and the last of those that are being chosen. */
export type Mark = number | { readonly from: number; readonly to: number } | undefined;

function markOf(
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

/** Lines, stacked areas or stacked bars. */
export function plotGroups(
  kind: "line" | "area" | "bar",
  data: ChartData,
  size: PlotSize,
  mark: Mark,
): SVGTemplateResult {
  const frame = frameOf(size);
  const isStacked = kind !== "line" && data.isAdditive;
  const layers = isStacked ? stack(data) : besideEachOther(data);
  const ends = layers.flatMap((layer) => layer.map(({ to }) => to ?? 0));
  const ticks = niceTicks(
    Math.min(0, ...ends),
    Math.max(0, ...ends),
    Math.max(2, Math.floor(size.height / 48)),
    ends.every(Number.isInteger) ? 1 : 0,
  );
  const low = ticks[0]!;
  const y = (value: number): number =>
    frame.bottom - ((value - low) / (ticks.at(-1)! - low)) * (frame.bottom - frame.top);
  const band = (frame.right - frame.left) / Math.max(1, data.groups.length);
  const x = (group: number): number => frame.left + (group + 0.5) * band;
  const colours = seriesColours(data.series);
  const slots = isStacked ? 1 : layers.length;
  const shapes = layers.map((layer, series) =>
    kind === "bar"
      ? barsOf(layer, colours[series]!, x, y, { band, slots, slot: isStacked ? 0 : series })
      : pathsOf(kind, layer, colours[series]!, x, y),
  );
  return svg`${axesOf(data, frame, ticks, x, y)}
    ${markOf(mark, x, band, frame)}
    ${isStacked ? shapes.toReversed() : shapes}`;
}

interface Piece {
  readonly from: number;
  readonly to: number | undefined;
}

/** Each series on top of those before it. */
function stack({ groups, series }: ChartData): Piece[][] {
  const heights = groups.map(() => 0);
  return series.map(({ values }) =>
    values.map((value, at) => {
      const from = heights[at]!;
      heights[at] = from + (value ?? 0);
      return { from, to: heights[at] };
    }),
  );
}

/** Each series from zero: their sum says nothing. */
function besideEachOther({ series }: ChartData): Piece[][] {
  return series.map(({ values }) => values.map((to) => ({ from: 0, to })));
}

/** Where a group's bars stand: px of the group, bars beside each other in it, number of this one. */
interface BarPlace {
  readonly band: number;
  readonly slots: number;
  readonly slot: number;
}

function barsOf(
  layer: readonly Piece[],
  colour: number,
  x: (group: number) => number,
  y: (value: number) => number,
  { band, slots, slot }: BarPlace,
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
  if (kind === "line" || layer.length === 0) return svg`${stroke}${alone}`;
  const back = layer
    .map(({ from }, at) => `L${round(x(at))} ${round(y(from))}`)
    .toReversed()
    .join("");
  return svg`<path class="area ${colourClass(colour)}" d=${`${line}${back}z`} />${stroke}${alone}`;
}

function axesOf(
  data: ChartData,
  frame: Frame,
  ticks: readonly number[],
  x: (group: number) => number,
  y: (value: number) => number,
): SVGTemplateResult {
  const { groups } = data;
  const labels = labelledGroups(
    groups.length,
    frame.right - frame.left,
    data.isTime ? LABEL_PX * 0.8 : LABEL_PX,
  );
  return svg`${ticks.map(
    (
      tick,
    ) => svg`<line class="grid" x1=${frame.left} x2=${frame.right} y1=${round(y(tick))} y2=${round(y(tick))} />
      <text class="tick" x=${frame.left - 8} y=${round(y(tick)) + 4} text-anchor="end">${formatShort(tick)}</text>`,
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

/** Returns the height rows of bars take, px. */
export function rowsHeight(groups: number): number {
  return groups * ROW_PX + 12;
}

/** Bars that lie: for groups with names. */
export function plotRows(
  data: ChartData,
  { width }: PlotSize,
  cursor: number | undefined,
): SVGTemplateResult {
  const layers = data.isAdditive ? stack(data) : besideEachOther(data);
  const totals = data.groups.map((_, at) => Math.max(0, ...layers.map((layer) => layer[at]?.to ?? 0)));
  const slots = data.isAdditive ? 1 : layers.length;
  const thickness = (ROW_PX - 8) / slots;
  const largest = Math.max(Number.EPSILON, ...totals);
  const longest = Math.max(...data.groups.map(({ label }) => label.length), 4);
  const left = Math.min(width * 0.42, longest * LETTER_PX + 16);
  const letters = Math.max(4, Math.floor((left - 16) / LETTER_PX));
  const scale = (value: number): number => (value / largest) * (width - left - 64);
  const colours = seriesColours(data.series);
  return svg`${data.groups.map((group, at) => {
    const y = 6 + at * ROW_PX;
    return svg`${cursor === at ? svg`<rect class="cursor" x="0" y=${y - 3} width=${width} height=${ROW_PX} />` : nothing}
      <text class="label" x=${left - 10} y=${y + 15} text-anchor="end">${shorten(group.label, letters)}</text>
      ${layers.map((layer, series) => {
        const { from, to } = layer[at]!;
        if (to === undefined || to <= from) return nothing;
        return svg`<rect class="fill ${colourClass(colours[series]!)}" x=${round(left + scale(from))} y=${round(y + (slots > 1 ? series * thickness : 0))} width=${round(Math.max(1, scale(to) - scale(from)))} height=${round(thickness)} rx="2" />`;
      })}
      <text class="tick" x=${round(left + scale(totals[at]!) + 8)} y=${y + 14}>${formatShort(totals[at]!)}</text>`;
  })}`;
}

/** Returns the group of a row at `y`, px. */
export function rowAt(groups: number, y: number): number {
  return Math.max(0, Math.min(groups - 1, Math.floor((y - 3) / ROW_PX)));
}

/** Returns a length with as much of it as a screen shows. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Squares, groups across and series down, the darker the more. */
export function plotHeat(data: ChartData, size: PlotSize, mark: Mark): SVGTemplateResult {
  const longest = Math.max(...data.series.map(({ name }) => name.length), 4);
  const left = heatLeft(data, size);
  const frame = { ...frameOf(size), left };
  const largest = Math.max(
    Number.EPSILON,
    ...data.series.flatMap(({ values }) => values.map((value) => value ?? 0)),
  );
  const band = (frame.right - left) / Math.max(1, data.groups.length);
  const row = (frame.bottom - frame.top) / Math.max(1, data.series.length);
  const x = (at: number): number => left + (at + 0.5) * band;
  const labels = labelledGroups(data.groups.length, frame.right - left, LABEL_PX);
  return svg`${data.series.map(({ name, values }, at) => {
    const y = frame.top + at * row;
    return svg`<text class="label" x=${left - 8} y=${y + row / 2 + 4} text-anchor="end">${shorten(name, Math.min(longest, Math.floor((left - 14) / LETTER_PX)))}</text>
      ${values.map((value, group) =>
        value === undefined || value === 0
          ? nothing
          : svg`<rect class="heat" x=${round(x(group) - band / 2)} y=${round(y)} width=${round(Math.max(1, band - 1))} height=${round(Math.max(1, row - 1))} fill-opacity=${(0.12 + 0.88 * Math.sqrt(Math.max(0, value) / largest)).toFixed(3)} />`,
      )}`;
  })}
  ${markOf(mark, x, band, frame)}
  ${labels.map((at) => svg`<text class="tick" x=${round(x(at))} y=${frame.bottom + 17} text-anchor="middle">${axisLabel(data, at)}</text>`)}`;
}

/** Returns where the squares begin, px: right of their names. */
export function heatLeft(data: ChartData, { width }: PlotSize): number {
  const longest = Math.max(...data.series.map(({ name }) => name.length), 4);
  return Math.min(width * 0.35, longest * LETTER_PX + 16);
}
