/**
 * Lines over time, stacked by level. Drag to zoom, or choose buckets with the arrow keys and Shift and press Enter:
 * fires `tr-zoom` with a range in ms, `tr-step` with the length of the steps that is chosen, `tr-scale` with true if
 * the heights are to be logarithmic.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type uPlot from "uplot";
import { LEVEL_NAMES } from "#proto/live.ts";
import { controls } from "#ui/components/style/styles.ts";
import { THEME_EVENT } from "#ui/services/browser/theme.ts";
import { bucketEndMs, type Histogram } from "#ui/services/search/histogram.ts";
import { intervalName, intervalsOf } from "#ui/services/search/interval.ts";
import type { ResolvedRange } from "#ui/services/search/time-range.ts";
import { formatCount, formatTime } from "#ui/services/text/format.ts";

/** Height of the part above the plot. */
const HEAD_PX = 24;

export class HistogramChart extends LitElement {
  @property({ attribute: false }) accessor histogram: Histogram | undefined;
  @property({ type: Boolean }) accessor isUtc = false;
  /** Chosen length of the steps; "": by the range. */
  @property() accessor step = "";
  /** Heights are logarithmic: a few lines can be seen beside many. */
  @property({ type: Boolean }) accessor isLog = false;
  @state() accessor _readout = "";

  static override styles = [
    controls,
    css`
      :host {
        display: block;
        position: relative;
        height: min(var(--pane-histogram, 156px), max(156px, 45vh));
      }
      .head {
        display: flex;
        align-items: center;
        gap: 6px;
        height: 24px;
        color: var(--ink-muted);
        font-size: var(--text-small);
      }
      select {
        height: 24px;
        padding: 0 4px;
        border-color: transparent;
        background: none;
        color: inherit;
        font-size: inherit;
      }
      select:hover {
        border-color: var(--line-strong);
      }
      .plot {
        height: calc(100% - 24px);
        border-radius: var(--radius);
      }
      .readout {
        margin-left: auto;
        overflow: hidden;
        font: var(--text-small) / 20px var(--font-mono);
        text-overflow: ellipsis;
        white-space: nowrap;
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

  /** Loaded with the first histogram: lines are shown earlier. */
  #plotting: typeof import("./histogram-plot.ts") | undefined;
  #plot: uPlot | undefined;
  #resize: ResizeObserver | undefined;
  /** Buckets chosen by keys: where the choice began and its moving end. */
  #chosen: { anchor: number; end: number } | undefined;
  /** A range is being dragged: a new plot would lose it. */
  #isDragged = false;
  /** Data that arrived during a drag aren't drawn yet. */
  #isStale = false;
  readonly #redraw = (): void => this.#draw();

  /** Called after the plot's own listener, which is the document's. */
  readonly #onRelease = (event: MouseEvent): void => {
    if (event.button !== 0) return;
    this.#isDragged = false;
    if (!this.#isStale) return;
    this.#draw();
    this.#mark();
  };

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("mouseup", this.#onRelease);
    addEventListener(THEME_EVENT, this.#redraw);
    this.#resize = new ResizeObserver(([entry]) => {
      if (entry === undefined) return;
      const { width, height } = entry.contentRect;
      this.#plot?.setSize({ width: Math.floor(width), height: Math.floor(height) - HEAD_PX });
    });
    this.#resize.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("mouseup", this.#onRelease);
    removeEventListener(THEME_EVENT, this.#redraw);
    this.#isDragged = false;
    this.#resize?.disconnect();
    this.#plot?.destroy();
    this.#plot = undefined;
  }

  override render(): TemplateResult {
    return html`
      <div class="head">${this.#steps()}<output class="readout">${this._readout}</output></div>
      <div class="plot" tabindex="0" role="img" aria-label=${this.#summary()} @keydown=${this.#onKey} @mousedown=${this.#onPress}></div>
    `;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has("histogram") && !changed.has("isUtc") && !changed.has("isLog")) return;
    // Chosen steps stay while the same search continues.
    if (changed.has("histogram") && changed.get("histogram")?.range !== this.histogram?.range)
      this.#chosen = undefined;
    this.#draw();
    this.#mark();
  }

  #steps(): TemplateResult | typeof nothing {
    if (this.histogram === undefined) return nothing;
    const { range, interval } = this.histogram;
    const choices = intervalsOf(range);
    const isChosen = choices.some(({ text }) => text === this.step);
    return html`<label>${msg("Lines per")} <select @change=${this.#onStep}>
      <option value="" .selected=${!isChosen}>${isChosen ? msg("automatic") : intervalName(interval)}</option>
      ${choices.map((each) => html`<option value=${each.text} .selected=${each.text === this.step}>${intervalName(each)}</option>`)}</select></label>
      <button class="plain small" aria-pressed=${this.isLog} title=${msg("Logarithmic heights: a few lines can be seen beside many")} @click=${this.#onScale}>${msg("Log scale")}</button>`;
  }

  #onScale(): void {
    this.dispatchEvent(new CustomEvent<boolean>("tr-scale", { detail: !this.isLog }));
  }

  #onStep(event: Event): void {
    const detail = (event.currentTarget as HTMLSelectElement).value;
    this.dispatchEvent(new CustomEvent<string>("tr-step", { detail }));
  }

  #summary(): string {
    if (this.histogram === undefined) return msg("Lines over time");
    const { buckets } = this.histogram;
    const top = buckets.reduce((best, bucket) => (bucket.total > best.total ? bucket : best), buckets[0]!);
    const keys = msg("Arrow keys choose steps, Shift extends, Enter zooms.");
    if (top === undefined) return `${msg(str`Lines over time in ${buckets.length} steps.`)} ${keys}`;
    const most = `${formatTime(top.startMs, this.isUtc)}: ${formatCount(top.total)}`;
    return `${msg(str`Lines over time in ${buckets.length} steps, most at ${most}.`)} ${keys}`;
  }

  #onPress(event: MouseEvent): void {
    this.#isDragged = event.button === 0 && this.#plot !== undefined;
  }

