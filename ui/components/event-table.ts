/**
 * Lines in rows, of which only those in sight are in the document and are patched in place. Fires `tr-open` and
 * `tr-select` with a row's number, `tr-end` when its reader comes near the last row, and what its head asks for:
 * `tr-sort`, `tr-columns`, `tr-width`.
 */

import { msg } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import type { Sort } from "../services/discover-state.ts";
import type { FieldCatalogue } from "../services/fields.ts";
import { compileHighlight, hasOtherWords } from "../services/highlight.ts";
import { isContinued, type LogDocument } from "../services/log-document.ts";
import { RowHeights } from "../services/row-heights.ts";
import { scrollToPlace } from "../services/row-window.ts";
import { rowHeightPx } from "../theme.ts";
import { columnTracks, tableWidth } from "./column-tracks.ts";
import type { EventRow, RowLook } from "./event-row.ts";
import { eventTableStyles } from "./event-table-styles.ts";
import { RowPool } from "./row-pool.ts";
import { controls, logRows } from "./styles.ts";
import "./table-head.ts";

/** Two lines a row where the screen is narrow: time and level over the text. */
const NARROW_ROW_HEIGHT_PX = 44;
const NARROW = "(width < 700px)";
/** The next page is asked for when so few rows are left below. */
const ROWS_BEFORE_END = 40;
/** Rows drawn beyond each edge, so that a scroll shows no blank. */
const OVERSCAN_ROWS = 6;
/** Share of the window that lines take where nothing else is known. */
const GUESSED_SHARE = 0.7;
const MESSAGE_ONLY: readonly string[] = ["message"];

export class EventTable extends LitElement {
  static override properties = {
    rows: { attribute: false },
    columns: { attribute: false },
    widths: { attribute: false },
    fields: { attribute: false },
    sort: { attribute: false },
    words: { attribute: false, hasChanged: hasOtherWords },
    find: {},
    selected: { type: Number },
    isUtc: { type: Boolean },
    isWrapped: { type: Boolean, reflect: true },
    isLoadingMore: { type: Boolean },
    footer: {},
  };

  declare rows: readonly LogDocument[];
  declare columns: readonly string[];
  /** Chosen widths of columns, px. */
  declare widths: Readonly<Record<string, number>>;
  /** Known fields; undefined: nothing but the time can be sorted by. */
  declare fields: FieldCatalogue | undefined;
  declare sort: Sort | undefined;
  /** Words to mark. */
  declare words: readonly string[];
  /** Text that is looked for in the lines; "": none. */
  declare find: string;
  /** Number of the chosen row; -1: none. */
  declare selected: number;
  declare isUtc: boolean;
  /** True where long texts go on in further lines. */
  declare isWrapped: boolean;
  declare isLoadingMore: boolean;
  /** What is said below the last row. */
  declare footer: string;

  static override styles = [controls, logRows, eventTableStyles];

  readonly #pool = new RowPool();
  readonly #narrow = globalThis.matchMedia?.(NARROW);
  #heights = new RowHeights(0, rowHeightPx());
  #look: RowLook | undefined;
  #letters: readonly number[] = [];
  #resize: ResizeObserver | undefined;
  #widthPx = 0;
  /** 0 until the table was laid out. */
  #heightPx = 0;
  #frame = 0;

  constructor() {
    super();
    this.rows = [];
    this.columns = [];
    this.widths = {};
    this.fields = undefined;
    this.sort = undefined;
    this.words = [];
    this.find = "";
    this.selected = -1;
    this.isUtc = false;
    this.isWrapped = false;
    this.isLoadingMore = false;
    this.footer = "";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#resize = new ResizeObserver(([entry]) => this.#resized(entry!.contentRect));
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
    if (rowsGrew && !hasOtherHeights) this.#heights.grow(this.rows.length);
    else if (changed.has("rows") || hasOtherHeights) this.#forgetHeights();
    const looks = ["columns", "words", "find", "isUtc", "isWrapped"] as const;
    if (this.#look === undefined || looks.some((name) => changed.has(name))) this.#look = this.#makeLook();
    if (changed.has("columns") || changed.has("widths")) this.#setTracks();
    this.#drawAnew();
    // Other rows may come while the reader is at the end already, where nothing scrolls any more.
    if (changed.has("rows") && this.rows.length > 0) this.#onScroll();
  }

  #makeLook(): RowLook {
    return {
      columns: this.#shownColumns,
      highlight: compileHighlight(this.words),
      find: compileHighlight(this.find === "" ? [] : [this.find]),
      isUtc: this.isUtc,
      isWrapped: this.isWrapped,
      letters: this.#letters,
    };
  }

