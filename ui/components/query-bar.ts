/** The query and the index it goes to. Fires `tr-search` with both when its reader is done. */

import { msg } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import type { FieldCatalogue, TopValue } from "../services/fields.ts";
import {
  type QueryWord,
  type Suggestion,
  suggestNames,
  suggestValues,
  wordAt,
} from "../services/query-suggest.ts";
import { icon } from "./icons.ts";
import { controls } from "./styles.ts";

export interface SearchDetail {
  readonly query: string;
  readonly index: string;
}

export class QueryBar extends LitElement {
  static override properties = {
    query: {},
    index: {},
    indices: { attribute: false },
    isBusy: { type: Boolean },
    action: {},
    fields: { attribute: false },
    loadValues: { attribute: false },
    _suggestions: { state: true },
    _chosen: { state: true },
  };

  declare query: string;
  declare index: string;
  /** Names and patterns to choose from. */
  declare indices: readonly string[];
  declare isBusy: boolean;
  /** The button's word. */
  declare action: string;
  /** Known fields; undefined: nothing is suggested. */
  declare fields: FieldCatalogue | undefined;
  /** Returns the most frequent values of a field. */
  declare loadValues: ((field: string) => Promise<readonly TopValue[]>) | undefined;
  declare _suggestions: readonly Suggestion[];
  /** Number of the chosen suggestion; -1: none, so that Enter searches. */
  declare _chosen: number;

  #word: QueryWord | undefined;

  static override styles = [
    controls,
    css`
      :host {
        display: block;
        flex: 1 1 24rem;
        min-width: 0;
      }
      form {
        display: flex;
        gap: 6px;
      }
      .query {
        position: relative;
        flex: 1;
        min-width: 0;
      }
      .query input {
        width: 100%;
        padding-left: 30px;
        font-family: var(--font-mono);
      }
      .query svg {
        position: absolute;
        left: 8px;
        top: 7px;
        color: var(--ink-faint);
        pointer-events: none;
      }
      ul {
        position: absolute;
        z-index: 20;
        top: calc(100% + 3px);
        left: 0;
        min-width: min(24rem, 100%);
        max-width: 100%;
        max-height: 20rem;
        margin: 0;
        padding: 5px;
        overflow: auto;
        border: 1px solid var(--line-strong);
        border-radius: 8px;
        background: var(--surface);
        box-shadow: 0 14px 34px var(--shadow);
        font-family: var(--font-mono);
        list-style: none;
      }
      li {
        display: flex;
        justify-content: space-between;
        gap: 20px;
        padding: 4px 9px;
        border-radius: var(--radius);
        cursor: pointer;
        overflow-wrap: anywhere;
      }
      li span {
        color: var(--ink-muted);
        font-size: var(--text-small);
        white-space: nowrap;
      }
      li:hover,
      li[aria-selected="true"] {
        background: var(--surface-selected);
      }
      .index {
        width: 9.5rem;
        font-family: var(--font-mono);
      }
      @media (width < 700px) {
        .index {
          width: 6.5rem;
        }
        button span {
          display: none;
        }
      }
    `,
  ];

  constructor() {
    super();
    this.query = "";
    this.index = "";
    this.indices = [];
    this.isBusy = false;
    this.action = msg("Search");
    this.fields = undefined;
    this.loadValues = undefined;
    this._suggestions = [];
    this._chosen = -1;
  }

  /** Puts the cursor into the query. */
  focusQuery(): void {
    this.#input("query")?.select();
  }

  override render(): TemplateResult {
    return html`<form role="search" @submit=${this.#submit}>
      <input class="index" name="index" aria-label=${msg("Index or pattern")} list="indices" autocomplete="off" spellcheck="false"
        .value=${this.index} @change=${this.#submit} />
      <datalist id="indices">${this.indices.map((name) => html`<option value=${name}></option>`)}</datalist>
      <div class="query">
        ${icon("search")}
        <input name="query" aria-label=${msg("Query")} placeholder=${msg("Search: error AND host.name:web-1")} autocomplete="off"
          autocapitalize="off" spellcheck="false" enterkeyhint="search" role="combobox" aria-autocomplete="list" aria-controls="suggestions"
          aria-expanded=${this._suggestions.length > 0} aria-activedescendant=${this._chosen < 0 ? nothing : `s${this._chosen}`}
          .value=${this.query} @keydown=${this.#onKey} @input=${this.#suggest} @blur=${this.#close} />
        <ul id="suggestions" role="listbox" aria-label=${msg("Suggestions")} ?hidden=${this._suggestions.length === 0}>
          ${this._suggestions.map(
            ({ text, detail }, number) =>
              html`<li id="s${number}" role="option" aria-selected=${number === this._chosen} @pointerdown=${(event: Event) => this.#accept(number, event)}>${text}<span>${detail}</span></li>`,
          )}
        </ul>
      </div>
      <button class="primary" aria-busy=${this.isBusy}>${icon("search")}<span>${this.action}</span></button>
    </form>`;
  }

  #input(name: string): HTMLInputElement | null {
    return this.renderRoot.querySelector<HTMLInputElement>(`input[name=${name}]`);
  }

  #onKey(event: KeyboardEvent): void {
    const count = this._suggestions.length;
    if (event.key === "Escape") {
      if (count > 0) this.#close();
      else (event.currentTarget as HTMLInputElement).blur();
    } else if (count > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const step = event.key === "ArrowDown" ? 1 : -1;
      this._chosen = (this._chosen + step + count + (this._chosen < 0 && step < 0 ? 1 : 0)) % count;
    } else if (count > 0 && event.key === "Tab" && !event.shiftKey)
      this.#accept(Math.max(0, this._chosen), event);
    else if (event.key === "Enter" && this._chosen >= 0) this.#accept(this._chosen, event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Suggests for the word at the cursor; an answer that comes when another word is written is left. */
  async #suggest(): Promise<void> {
    const input = this.#input("query");
    this._chosen = -1;
    if (input === null || this.fields === undefined) return;
    const word = wordAt(input.value, input.selectionStart ?? input.value.length);
    this.#word = word;
    if (word.field === undefined) {
      this._suggestions = word.begun === "" ? [] : suggestNames(input.value, word, this.fields);
      return;
    }
    const values = (await this.loadValues?.(word.field)) ?? [];
    if (this.#word === word) this._suggestions = suggestValues(word, values);
  }

  #accept(number: number, event: Event): void {
    event.preventDefault();
    const input = this.#input("query");
    const suggestion = this._suggestions[number];
    if (input === null || suggestion === undefined || this.#word === undefined) return;
    const { from, to } = this.#word;
    input.setRangeText(suggestion.text, from, to, "end");
    input.focus();
    this.#close();
    if (suggestion.text.endsWith(":")) void this.#suggest();
  }

  #close(): void {
    this.#word = undefined;
    this._suggestions = [];
    this._chosen = -1;
  }

  #submit(event: Event): void {
    event.preventDefault();
    this.#close();
    const query = this.#input("query")?.value.trim() ?? "";
    const index = this.#input("index")?.value.trim() || "*";
    this.dispatchEvent(new CustomEvent<SearchDetail>("tr-search", { detail: { query, index } }));
  }
}

customElements.define("tr-query-bar", QueryBar);

declare global {
  interface HTMLElementTagNameMap {
    "tr-query-bar": QueryBar;
  }
}