  #draw(): void {
    this.#isStale = this.#isDragged;
    if (this.#isStale) return;
    this.#plot?.destroy();
    this.#plot = undefined;
    const target = this.renderRoot.querySelector<HTMLElement>(".plot");
    if (this.histogram === undefined || target === null) return;
    if (this.#plotting === undefined) {
      void this.#loadPlotting();
      return;
    }
    this.#plot = this.#plotting.drawHistogram({
      target,
      widthPx: Math.floor(this.clientWidth),
      heightPx: this.clientHeight - HEAD_PX,
      histogram: this.histogram,
      isUtc: this.isUtc,
      isLog: this.isLog,
      onCursor: (plot) => this.#read(plot),
      onSelect: (plot) => this.#zoomSelected(plot),
    });
  }

  async #loadPlotting(): Promise<void> {
    try {
      this.#plotting = await import("./histogram-plot.ts");
    } catch {
      // The hub is unreachable: tried again with the next histogram.
      return;
    }
    this.#plotting.adoptPlotStyles(this.renderRoot as ShadowRoot);
    if (this.isConnected) this.#draw();
  }

  #read(plot: uPlot): void {
    const { left, idx } = plot.cursor;
    if (left === undefined || left < 0 || idx === null || idx === undefined || this.histogram === undefined) {
      this._readout = "";
      return;
    }
    const atMs = plot.posToVal(left, "x");
    const index = this.histogram.buckets.findLastIndex(({ startMs }) => startMs <= atMs);
    this.#show(index < 0 ? idx : index);
  }

  #show(index: number): void {
    const bucket = this.histogram?.buckets[index];
    if (bucket === undefined) return;
    const levels = bucket.levels
      .map((count, level) =>
        count > 0 && level > 3 ? `  ${formatCount(count)} ${LEVEL_NAMES[level as 4]}` : "",
      )
      .join("");
    this._readout = `${formatTime(bucket.startMs, this.isUtc).slice(0, 19)}  ${msg(str`${formatCount(bucket.total)} lines`)}${levels}`;
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
      this.#zoom({ fromMs, toMs: bucketEndMs(histogram, final) });
    } else return;
    event.preventDefault();
  }

  #mark(): void {
    if (
      this.#isDragged ||
      this.#plot === undefined ||
      this.#chosen === undefined ||
      this.histogram === undefined
    )
      return;
    const { buckets } = this.histogram;
    const first = buckets[Math.min(this.#chosen.anchor, this.#chosen.end)]!.startMs;
    const end = bucketEndMs(this.histogram, Math.max(this.#chosen.anchor, this.#chosen.end));
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

customElements.define("tr-histogram", HistogramChart);

declare global {
  interface HTMLElementTagNameMap {
    "tr-histogram": HistogramChart;
  }
}
