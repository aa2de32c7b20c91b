/**
 * Lines in rows, of which only those in sight are in the document and are patched in place. Fires `tr-open` and
 * `tr-select` with a row's number, `tr-end` near the last row, `tr-filter` with a cell's value, and the events of its
 * head: `tr-sort`, `tr-columns`, `tr-width`.
 */

import { msg } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { ansiStyles } from "#ui/components/style/ansi-text.ts";
import { controls, logRows } from "#ui/components/style/styles.ts";
import type { Sort } from "#ui/services/search/discover-state.ts";
import { type FieldCatalogue, isNumber } from "#ui/services/search/fields.ts";
import { DEFAULT_COLUMNS, isContinued, type LogDocument } from "#ui/services/search/log-document.ts";
import { scrollToPlace } from "#ui/services/table/row-heights.ts";
import { hasOtherWords } from "#ui/services/text/highlight.ts";
import { CellTools } from "./cell-tools.ts";
import { eventTableStyles } from "./event-table-styles.ts";
import { type BodyView, TableBody } from "./table-body.ts";
import "./table-head.ts";

/** The next page is requested when so few rows are left below. */
const ROWS_BEFORE_END = 40;

export class EventTable extends LitElement {
  @property({ attribute: false }) accessor rows: readonly LogDocument[] = [];
  @property({ attribute: false }) accessor columns: readonly string[] = [];
  /** Chosen widths of columns, px. */
  @property({ attribute: false }) accessor widths: Readonly<Record<string, number>> = {};
  /** Known fields; undefined: only the time can be sorted by. */
  @property({ attribute: false }) accessor fields: FieldCatalogue | undefined;
  @property({ attribute: false }) accessor sort: Sort | undefined;
  /** Words to mark. */
  @property({ attribute: false, hasChanged: hasOtherWords }) accessor words: readonly string[] = [];
  /** Text that is searched for in the lines; "": none. */
  @property() accessor find = "";
  /** Number of the chosen row; -1: none. */
  @property({ type: Number }) accessor selected = -1;
  @property({ type: Boolean }) accessor isUtc = false;
  /** True if long texts wrap. */
  @property({ type: Boolean, reflect: true }) accessor isWrapped = false;
  @property({ type: Boolean }) accessor isLoadingMore = false;
  /** The text below the last row. */
  @property() accessor footer = "";

  static override styles = [controls, logRows, ansiStyles, eventTableStyles];

  readonly #body = new TableBody();
  readonly #tools = new CellTools(this, (row) => this.rows[row]);
  #resize: ResizeObserver | undefined;
  #frame = 0;
  /** Columns of numbers. */
  #numbers: ReadonlySet<string> = new Set();

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

  /** Moves the focus to the rows. */
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
        @scroll=${this.#onScroll} @keydown=${this.#onKey} @pointerover=${this.#onPointer}>
      <tr-table-head role="row" aria-rowindex="1" .columns=${this.#shownColumns} .canRemove=${this.columns.length > 0}
        .fields=${this.fields} .sort=${this.sort} .widths=${this.widths}></tr-table-head>
      <div class="body" role="presentation" @click=${this.#onClick}></div>
      <div class="foot" role="row"><span role="gridcell">${this.isLoadingMore ? msg("Loading more …") : this.footer}</span></div>
    </div>${this.#tools.view()}`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    const rowsGrew = changed.has("rows") && isContinued(changed.get("rows"), this.rows);
    const hasOtherHeights = changed.has("isWrapped") || changed.has("columns") || changed.has("widths");
    if (changed.has("rows") && !rowsGrew) this.#body.forgetWhole();
    if (rowsGrew && !hasOtherHeights) this.#body.grow(this.rows.length);
    else if (changed.has("rows") || hasOtherHeights) this.#body.forgetHeights(this.rows.length);
    const looks = ["columns", "words", "find", "isUtc", "isWrapped"] as const;
    const hasOtherNumbers = (changed.has("columns") || changed.has("fields")) && this.#findNumbers();
    if (hasOtherNumbers || looks.some((name) => changed.has(name))) this.#setLook();
    if (hasOtherNumbers || changed.has("rows") || changed.has("columns") || changed.has("widths"))
      this.#setTracks();
    this.#drawAnew();
    // More rows may arrive while the user is at the end already, where nothing scrolls any more.
    if (changed.has("rows") && this.rows.length > 0) this.#onScroll();
  }

  #setLook(): void {
    const { words, find, isUtc, isWrapped } = this;
    this.#body.setLook({
      columns: this.#shownColumns,
      numbers: this.#numbers,
      words,
      find,
      isUtc,
      isWrapped,
    });
  }

