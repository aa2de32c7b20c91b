/**
 * The head of the table of lines. A click on the time sorts; a column's name opens a menu of its actions, and its edge
 * can be dragged. Fires `tr-sort` with a Sort, `tr-columns` with all columns in their new order and `tr-width`.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { placePanel } from "#ui/components/controls/drop-panel.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import type { Sort } from "#ui/services/search/discover-state.ts";
import { type FieldCatalogue, isNumber } from "#ui/services/search/fields.ts";

const tableHeadStyles = css`
  :host {
    position: sticky;
    z-index: 2;
    top: 0;
    display: grid;
    grid-template-columns: var(--columns);
    gap: 0 12px;
    height: 28px;
    min-width: var(--table-width, 0);
    padding: 0 12px;
    border-bottom: 1px solid var(--line);
    background: var(--surface-sunken);
    color: var(--ink-muted);
    font: 600 var(--text-small) / 27px var(--font);
  }
  .level {
    overflow: hidden;
  }
  .cell {
    position: relative;
    display: flex;
    align-items: center;
    min-width: 0;
  }
  .cell.number {
    justify-content: flex-end;
  }
  button.name {
    justify-content: flex-start;
    gap: 3px;
    height: 24px;
    min-width: 0;
    max-width: 100%;
    margin-left: -5px;
    padding: 0 5px;
    border-color: transparent;
    background: none;
    color: inherit;
    font: inherit;
  }
  .number button.name {
    margin: 0 -5px 0 0;
  }
  button.name:hover,
  button.name[aria-expanded="true"] {
    background: var(--surface-hover);
    color: var(--ink);
  }
  button.name span {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  svg {
    width: 13px;
    height: 13px;
  }
  .grip {
    position: absolute;
    inset: 4px -9px 4px auto;
    width: 7px;
    border-right: 1px solid var(--line-strong);
    cursor: col-resize;
    touch-action: none;
  }
  .grip:hover {
    border-right: 2px solid var(--accent);
  }
  .menu {
    position: fixed;
    inset: auto;
    display: none;
    min-width: 11rem;
    margin: 0;
    padding: 5px;
    overflow: hidden auto;
    border: 1px solid var(--line-strong);
    border-radius: 8px;
    background: var(--surface);
    color: var(--ink);
    box-shadow: 0 14px 34px var(--shadow);
  }
  .menu:popover-open {
    display: grid;
  }
  .menu button {
    justify-content: flex-start;
    height: 28px;
    border: 0;
    background: none;
    font-weight: 400;
  }
  .menu button:hover {
    background: var(--surface-hover);
  }
  @media (width < 700px) {
    :host {
      display: none;
    }
  }
`;

export interface WidthDetail {
  readonly column: string;
  /** px */
  readonly width: number;
}

const TIME = "@timestamp";
const MIN_WIDTH_PX = 60;
const MAX_WIDTH_PX = 1_600;
const WIDTH_STEP = 1.25;

export class TableHead extends LitElement {
  @property({ attribute: false }) accessor columns: readonly string[] = [];
  /** False if the column is only shown because there are no others. */
  @property({ attribute: false }) accessor canRemove = false;
  @property({ attribute: false }) accessor fields: FieldCatalogue | undefined;
  @property({ attribute: false }) accessor sort: Sort | undefined;
  @property({ attribute: false }) accessor widths: Readonly<Record<string, number>> = {};
  /** The column whose menu is open. */
  @state() accessor _open: string | undefined;

  static override styles = [controls, tableHeadStyles];

  override render(): TemplateResult {
    return html`
      <span class="cell" role="columnheader" aria-sort=${this.#sortOf(TIME)}>
        <button class="name" title=${msg("Sort by time")} @click=${this.#sortByTime}><span>${msg("Time")}</span>${this.#arrow(TIME)}</button>
      </span>
      <span class="cell level" role="columnheader">${msg("Level")}</span>
      ${this.columns.map((column) => this.#header(column))}
    `;
  }

  protected override updated(changed: PropertyValues): void {
    const menu = this.renderRoot.querySelector<HTMLElement>(".menu");
    const button = this.renderRoot.querySelector<HTMLElement>("[aria-expanded=true]");
    if (!changed.has("_open") || menu === null || button === null) return;
    menu.showPopover();
    placePanel(menu, button);
    menu.querySelector("button")?.focus();
  }

