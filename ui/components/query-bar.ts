/** The query and the index it goes to. Fires `tr-search` with both when its reader is done. */

import { css, html, LitElement, type TemplateResult } from "lit";
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
  };

  declare query: string;
  declare index: string;
  /** Names and patterns to choose from. */
  declare indices: readonly string[];
  declare isBusy: boolean;
  /** The button's word. */
  declare action: string;

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
    this.action = "Search";
  }

  /** Puts the cursor into the query. */
  focusQuery(): void {
    this.#input("query")?.select();
  }

  override render(): TemplateResult {
    return html`<form role="search" @submit=${this.#submit}>
      <input class="index" name="index" aria-label="Index or pattern" list="indices" autocomplete="off" spellcheck="false"
        .value=${this.index} @change=${this.#submit} />
      <datalist id="indices">${this.indices.map((name) => html`<option value=${name}></option>`)}</datalist>
      <div class="query">
        ${icon("search")}
        <input name="query" aria-label="Query" placeholder="Search: error AND host.name:web-1" autocomplete="off"
          autocapitalize="off" spellcheck="false" enterkeyhint="search" .value=${this.query} @keydown=${this.#leave} />
      </div>
      <button class="primary" aria-busy=${this.isBusy}>${icon("search")}<span>${this.action}</span></button>
    </form>`;
  }

  #input(name: string): HTMLInputElement | null {
    return this.renderRoot.querySelector<HTMLInputElement>(`input[name=${name}]`);
  }

  #leave(event: KeyboardEvent): void {
    if (event.key === "Escape") (event.currentTarget as HTMLInputElement).blur();
  }

  #submit(event: Event): void {
    event.preventDefault();
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
