/**
 * Lines over time, stacked by level. Drag to zoom, or choose buckets with the arrow keys and Shift and press Enter:
 * fires `tr-zoom` with a range in ms.
 */

import { css, html, LitElement, type PropertyValues, type TemplateResult, unsafeCSS } from "lit";
import uPlot from "uplot";
import plotStyles from "uplot/dist/uPlot.min.css";
import { LEVEL_NAMES } from "#proto/live.ts";
import { formatCount, formatShort, formatTime } from "../services/format.ts";
import type { Histogram } from "../services/histogram.ts";
import type { ResolvedRange } from "../services/time-range.ts";
import { THEME_EVENT } from "../theme.ts";
import { controls } from "./styles.ts";

const HEIGHT_PX = 104;
/** From the bottom of a stack to its top. */
const STACK = [0, 1, 2, 3, 4, 5, 6] as const;
/** By level: calm where nothing is wrong, so that warnings and errors stand out. */
const COLOURS = [
  "--bar",
  "--bar-soft",
  "--bar-soft",
  "--bar",
  "--level-warn",
  "--level-error",
  "--level-fatal",
];
const DAY_MS = 86_400_000;

export class HistogramChart extends LitElement {
  static override properties = {
    histogram: { attribute: false },
    isUtc: { type: Boolean },
    _readout: { state: true },
  };

  declare histogram: Histogram | undefined;
  declare isUtc: boolean;
  declare _readout: string;

  static override styles = [
    unsafeCSS(plotStyles),
    controls,
    css`
      :host {
        display: block;
        position: relative;
        min-height: 104px;
      }
      .plot {
        height: 104px;
        border-radius: var(--radius);
      }
      .readout {
        position: absolute;
        top: 0;
        right: 8px;
        padding: 0 6px;
        border-radius: 3px;
        background: var(--surface);
        color: var(--ink-muted);
        font: var(--text-small) / 20px var(--font-mono);
        pointer-events: none;
      }
      .u-select {
        background: var(--accent);
        opacity: 0.2;
      }
      .u-cursor-x {
        border-right: 1px solid var(--ink-faint);
      }
    `,
  ];

  #plot: uPlot | undefined;
  #resize: ResizeObserver | undefined;
  /** Buckets chosen by keys: where the choice began and its moving end. */
  #chosen: { anchor: number; end: number } | undefined;
  readonly #redraw = (): void => this.#draw();

