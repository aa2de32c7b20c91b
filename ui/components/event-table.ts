/**
 * Lines in rows of one height, of which only those in sight are drawn. Fires `tr-open` with a row's number and
 * `tr-end` when its reader comes near the last row.
 */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { LEVEL_NAMES } from "#proto/live.ts";
import { formatTime } from "../services/format.ts";
import { compileHighlight, splitMatches } from "../services/highlight.ts";
import type { LogDocument } from "../services/log-document.ts";
import { scrollToRow, visibleRows } from "../services/row-window.ts";
import { rowHeightPx } from "../theme.ts";
import { eventTableStyles } from "./event-table-styles.ts";
import { fireColumn } from "./filter-events.ts";
import { icon } from "./icons.ts";
import { controls, logRows } from "./styles.ts";

/** Two lines a row where the screen is narrow: time and level over the text. */
const NARROW_ROW_HEIGHT_PX = 44;
/** Widths of 23 and 5 letters of the rows' type: the head has another one. */
const TIME_AND_LEVEL_TRACKS = "172px 44px";
const NARROW = "(width < 700px)";
/** The next page is asked for when so few rows are left below. */
const ROWS_BEFORE_END = 40;

export class EventTable extends LitElement {
  static override properties = {
    rows: { attribute: false },
    columns: { attribute: false },
    words: { attribute: false },
    selected: { type: Number },
    isUtc: { type: Boolean },
    isLoadingMore: { type: Boolean },
    footer: {},
    _scrollTop: { state: true },
    _viewHeight: { state: true },
  };

  declare rows: readonly LogDocument[];
  declare columns: readonly string[];
  /** Words to mark. */
  declare words: readonly string[];
  /** Number of the chosen row; -1: none. */
  declare selected: number;
  declare isUtc: boolean;
  declare isLoadingMore: boolean;
  /** What is said below the last row. */
  declare footer: string;
  declare _scrollTop: number;
  declare _viewHeight: number;

  static override styles = [controls, logRows, eventTableStyles];

  #resize: ResizeObserver | undefined;
  readonly #narrow = globalThis.matchMedia?.(NARROW);
  #frame = 0;

