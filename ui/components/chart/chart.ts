/**
 * A chart of a visualisation's numbers. Arrow keys, or the pointer, choose a group whose numbers are then shown; the
 * same numbers can be had as a table.
 */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, svg, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { controls } from "#ui/components/style/styles.ts";
import { formatMeasure, formatShare } from "#ui/services/text/format.ts";
import { type ChartData, type Group, groupSums, groupTops } from "#ui/services/visualise/series.ts";
import { seriesColours } from "#ui/services/visualise/series-colours.ts";
import type { Chart } from "#ui/services/visualise/visualisation.ts";
import {
  colourClass,
  frameOf,
  groupAt,
  heatLeft,
  type PlotSize,
  plotGroups,
  plotHeat,
  plotRing,
  plotRows,
  rowAt,
  rowsHeight,
  type Share,
  sharesOf,
} from "./chart-plots.ts";
import { chartStyles } from "./chart-styles.ts";

/** Further values are "Others". */
const MAX_SHARES = 9;
/** Lines of the readout: the largest ones. */
const READOUT_LINES = 10;

export class ChartView extends LitElement {
  @property({ attribute: false }) accessor data: ChartData | undefined;
  @property() accessor chart: Chart = "bar";
  /** What is measured. */
  @property() accessor label = "";
  @state() accessor _size: PlotSize = { width: 0, height: 0 };
  /** The group that is looked at. */
  @state() accessor _cursor: number | undefined;
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

  protected override updated(): void {
    this.#measure();
  }

  override render(): TemplateResult | typeof nothing {
    const { data, chart } = this;
    if (data === undefined) return nothing;
    if (chart === "number") return this.#number(data);
    if (data.groups.length === 0)
      return html`<div class="number"><span>${msg("Nothing was found: try a longer time range.")}</span></div>`;
    if (chart === "table") return this.#table(data);
    const shares = chart === "pie" ? ringShares(data, this.label) : undefined;
    const isLong = this.#isRows(data) && rowsHeight(data.groups.length) > this._size.height;
    return html`<div class="plot ${isLong ? "long" : ""}" tabindex="0" role="img" aria-label=${this.#summary(data)}
        @pointermove=${this.#onPointer} @pointerleave=${this.#leave} @keydown=${this.#onKey} @blur=${this.#leave}>${this.#plot(data, shares)}</div>
      ${this.#readout(data, shares)}${this.#legend(data, shares)}`;
  }

