/**
 * The fields of the index: search, types, columns, and each field's most frequent values. The list is one stop of Tab:
 * arrows up and down go through its rows, left and right through the buttons of a row.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { fireColumn, fireFilter } from "#ui/components/controls/field-events.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import type { Field, FieldCatalogue, TopValue } from "#ui/services/search/fields.ts";
import { visibleText } from "#ui/services/text/direction.ts";
import { formatCount, shortenName } from "#ui/services/text/format.ts";

const fieldListStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
  }
  input {
    margin: 10px 10px 6px;
    flex: none;
  }
  .list {
    flex: 1;
    min-height: 0;
    /* Texts for screen readers scroll with their rows, and don't make the page higher. */
    position: relative;
    overflow-y: auto;
    padding: 0 6px 10px;
  }
  h3 {
    margin: 8px 6px 3px;
    color: var(--ink-muted);
    font-size: var(--text-small);
    font-weight: 600;
  }
  .field {
    display: flex;
    align-items: center;
    border-radius: var(--radius);
  }
  .field:hover,
  .field.open {
    background: var(--surface-hover);
  }
  .name {
    flex: 1;
    justify-content: flex-start;
    min-width: 0;
    height: 26px;
    padding: 0 4px;
    font-weight: 400;
  }
  .name span:last-child {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .type {
    flex: none;
    width: 18px;
    color: var(--accent);
    font: 600 10px var(--font-mono);
    text-align: center;
  }
  .column {
    opacity: 0;
  }
  .field:hover .column,
  .field:focus-within .column,
  .column[aria-pressed="true"] {
    opacity: 1;
  }
  .values {
    margin: 2px 4px 8px 24px;
    padding: 0;
    list-style: none;
    font-size: var(--text-small);
  }
  .value {
    display: grid;
    grid-template-columns: 1fr auto auto auto;
    align-items: center;
    gap: 0 4px;
    margin-bottom: 3px;
  }
  .value .text {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    font-family: var(--font-mono);
  }
  progress {
    grid-column: 1 / 3;
    appearance: none;
    width: 100%;
    height: 3px;
    border: 0;
    border-radius: 2px;
    overflow: hidden;
    background: var(--line);
  }
  progress::-webkit-progress-bar {
    background: var(--line);
  }
  progress::-webkit-progress-value {
    background: var(--accent);
  }
  progress::-moz-progress-bar {
    background: var(--accent);
  }
  .value button {
    grid-row: 1 / 3;
  }
  .value button:nth-of-type(1) {
    grid-column: 3;
  }
  .value button:nth-of-type(2) {
    grid-column: 4;
  }
  .note {
    margin: 0 0 4px;
    color: var(--ink-muted);
  }
`;

/** The state of an opened field. */
export interface TopValues {
  readonly values: readonly TopValue[];
  /** Number of lines that the shares refer to. */
  readonly total: number;
  /** True if only loaded lines were counted. */
  readonly isSample: boolean;
}

/** Drawn at once; more are a click away. */
const PAGE_FIELDS = 200;

/** As many as the list is wide; of longer names the first parts are abbreviated. */
const NAME_LETTERS = 22;

const TYPE_SIGNS: Readonly<Record<string, string>> = {
  text: "t",
  keyword: "k",
  date: "d",
  boolean: "b",
  ip: "ip",
  geo_point: "g",
  conflict: "!",
  long: "#",
  integer: "#",
  short: "#",
  byte: "#",
  double: "#",
  float: "#",
  half_float: "#",
  scaled_float: "#",
};

export class FieldList extends LitElement {
  /** Undefined until they are loaded. */
  @property({ attribute: false }) accessor fields: FieldCatalogue | undefined;
  @property({ attribute: false }) accessor columns: readonly string[] = [];
  /** Names of the fields of visible lines; they come first. */
  @property({ attribute: false }) accessor present: ReadonlySet<string> = new Set();
  /** Counts a field's values; undefined if it failed. */
  @property({ attribute: false }) accessor loadValues: (field: Field) => Promise<TopValues | undefined> =
    () => Promise.resolve(undefined);
  @state() accessor _search = "";
  @state() accessor _limit: number = PAGE_FIELDS;
  @state() accessor _open: string | undefined;
  /** Another object for each search: shown values are counted again. */
  @property({ attribute: false }) accessor search: unknown;
  @state() accessor _values: TopValues | undefined;

  static override styles = [controls, fieldListStyles];

  constructor() {
    super();
    roveLists(this, ".list", ".field, .value");
  }

  /** Puts the cursor into the search. */
  focusSearch(): void {
    this.renderRoot.querySelector("input")?.select();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const open = this._open === undefined ? undefined : this.fields?.get(this._open);
    if (changed.has("search") && open !== undefined) void this.#load(open);
    if (changed.has("fields") && this.fields?.has(this._open ?? "") !== true) this._open = undefined;
  }

  override render(): TemplateResult {
    const wanted = this._search.toLowerCase();
    const found = [...(this.fields?.values() ?? [])].filter(({ name }) =>
      name.toLowerCase().includes(wanted),
    );
    const chosen = found.filter(({ name }) => this.columns.includes(name));
    const rest = found.filter(({ name }) => !this.columns.includes(name));
    const near = rest.filter(({ name }) => this.present.has(name));
    const others = near.length === 0 ? rest : rest.filter(({ name }) => !this.present.has(name));
    const more = others.length === 1 ? msg("1 other") : msg(str`${formatCount(others.length)} others`);
    return html`
      <input type="search" aria-label=${msg("Find a field")} placeholder=${msg("Find a field (f)")} autocomplete="off" @input=${this.#onSearch} />
      <div class="list">
        ${chosen.length === 0 ? nothing : html`<h3>${msg("Columns")}</h3>${chosen.map((field) => this.#field(field))}`}
        ${near.length === 0 ? nothing : html`<h3>${msg(str`${formatCount(near.length)} in these lines`)}</h3>${near.slice(0, this._limit).map((field) => this.#field(field))}`}
        ${this.fields === undefined || (near.length > 0 && others.length === 0) ? nothing : html`<h3>${near.length === 0 ? msg(str`${formatCount(others.length)} fields`) : more}</h3>`}
        ${others.slice(0, this._limit).map((field) => this.#field(field))}
        ${Math.max(near.length, others.length) > this._limit ? html`<button class="plain small" @click=${this.#more}>${msg("Show more")}</button>` : nothing}
      </div>
    `;
  }

  #field(field: Field): TemplateResult {
    const isOpen = this._open === field.name;
    const isColumn = this.columns.includes(field.name);
    return html`<div class="field ${isOpen ? "open" : ""}">
        <button class="name plain" aria-expanded=${isOpen} title="${field.name} (${field.type})" @click=${() => this.#toggle(field)}>
          <span class="type" aria-hidden="true">${TYPE_SIGNS[field.type] ?? "?"}</span>${nameView(field.name)}
        </button>
        <button class="column plain small icon" aria-pressed=${isColumn} aria-label=${msg(str`Column ${field.name}`)} title=${msg("Show as column")}
          @click=${() => fireColumn(this, field.name)}>${icon("columns")}</button>
      </div>
      ${isOpen ? this.#values(field) : nothing}`;
  }

  #values({ name }: Field): TemplateResult {
    if (this._values === undefined)
      return html`<div class="values"><p class="note">${msg("Counting …")}</p></div>`;
    const { values, total, isSample } = this._values;
    return html`<ul class="values">
      <li class="note">${values.length === 0 ? msg("No values here") : isSample ? msg(str`In ${formatCount(total)} loaded lines`) : msg(str`In ${formatCount(total)} lines`)}</li>
      ${values.map(
        ({ value, count }) => html`<li class="value">
          <span class="text" title=${visibleText(value)}>${value === "" ? msg("(empty)") : visibleText(value)}</span>
          <span class="muted">${formatCount(count)} · ${share(count, total)}</span>
          <progress max=${total} value=${count} aria-label=${msg(str`Share of ${value}`)}></progress>
          <button class="plain small icon" title=${msg(str`Filter for ${value}`)} aria-label=${msg(str`Filter for ${name} ${value}`)}
            @click=${() => fireFilter(this, { field: name, value, exclude: false })}>${icon("plus")}</button>
          <button class="plain small icon" title=${msg(str`Filter out ${value}`)} aria-label=${msg(str`Filter out ${name} ${value}`)}
            @click=${() => fireFilter(this, { field: name, value, exclude: true })}>${icon("minus")}</button>
        </li>`,
      )}
    </ul>`;
  }

  #onSearch(event: Event): void {
    this._search = (event.currentTarget as HTMLInputElement).value.trim();
    this._limit = PAGE_FIELDS;
  }

  #more(): void {
    this._limit += PAGE_FIELDS;
  }

  #toggle(field: Field): void {
    if (this._open === field.name) {
      this._open = undefined;
      return;
    }
    this._open = field.name;
    this._values = undefined;
    void this.#load(field);
  }

  async #load(field: Field): Promise<void> {
    const { search } = this;
    const values = (await this.loadValues(field)) ?? { values: [], total: 0, isSample: false };
    if (this._open === field.name && this.search === search) this._values = values;
  }
}

/** A shortened name; a screen reader gets all of it. */
function nameView(name: string): TemplateResult {
  const short = shortenName(name, NAME_LETTERS);
  if (short === name) return html`<span>${name}</span>`;
  return html`<span class="hidden-text">${name}</span><span aria-hidden="true">${short}</span>`;
}

function share(count: number, total: number): string {
  const percent = total === 0 ? 0 : (count / total) * 100;
  return percent > 0 && percent < 1 ? "< 1 %" : `${Math.round(percent)} %`;
}

customElements.define("tr-field-list", FieldList);

declare global {
  interface HTMLElementTagNameMap {
    "tr-field-list": FieldList;
  }
}
