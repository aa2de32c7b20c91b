/** One row of the table of lines: its elements are created once and patched when another line is shown in it. */

import { msg } from "@lit/localize";
import { LEVEL_NAMES } from "#proto/live.ts";
import type { LogDocument } from "#ui/services/search/log-document.ts";
import { splitAnsi } from "#ui/services/text/ansi.ts";
import { formatTime } from "#ui/services/text/format.ts";
import { pieceAround, splitMatches } from "#ui/services/text/highlight.ts";

/** Properties that the rows of a table share; another object makes the rows draw themselves again. */
export interface RowLook {
  readonly columns: readonly string[];
  /** Columns of numbers; another object if they changed. */
  readonly numbers: ReadonlySet<string>;
  /** Words of the query, and the text searched for in the lines. */
  readonly highlight: RegExp | undefined;
  readonly find: RegExp | undefined;
  readonly isUtc: boolean;
  /** True if long texts wrap. */
  readonly isWrapped: boolean;
  /** Letters that cells show, by column; none until that is known. */
  readonly letters: readonly number[];
  /** Lines that are shown in full, however long. */
  readonly whole: ReadonlySet<LogDocument>;
}

export class EventRow {
  readonly element = document.createElement("div");
  /** Number of its line. */
  number = -1;
  readonly #time: HTMLElement;
  readonly #timeButton = document.createElement("button");
  readonly #level: HTMLElement;
  #cells: HTMLElement[] = [];
  #document: LogDocument | undefined;
  #look: RowLook | undefined;
  #topPx: number | undefined;
  #isWhole = false;
  /** Created with the first line that is too long. */
  #more: HTMLButtonElement | undefined;

