/** A heat map: the larger the value, the darker the cell. */

import { nothing, type SVGTemplateResult, svg } from "lit";
import { shorten } from "#ui/services/text/format.ts";
import { type ChartData, labelledGroups } from "#ui/services/visualise/series.ts";
import {
  axisLabel,
  frameOf,
  LABEL_PX,
  LETTER_PX,
  type Mark,
  markOf,
  type PlotSize,
  round,
} from "./chart-plots.ts";

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
