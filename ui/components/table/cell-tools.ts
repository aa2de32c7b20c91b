/**
 * Plus and minus on a cell: filter for its value, or exclude it. They follow the pointer; with the keyboard, the left
 * and right arrows choose a cell of the chosen row, and `+` and `-` filter by it.
 */

import { msg, str } from "@lit/localize";
import { html, type LitElement, nothing, type TemplateResult } from "lit";
import { fireFilter } from "#ui/components/controls/field-events.ts";
import { icon } from "#ui/components/style/icons.ts";
import { filterValues, type LogDocument } from "#ui/services/search/log-document.ts";

/** A value to filter by. */
interface Offer {
  readonly field: string;
  readonly value: string;
}

/** A message is found by its words; its whole text finds only itself. */
const UNFILTERED: ReadonlySet<string> = new Set(["message", "@timestamp"]);
const LEVEL = "log.level";
/** Width of both buttons. */
const TOOLS_PX = 46;

export class CellTools {
  readonly #host: LitElement;
  readonly #lineOf: (row: number) => LogDocument | undefined;
  #offer: Offer | undefined;
  /** Of the row that is chosen; undefined: none. */
  #column: string | undefined;

  constructor(host: LitElement, lineOf: (row: number) => LogDocument | undefined) {
    this.#host = host;
    this.#lineOf = lineOf;
    host.addEventListener("pointerleave", () => this.hide());
  }

  /** True where a cell of the chosen row is chosen, too. */
  get hasCell(): boolean {
    return this.#column !== undefined;
  }

  /** Returns the buttons where a cell is pointed at. */
  view(): TemplateResult | typeof nothing {
    const offer = this.#offer;
    if (offer === undefined) return nothing;
    const { field } = offer;
    const button = (exclude: boolean, text: string, title: string): TemplateResult =>
      html`<button class="plain small icon" tabindex="-1" aria-label=${text} title=${title} @click=${() => this.#filter(offer, exclude)}>${icon(exclude ? "minus" : "plus")}</button>`;
    return html`<div class="cell-tools">${button(false, msg(str`Filter for this ${field}`), msg("Filter for this value"))}${button(true, msg(str`Filter out this ${field}`), msg("Filter out this value"))}</div>`;
  }

  /** Offers the value of the cell at `target`; nothing outside of cells. */
  hover(target: Element): void {
    const cell = target.closest<HTMLElement>(".cell");
    const row = cell?.closest<HTMLElement>(".row");
    const line = row && this.#lineOf(Number(row.dataset["row"]));
    const found = cell && line ? valueIn(line, columnOf(cell)) : undefined;
    if (cell === null || found === undefined) {
      this.hide();
      return;
    }
    const box = cell.getBoundingClientRect();
    const around = this.#host.getBoundingClientRect();
    this.#offer = found;
    this.#host.style.setProperty("--cell-top", `${box.top - around.top}px`);
    // Beside a number, which is aligned right.
    const rightPx = cell.classList.contains("number") ? box.left + TOOLS_PX : box.right;
    this.#host.style.setProperty("--cell-right", `${around.right - rightPx}px`);
    this.#host.requestUpdate();
  }

  hide(): void {
    if (this.#offer === undefined) return;
    this.#offer = undefined;
    this.#host.requestUpdate();
  }

  /** Handles a key for the chosen row; returns false if it has no meaning here. */
  press(key: string, row: number, columns: readonly string[]): boolean {
    const names = [LEVEL, ...columns];
    const at = this.#column === undefined ? -1 : names.indexOf(this.#column);
    if (key === "ArrowRight" || key === "ArrowLeft") {
      const step = key === "ArrowRight" ? 1 : -1;
      this.#column = names[Math.max(0, Math.min(names.length - 1, at + step))];
      return true;
    }
    const line = this.#lineOf(row);
    if ((key !== "+" && key !== "-") || line === undefined || at < 0) return false;
    const found = valueIn(line, names[at]!);
    if (found !== undefined) fireFilter(this.#host, { ...found, exclude: key === "-" });
    return true;
  }

  /** Returns the chosen cell of a row, with a name for screen readers; undefined if none is chosen. */
  chosenCell(row: Element | null): Element | undefined {
    const cells = [...(row?.querySelectorAll<HTMLElement>(".cell") ?? [])];
    const found = cells.find((cell) => columnOf(cell) === this.#column);
    if (found !== undefined) found.id = `${row!.id}-cell`;
    for (const cell of cells) if (cell !== found) cell.removeAttribute("id");
    return found;
  }

  #filter({ field, value }: Offer, exclude: boolean): void {
    this.hide();
    fireFilter(this.#host, { field, value, exclude });
  }
}

function columnOf(cell: HTMLElement): string {
  return cell.classList.contains("level") ? LEVEL : (cell.dataset["column"] ?? "");
}

/** Returns what can be filtered by in a cell: one value, no list. */
function valueIn(line: LogDocument, column: string): Offer | undefined {
  const field = column === LEVEL ? line.levelField : column;
  if (field === undefined || UNFILTERED.has(field)) return undefined;
  const values = filterValues(line.fields.get(field));
  return values.length === 1 && values[0] !== "" ? { field, value: values[0]! } : undefined;
}
