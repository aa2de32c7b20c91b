/**
 * The rows of the table of lines: only visible ones are drawn within its scroller, at the positions that result from
 * the heights of all.
 */

import { rowHeightPx } from "#ui/services/browser/theme.ts";
import type { LogDocument } from "#ui/services/search/log-document.ts";
import { RowHeights } from "#ui/services/table/row-heights.ts";
import { compileHighlight } from "#ui/services/text/highlight.ts";
import { EventRow, type RowLook } from "./event-row.ts";

/** The visible lines: `[first, end)` of `rows`. */
interface ShownRows {
  readonly rows: readonly LogDocument[];
  readonly first: number;
  readonly end: number;
  /** Number of the chosen line; -1 if there is none. */
  readonly selected: number;
}

class RowPool {
  /** A line keeps its elements while it is visible: a scroll fills only the elements of lines that left the view. */
  readonly #pool: EventRow[] = [];

  /** Fills the elements, creates more within `body` if they don't suffice, and returns those of the lines in order. */
  show({ rows, first, end, selected }: ShownRows, look: RowLook, body: HTMLElement): EventRow[] {
    while (this.#pool.length < end - first) {
      const row = new EventRow();
      this.#pool.push(row);
      body.append(row.element);
    }
    const shown: EventRow[] = [];
    for (let number = first; number < first + this.#pool.length; number++) {
      const row = this.#pool[number % this.#pool.length]!;
      const document = number < end ? rows[number] : undefined;
      row.element.hidden = document === undefined;
      if (document === undefined) continue;
      row.show(number, document, look, number === selected);
      shown.push(row);
    }
    return shown;
  }

  /** Returns how many letters the cells show, by column; none while no line is shown. */
  visibleLetters(): readonly number[] {
    return this.#pool.find(({ element }) => !element.hidden)?.visibleLetters() ?? [];
  }
}

/** Two lines a row on a narrow screen: time and level above the text. */
const NARROW_ROW_HEIGHT_PX = 44;
const NARROW = "(width < 700px)";
/** Rows drawn beyond each edge, so that a scroll shows no blank. */
const OVERSCAN_ROWS = 6;
/** Default share of the window for the lines. */
const GUESSED_SHARE = 0.7;

/** The appearance of rows. */
export interface BodyLook {
  readonly columns: readonly string[];
  readonly numbers: ReadonlySet<string>;
  /** Words to mark. */
  readonly words: readonly string[];
  /** Text that is searched for in the lines; "": none. */
  readonly find: string;
  readonly isUtc: boolean;
  readonly isWrapped: boolean;
}

/** The state of the view. */
export interface BodyView {
  readonly rows: readonly LogDocument[];
  /** Number of the chosen row; -1: none. */
  readonly selected: number;
  readonly scroller: HTMLElement;
  /** Within the scroller, as high as all rows. */
  readonly body: HTMLElement;
}

/** The visible part of the scrolled height, px. */
interface Sight {
  readonly topPx: number;
  readonly heightPx: number;
}

export class TableBody {
  readonly #pool = new RowPool();
  readonly #narrow = globalThis.matchMedia?.(NARROW);
  #heights = new RowHeights(0, rowHeightPx());
  #look: RowLook | undefined;
  /** Letters that cells show, by column. */
  #letters: readonly number[] = [];
  /** Emptied when the rows change. */
  readonly #whole = new Set<LogDocument>();
  #widthPx = 0;
  /** 0 until the table has a layout. */
  #heightPx = 0;

  /** Height of a row whose text isn't wrapped, px. */
  get rowHeight(): number {
    return this.#narrow?.matches === true ? NARROW_ROW_HEIGHT_PX : rowHeightPx();
  }

  /** Appends rows to the existing ones. */
  grow(count: number): void {
    this.#heights.grow(count);
  }

  /** Replaces the rows, or takes the same ones with other heights. */
  forgetHeights(count: number): void {
    this.#heights = new RowHeights(count, this.rowHeight);
  }