  constructor() {
    super();
    this.rows = [];
    this.columns = [];
    this.words = [];
    this.selected = -1;
    this.isUtc = false;
    this.isLoadingMore = false;
    this.footer = "";
    this._scrollTop = 0;
    this._viewHeight = 600;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#resize = new ResizeObserver(([entry]) => {
      if (entry !== undefined) this._viewHeight = entry.contentRect.height;
    });
    this.#resize.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resize?.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  /** Puts the keyboard on the rows. */
  focusRows(): void {
    this.#scroller?.focus({ preventScroll: true });
  }

  /** Goes to the first row. */
  scrollToTop(): void {
    this.#scroller?.scrollTo(0, 0);
  }

  override render(): TemplateResult {
    const height = this.#rowHeight;
    const { first, end } = visibleRows(this._scrollTop, this._viewHeight, height, this.rows.length);
    const expression = compileHighlight(this.words);
    const columns = this.columns.length === 0 ? ["message"] : this.columns;
    return html`<div class="scroll" role="grid" tabindex="0" aria-label=${msg("Lines, newest first")} aria-rowcount=${this.rows.length + 1}
        aria-activedescendant=${this.selected >= first && this.selected < end ? `row-${this.selected}` : nothing}
        @scroll=${this.#onScroll} @keydown=${this.#onKey}>
      <div class="head" role="row" aria-rowindex="1">
        <span class="cell" role="columnheader">${msg("Time")}</span><span class="cell" role="columnheader">${msg("Level")}</span>
        ${columns.map((column) => this.#header(column))}
      </div>
      <div class="body" role="presentation">
        ${repeat(
          this.rows.slice(first, end),
          (_, i) => first + i,
          (row, i) => this.#row(row, first + i, columns, expression),
        )}
      </div>
      <div class="foot" role="row"><span role="gridcell">${this.isLoadingMore ? msg("Loading more …") : this.footer}</span></div>
    </div>`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    const height = this.#rowHeight;
    const body = this.renderRoot.querySelector<HTMLElement>(".body");
    body?.style.setProperty("height", `${this.rows.length * height}px`);
    for (const row of this.renderRoot.querySelectorAll<HTMLElement>(".row"))
      row.style.setProperty("top", `${Number(row.dataset["row"]) * height}px`);
    if (!changed.has("columns")) return;
    const count = this.columns.length;
    const tracks = count === 0 ? "1fr" : `repeat(${count}, minmax(7rem, 1fr))`;
    this.style.setProperty("--columns", `${TIME_AND_LEVEL_TRACKS} ${tracks}`);
    this.style.setProperty("--table-width", count > 4 ? `${count * 9 + 22}rem` : "0");
  }

  #header(column: string): TemplateResult {
    return html`<span class="cell" role="columnheader">${column === "message" ? msg("Message") : column}
      ${
        this.columns.length === 0
          ? nothing
          : html`<button class="plain" aria-label=${msg(str`Remove column ${column}`)} title=${msg("Remove column")} @click=${() => fireColumn(this, column)}>
              ${icon("close")}</button>`
      }</span>`;
  }

  #row(
    row: LogDocument,
    number: number,
    columns: readonly string[],
    expression: RegExp | undefined,
  ): TemplateResult {
    const level = row.level;
    const name = LEVEL_NAMES[level];
    return html`<div class="row" role="row" id="row-${number}" data-row=${number} data-level=${level} aria-rowindex=${number + 2}
        aria-selected=${number === this.selected} @dblclick=${() => this.#open(number)}>
      <span class="cell time" role="gridcell"><button class="plain" tabindex="-1" title=${msg("Open this line")} @click=${() => this.#open(number)}>${formatTime(row.timestampMs, this.isUtc)}</button></span>
      <span class="cell level" role="gridcell" title=${name}>${name.slice(0, 5)}</span>
      ${columns.map(
        (column) =>
          html`<span class="cell" role="gridcell">${columns.length > 1 ? html`<span class="label">${column} </span>` : nothing}${splitMatches(
            row.rowText(column),
            expression,
          ).map(({ text, isMatch }) => (isMatch ? html`<mark>${text}</mark>` : text))}</span>`,
      )}
    </div>`;
  }

  /** Chooses the row `step` further, as far as there are rows; shows it. */
  move(step: number): void {
    if (this.rows.length === 0) return;
    const next = Math.max(0, Math.min(this.rows.length - 1, this.selected + step));
    this.#choose(next);
  }

  #onKey(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this._viewHeight / this.#rowHeight) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.rows.length,
      End: this.rows.length,
    };
    const step = steps[event.key];
    if (step !== undefined) this.move(step);
    else if (event.key === "Enter" && this.selected >= 0 && event.target === event.currentTarget)
      this.#open(this.selected);
    else return;
    event.preventDefault();
  }

  #choose(row: number): void {
    this.selected = row;
    this.dispatchEvent(new CustomEvent<number>("tr-select", { detail: row }));
    const scroller = this.#scroller;
    if (scroller === null) return;
    const headHeight = this.renderRoot.querySelector<HTMLElement>(".head")?.offsetHeight ?? 0;
    scroller.scrollTop = scrollToRow(
      row,
      scroller.scrollTop,
      scroller.clientHeight - headHeight,
      this.#rowHeight,
    );
  }

  #open(row: number): void {
    this.selected = row;
    this.dispatchEvent(new CustomEvent<number>("tr-open", { detail: row }));
  }

  #onScroll(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const scroller = this.#scroller;
      if (scroller === null) return;
      this._scrollTop = scroller.scrollTop;
      const lastShown = (scroller.scrollTop + scroller.clientHeight) / this.#rowHeight;
      if (lastShown > this.rows.length - ROWS_BEFORE_END) this.dispatchEvent(new CustomEvent("tr-end"));
    });
  }

  get #scroller(): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>(".scroll");
  }

  get #rowHeight(): number {
    return this.#narrow?.matches === true ? NARROW_ROW_HEIGHT_PX : rowHeightPx();
  }
}

customElements.define("tr-event-table", EventTable);

declare global {
  interface HTMLElementTagNameMap {
    "tr-event-table": EventTable;
  }
}