  constructor() {
    this.#time = cell("time");
    this.#level = cell("level");
    this.#timeButton.className = "plain";
    this.#timeButton.tabIndex = -1;
    this.#timeButton.title = msg("Open this line");
    this.#time.append(this.#timeButton);
    this.element.className = "row";
    this.element.setAttribute("role", "row");
    this.element.append(this.#time, this.#level);
  }

  /** Shows a line as the one with this number; changes nothing if it is shown already. */
  show(number: number, document: LogDocument, look: RowLook, isSelected: boolean): void {
    const { element } = this;
    const isWhole = look.isWrapped && look.whole.has(document);
    if (this.number !== number) {
      this.number = number;
      element.id = `row-${number}`;
      element.dataset["row"] = String(number);
      element.ariaRowIndex = String(number + 2);
    }
    element.ariaSelected = String(isSelected);
    if (this.#document === document && this.#look === look && this.#isWhole === isWhole) return;
    this.#isWhole = isWhole;
    element.classList.toggle("whole", isWhole);
    if (!look.isWrapped) this.setCut(false);
    if (this.#look?.columns !== look.columns || this.#look.numbers !== look.numbers) this.#makeCells(look);
    this.#document = document;
    this.#look = look;
    const { level } = document;
    element.dataset["level"] = String(level);
    patchText(this.#timeButton, formatTime(document.timestampMs, look.isUtc));
    patchText(this.#level, LEVEL_NAMES[level].slice(0, 5));
    this.#level.title = LEVEL_NAMES[level];
    for (const at of look.columns.keys()) this.#fill(at, document, look);
  }

  /** Returns how many letters the cells show, by column. A cell without a box of its own continues as far as the row. */
  visibleLetters(): number[] {
    return this.#cells.map((shown) =>
      Math.floor((shown.clientWidth || this.element.clientWidth) / letterWidthPx(shown)),
    );
  }

  /** Offers the rest of a line that is cut after some rows. */
  setCut(isCut: boolean): void {
    if (this.#more === undefined) {
      if (!isCut) return;
      this.#more = document.createElement("button");
      this.#more.className = "more";
      this.#more.tabIndex = -1;
      this.#more.textContent = msg("More");
      this.#more.title = msg("Show the whole line");
      this.element.append(this.#more);
    }
    this.#more.hidden = !isCut;
  }

  /** Puts the row at a position below the first one. */
  place(topPx: number): void {
    if (topPx === this.#topPx) return;
    this.#topPx = topPx;
    this.element.style.transform = `translateY(${topPx}px)`;
  }

  #makeCells({ columns, numbers }: RowLook): void {
    for (const old of this.#cells) old.remove();
    this.#cells = columns.map((column) => {
      const made = cell(numbers.has(column) ? "number" : "");
      made.dataset["column"] = column;
      return made;
    });
    this.#level.after(...this.#cells);
  }

  #fill(at: number, document: LogDocument, look: RowLook): void {
    const into = this.#cells[at]!;
    const column = look.columns[at]!;
    const text = look.isWrapped
      ? document.fullText(column, this.#isWhole)
      : textOf(document, column, look, look.letters[at]);
    const coloured = splitAnsi(text);
    const isPlain = coloured.length === 1 && coloured[0]!.look === "";
    if (isPlain && look.highlight === undefined && look.find === undefined && look.columns.length === 1) {
      patchText(into, coloured[0]!.text);
      return;
    }
    const isNamed = look.columns.length > 1 && column !== "message" && text !== "";
    const parts: (string | HTMLElement)[] = isNamed ? [labelOf(column)] : [];
    for (const part of coloured) {
      const pieces = markedPieces(part.text, look);
      parts.push(...(part.look === "" ? pieces : [lookOf(part.look, pieces)]));
    }
    into.replaceChildren(...parts);
  }
}

/** Returns a text with its hits marked. */
function markedPieces(text: string, { find, highlight }: RowLook): (string | HTMLElement)[] {
  const pieces: (string | HTMLElement)[] = [];
  for (const { text: piece, isMatch } of splitMatches(text, find))
    if (isMatch) pieces.push(marked(piece, "find"));
    else
      for (const part of splitMatches(piece, highlight))
        pieces.push(part.isMatch ? marked(part.text, "") : part.text);
  return pieces;
}

function lookOf(look: string, pieces: readonly (string | HTMLElement)[]): HTMLElement {
  const element = document.createElement("span");
  element.className = look;
  element.append(...pieces);
  return element;
}

/** Returns a row's text; if a match lies after the shown part of its cell, from a little before the match on. */
function textOf(document: LogDocument, column: string, look: RowLook, letters: number | undefined): string {
  const hits = [look.find, look.highlight].filter((each) => each !== undefined);
  if (hits.length === 0 || letters === undefined) return document.rowText(column);
  const line = document.lineText(column);
  const piece = pieceAround(line, hits, letters);
  // A line that is shown from its start keeps its colours.
  return piece === line ? document.rowText(column) : piece;
}

/** Rows use a font with letters of one width. */
let measured: { readonly font: string; readonly px: number } | undefined;

function letterWidthPx(element: HTMLElement): number {
  const { fontSize, fontFamily } = getComputedStyle(element);
  const font = `${fontSize} ${fontFamily}`;
  if (measured?.font !== font) {
    const canvas = document.createElement("canvas").getContext("2d");
    if (canvas === null) return 8;
    canvas.font = font;
    measured = { font, px: canvas.measureText("0").width };
  }
  return measured.px;
}

function cell(name: string): HTMLElement {
  const element = document.createElement("span");
  element.className = name === "" ? "cell" : `cell ${name}`;
  element.setAttribute("role", "gridcell");
  return element;
}

/** Shown if the screen is too narrow for a head of columns. */
function labelOf(column: string): HTMLElement {
  const label = document.createElement("span");
  label.className = "label";
  label.textContent = `${column} `;
  return label;
}

function marked(text: string, name: string): HTMLElement {
  const mark = document.createElement("mark");
  mark.className = name;
  mark.textContent = text;
  return mark;
}

/** Makes a text an element's only content. An existing text node is reused: another one would cost a layout box. */
export function patchText(element: HTMLElement, text: string): void {
  const node = element.firstChild;
  if (!(node instanceof Text) || node !== element.lastChild) element.textContent = text;
  else if (node.data !== text) node.data = text;
}
