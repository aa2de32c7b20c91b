/** The query and its index. Fires `tr-search` with both on submission. */

import { msg } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import type { FieldCatalogue, TopValue } from "#ui/services/search/fields.ts";
import { checkFields, checkQuery, type QueryFault } from "#ui/services/search/query-check.ts";
import {
  type QueryWord,
  recentQueries,
  rememberQuery,
  type Suggestion,
  suggestNames,
  suggestValues,
  wordAt,
} from "#ui/services/search/query-suggest.ts";
import { queryBarStyles } from "./query-bar-styles.ts";

export interface SearchDetail {
  readonly query: string;
  readonly index: string;
}

/** The query is checked after this long without a key. */
const CHECK_DELAY_MS = 700;
/** Shown of the query before and after a fault. */
const CONTEXT_CHARACTERS = 40;

export class QueryBar extends LitElement {
  @property() accessor query = "";
  @property() accessor index = "";
  /** Names and patterns to choose from. */
  @property({ attribute: false }) accessor indices: readonly string[] = [];
  @property({ type: Boolean }) accessor isBusy = false;
  /** The button's label. */
  @property() accessor action = msg("Search");
  /** Known fields; undefined: nothing is suggested. */
  @property({ attribute: false }) accessor fields: FieldCatalogue | undefined;
  /** Returns the most frequent values of a field. */
  @property({ attribute: false }) accessor loadValues:
    | ((field: string) => Promise<readonly TopValue[]>)
    | undefined;
  /** The fault that the hub reports in the query. */
  @property({ attribute: false }) accessor fault: QueryFault | undefined;
  /** The fault of the text in the field. */
  @state() accessor _fault:
    | (QueryFault & { readonly isAdvice: boolean; readonly isHubs: boolean; readonly query: string })
    | undefined;
  @state() accessor _suggestions: readonly Suggestion[] = [];
  /** Number of the chosen suggestion; -1: none, so that Enter searches. */
  @state() accessor _chosen = -1;

  #word: QueryWord | undefined;
  /** Offset after the colon of an accepted field: a colon typed there is the same one. */
  #acceptedColonAt: number | null = null;
  #checkTimer: ReturnType<typeof setTimeout> | undefined;

