/**
 * Lines in rows, of which only those in sight are in the document and are patched in place. Fires `tr-open` and
 * `tr-select` with a row's number, `tr-end` when its reader comes near the last row, and what its head asks for:
 * `tr-sort`, `tr-columns`, `tr-width`.
 */

import { msg } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { controls, logRows } from "#ui/components/style/styles.ts";
import type { Sort } from "#ui/services/search/discover-state.ts";
import type { FieldCatalogue } from "#ui/services/search/fields.ts";
import { isContinued, type LogDocument } from "#ui/services/search/log-document.ts";
import { scrollToPlace } from "#ui/services/table/row-window.ts";
import { hasOtherWords } from "#ui/services/text/highlight.ts";
import { type BodyView, TableBody } from "./table-body.ts";
import "./table-head.ts";

const eventTableStyles = css`
  :host {
    display: block;
    min-height: 0;
    position: relative;
  }
  .scroll {
    position: absolute;
    inset: 0;
    overflow: auto;
    scrollbar-gutter: stable;
    contain: strict;
    outline-offset: -2px;
  }
  .body {
    position: relative;
  }
  .row {
    position: absolute;
    top: 0;
    left: 0;
    right: 0;
    display: grid;
    grid-template-columns: var(--columns);
    gap: 0 12px;
    min-width: var(--table-width, 0);
    height: var(--row-height);
    padding: 0 12px;
    cursor: pointer;
    contain: layout style;
  }
  :host([iswrapped]) .row {
    height: auto;
    min-height: var(--row-height);
  }
  :host([iswrapped]) .row .cell {
    overflow: visible;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
    line-height: max(1.35em, calc(var(--row-height) - 4px));
  }
  .row:hover {
    background: var(--surface-hover);
  }
  .row[aria-selected="true"] {
    background: var(--surface-selected);
  }
  .cell {
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  mark.find {
    background: var(--find);
    color: var(--find-ink);
  }
  .time button {
    display: inline;
    height: auto;
    min-width: 0;
    padding: 0;
    font: inherit;
    color: inherit;
  }
  .time button:hover {
    color: var(--accent);
    background: none;
    text-decoration: underline;
  }
  .label {
    display: none;
    color: var(--ink-faint);
  }
  .foot {
    padding: 8px 12px 14px;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  @media (width < 700px) {
    .row {
      display: block;
      height: 44px;
      min-width: 0;
      padding: 1px 10px 1px 12px;
      border-bottom: 1px solid var(--line);
      white-space: nowrap;
      overflow: hidden;
      text-overflow: ellipsis;
      line-height: 20px;
    }
    :host([iswrapped]) .row {
      height: auto;
      white-space: pre-wrap;
    }
    .cell {
      display: inline;
      margin-right: 8px;
    }
    .level::after {
      content: "\\a";
      white-space: pre;
    }
    mark {
      /* A ground would be painted behind the ellipsis too. */
      background: none;
      color: inherit;
      text-decoration: underline 2px var(--level-warn);
    }
    .label {
      display: inline;
    }
  }
`;

/** The next page is asked for when so few rows are left below. */
const ROWS_BEFORE_END = 40;
const MESSAGE_ONLY: readonly string[] = ["message"];

export class EventTable extends LitElement {
  @property({ attribute: false }) accessor rows: readonly LogDocument[] = [];
  @property({ attribute: false }) accessor columns: readonly string[] = [];
  /** Chosen widths of columns, px. */
  @property({ attribute: false }) accessor widths: Readonly<Record<string, number>> = {};
  /** Known fields; undefined: nothing but the time can be sorted by. */
  @property({ attribute: false }) accessor fields: FieldCatalogue | undefined;
  @property({ attribute: false }) accessor sort: Sort | undefined;
  /** Words to mark. */
  @property({ attribute: false, hasChanged: hasOtherWords }) accessor words: readonly string[] = [];
  /** Text that is looked for in the lines; "": none. */
  @property() accessor find = "";
  /** Number of the chosen row; -1: none. */
  @property({ type: Number }) accessor selected = -1;
  @property({ type: Boolean }) accessor isUtc = false;
  /** True where long texts continue in more lines. */
  @property({ type: Boolean, reflect: true }) accessor isWrapped = false;
  @property({ type: Boolean }) accessor isLoadingMore = false;
  /** What is said below the last row. */
  @property() accessor footer = "";

  static override styles = [controls, logRows, eventTableStyles];

