/** Discover: search the lines of a time range. Everything it shows follows from its address. */

import { msg } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import "../components/event-details.ts";
import "../components/event-table.ts";
import { faultView } from "../components/fault-view.ts";
import "../components/field-list.ts";
import type { FilterDetail } from "../components/filter-events.ts";
import "../components/histogram.ts";
import { HotkeyController } from "../components/hotkeys.ts";
import { icon } from "../components/icons.ts";
import "../components/query-bar.ts";
import type { SearchDetail } from "../components/query-bar.ts";
import { controls, notices } from "../components/styles.ts";
import "../components/time-range-picker.ts";
import { navigate } from "../router.ts";
import {
  addFilter,
  DEFAULT_INDEX,
  type DiscoverState,
  type FieldFilter,
  readState,
  toQueryText,
  writeState,
} from "../services/discover-state.ts";
import { takeFirstSearch } from "../services/first-search.ts";
import { highlightWords } from "../services/highlight.ts";
import { SearchClient } from "../services/search-client.ts";
import {
  absoluteRange,
  isRelative,
  moveRange,
  type ResolvedRange,
  type TimeRange,
} from "../services/time-range.ts";
import { DiscoverModel } from "./discover-model.ts";
import { discoverStyles } from "./discover-styles.ts";
import "./discover-tools.ts";
import { emptyView, footerText, pillsView, summaryText } from "./discover-views.ts";
import { surroundingsOf } from "./surroundings.ts";

/** Around the newest line of an empty range. */
const NEWEST_MARGIN_MS = 15 * 60_000;

export class DiscoverPage extends LitElement {
  static override properties = {
    parameters: { attribute: false },
    _selected: { state: true },
    _isOpen: { state: true },
    _hasFields: { state: true },
  };

  /** Of the address. */
  declare parameters: URLSearchParams;
  declare _selected: number;
  declare _isOpen: boolean;
  declare _hasFields: boolean;

  static override styles = [controls, notices, discoverStyles];

  #state: DiscoverState = readState(new URLSearchParams());
  #refresh: ReturnType<typeof setInterval> | undefined;
  /** Of the first page only: its requests were sent before this was loaded. */
  #first = takeFirstSearch();
  readonly #client = new SearchClient(this.#first?.fetch);
  readonly #model = new DiscoverModel(this.#client, () => this.requestUpdate());