  #header(column: string): TemplateResult {
    const look = isNumber(this.fields?.get(column)) ? "number" : "";
    return html`<span class="cell ${look}" role="columnheader" aria-sort=${this.#sortOf(this.#sortName(column))}>
      <button class="name" aria-haspopup="menu" aria-expanded=${this._open === column} @click=${() => this.#toggle(column)}>
        <span title=${column}>${column === "message" ? msg("Message") : column}</span>${this.#arrow(this.#sortName(column))}${icon("chevronDown")}</button>
      ${this._open === column ? html`<div class="menu" popover role="menu" @beforetoggle=${this.#giveBack} @toggle=${this.#onToggle} @keydown=${this.#onMenuKey}>${this.#menu(column)}</div>` : nothing}
      ${this.canRemove ? html`<span class="grip" @pointerdown=${(event: PointerEvent) => this.#drag(event, column)}></span>` : nothing}
    </span>`;
  }

  #menu(column: string): TemplateResult {
    const name = this.#sortName(column);
    const at = this.columns.indexOf(column);
    const item = (text: string, act: () => void): TemplateResult =>
      html`<button role="menuitem" @click=${() => this.#choose(act)}>${text}</button>`;
    return html`
      ${
        name === undefined
          ? nothing
          : html`${item(msg("Sort ascending"), () => this.#sortBy(name, false))}${item(msg("Sort descending"), () => this.#sortBy(name, true))}`
      }
      ${
        this.canRemove
          ? html`${at > 0 ? item(msg("Move left"), () => this.#move(at, -1)) : nothing}
              ${at < this.columns.length - 1 ? item(msg("Move right"), () => this.#move(at, 1)) : nothing}
              ${item(msg("Wider"), () => this.#resize(column, WIDTH_STEP))}${item(msg("Narrower"), () => this.#resize(column, 1 / WIDTH_STEP))}
              ${item(msg(str`Remove column ${column}`), () => this.#fireColumns(this.columns.filter((one) => one !== column)))}`
          : nothing
      }
      ${name === undefined && !this.canRemove ? html`<p>${msg("This column can't be sorted: its texts are indexed by words.")}</p>` : nothing}
    `;
  }

  /** The name a column is sorted by: itself or its keyword sub-field. */
  #sortName(column: string): string | undefined {
    return this.fields?.get(column)?.aggregatableName;
  }

  #sortOf(name: string | undefined): string | typeof nothing {
    if (name === undefined || this.sort?.field !== name) return nothing;
    return this.sort.isDescending ? "descending" : "ascending";
  }

  #arrow(name: string | undefined): TemplateResult | typeof nothing {
    if (name === undefined || this.sort?.field !== name) return nothing;
    return this.sort.isDescending ? icon("arrowDown") : icon("arrowUp");
  }

  #sortByTime(): void {
    this.#sortBy(TIME, !(this.sort?.field === TIME && this.sort.isDescending));
  }

  #sortBy(field: string, isDescending: boolean): void {
    this.#fire<Sort>("tr-sort", { field, isDescending });
  }

  #move(at: number, step: -1 | 1): void {
    const columns = [...this.columns];
    columns.splice(at + step, 0, ...columns.splice(at, 1));
    this.#fireColumns(columns);
  }

  #resize(column: string, factor: number): void {
    const width = this.widths[column] ?? this.#cellOf(column)?.offsetWidth ?? MIN_WIDTH_PX;
    this.#fireWidth(column, width * factor);
  }

  #drag(event: PointerEvent, column: string): void {
    event.preventDefault();
    const grip = event.currentTarget as HTMLElement;
    const startWidth = this.#cellOf(column)?.offsetWidth ?? MIN_WIDTH_PX;
    grip.setPointerCapture(event.pointerId);
    grip.addEventListener(
      "pointerup",
      ({ clientX }) => this.#fireWidth(column, startWidth + clientX - event.clientX),
      { once: true },
    );
  }

  #cellOf(column: string): HTMLElement | undefined {
    const at = this.columns.indexOf(column);
    return this.renderRoot.querySelectorAll<HTMLElement>(".cell")[at + 2];
  }

  #toggle(column: string): void {
    this._open = this._open === column ? undefined : column;
  }

  #choose(act: () => void): void {
    this.renderRoot.querySelector<HTMLElement>(".menu")?.hidePopover();
    act();
  }

  /** Closing the menu from within moves the focus back to its button; a focus elsewhere stays there. */
  #giveBack({ newState, currentTarget }: ToggleEvent): void {
    if (newState !== "closed" || !(currentTarget as HTMLElement).matches(":focus-within")) return;
    this.renderRoot.querySelector<HTMLElement>("[aria-expanded=true]")?.focus();
  }

  #onToggle({ newState }: ToggleEvent): void {
    if (newState === "closed") this._open = undefined;
  }

  #onMenuKey(event: KeyboardEvent): void {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    event.stopPropagation();
    if (step === 0) return;
    event.preventDefault();
    const items = [...this.renderRoot.querySelectorAll<HTMLElement>(".menu button")];
    const at = items.indexOf(event.target as HTMLElement);
    items[(at + step + items.length) % items.length]?.focus();
  }

  #fireColumns(columns: readonly string[]): void {
    this.#fire("tr-columns", columns);
  }

  #fireWidth(column: string, width: number): void {
    const bounded = Math.round(Math.max(MIN_WIDTH_PX, Math.min(MAX_WIDTH_PX, width)));
    this.#fire<WidthDetail>("tr-width", { column, width: bounded });
  }

  #fire<T>(name: string, detail: T): void {
    this.dispatchEvent(new CustomEvent<T>(name, { detail, bubbles: true, composed: true }));
  }
}

customElements.define("tr-table-head", TableHead);

declare global {
  interface HTMLElementTagNameMap {
    "tr-table-head": TableHead;
  }
}
