/** How the histogram is drawn: axes, bars stacked by level, colours of the theme. */

import { unsafeCSS } from "lit";
import uPlot from "uplot";
import plotText from "uplot/dist/uPlot.min.css";
import { colourReader } from "#ui/services/browser/theme.ts";
import { drawnRange, type Histogram } from "#ui/services/search/histogram.ts";
import { formatScale, formatTick } from "#ui/services/text/format.ts";

/** Distributions of uPlot: one that is logarithmic but near zero, which bars begin at. */
const LINEAR = 1;
const ASINH = 4;

/** From the bottom of a stack to its top. */
const STACK = [0, 1, 2, 3, 4, 5, 6] as const;
/** By level: muted colours where nothing is wrong, so that warnings and errors are prominent. */
const COLOURS = [
  "--bar",
  "--bar-soft",
  "--bar-soft",
  "--bar",
  "--level-warn",
  "--level-error",
  "--level-fatal",
];

export interface PlotOptions {
  /** Parent of the plot; its theme gives the colours. */
  readonly target: HTMLElement;
  readonly widthPx: number;
  /** With the axis of times. */
  readonly heightPx: number;
  readonly histogram: Histogram;
  readonly isUtc: boolean;
  readonly isLog: boolean;
  readonly onCursor: (plot: uPlot) => void;
  readonly onSelect: (plot: uPlot) => void;
}

const plotStyles = unsafeCSS(plotText).styleSheet!;

/** Adds the plot's own styles to those of the component in which it is drawn. */
export function adoptPlotStyles(root: ShadowRoot): void {
  root.adoptedStyleSheets = [plotStyles, ...root.adoptedStyleSheets.filter((one) => one !== plotStyles)];
}

/** Draws a histogram. */
export function drawHistogram(options: PlotOptions): uPlot {
  const { target, widthPx, heightPx, histogram, isUtc, isLog, onCursor, onSelect } = options;
  const colour = colourReader(target);
  const bars = uPlot.paths.bars!({ size: [0.86, 64], align: 1, gap: 0 });
  // The whole stack is drawn first, then the lower parts over it.
  const series = STACK.toReversed().map((level) => ({
    paths: bars,
    fill: colour(COLOURS[level]!),
    width: 0,
    points: { show: false },
  }));
  const plotOptions: uPlot.Options = {
    width: widthPx,
    height: heightPx,
    ms: 1,
    // At the right half of a time, which may be below the very end.
    padding: [8, 18, 0, 4],
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
    tzDate: (atMs) => (isUtc ? uPlot.tzDate(new Date(atMs), "Etc/UTC") : new Date(atMs)),
    scales: scales(histogram, isLog),
    axes: axes(colour, isUtc, isLog),
    series: [{}, ...series],
    hooks: { setCursor: [onCursor], setSelect: [onSelect] },
  };
  return new uPlot(plotOptions, stackedData(histogram), target);
}

function scales(histogram: Histogram, isLog: boolean): uPlot.Scales {
  const { fromMs, toMs } = drawnRange(histogram);
  return {
    x: { time: true, range: () => [fromMs, toMs] },
    y: { range: (_, __, max) => [0, Math.max(1, max)], distr: isLog ? ASINH : LINEAR },
  };
}

function axes(colour: (property: string) => string, isUtc: boolean, isLog: boolean): uPlot.Axis[] {
  const axis = { stroke: colour("--ink-faint"), font: "11px system-ui, sans-serif", ticks: { show: false } };
  return [
    {
      ...axis,
      size: 22,
      space: 76,
      grid: { show: false },
      values: (_, ticks, __, ___, stepMs) => ticks.map((tick) => formatTick(tick, stepMs, isUtc)),
    },
    {
      ...axis,
      size: 44,
      space: 30,
      grid: { stroke: colour("--line"), width: 1 },
      values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? formatScale(tick) : "")),
      ...(isLog && {
        splits: (_: uPlot, __: number, ___: number, max: number) => powersUpTo(max),
        filter: (_: uPlot, ticks: number[]) => ticks,
      }),
    },
  ];
}

/** Returns 0 and the powers of ten up to a number; of many each second one, so that their names fit. */
function powersUpTo(max: number): number[] {
  const powers = Array.from(
    { length: Math.floor(Math.log10(Math.max(1, max))) + 1 },
    (_, power) => 10 ** power,
  );
  const every = powers.length > 3 ? 2 : 1;
  return [0, ...powers.filter((_, at) => (powers.length - 1 - at) % every === 0)];
}

/** Returns times and, from the whole stack down, the sums of the levels below and with each. */
function stackedData({ buckets }: Histogram): uPlot.AlignedData {
  const series = STACK.toReversed().map((top) =>
    buckets.map(({ levels }) => levels.slice(0, top + 1).reduce((sum, count) => sum + count, 0)),
  );
  return [buckets.map(({ startMs }) => startMs), ...series];
}
