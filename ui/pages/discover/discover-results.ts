/**
 * Discover's results: fields, histogram, lines and the chosen line. Fires `tr-go` with changes of the page's state, and
 * `tr-again` to search again.
 */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import type { FilterDetail } from "#ui/components/controls/field-events.ts";
import { HotkeyController } from "#ui/components/controls/hotkeys.ts";
import { LateDrawing, nextFrame } from "#ui/components/controls/next-frame.ts";
import { icon } from "#ui/components/style/icons.ts";
import { skeleton, skeletonStyles } from "#ui/components/style/skeleton.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import type { TopValues } from "#ui/components/table/field-list.ts";
import type { WidthDetail } from "#ui/components/table/table-head.ts";
import { OwnRights } from "#ui/services/administration/own-rights.ts";
import { readPreference, writePreference } from "#ui/services/browser/preferences.ts";
import { SurroundingLines, surroundingsOf } from "#ui/services/discover/surrounding-lines.ts";
import {
  addFilter,
  DEFAULT_STATE,
  type DiscoverState,
  type Sort,
  toggleColumn,
} from "#ui/services/search/discover-state.ts";
import { type Field, namesIn } from "#ui/services/search/fields.ts";
import { type LogDocument, nextError } from "#ui/services/search/log-document.ts";
import type { SearchClient } from "#ui/services/search/search-client.ts";
import { absoluteRange, type ResolvedRange } from "#ui/services/search/time-range.ts";
import type { FieldFormats } from "#ui/services/text/field-format.ts";
import { formatMoment } from "#ui/services/text/format.ts";
import { highlightWords } from "#ui/services/text/highlight.ts";
import { addClause } from "#ui/services/visualise/chart-picks.ts";
import type { DiscoverModel } from "./discover-model.ts";
import { resultsStyles } from "./discover-styles.ts";
import { emptyView, footerText, statusView } from "./discover-views.ts";
import "#ui/components/controls/pane-edge.ts";
import "#ui/components/table/event-table.ts";
import "#ui/components/table/field-list.ts";
import "#ui/components/chart/histogram.ts";
import "./discover-tools.ts";
import type { PatternDetail } from "./patterns-panel.ts";

/** Where the list of fields is beside the lines, and not over them. */
const WIDE = matchMedia("(width >= 900px)");

export class DiscoverResults extends LitElement {
  @property({ attribute: false }) accessor state: DiscoverState = DEFAULT_STATE;
  /** Its owner calls `requestUpdate` when it has changed. */
  @property({ attribute: false }) accessor model!: DiscoverModel;
  @property({ attribute: false }) accessor client!: SearchClient;
  /** One of two searches side by side: the fields stay folded until the user opens them. */
  @property({ type: Boolean }) accessor isSide = false;
  @state() accessor _selected = -1;
  @state() accessor _isOpen = false;
  @state() accessor _hasFields: boolean = WIDE.matches;
  @state() accessor _isWrapped: boolean = readPreference("wrap") === "on";
  @state() accessor _isFinding = false;
  /** Text that is searched for in the lines. */
  @state() accessor _find = "";

  static override styles = [controls, notices, skeletonStyles, resultsStyles];

  /** The selected line, even after its row was replaced. */
  #line: LogDocument | undefined;
  // Kept because the list of fields draws itself again for another object.
  #presentIn: readonly LogDocument[] = [];
  #present: ReadonlySet<string> = new Set();
  /** Fields are listed after the first lines. */
  #listsFields = false;
  readonly #late = new LateDrawing();
  readonly #rights = new OwnRights(this);
  readonly #loadValues = (field: Field): Promise<TopValues | undefined> => this.model.topValues(field);
  readonly #around = (line: LogDocument): SurroundingLines =>
    new SurroundingLines(line, this.client, this.state.index);