  readonly #body = new TableBody();
  #resize: ResizeObserver | undefined;
  #frame = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#resize = new ResizeObserver(([entry]) => {
      this.#body.resized(entry!.contentRect, this.rows.length);
      this.#drawAnew();
    });
    this.#resize.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resize?.disconnect();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
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
    const isSelectedShown = this.rows[this.selected] !== undefined;
    return html`<div class="scroll" role="grid" tabindex="0" aria-label=${msg("Lines")} aria-rowcount=${this.rows.length + 1}
        aria-activedescendant=${isSelectedShown ? `row-${this.selected}` : nothing}
        @scroll=${this.#onScroll} @keydown=${this.#onKey}>
      <tr-table-head role="row" aria-rowindex="1" .columns=${this.#shownColumns} .canRemove=${this.columns.length > 0}
        .fields=${this.fields} .sort=${this.sort} .widths=${this.widths}></tr-table-head>
      <div class="body" role="presentation" @click=${this.#onClick}></div>
      <div class="foot" role="row"><span role="gridcell">${this.isLoadingMore ? msg("Loading more …") : this.footer}</span></div>
    </div>`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    const rowsGrew = changed.has("rows") && isContinued(changed.get("rows"), this.rows);
    const hasOtherHeights = changed.has("isWrapped") || changed.has("columns") || changed.has("widths");
    if (rowsGrew && !hasOtherHeights) this.#body.grow(this.rows.length);
    else if (changed.has("rows") || hasOtherHeights) this.#body.forgetHeights(this.rows.length);
    const looks = ["columns", "words", "find", "isUtc", "isWrapped"] as const;
    if (looks.some((name) => changed.has(name))) this.#setLook();
    if (changed.has("columns") || changed.has("widths")) this.#setTracks();
    this.#drawAnew();
    // Other rows may come while the reader is at the end already, where nothing scrolls any more.
    if (changed.has("rows") && this.rows.length > 0) this.#onScroll();
  }

  #setLook(): void {
    const { words, find, isUtc, isWrapped } = this;
    this.#body.setLook({ columns: this.#shownColumns, words, find, isUtc, isWrapped });
  }

  #drawAnew(): void {
    const view = this.#view;
    if (view !== undefined) this.#body.drawAnew(view);
  }

  #setTracks(): void {
    this.style.setProperty("--columns", columnTracks(this.columns, this.widths));
    this.style.setProperty("--table-width", tableWidth(this.columns, this.widths));
  }

  /** Chooses the row `step` further, as far as there are rows; shows it. */
  move(step: number): void {
    if (this.rows.length === 0) return;
    this.choose(Math.max(0, Math.min(this.rows.length - 1, this.selected + step)));
  }

  /** Chooses a row and brings it in sight. */
  choose(row: number): void {
    this.selected = row;
    this.dispatchEvent(new CustomEvent<number>("tr-select", { detail: row }));
    const scroller = this.#scroller;
    if (scroller === null) return;
    const headHeight = this.renderRoot.querySelector("tr-table-head")?.offsetHeight ?? 0;
    scroller.scrollTop = scrollToPlace(
      this.#body.placeOf(row),
      scroller.scrollTop,
      scroller.clientHeight - headHeight,
    );
  }

  #onKey(event: KeyboardEvent): void {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor((this.#scroller?.clientHeight ?? 0) / this.#body.rowHeight) - 2);
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
    else if (event.key === "Enter" && this.selected >= 0) this.#open(this.selected);
    else return;
    event.preventDefault();
  }

  /** A click opens a line, unless it ended a selection of text. */
  #onClick(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>(".row");
    if (row === null || getSelection()?.isCollapsed === false) return;
    this.#open(Number(row.dataset["row"]));
  }

  #open(row: number): void {
    this.selected = row;
    this.dispatchEvent(new CustomEvent<number>("tr-open", { detail: row }));
  }

  #onScroll(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const view = this.#view;
      if (view === undefined) return;
      this.#body.draw(view);
      const last = this.#body.lastInSight(view.scroller);
      if (last > this.rows.length - ROWS_BEFORE_END) this.dispatchEvent(new CustomEvent("tr-end"));
    });
  }

  get #shownColumns(): readonly string[] {
    return this.columns.length === 0 ? MESSAGE_ONLY : this.columns;
  }

  get #scroller(): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>(".scroll");
  }

  /** Undefined until the table is drawn. */
  get #view(): BodyView | undefined {
    const scroller = this.#scroller;
    const body = this.renderRoot.querySelector<HTMLElement>(".body");
    if (scroller === null || body === null) return undefined;
    return { rows: this.rows, selected: this.selected, scroller, body };
  }
}

/** Widths of 23 and 5 letters of the rows' type: the head has another one. */
const TIME_AND_LEVEL = "172px 44px";
/** Of both and the space around them, px. */
const TIME_AND_LEVEL_PX = 270;
const GAP_PX = 12;
const FIELD = "minmax(7rem, 1fr)";
const FIELD_PX = 132;
const MESSAGE = "minmax(16rem, 3fr)";
/** More columns without a chosen width need more than a screen. */
const MAX_FITTING = 4;

type Widths = Readonly<Record<string, number>>;

/** Returns the tracks of a grid: time, level and the columns, by their chosen widths in px where they have one. */
function columnTracks(columns: readonly string[], widths: Widths): string {
  const track = (column: string): string =>
    widths[column] === undefined ? (column === "message" ? MESSAGE : FIELD) : `${widths[column]}px`;
  return `${TIME_AND_LEVEL} ${columns.length === 0 ? "1fr" : columns.map(track).join(" ")}`;
}

/** Returns the least width of the table: where it is more than there is, it scrolls sideways. */
function tableWidth(columns: readonly string[], widths: Widths): string {
  if (columns.length <= MAX_FITTING && Object.keys(widths).length === 0) return "0";
  const widthOf = (column: string): number => (widths[column] ?? FIELD_PX) + GAP_PX;
  return `${columns.reduce((sum, column) => sum + widthOf(column), TIME_AND_LEVEL_PX)}px`;
}

customElements.define("tr-event-table", EventTable);

declare global {
  interface HTMLElementTagNameMap {
    "tr-event-table": EventTable;
  }
}