  constructor() {
    super();
    this.histogram = undefined;
    this.isUtc = false;
    this._readout = "";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener(THEME_EVENT, this.#redraw);
    this.#resize = new ResizeObserver(([entry]) => {
      if (entry !== undefined)
        this.#plot?.setSize({ width: Math.floor(entry.contentRect.width), height: HEIGHT_PX });
    });
    this.#resize.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener(THEME_EVENT, this.#redraw);
    this.#resize?.disconnect();
    this.#plot?.destroy();
    this.#plot = undefined;
  }

  override render(): TemplateResult {
    return html`
      <div class="plot" tabindex="0" role="img" aria-label=${this.#summary()} @keydown=${this.#onKey}></div>
      <output class="readout" ?hidden=${this._readout === ""}>${this._readout}</output>
    `;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has("histogram") && !changed.has("isUtc")) return;
    this.#chosen = undefined;
    this.#draw();
  }

  #summary(): string {
    if (this.histogram === undefined) return "Lines over time";
    const { buckets } = this.histogram;
    const top = buckets.reduce((best, bucket) => (bucket.total > best.total ? bucket : best), buckets[0]!);
    const peak =
      top === undefined ? "" : `, most at ${formatTime(top.startMs, this.isUtc)}: ${formatCount(top.total)}`;
    return `Lines over time in ${buckets.length} steps${peak}. Arrow keys choose steps, Shift extends, Enter zooms.`;
  }

  #draw(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
    const target = this.renderRoot.querySelector<HTMLElement>(".plot");
    if (this.histogram === undefined || target === null) return;
    this.#plot = new uPlot(this.#options(target, this.histogram), stackedData(this.histogram), target);
  }

  #options(target: HTMLElement, { range, intervalMs }: Histogram): uPlot.Options {
    const colour = colourReader(target);
    const axis = {
      stroke: colour("--ink-faint"),
      font: "11px system-ui, sans-serif",
      ticks: { show: false },
    };
    const bars = uPlot.paths.bars!({ size: [0.86, 64], align: 1, gap: 0 });
    return {
      width: Math.floor(this.clientWidth),
      height: HEIGHT_PX,
      ms: 1,
      padding: [8, 4, 0, 4],
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
      tzDate: (atMs) => (this.isUtc ? uPlot.tzDate(new Date(atMs), "Etc/UTC") : new Date(atMs)),
      scales: {
        x: {
          time: true,
          range: () => [
            Math.min(range.fromMs, this.histogram?.buckets[0]?.startMs ?? range.fromMs),
            Math.max(range.toMs, range.fromMs + intervalMs),
          ],
        },
        y: { range: (_, __, max) => [0, Math.max(1, max)] },
      },
      axes: [
        {
          ...axis,
          size: 22,
          space: 76,
          grid: { show: false },
          values: (_, ticks, __, ___, stepMs) => ticks.map((tick) => this.#tickText(tick, stepMs)),
        },
        {
          ...axis,
          size: 44,
          space: 30,
          grid: { stroke: colour("--line"), width: 1 },
          values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? formatShort(tick) : "")),
        },
      ],
      // The whole stack is drawn first, what lies below over it.
      series: [
        {},
        ...STACK.toReversed().map((level) => ({
          paths: bars,
          fill: colour(COLOURS[level]!),
          width: 0,
          points: { show: false },
        })),
      ],
      hooks: { setCursor: [(plot) => this.#read(plot)], setSelect: [(plot) => this.#zoomSelected(plot)] },
    };
  }

  /** The day at midnight, else the clock as exactly as the steps need it. */
  #tickText(atMs: number, stepMs: number): string {
    const text = formatTime(atMs, this.isUtc);
    if (stepMs >= DAY_MS || text.endsWith("00:00:00.000")) return text.slice(5, 10);
    if (stepMs >= 60_000) return text.slice(11, 16);
    return stepMs >= 1_000 ? text.slice(11, 19) : text.slice(14);
  }

  #read(plot: uPlot): void {
    const { left, idx } = plot.cursor;
    if (left === undefined || left < 0 || idx === null || idx === undefined || this.histogram === undefined) {
      this._readout = "";
      return;
    }
    const atMs = plot.posToVal(left, "x");
    const index = Math.floor((atMs - (this.histogram.buckets[0]?.startMs ?? 0)) / this.histogram.intervalMs);
    this.#show(this.histogram.buckets[index] === undefined ? idx : index);
  }

  #show(index: number): void {
    const bucket = this.histogram?.buckets[index];
    if (bucket === undefined) return;
    const levels = bucket.levels
      .map((count, level) =>
        count > 0 && level > 3 ? `  ${formatCount(count)} ${LEVEL_NAMES[level as 4]}` : "",
      )
      .join("");
    this._readout = `${formatTime(bucket.startMs, this.isUtc).slice(0, 19)}  ${formatCount(bucket.total)} lines${levels}`;
  }

  #zoomSelected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    const fromMs = Math.round(plot.posToVal(left, "x"));
    const toMs = Math.round(plot.posToVal(left + width, "x"));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#zoom({ fromMs, toMs });
  }

  #onKey(event: KeyboardEvent): void {
    const { histogram } = this;
    if (histogram === undefined || histogram.buckets.length === 0) return;
    const last = histogram.buckets.length - 1;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const end = Math.max(
        0,
        Math.min(last, (this.#chosen?.end ?? last + 1) + (event.key === "ArrowLeft" ? -1 : 1)),
      );
      this.#chosen = { anchor: event.shiftKey ? (this.#chosen?.anchor ?? end) : end, end };
      this.#mark();
    } else if (event.key === "Enter" && this.#chosen !== undefined) {
      const first = Math.min(this.#chosen.anchor, this.#chosen.end);
      const final = Math.max(this.#chosen.anchor, this.#chosen.end);
      const fromMs = histogram.buckets[first]!.startMs;
      this.#zoom({ fromMs, toMs: histogram.buckets[final]!.startMs + histogram.intervalMs });
    } else return;
    event.preventDefault();
  }

  #mark(): void {
    if (this.#plot === undefined || this.#chosen === undefined || this.histogram === undefined) return;
    const { buckets, intervalMs } = this.histogram;
    const first = buckets[Math.min(this.#chosen.anchor, this.#chosen.end)]!.startMs;
    const end = buckets[Math.max(this.#chosen.anchor, this.#chosen.end)]!.startMs + intervalMs;
    const left = this.#plot.valToPos(first, "x");
    this.#plot.setSelect(
      { left, top: 0, width: this.#plot.valToPos(end, "x") - left, height: this.#plot.over.clientHeight },
      false,
    );
    this.#show(this.#chosen.end);
  }

  #zoom(detail: ResolvedRange): void {
    this.dispatchEvent(new CustomEvent<ResolvedRange>("tr-zoom", { detail }));
  }
}

/** Returns times and, from the whole stack down, the sums of the levels below and with each. */
function stackedData({ buckets }: Histogram): uPlot.AlignedData {
  const series = STACK.toReversed().map((top) =>
    buckets.map(({ levels }) => levels.slice(0, top + 1).reduce((sum, count) => sum + count, 0)),
  );
  return [buckets.map(({ startMs }) => startMs), ...series];
}

/** Returns a reader of custom properties as colours a canvas knows, in the theme of `element`. */
function colourReader(element: HTMLElement): (property: string) => string {
  return (property) => {
    element.style.color = `var(${property})`;
    const colour = getComputedStyle(element).color;
    element.style.color = "";
    return colour;
  };
}

customElements.define("tr-histogram", HistogramChart);

declare global {
  interface HTMLElementTagNameMap {
    "tr-histogram": HistogramChart;
  }
}