  #plot(data: ChartData, shares: readonly Share[] | undefined): TemplateResult | typeof nothing {
    const { width, height } = this._size;
    if (width === 0) return nothing;
    const isRows = this.#isRows(data);
    const size = { width, height: isRows ? rowsHeight(data.groups.length) : height };
    const shapes =
      shares !== undefined
        ? plotRing(shares, size, this._cursor)
        : isRows
          ? plotRows(data, size, this._cursor)
          : this.chart === "heat"
            ? plotHeat(data, size, this._cursor)
            : plotGroups(this.chart as "line", data, size, this._cursor);
    return html`<svg width=${size.width} height=${size.height} viewBox="0 0 ${size.width} ${size.height}" aria-hidden="true">${svg`${shapes}`}</svg>`;
  }

  /** Names are read better beside their bars. */
  #isRows({ isTime, groups }: ChartData): boolean {
    return this.chart === "bar" && !isTime && typeof groups[0]?.key === "string";
  }

  #number({ total }: ChartData): TemplateResult {
    return html`<div class="number" role="img" aria-label="${this.label}: ${total ?? msg("nothing")}">
      <b title=${total ?? ""}>${total === undefined ? "–" : formatMeasure(total)}</b><span>${this.label}</span></div>`;
  }

  #table({ groups, series }: ChartData): TemplateResult {
    return html`<div class="table" tabindex="0" role="region" aria-label=${this.label}><table>
      <thead><tr><th scope="col"></th>${series.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${groups.map(
        ({ label }, at) =>
          html`<tr><th scope="row" title=${label}>${label}</th>${series.map(({ values }) => html`<td>${cellText(values[at])}</td>`)}</tr>`,
      )}</tbody></table></div>`;
  }

  #legend({ series }: ChartData, shares: readonly Share[] | undefined): TemplateResult | typeof nothing {
    const colours = seriesColours((shares ?? series).map((one) => ("label" in one ? one.label : one.name)));
    if (shares !== undefined)
      return html`<ul class="legend">${shares.map(
        ({ label, part }, at) =>
          html`<li title=${label}><i class="key ${colourClass(colours[at]!)}"></i><span>${label}</span><b>${formatShare(part)}</b></li>`,
      )}</ul>`;
    if (series.length < 2 || this.chart === "heat") return nothing;
    return html`<ul class="legend">${series.map(
      ({ name }, at) =>
        html`<li title=${name}><i class="key ${colourClass(colours[at]!)}"></i><span>${name}</span></li>`,
    )}</ul>`;
  }

  #readout(data: ChartData, shares: readonly Share[] | undefined): TemplateResult | typeof nothing {
    const at = this._cursor;
    if (at === undefined) return nothing;
    const title = shares === undefined ? data.groups[at]?.label : shares[at]?.label;
    const colours = seriesColours(shares?.map(({ label }) => label) ?? data.series.map(({ name }) => name));
    const lines =
      shares === undefined
        ? data.series.map(({ name, values }, series) => ({
            name,
            value: values[at],
            colour: colours[series]!,
          }))
        : [{ name: this.label, value: shares[at]?.value, colour: colours[at] ?? 0 }];
    const found = lines.filter(({ value }) => value !== undefined && value !== 0);
    const shown = found.toSorted((a, b) => b.value! - a.value!).slice(0, READOUT_LINES);
    return html`<output class="readout ${this._isLeft ? "left" : ""}"><strong>${title}</strong>
      ${shown.map(({ name, value, colour }) => html`<div><i class="key ${colourClass(colour)}"></i><span>${name}</span><b>${cellText(value)}</b></div>`)}
      ${shown.length === 0 ? msg("nothing") : nothing}${found.length > shown.length ? msg(str`and ${found.length - shown.length} more`) : nothing}</output>`;
  }

  #summary({ groups, series, isAdditive }: ChartData): string {
    const sums = isAdditive ? groupSums({ groups, series }) : groupTops({ groups, series });
    const top = sums.indexOf(Math.max(...sums));
    const most = formatMeasure(sums[top] ?? 0);
    return series.length > 1
      ? msg(
          str`${this.label}, ${groups.length} groups in ${series.length} series, most at ${groups[top]?.label}: ${most}. Arrow keys choose a group.`,
        )
      : msg(
          str`${this.label}, ${groups.length} groups, most at ${groups[top]?.label}: ${most}. Arrow keys choose a group.`,
        );
  }

  #count(): number {
    if (this.data === undefined) return 0;
    return this.chart === "pie" ? ringShares(this.data, this.label).length : this.data.groups.length;
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
    if (step === 0) return;
    event.preventDefault();
    const last = this.#count() - 1;
    this._cursor = Math.max(0, Math.min(last, (this._cursor ?? (step > 0 ? -1 : last + 1)) + step));
    this._isLeft = this._cursor > last / 2;
  }

  #leave(): void {
    this._cursor = undefined;
  }

  #measure(): void {
    const plot = this.renderRoot.querySelector<HTMLElement>(".plot");
    if (plot === null) return;
    const width = Math.floor(plot.clientWidth);
    const height = Math.floor(plot.clientHeight);
    if (width !== this._size.width || height !== this._size.height) this._size = { width, height };
  }
}

/** Groups are the shares; without groups, where the only one is named as what is measured, the series are. */
function ringShares(data: ChartData, label: string): Share[] {
  if (data.groups[0]?.key !== label) return sharesOf(data.groups, groupSums(data), MAX_SHARES);
  const names = data.series.map(({ name, value, part }): Group => ({ key: value, label: name, part }));
  return sharesOf(
    names,
    data.series.map(({ values }) => values[0] ?? 0),
    MAX_SHARES,
  );
}

function cellText(value: number | undefined): string {
  return value === undefined ? "–" : formatMeasure(value);
}

customElements.define("tr-chart", ChartView);

declare global {
  interface HTMLElementTagNameMap {
    "tr-chart": ChartView;
  }
}