  constructor() {
    super();
    this.parameters = new URLSearchParams();
    this._selected = -1;
    this._isOpen = false;
    this._hasFields = matchMedia("(width >= 900px)").matches;
    new HotkeyController(this, {
      "/": () => this.renderRoot.querySelector("tr-query-bar")?.focusQuery(),
      t: () => void this.renderRoot.querySelector("tr-time-range-picker")?.open(),
      f: () => this.#focusFields(),
      r: () => this.#run(),
      l: () => this.#goLive(),
      j: () => this.#step(1),
      k: () => this.#step(-1),
      Enter: () => this.#open(this._selected),
      Escape: () => this.#close(),
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#model.loadIndexNames();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#refresh);
    this.#model.stop();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("parameters")) return;
    const before = this.#state;
    this.#state = readState(this.parameters);
    clearInterval(this.#refresh);
    if (this.#state.refreshSeconds > 0)
      this.#refresh = setInterval(() => this.#refreshNow(), this.#state.refreshSeconds * 1_000);
    const searchOf = (state: DiscoverState): string =>
      JSON.stringify({ ...state, columns: [], refreshSeconds: 0, filters: state.filters });
    if (this.#model.range === undefined || searchOf(before) !== searchOf(this.#state)) this.#run();
  }

  override render(): TemplateResult {
    const { query, index, range, refreshSeconds, isUtc } = this.#state;
    const model = this.#model;
    return html`
      <div class="bar">
        <tr-query-bar .query=${query} .index=${index} .indices=${choices(model.indexNames)} .isBusy=${model.isLoading}
          .fields=${model.fields} .loadValues=${model.valuesOf.bind(model)} @tr-search=${this.#onSearch}></tr-query-bar>
        <tr-time-range-picker .range=${range} .refreshSeconds=${refreshSeconds} .isUtc=${isUtc}
          @tr-range=${this.#onRange} @tr-refresh=${this.#onRefresh} @tr-zone=${this.#onZone}></tr-time-range-picker>
        <button @click=${this.#goLive} title=${msg("Watch new lines (l)")}>${icon("play")}${msg("Live")}</button>
      </div>
      ${pillsView(
        this.#state.filters,
        (filter) => this.#toggleFilter(filter),
        (filter) => this.#removeFilter(filter),
      )}
      <div class="work ${this._isOpen ? "with-details" : ""} ${this._hasFields ? "with-fields" : ""}" @tr-filter=${this.#onFilter} @tr-column=${this.#onColumn}>
        ${this._hasFields ? this.#fields() : nothing}
        <div class="main">${this.#results()}</div>
        ${this._isOpen ? this.#details() : nothing}
      </div>
    `;
  }

  #fields(): TemplateResult {
    const { fields } = this.#model;
    return html`<aside aria-label=${msg("Fields")}>
      <tr-field-list .fields=${fields === undefined ? [] : [...fields.values()]} .columns=${this.#state.columns}
        .loadValues=${this.#model.topValues.bind(this.#model)}></tr-field-list>
    </aside>`;
  }

  #results(): TemplateResult {
    const model = this.#model;
    return html`
      <div class="progress" ?hidden=${!model.isLoading} role="presentation"></div>
      ${model.fault === undefined ? nothing : faultView(model.fault)}
      ${model.warning === undefined ? nothing : html`<div class="notice warning" role="alert"><p>${model.warning}</p></div>`}
      <div class="chart">
        <tr-histogram .histogram=${model.histogram} .isUtc=${this.#state.isUtc} @tr-zoom=${this.#onZoom}></tr-histogram>
      </div>
      <div class="status">
        <button class="plain small" aria-pressed=${this._hasFields} @click=${this.#toggleFields} title=${msg("Fields (f)")}>${icon("list")}${msg("Fields")}</button>
        <span role="status">${summaryText(model)}</span>
        <span class="space"></span>
        <tr-discover-tools .state=${this.#state} .range=${model.range} .client=${this.#client}></tr-discover-tools>
        <button class="plain small" @click=${() => this.#zoomOut()} title=${msg("Twice the time range")}>${msg("Zoom out")}</button>
        <button class="plain small icon" @click=${() => this.#run()} aria-label=${msg("Search again")} title=${msg("Search again (r)")}>${icon("refresh")}</button>
      </div>
      ${model.total === 0 && model.range !== undefined && !model.isLoading && model.fault === undefined ? emptyView(model.newestMs, (newestMs) => this.#jumpTo(newestMs)) : nothing}
      <tr-event-table .rows=${model.rows} .columns=${this.#state.columns} .words=${highlightWords(this.#state.query)}
        .selected=${this._selected} .isUtc=${this.#state.isUtc} .isLoadingMore=${model.isLoadingMore}
        .footer=${footerText(model)} ?hidden=${model.rows.length === 0}
        @tr-select=${this.#onSelect} @tr-open=${(event: CustomEvent<number>) => this.#open(event.detail)}
        @tr-end=${() => void model.more()}></tr-event-table>
    `;
  }

  #details(): TemplateResult | typeof nothing {
    const document = this.#model.rows[this._selected];
    if (document === undefined) return nothing;
    return html`<tr-event-details role="complementary" aria-label=${msg("The chosen line")} .document=${document} .columns=${this.#state.columns}
      .isUtc=${this.#state.isUtc} .surroundings=${surroundingsOf(document, this.#state)}
      @tr-close=${this.#close} @tr-step=${(event: CustomEvent<number>) => this.#step(event.detail)}></tr-event-details>`;
  }

  #run(): void {
    this._selected = -1;
    this._isOpen = false;
    this.renderRoot?.querySelector?.("tr-event-table")?.scrollToTop();
    void this.#model.run(this.#state, this.#first?.nowMs);
    this.#first = undefined;
  }

  /** A refresh under a reader's eyes would take the line away. */
  #refreshNow(): void {
    if (!this._isOpen && !document.hidden && isRelative(this.#state.range) && !this.#model.isLoading)
      this.#run();
  }

  #go(change: Partial<DiscoverState>): void {
    navigate({ page: "discover", parameters: writeState({ ...this.#state, ...change }) });
  }

  #onSearch({ detail }: CustomEvent<SearchDetail>): void {
    const { query, index } = this.#state;
    if (detail.query === query && detail.index === index) this.#run();
    else this.#go(detail);
  }

  #onRange({ detail }: CustomEvent<TimeRange>): void {
    if (detail.from === this.#state.range.from && detail.to === this.#state.range.to) this.#run();
    else this.#go({ range: detail });
  }

  #onRefresh({ detail }: CustomEvent<number>): void {
    this.#go({ refreshSeconds: detail });
  }

  #onZone({ detail }: CustomEvent<boolean>): void {
    this.#go({ isUtc: detail });
  }

  #onZoom({ detail }: CustomEvent<ResolvedRange>): void {
    this.#go({ range: absoluteRange(detail.fromMs, detail.toMs) });
  }

  #onFilter({ detail }: CustomEvent<FilterDetail>): void {
    this.#go({ filters: addFilter(this.#state.filters, { ...detail, disabled: false }) });
  }