  /** On a screen that became narrow the list would cover the lines. */
  readonly #onNarrow = (): void => {
    if (!WIDE.matches) this._hasFields = false;
  };

  constructor() {
    super();
    new HotkeyController(this, {
      f: () => this.#focusFields(),
      j: () => this.#step(1),
      k: () => this.#step(-1),
      Enter: () => this.#open(this._selected),
      Escape: () => this.#close(),
      s: () => this.#setFinding(true),
      w: () => this.#toggleWrap(),
      e: () => this.#goToError(1),
      E: () => this.#goToError(-1),
      y: () => void this.renderRoot.querySelector("tr-discover-tools")?.copyLink(),
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    WIDE.addEventListener("change", this.#onNarrow);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    WIDE.removeEventListener("change", this.#onNarrow);
  }

  /** True while a line is open. */
  get isReading(): boolean {
    return this._isOpen;
  }

  /** An opened line is marked first: everything beside it gets a new layout. */
  get #isOpenDrawn(): boolean {
    return this._isOpen && !this.#late.isDue;
  }

  /** Starts at the first row again, for other lines. */
  reset(): void {
    this.#select(-1);
    this._isOpen = false;
    this.#table?.scrollToTop();
  }

  override render(): TemplateResult {
    const places = `${this.#isOpenDrawn ? "with-details" : ""} ${this._hasFields ? "with-fields" : ""}`;
    return html`<div class="work ${places}" @tr-filter=${this.#onFilter} @tr-column=${this.#onColumn}>
      ${this._hasFields ? this.#fieldList() : nothing}
      <div class="main">${this.#main()}${this.#edges()}</div>
      ${this.#isOpenDrawn ? this.#details() : nothing}
      <tr-data-view-dialog @tr-formats=${({ detail }: CustomEvent<FieldFormats>) => this.model.setFormats(detail)}></tr-data-view-dialog>
    </div>`;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("isSide") && this.isSide) this._hasFields = false;
    this.#followLine();
  }

  /** A running search adds rows before the chosen line, or returns rows without it. */
  #followLine(): void {
    const key = this.#line?.key;
    const { rows } = this.model;
    if (key === undefined || rows[this._selected]?.key === key) return;
    this._selected = rows.findIndex((row) => row.key === key);
  }

  protected override updated(): void {
    void this.#afterRows();
  }

  /** Work deferred until the first lines are drawn. */
  async #afterRows(): Promise<void> {
    await nextFrame();
    const { rows } = this.model;
    // Tried again with the next change if the hub is unreachable.
    if (rows.length > 0) loadLater().catch(() => undefined);
    if (rows.length > 0 && this.#presentIn.length === 0)
      this.dispatchEvent(new Event("tr-first-lines", { bubbles: true, composed: true }));
    if (rows === this.#presentIn && this.#listsFields) return;
    this.#listsFields = true;
    this.#presentIn = rows;
    this.#present = namesIn(rows);
    this.requestUpdate();
  }

  #fieldList(): TemplateResult {
    const formats = msg(str`Formats of the fields of ${this.state.index}`);
    return html`<aside aria-label=${msg("Fields")}>
      <button class="plain small icon formats" aria-label=${formats} title=${formats} @click=${() => void this.#editFormats()}>${icon("edit")}</button>
      <tr-field-list .fields=${this.#listsFields ? this.model.fields : undefined} .columns=${this.state.columns} .present=${this.#present}
        .search=${this.model.range} .loadValues=${this.#loadValues}></tr-field-list>
    </aside>`;
  }

  #main(): TemplateResult {
    const { model } = this;
    const isEmpty =
      model.total === 0 &&
      model.range !== undefined &&
      !model.isLoading &&
      model.fault === undefined &&
      model.warning === undefined;
    return html`
      <div class="progress" ?hidden=${!model.isLoading} role="presentation"></div>
      ${model.fault === undefined ? nothing : html`${errorView(model.fault)}${model.rows.length === 0 ? nothing : html`<p class="stale">${msg(str`The lines below were found at ${formatMoment(model.loadedMs)}.`)}</p>`}`}
      ${model.warning === undefined ? nothing : html`<div class="notice warning" role="alert"><p>${model.warning}</p></div>`}
      <div class="chart">
        <tr-histogram .histogram=${model.histogram} .isUtc=${this.state.isUtc} .step=${this.state.step} .isLog=${this.state.isLog}
          @tr-zoom=${this.#onZoom} @tr-step=${({ detail }: CustomEvent<string>) => this.#go({ step: detail })} @tr-scale=${({ detail }: CustomEvent<boolean>) => this.#go({ isLog: detail })}></tr-histogram>
        <tr-pane-edge name="histogram" side="bottom" pane="tr-histogram" leastPx="96" mostPx="480" usualPx="156" .label=${msg("Height of the histogram")}></tr-pane-edge>
      </div>
      ${this.#status()}${this._isFinding ? this.#findBar() : nothing}
      ${isEmpty ? emptyView(model, this.state, (change) => this.#go(change), this.#rights.may("administer")) : nothing}
      ${model.range === undefined && model.isLoading ? skeleton(16) : nothing}
      ${this.state.view === "patterns" ? this.#patterns() : this.#tableView()}
    `;
  }

  /** Of the fields and of the open line. */
  #edges(): TemplateResult {
    return html`${this._hasFields ? html`<tr-pane-edge name="fields" side="left" pane="aside" leastPx="160" mostPx="480" usualPx="240" .label=${msg("Width of the fields")}></tr-pane-edge>` : nothing}
      ${this.#isOpenDrawn ? html`<tr-pane-edge name="details" side="right" pane="tr-event-details" leastPx="300" mostPx="900" usualPx="420" .label=${msg("Width of the open line")}></tr-pane-edge>` : nothing}`;
  }

  #status(): TemplateResult {
    const { model, state, client } = this;
    return statusView({
      model,
      hasFields: this._hasFields,
      isFinding: this._isFinding,
      isWrapped: this._isWrapped,
      tools: html`<tr-discover-tools .state=${state} .range=${model.range} .client=${client}></tr-discover-tools>`,
      view: state.view,
      onView: (view) => this.#go({ view }),
      onFields: () => this.#toggleFields(),
      onFind: () => this.#setFinding(!this._isFinding),
      onWrap: () => this.#toggleWrap(),
      onError: (step) => this.#goToError(step),
      onAgain: () => this.dispatchEvent(new CustomEvent("tr-again")),
    });
  }

  #findBar(): TemplateResult {
    return html`<tr-find-bar .rows=${this.model.rows} .columns=${this.state.columns} .selected=${this._selected}
      @tr-find=${this.#onFind} @tr-select=${(event: CustomEvent<number>) => this.#table?.choose(event.detail)}
      @tr-close=${() => this.#setFinding(false)}></tr-find-bar>`;
  }

  #tableView(): TemplateResult {
    const { model } = this;
    const { columns, widths, sort, query, isUtc } = this.state;
    return html`<tr-event-table .rows=${model.rows} .columns=${columns} .widths=${widths} .sort=${sort} .fields=${model.fields}
      .isWrapped=${this._isWrapped} .find=${this._find} .words=${highlightWords(query)} .selected=${this._selected} .isUtc=${isUtc}
      .isLoadingMore=${model.isLoadingMore} .footer=${footerText(model)} ?hidden=${model.rows.length === 0}
      @tr-sort=${(event: CustomEvent<Sort>) => this.#go({ sort: event.detail })}
      @tr-columns=${(event: CustomEvent<string[]>) => this.#go({ columns: event.detail })} @tr-width=${this.#onWidth}
      @tr-select=${(event: CustomEvent<number>) => this.#select(event.detail)}
      @tr-open=${(event: CustomEvent<number>) => this.#open(event.detail)} @tr-end=${() => void model.more()}></tr-event-table>`;
  }

  /** Loaded together with the table's details. */
  #patterns(): TemplateResult {
    const { model, state, client } = this;
    return html`<tr-patterns-panel .state=${state} .range=${model.range} .client=${client} ?hidden=${model.rows.length === 0} @tr-pattern=${this.#onPattern}></tr-patterns-panel>`;
  }

  #onPattern({ detail: { clause, exclude } }: CustomEvent<PatternDetail>): void {
    const query = addClause(this.state.query, exclude ? `NOT (${clause})` : clause);
    this.#go(exclude ? { query } : { query, view: "lines" });
  }

  #details(): TemplateResult | typeof nothing {
    const document = this.model.rows[this._selected] ?? this.#line;
    if (document === undefined) return nothing;
    return html`<tr-event-details role="complementary" aria-label=${msg("Selected line")} .document=${document} .columns=${this.state.columns}
      .isUtc=${this.state.isUtc} .around=${this.#around} .surroundings=${surroundingsOf(document, this.state)}
      @tr-close=${this.#close} @tr-step=${(event: CustomEvent<number>) => this.#step(event.detail)}></tr-event-details>`;
  }

  async #editFormats(): Promise<void> {
    await loadLater();
    await this.renderRoot.querySelector("tr-data-view-dialog")?.open(this.state.index, this.model.fields);
  }

  #go(change: Partial<DiscoverState>): void {
    this.dispatchEvent(new CustomEvent<Partial<DiscoverState>>("tr-go", { detail: change }));
  }

  #onFilter({ detail }: CustomEvent<FilterDetail>): void {
    this.#go({ filters: addFilter(this.state.filters, { ...detail, disabled: false }) });
  }

  #onColumn({ detail }: CustomEvent<string>): void {
    this.#go({ columns: toggleColumn(this.state.columns, detail) });
  }

  #onWidth({ detail: { column, width } }: CustomEvent<WidthDetail>): void {
    this.#go({ widths: { ...this.state.widths, [column]: width } });
  }

  #onZoom({ detail }: CustomEvent<ResolvedRange>): void {
    this.#go({ range: absoluteRange(detail.fromMs, detail.toMs) });
  }

  #onFind({ detail }: CustomEvent<string>): void {
    this._find = detail;
  }

  #toggleFields(): void {
    this._hasFields = !this._hasFields;
  }

  #focusFields(): void {
    this._hasFields = true;
    void this.updateComplete.then(() => this.renderRoot.querySelector("tr-field-list")?.focusSearch());
  }

  #toggleWrap(): void {
    this._isWrapped = !this._isWrapped;
    writePreference("wrap", this._isWrapped ? "on" : undefined);
  }

  #setFinding(isFinding: boolean): void {
    if (isFinding && this._isFinding)
      void loadLater().then(() => this.renderRoot.querySelector("tr-find-bar")?.focusText());
    if (!isFinding) {
      this._find = "";
      this.#table?.focusRows();
    }
    this._isFinding = isFinding;
  }

  #goToError(step: 1 | -1): void {
    const next = nextError(this.model.rows, this._selected, step);
    if (next !== undefined) this.#table?.choose(next);
  }

  #step(step: number): void {
    this.#table?.move(step);
    // Enter then opens the line, and presses no button that had the focus.
    if (!this._isOpen) this.#table?.focusRows();
  }

  #select(row: number): void {
    this._selected = row;
    this.#line = this.model.rows[row];
  }

  #open(row: number): void {
    if (this.model.rows[row] === undefined) return;
    this.#select(row);
    if (!this._isOpen) this.#late.defer(() => this.#draw());
    this._isOpen = true;
  }

  #draw(): void {
    this.requestUpdate();
    this.performUpdate();
  }

  #close(): void {
    this._isOpen = false;
    this.#table?.focusRows();
  }

  get #table(): HTMLElementTagNameMap["tr-event-table"] | null {
    return this.renderRoot?.querySelector?.("tr-event-table") ?? null;
  }
}

/** Loads the parts that are hidden until there are lines. */
function loadLater(): Promise<unknown> {
  return import("./discover-deferred.ts");
}

customElements.define("tr-discover-results", DiscoverResults);

declare global {
  interface HTMLElementTagNameMap {
    "tr-discover-results": DiscoverResults;
  }
}