  static override styles = [controls, queryBarStyles];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#checkTimer);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    // The user's own spelling of the same query stays.
    const isSaid = this._fault?.isAdvice === false && this._fault.query === this.query;
    if (changed.has("fault") && !isSaid)
      this._fault = this.fault && { ...this.fault, isAdvice: false, isHubs: true, query: this.query };
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
          .value=${this.query} aria-invalid=${this._fault?.isAdvice === false} @keydown=${this.#onKey} @input=${this.#onInput} @blur=${this.#close} />
        <button type="button" class="plain small icon history" ?hidden=${recentQueries().length === 0} aria-label=${msg("Recent queries")} title=${msg("Recent queries (Alt+↓)")}
          @pointerdown=${(event: Event) => event.preventDefault()} @click=${this.#suggestRecent}>${icon("clock")}</button>
        <ul id="suggestions" role="listbox" aria-label=${msg("Suggestions")} ?hidden=${this._suggestions.length === 0}>
          ${this._suggestions.map(
            ({ text, detail }, number) =>
              html`<li id="s${number}" role="option" aria-selected=${number === this._chosen} @pointerdown=${(event: Event) => this.#accept(number, event)}>${text}<span>${detail}</span></li>`,
          )}
        </ul>
        ${this.#errorView()}
      </div>
      <button class="primary" aria-label=${this.action} aria-busy=${this.isBusy}>${icon("search")}<span>${this.action}</span></button>
    </form>`;
  }

  #errorView(): TemplateResult | typeof nothing {
    const fault = this._fault;
    if (fault === undefined || this._suggestions.length > 0) return nothing;
    const { query, from, to, message, hint, isAdvice, isHubs } = fault;
    const start = Math.max(0, from - CONTEXT_CHARACTERS);
    const shown = query.slice(start, to + CONTEXT_CHARACTERS);
    const carets = "^".repeat(Math.max(1, Math.min(to, query.length) - from));
    // The page shows the hub's error too.
    const role = isHubs ? nothing : "alert";
    return html`<div class="fault ${isAdvice ? "advice" : ""} ${query.trim() === this.query ? "searched" : ""}" role=${role}><pre aria-hidden="true">${shown}\n${" ".repeat(from - start)}<b>${carets}</b></pre>
      <p><strong>${message}</strong> ${hint}</p></div>`;
  }

  #onInput(): void {
    clearTimeout(this.#checkTimer);
    this.#acceptedColonAt = null;
    this._fault = undefined;
    this.#checkTimer = setTimeout(() => this.#check(), CHECK_DELAY_MS);
    void this.#suggest();
  }

  /** Shows what is wrong with the query or its fields; returns true if nothing is. */
  #check(): boolean {
    clearTimeout(this.#checkTimer);
    const query = this.#input("query")?.value ?? "";
    const fault = checkQuery(query);
    const advice =
      fault === undefined && this.fields !== undefined ? checkFields(query, this.fields) : undefined;
    const found = fault ?? advice;
    this._fault = found && { ...found, isAdvice: fault === undefined, isHubs: false, query };
    return found === undefined;
  }

  #input(name: string): HTMLInputElement | null {
    return this.renderRoot.querySelector<HTMLInputElement>(`input[name=${name}]`);
  }

  #onKey(event: KeyboardEvent): void {
    const count = this._suggestions.length;
    const input = event.currentTarget as HTMLInputElement;
    if (
      event.key === ":" &&
      this.#acceptedColonAt !== null &&
      input.selectionStart === this.#acceptedColonAt
    ) {
      this.#acceptedColonAt = null;
    } else if (event.key === "Escape") {
      if (count > 0 || this._fault !== undefined) this.#close();
      else input.blur();
    } else if (count === 0 && event.key === "ArrowDown" && (input.value === "" || event.altKey)) {
      this.#suggestRecent();
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

  /** Suggests for the word at the cursor; drops the answer if the word has changed meanwhile. */
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
    // Earlier suggestions of names would replace the text after the colon.
    this._suggestions = [];
    const values = (await this.loadValues?.(word.field)) ?? [];
    if (this.#word === word) this._suggestions = suggestValues(word, values);
  }

  #suggestRecent(): void {
    const input = this.#input("query");
    input?.focus();
    this.#word = { from: 0, to: input?.value.length ?? 0, field: undefined, begun: "" };
    const recent = recentQueries().filter((text) => text !== input?.value);
    this._suggestions = recent.map((text) => ({ text, detail: msg("recent") }));
  }

  #accept(number: number, event: Event): void {
    event.preventDefault();
    const input = this.#input("query");
    const suggestion = this._suggestions[number];
    if (input === null || suggestion === undefined || this.#word === undefined) return;
    const { from, to } = this.#word;
    const isColonThere = suggestion.text.endsWith(":") && input.value[to] === ":";
    input.setRangeText(suggestion.text, from, isColonThere ? to + 1 : to, "end");
    this.#acceptedColonAt = suggestion.text.endsWith(":") ? input.selectionStart : null;
    input.focus();
    this.#close();
    if (suggestion.text.endsWith(":")) void this.#suggest();
  }

  #close(): void {
    this.#word = undefined;
    clearTimeout(this.#checkTimer);
    this._fault = undefined;
    this._suggestions = [];
    this._chosen = -1;
  }

  #submit(event: Event): void {
    event.preventDefault();
    this.#close();
    const query = this.#input("query")?.value.trim() ?? "";
    const index = this.#input("index")?.value.trim() || "*";
    this.#check();
    rememberQuery(query);
    this.dispatchEvent(new CustomEvent<SearchDetail>("tr-search", { detail: { query, index } }));
  }
}

customElements.define("tr-query-bar", QueryBar);

declare global {
  interface HTMLElementTagNameMap {
    "tr-query-bar": QueryBar;
  }
}
