/**
 * A chart of a visualisation's numbers. Arrow keys, or the pointer, choose a group whose numbers are then shown; the
 * same numbers are available as a table. A click, or Enter, on a bar, slice, square, name or legend fires `tr-pick`
 * with the clause it represents, with Alt to exclude that; dragging over times, or Shift with the arrows and Enter,
 * `tr-zoom` with their range in ms. `tr-crosshair` has the time under the pointer, undefined when it leaves.
 */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, svg, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { controls } from "#ui/components/style/styles.ts";
import type { ResolvedRange } from "#ui/services/search/time-range.ts";
import { type ChartLook, DEFAULT_LOOK, formatValue, severityOf } from "#ui/services/visualise/chart-look.ts";
import type { ChartPick } from "#ui/services/visualise/chart-picks.ts";
import {
  type ChartData,
  type Group,
  groupSums,
  groupTops,
  type Series,
  type TimeMark,
} from "#ui/services/visualise/series.ts";
import type { Chart } from "#ui/services/visualise/visualisation.ts";
import { heatLeft, plotHeat } from "./chart-heat.ts";
import { frameOf, groupAt, type PlotSize, plotGroups, timeMarks } from "./chart-plots.ts";
import { plotGauge, plotRing, ringShares, type Share } from "./chart-ring.ts";
import { plotRows, rowAt, rowsHeight } from "./chart-rows.ts";
import { chartStyles } from "./chart-styles.ts";
import { legendView, marksView, type OnPick, readoutView, tableView } from "./chart-views.ts";

export class ChartView extends LitElement {
  @property({ attribute: false }) accessor data: ChartData | undefined;
  @property() accessor chart: Chart = "bar";
  /** The measure. */
  @property() accessor label = "";
  @property({ attribute: false }) accessor look: ChartLook = DEFAULT_LOOK;
  @state() accessor _size: PlotSize = { width: 0, height: 0 };
  /** Index of the group under the cursor. */
  @state() accessor _cursor: number | undefined;
  /** The time under the cursor in another chart, ms. */
  @property({ attribute: false }) accessor crosshairMs: number | undefined;
  /** Lines that are marked in time. */
  @property({ attribute: false }) accessor marks: readonly TimeMark[] = [];
  /** The group at which a selection of times began. */
  @state() accessor _anchor: number | undefined;
  /** The readout stays out of the pointer's way. */
  @state() accessor _isLeft = false;

  static override styles = [controls, chartStyles];