  /** Finds the columns of numbers; returns false if they are the same as before. */
  #findNumbers(): boolean {
    const found = this.columns.filter((column) => isNumber(this.fields?.get(column)));
    if (found.length === this.#numbers.size && found.every((column) => this.#numbers.has(column)))
      return false;
    this.#numbers = new Set(found);
    return true;
  }

  #drawAnew(): void {
    const view = this.#view;
    if (view === undefined) return;
    this.#body.drawAnew(view);
    if (this.#tools.hasCell) this.#markCell();
  }

  #setTracks(): void {
    const begin = this.rows.slice(0, LEVEL_ROWS);
    const hasLevel = begin.length === 0 || begin.some(({ level }) => level > 0);
    const track = (column: string): string => trackOf(column, this.widths[column], this.#numbers);
    const tracks = this.columns.length === 0 ? "1fr" : this.columns.map(track).join(" ");
    this.style.setProperty("--columns", `${TIME} ${hasLevel ? LEVEL : "0"} ${tracks}`);
    this.style.setProperty("--table-width", tableWidth(this.columns, this.widths));
  }

  /** Chooses the row `step` further, within the existing rows; shows it. */
  move(step: number): void {
    if (this.rows.length === 0) return;
    this.choose(Math.max(0, Math.min(this.rows.length - 1, this.selected + step)));
  }

  /** Chooses a row and scrolls it into view. */
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
    else if (this.selected >= 0 && this.#tools.press(event.key, this.selected, this.#shownColumns))
      this.#markCell();
    else if (event.key === "Enter" && this.selected >= 0) this.#open(this.selected);
    else return;
    event.preventDefault();
  }

  /** A click opens a line, unless it ended a selection of text. */
  #onClick(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>(".row");
    if (row === null || getSelection()?.isCollapsed === false) return;
    if ((event.target as Element).matches(".more")) this.#showWhole(Number(row.dataset["row"]));
    else this.#open(Number(row.dataset["row"]));
  }

  #onPointer({ target, pointerType }: PointerEvent): void {
    if (pointerType === "mouse") this.#tools.hover(target as Element);
  }

  /** Marks the chosen cell, to which a screen reader is directed. */
  #markCell(): void {
    const scroller = this.#scroller;
    const cell = this.#tools.chosenCell(scroller?.querySelector(`#row-${this.selected}`) ?? null);
    for (const other of scroller?.querySelectorAll(".cell.chosen") ?? []) other.classList.remove("chosen");
    cell?.classList.add("chosen");
    if (cell !== undefined) scroller?.setAttribute("aria-activedescendant", cell.id);
  }

  #showWhole(row: number): void {
    const line = this.rows[row];
    if (line === undefined) return;
    this.#body.showWhole(line);
    this.#drawAnew();
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
      this.#tools.hide();
      if (this.#tools.hasCell) this.#markCell();
      const last = this.#body.lastInSight(view.scroller);
      if (last > this.rows.length - ROWS_BEFORE_END) this.dispatchEvent(new CustomEvent("tr-end"));
    });
  }

  get #shownColumns(): readonly string[] {
    return this.columns.length === 0 ? DEFAULT_COLUMNS : this.columns;
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
const TIME = "172px";
const LEVEL = "44px";
/** If none of this many lines has a level, the messages get its column. */
const LEVEL_ROWS = 100;
/** Of both and the space around them, px. */
const TIME_AND_LEVEL_PX = 270;
const GAP_PX = 12;
const FIELD = "minmax(7rem, 1fr)";
const FIELD_PX = 132;
const MESSAGE = "minmax(16rem, 3fr)";
/** A number needs no more width than its column's name, of this many px a letter and beside it. */
const NAME_LETTER_PX = 7.5;
const AROUND_NAME_PX = 34;
const MAX_NUMBER_PX = 240;
/** More columns without a chosen width need more than a screen. */
const MAX_FITTING = 4;

type Widths = Readonly<Record<string, number>>;

/** Returns the track of a column in the grid: of its chosen width in px, where there is one. */
function trackOf(column: string, widthPx: number | undefined, numbers: ReadonlySet<string>): string {
  if (widthPx !== undefined) return `${widthPx}px`;
  if (column === "message") return MESSAGE;
  if (!numbers.has(column)) return FIELD;
  return `minmax(6rem, ${Math.min(MAX_NUMBER_PX, column.length * NAME_LETTER_PX + AROUND_NAME_PX)}px)`;
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