  /** Draws, and once more where cells show more or less than before: hits behind that are drawn with what is around them. */
  #drawAnew(): void {
    this.#draw();
    if (this.#look?.highlight === undefined && this.#look?.find === undefined) return;
    const letters = this.#pool.visibleLetters();
    if (letters.join() === this.#letters.join()) return;
    this.#letters = letters;
    this.#look = this.#makeLook();
    this.#draw();
  }

  #setTracks(): void {
    this.style.setProperty("--columns", columnTracks(this.columns, this.widths));
    this.style.setProperty("--table-width", tableWidth(this.columns, this.widths));
  }

  /** Draws the rows in sight; wrapped ones are measured, and those above the reader's place don't move it. */
  #draw(): void {
    const scroller = this.#scroller;
    const body = this.renderRoot.querySelector<HTMLElement>(".body");
    const look = this.#look;
    if (scroller === null || body === null || look === undefined) return;
    const { topPx: scrollTop, heightPx } = this.#sight(scroller);
    const { first, end } = this.#inSight(scrollTop, heightPx);
    const { rows, selected } = this;
    const shown = this.#pool.show({ rows, first, end, selected }, look, body);
    const movedPx = this.isWrapped ? this.#measure(shown, scrollTop) : 0;
    body.style.height = `${this.#heights.totalPx}px`;
    for (const row of shown) row.place(this.#heights.topOf(row.number));
    if (movedPx !== 0) scroller.scrollTop = scrollTop + movedPx;
  }

  /**
   * Returns which part is in sight. To ask before the first layout would have the page laid out without its rows, then
   * with them: it is guessed, and `#resized` draws what is missing before anything is painted.
   */
  #sight(scroller: HTMLElement): { readonly topPx: number; readonly heightPx: number } {
    if (this.#heightPx === 0) return { topPx: 0, heightPx: innerHeight * GUESSED_SHARE };
    return { topPx: scroller.scrollTop, heightPx: scroller.clientHeight };
  }

  #inSight(scrollTop: number, heightPx: number): { readonly first: number; readonly end: number } {
    const first = Math.max(0, this.#heights.rowAt(scrollTop) - OVERSCAN_ROWS);
    const end = Math.min(this.rows.length, this.#heights.rowAt(scrollTop + heightPx) + 1 + OVERSCAN_ROWS);
    return { first: Math.min(first, end), end };
  }

  /** Takes the drawn heights; returns by how much the rows above the reader's place grew, px. */
  #measure(shown: readonly EventRow[], scrollTop: number): number {
    let movedPx = 0;
    const heights = shown.map(({ element }) => element.offsetHeight);
    for (const [at, heightPx] of heights.entries()) {
      const row = shown[at]!.number;
      const isAbove = this.#heights.topOf(row) + this.#heights.heightOf(row) <= scrollTop;
      const change = this.#heights.set(row, heightPx);
      if (isAbove) movedPx += change;
    }
    return movedPx;
  }

  #forgetHeights(): void {
    this.#heights = new RowHeights(this.rows.length, this.#rowHeight);
  }

  #resized({ width, height }: DOMRectReadOnly): void {
    if (width !== this.#widthPx) this.#forgetHeights();
    this.#widthPx = width;
    this.#heightPx = height;
    this.#drawAnew();
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
    const place = { topPx: this.#heights.topOf(row), heightPx: this.#heights.heightOf(row) };
    scroller.scrollTop = scrollToPlace(place, scroller.scrollTop, scroller.clientHeight - headHeight);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor((this.#scroller?.clientHeight ?? 0) / this.#rowHeight) - 2);
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
      const scroller = this.#scroller;
      this.#draw();
      if (scroller === null) return;
      const { topPx, heightPx } = this.#sight(scroller);
      const lastShown = this.#heights.rowAt(topPx + heightPx);
      if (lastShown > this.rows.length - ROWS_BEFORE_END) this.dispatchEvent(new CustomEvent("tr-end"));
    });
  }

  get #shownColumns(): readonly string[] {
    return this.columns.length === 0 ? MESSAGE_ONLY : this.columns;
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