  #resize: ResizeObserver | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#resize = new ResizeObserver(() => this.#measure());
    this.#resize.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resize?.disconnect();
  }

  /** Returns a PNG of what is drawn; undefined if that is a table or a number. */
  async picture(title: string): Promise<Blob | undefined> {
    const drawn = this.renderRoot.querySelector<SVGSVGElement>(".plot svg");
    if (drawn === null) return undefined;
    const { chartImage } = await import("./chart-image.ts");
    const legend = [...this.renderRoot.querySelectorAll(".legend li")].map((item) => ({
      text: [...item.querySelectorAll("span, b")].map(({ textContent }) => textContent).join(" "),
      colour: getComputedStyle(item.querySelector(".key")!).backgroundColor,
    }));
    return chartImage(drawn, title, legend);
  }

  protected override updated(): void {
    this.#measure();
  }

  override render(): TemplateResult | typeof nothing {
    const { data, chart } = this;
    if (data === undefined) return nothing;
    if (chart === "number") return this.#number(data);
    if (chart === "gauge") return this.#gauge(data);
    if (data.groups.length === 0)
      return html`<div class="number"><span>${msg("Nothing was found: try a longer time range.")}</span></div>`;
    const onPick: OnPick = (group, series, exclude) => this.#pick(group, series, exclude);
    if (chart === "table") return tableView(data, this.label, this.look.unit, onPick);
    if (data.series.every(({ values }) => values.every((value) => value === undefined)))
      return html`<div class="number"><span>${msg("No number was found: choose another field or a longer time range.")}</span></div>`;
    const shares = chart === "pie" ? ringShares(data, this.label) : undefined;
    const isLong = this.#isRows(data) && rowsHeight(data.groups.length) > this._size.height;
    return html`<div class="plot ${isLong ? "long" : ""} ${data.isTime ? "times" : ""}" tabindex="0" role="img" aria-label=${this.#summary(data)}
        @pointerdown=${this.#onPress} @pointermove=${this.#onPointer} @pointerup=${this.#onRelease} @pointerleave=${this.#leave} @keydown=${this.#onKey} @blur=${this.#leave}>${this.#plot(data, shares)}</div>
      ${this._cursor === undefined ? nothing : readoutView(data, shares, { at: this._cursor, label: this.label, isLeft: this._isLeft, unit: this.look.unit })}
      ${this.marks.length === 0 || !data.isTime ? nothing : marksView(this.marks, data.isUtc)}
      ${this.chart === "heat" ? nothing : legendView(data, shares, this.look.unit, (group, series, exclude) => (group === undefined ? onPick(group, series, exclude) : this.#pickShare(group, exclude)))}`;
  }

  #plot(data: ChartData, shares: readonly Share[] | undefined): TemplateResult | typeof nothing {
    const { width, height } = this._size;
    if (width === 0) return nothing;
    const isRows = this.#isRows(data);
    const size = { width, height: isRows ? rowsHeight(data.groups.length) : height };
    const cursor = this._cursor ?? this.#crosshair(data);
    const marked =
      this._anchor === undefined || cursor === undefined ? cursor : { from: this._anchor, to: cursor };
    const shapes =
      shares !== undefined
        ? plotRing(shares, size, this._cursor)
        : isRows
          ? plotRows(data, size, this.look, this._cursor)
          : this.chart === "heat"
            ? plotHeat(data, size, marked)
            : plotGroups(this.chart as "line", data, size, {
                look: this.look,
                label: this.label,
                mark: marked,
              });
    const isMarked = this.marks.length > 0 && data.isTime && shares === undefined && this.chart !== "heat";
    const marks = isMarked ? timeMarks(data, this.marks, frameOf(size)) : nothing;
    return html`<svg width=${size.width} height=${size.height} viewBox="0 0 ${size.width} ${size.height}" aria-hidden="true">${svg`${shapes}${marks}`}</svg>`;
  }

  /** Returns the group that contains the time under the cursor in another chart. */
  #crosshair({ isTime, groups }: ChartData): number | undefined {
    const atMs = this.crosshairMs;
    if (!isTime || atMs === undefined) return undefined;
    const at = groups.findLastIndex(({ key }) => Number(key) <= atMs);
    return at < 0 ? undefined : at;
  }

  /** Names are easier to read beside their bars. */
  #isRows({ isTime, groups }: ChartData): boolean {
    return this.chart === "bar" && !isTime && typeof groups[0]?.key === "string";
  }

  #number({ total }: ChartData): TemplateResult {
    return html`<div class="number" role="img" aria-label="${this.label}: ${total ?? msg("nothing")}">
      <b class=${this.#severity(total)} title=${total ?? ""}>${this.#text(total)}</b><span>${this.label}</span></div>`;
  }

  /** The class of a number that is above a limit. */
  #severity(value: number | undefined): string {
    return value === undefined ? "" : `severity${severityOf(value, this.look.limits)}`;
  }

  #text(value: number | undefined): string {
    return value === undefined ? "–" : formatValue(value, this.look.unit);
  }

  #gauge({ total }: ChartData): TemplateResult {
    const { width, height } = this._size;
    const drawn =
      width === 0 || total === undefined ? nothing : svg`${plotGauge(total, this.look, { width, height })}`;
    return html`<div class="plot gauge" role="img" aria-label="${this.label}: ${total === undefined ? msg("nothing") : this.#text(total)}">
      ${drawn === nothing ? nothing : html`<svg width=${width} height=${height} viewBox="0 0 ${width} ${height}" aria-hidden="true">${drawn}</svg>`}
      <p>${total === undefined ? msg("nothing") : ""} ${this.label}</p></div>`;
  }

  #summary({ groups, series, isAdditive }: ChartData): string {
    const sums = isAdditive ? groupSums({ groups, series }) : groupTops({ groups, series });
    const top = sums.indexOf(Math.max(...sums));
    const most = this.#text(sums[top] ?? 0);
    return series.length > 1
      ? msg(
          str`${this.label}, ${groups.length} groups in ${series.length} series, most at ${groups[top]?.label}: ${most}. Arrow keys choose a group, Enter filters by it or zooms to it.`,
        )
      : msg(
          str`${this.label}, ${groups.length} groups, most at ${groups[top]?.label}: ${most}. Arrow keys choose a group, Enter filters by it or zooms to it.`,
        );
  }

  #count(): number {
    if (this.data === undefined) return 0;
    return this.chart === "pie" ? ringShares(this.data, this.label).length : this.data.groups.length;
  }

  #pick(group: Group | undefined, series: Series | undefined, exclude: boolean): void {
    const detail: ChartPick = { group, series, exclude };
    this.dispatchEvent(new CustomEvent<ChartPick>("tr-pick", { detail }));
  }

  /** Slices are groups, or the values of a split where there are no groups. */
  #pickShare(group: Group, exclude: boolean): void {
    const series = this.data?.series.find(({ name }) => name === group.label);
    if (this.data?.groups[0]?.key === this.label) this.#pick(undefined, series, exclude);
    else this.#pick(group, undefined, exclude);
  }

  /** Selects the group under the cursor. */
  #pickAt(at: number, exclude: boolean): void {
    const { data } = this;
    if (data === undefined) return;
    if (this.chart === "pie") {
      const share = ringShares(data, this.label)[at];
      if (share !== undefined && share.group.part !== "others") this.#pickShare(share.group, exclude);
    } else if (!data.isTime && data.groups[at] !== undefined) this.#pick(data.groups[at], undefined, exclude);
  }

  /** Zooms to the times from one group to another, whichever comes first. */
  #zoom(one: number, other: number): void {
    const groups = this.data?.groups ?? [];
    const [from, to] = one < other ? [one, other] : [other, one];
    const fromMs = Number(groups[from]?.key);
    const stepMs = Number(groups[1]?.key) - Number(groups[0]?.key);
    const toMs = to + 1 < groups.length ? Number(groups[to + 1]!.key) : Number(groups[to]?.key) + stepMs;
    if (!Number.isFinite(fromMs) || !Number.isFinite(toMs)) return;
    this.dispatchEvent(new CustomEvent<ResolvedRange>("tr-zoom", { detail: { fromMs, toMs } }));
  }

  #onPress(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#onPointer(event);
    if (this.data?.isTime === true) this._anchor = this._cursor;
  }

  #onRelease(event: PointerEvent): void {
    const [anchor, at] = [this._anchor, this._cursor];
    this._anchor = undefined;
    if (at === undefined || event.button !== 0) return;
    if (anchor === undefined) this.#pickAt(at, event.altKey);
    else if (anchor !== at) this.#zoom(anchor, at);
  }

  #publishCrosshair(): void {
    const group = this._cursor === undefined ? undefined : this.data?.groups[this._cursor];
    if (this.data?.isTime !== true) return;
    const detail = group === undefined ? undefined : Number(group.key);
    this.dispatchEvent(
      new CustomEvent<number | undefined>("tr-crosshair", { detail, bubbles: true, composed: true }),
    );
  }

  #onPointer(event: PointerEvent): void {
    if (this.data === undefined) return;
    const plot = event.currentTarget as HTMLElement;
    const box = plot.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top + plot.scrollTop;
    this._isLeft = x > box.width / 2;
    const groups = this.data.groups.length;
    if (this.chart === "pie") this._cursor = this.#shareAt(x, y);
    else if (this.#isRows(this.data)) this._cursor = rowAt(groups, y);
    else {
      const frame = frameOf(this._size);
      const left = this.chart === "heat" ? heatLeft(this.data, this._size) : frame.left;
      this._cursor = groupAt({ ...frame, left }, groups, x);
    }
    this.#publishCrosshair();
  }

  #shareAt(x: number, y: number): number | undefined {
    const { width, height } = this._size;
    const turn = (Math.atan2(x - width / 2, height / 2 - y) / (2 * Math.PI) + 1) % 1;
    let end = 0;
    const at = ringShares(this.data!, this.label).findIndex(({ part }) => turn < (end += part));
    return at < 0 ? undefined : at;
  }

  #onKey(event: KeyboardEvent): void {
    const step = /^Arrow(Right|Down)$/.test(event.key) ? 1 : /^Arrow(Left|Up)$/.test(event.key) ? -1 : 0;
    if (event.key === "Escape") this.#leave();
    if (event.key === "Enter" && this._cursor !== undefined) {
      event.preventDefault();
      if (this.data?.isTime === true && this.chart !== "pie")
        this.#zoom(this._anchor ?? this._cursor, this._cursor);
      else this.#pickAt(this._cursor, event.altKey);
      this._anchor = undefined;
    }
    if (step === 0) return;
    event.preventDefault();
    const last = this.#count() - 1;
    if (!event.shiftKey) this._anchor = undefined;
    else if (this.data?.isTime === true) this._anchor ??= this._cursor;
    this._cursor = Math.max(0, Math.min(last, (this._cursor ?? (step > 0 ? -1 : last + 1)) + step));
    this._isLeft = this._cursor > last / 2;
    this.#publishCrosshair();
  }

  readonly #leave = (): void => {
    this._cursor = undefined;
    this._anchor = undefined;
    this.#publishCrosshair();
  };

  #measure(): void {
    const plot = this.renderRoot.querySelector<HTMLElement>(".plot");
    if (plot === null) return;
    const width = Math.floor(plot.clientWidth);
    const height = Math.floor(plot.clientHeight);
    if (width !== this._size.width || height !== this._size.height) this._size = { width, height };
  }
}

customElements.define("tr-chart", ChartView);

declare global {
  interface HTMLElementTagNameMap {
    "tr-chart": ChartView;
  }
}