  #onColumn({ detail }: CustomEvent<string>): void {
    const { columns } = this.#state;
    this.#go({
      columns: columns.includes(detail) ? columns.filter((name) => name !== detail) : [...columns, detail],
    });
  }

  #onSelect({ detail }: CustomEvent<number>): void {
    this._selected = detail;
  }

  #toggleFilter(filter: FieldFilter): void {
    const { filters } = this.#state;
    this.#go({ filters: filters.map((one) => (one === filter ? { ...one, disabled: !one.disabled } : one)) });
  }

  #removeFilter(filter: FieldFilter): void {
    this.#go({ filters: this.#state.filters.filter((one) => one !== filter) });
  }

  #zoomOut(): void {
    const { range } = this.#model;
    if (range !== undefined) this.#go({ range: moveRange(range, 0, 2) });
  }

  #jumpTo(newestMs: number): void {
    this.#go({ range: absoluteRange(newestMs - NEWEST_MARGIN_MS, newestMs + 1_000) });
  }

  #goLive(): void {
    const parameters = new URLSearchParams();
    const { query, filters, index } = this.#state;
    const text = toQueryText(query, filters);
    if (text !== "") parameters.set("q", text);
    if (index !== DEFAULT_INDEX) parameters.set("index", index);
    navigate({ page: "live", parameters });
  }

  #toggleFields(): void {
    this._hasFields = !this._hasFields;
  }

  #focusFields(): void {
    this._hasFields = true;
    void this.updateComplete.then(() => this.renderRoot.querySelector("tr-field-list")?.focusSearch());
  }

  #step(step: number): void {
    this.renderRoot.querySelector("tr-event-table")?.move(step);
  }

  #open(row: number): void {
    if (this.#model.rows[row] === undefined) return;
    this._selected = row;
    this._isOpen = true;
  }

  #close(): void {
    this._isOpen = false;
    this.renderRoot.querySelector("tr-event-table")?.focusRows();
  }
}

/** Patterns of the names' beginnings, then the names. */
function choices(names: readonly string[]): string[] {
  const patterns = new Set<string>([DEFAULT_INDEX, "*"]);
  for (const name of names) {
    const stem = /^([a-z_]+-)(?=.*\d)/.exec(name)?.[1];
    if (stem !== undefined) patterns.add(`${stem}*`);
  }
  return [...patterns, ...names];
}

customElements.define("tr-page-discover", DiscoverPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-discover": DiscoverPage;
  }
}