  /** Changes the appearance: every row is filled again at the next drawing. */
  setLook({ columns, numbers, words, find, isUtc, isWrapped }: BodyLook): void {
    const highlight = compileHighlight(words);
    const sought = compileHighlight(find === "" ? [] : [find]);
    const [letters, whole] = [this.#letters, this.#whole];
    this.#look = { columns, numbers, highlight, find: sought, isUtc, isWrapped, letters, whole };
  }

  /** Shows a line in full from now on. */
  showWhole(line: LogDocument): void {
    this.#whole.add(line);
  }

  /** Shows no line in full any more. */
  forgetWhole(): void {
    this.#whole.clear();
  }

  /** Reads the table's size from the layout. */
  resized({ width, height }: DOMRectReadOnly, count: number): void {
    if (width !== this.#widthPx) this.forgetHeights(count);
    this.#widthPx = width;
    this.#heightPx = height;
  }

  /** Returns where a row is. */
  placeOf(row: number): Sight {
    return { topPx: this.#heights.topOf(row), heightPx: this.#heights.heightOf(row) };
  }

  /** Returns the number of the last row in sight. */
  lastInSight(scroller: HTMLElement): number {
    const { topPx, heightPx } = this.#sight(scroller);
    return this.#heights.rowAt(topPx + heightPx);
  }

  /** Draws, and once more where cells show more or less than before: hits after that are drawn with what is around them. */
  drawAnew(view: BodyView): void {
    this.draw(view);
    if (this.#look?.highlight === undefined && this.#look?.find === undefined) return;
    const letters = this.#pool.visibleLetters();
    if (letters.join() === this.#letters.join()) return;
    this.#letters = letters;
    this.#look = { ...this.#look, letters };
    this.draw(view);
  }

  /** Draws the visible rows; measures wrapped ones and keeps the scroll position despite those above it. */
  draw({ rows, selected, scroller, body }: BodyView): void {
    const look = this.#look;
    if (look === undefined) return;
    const sight = this.#sight(scroller);
    const { first, end } = this.#rowsIn(sight, rows.length);
    const shown = this.#pool.show({ rows, first, end, selected }, look, body);
    const movedPx = look.isWrapped ? this.#measure(shown, sight.topPx) : 0;
    body.style.height = `${this.#heights.totalPx}px`;
    for (const row of shown) row.place(this.#heights.topOf(row.number));
    if (movedPx !== 0) scroller.scrollTop = sight.topPx + movedPx;
  }

  /**
   * Returns which part is in sight. To ask before the first layout would have the page laid out without its rows, then
   * with them: it is guessed, and what is missing is drawn when the size is known, before anything is painted.
   */
  #sight(scroller: HTMLElement): Sight {
    if (this.#heightPx === 0) return { topPx: 0, heightPx: innerHeight * GUESSED_SHARE };
    return { topPx: scroller.scrollTop, heightPx: scroller.clientHeight };
  }

  #rowsIn({ topPx, heightPx }: Sight, count: number): { readonly first: number; readonly end: number } {
    const first = Math.max(0, this.#heights.rowAt(topPx) - OVERSCAN_ROWS);
    const end = Math.min(count, this.#heights.rowAt(topPx + heightPx) + 1 + OVERSCAN_ROWS);
    return { first: Math.min(first, end), end };
  }

  /** Reads the drawn heights; returns by how much the rows above the scroll position grew, px. */
  #measure(shown: readonly EventRow[], scrollTop: number): number {
    let movedPx = 0;
    const heights = shown.map(({ element }) => element.offsetHeight);
    const cuts = shown.map(({ element }) => element.scrollHeight > element.clientHeight + 1);
    for (const [at, isCut] of cuts.entries()) shown[at]!.setCut(isCut);
    for (const [at, heightPx] of heights.entries()) {
      const row = shown[at]!.number;
      const isAbove = this.#heights.topOf(row) + this.#heights.heightOf(row) <= scrollTop;
      const change = this.#heights.set(row, heightPx);
      if (isAbove) movedPx += change;
    }
    return movedPx;
  }
}
