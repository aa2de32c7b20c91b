/** Horizontal bars beside the names of their groups. */

import { nothing, type SVGTemplateResult, svg } from "lit";
import { shorten } from "#ui/services/text/format.ts";
import {
  type ChartLook,
  formatAxis,
  formatValue,
  limitSeverity,
  logScale,
} from "#ui/services/visualise/chart-look.ts";
import type { ChartData } from "#ui/services/visualise/series.ts";
import { seriesColours } from "#ui/services/visualise/series-colours.ts";
import { besideEachOther, colourClass, LETTER_PX, type PlotSize, round, stack } from "./chart-plots.ts";

const ROW_PX = 28;
/** Longer numbers don't fit beside a row. */
const MAX_EXACT = 100_000;

/** Returns the height rows of bars take, px. */
export function rowsHeight(groups: number): number {
  return groups * ROW_PX + 12;
}

/** Horizontal bars: for groups with names. */
export function plotRows(
  data: ChartData,
  { width }: PlotSize,
  look: ChartLook,
  cursor: number | undefined,
): SVGTemplateResult {
  const layers = data.isAdditive ? stack(data) : besideEachOther(data);
  const tops = data.groups.map((_, at) => topOf(layers.flatMap((layer) => layer[at]?.to ?? [])));
  const ends = layers.flatMap((layer) => layer.map(({ to }) => to ?? 0));
  const slots = data.isAdditive ? 1 : layers.length;
  const thickness = (ROW_PX - 8) / slots;
  const low = Math.min(0, ...ends, ...look.limits);
  const span = Math.max(Number.EPSILON, ...ends, ...look.limits) - low;
  const longest = Math.max(...data.groups.map(({ label }) => label.length), 4);
  const left = Math.min(width * 0.42, longest * LETTER_PX + 16);
  const letters = Math.max(4, Math.floor((left - 16) / LETTER_PX));
  const log = logScale(ends);
  const scale = (value: number): number =>
    (look.isLog ? log.at(value) : (value - low) / span) * (width - left - 64);
  const colours = seriesColours(data.series);
  return svg`${data.groups.map((group, at) => {
    const y = 6 + at * ROW_PX;
    return svg`${cursor === at ? svg`<rect class="cursor" x="0" y=${y - 3} width=${width} height=${ROW_PX} />` : nothing}
      <text class="label" x=${left - 10} y=${y + 15} text-anchor="end">${shorten(group.label, letters)}</text>
      ${layers.map((layer, series) => {
        const { from, to } = layer[at]!;
        if (to === undefined || to === from) return nothing;
        return svg`<rect class="fill ${colourClass(colours[series]!)}" x=${round(left + scale(Math.min(from, to)))} y=${round(y + (slots > 1 ? series * thickness : 0))} width=${round(Math.max(1, Math.abs(scale(to) - scale(from))))} height=${round(thickness)} rx="2" />`;
      })}
      <text class="tick" x=${round(left + scale(Math.max(0, tops[at] ?? 0)) + 8)} y=${y + 14}>${rowText(tops[at], look)}</text>`;
  })}${look.limits.map((limit, at) => {
    const part = scale(limit);
    if (part < 0 || part > width - left - 64) return nothing;
    const x = round(left + part);
    return svg`<line class="limit severity${limitSeverity(at, look.limits)}" x1=${x} x2=${x} y1="0" y2=${rowsHeight(data.groups.length)} />`;
  })}`;
}

/** Returns the largest number of a row, which may be negative; undefined if nothing was measured. */
function topOf(ends: readonly number[]): number | undefined {
  return ends.length === 0 ? undefined : Math.max(...ends);
}

function rowText(top: number | undefined, { unit }: ChartLook): string {
  if (top === undefined) return "–";
  return unit === "" && Math.abs(top) < MAX_EXACT ? formatValue(top, unit) : formatAxis(top, unit);
}

/** Returns the group of a row at `y`, px. */
export function rowAt(groups: number, y: number): number {
  return Math.max(0, Math.min(groups - 1, Math.floor((y - 3) / ROW_PX)));
}
