/** Saved searches and exports of a search. Fires `tr-export`; its other actions are links. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { closeOutside, placePanel } from "#ui/components/controls/drop-panel.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { OwnRights } from "#ui/services/administration/own-rights.ts";
import { copyText } from "#ui/services/browser/copy-text.ts";
import { formatRoute } from "#ui/services/browser/router.ts";
import type { ExportFormat } from "#ui/services/discover/export.ts";
import type { ExportRequest } from "#ui/services/discover/export-job.ts";
import { parametersOf, SavedClient, type SavedObject } from "#ui/services/hub/saved-client.ts";
import {
  addFilter,
  DEFAULT_STATE,
  type DiscoverState,
  readState,
  toQueryText,
  writeState,
} from "#ui/services/search/discover-state.ts";
import type { SearchClient } from "#ui/services/search/search-client.ts";
import { absoluteRange, type ResolvedRange } from "#ui/services/search/time-range.ts";
import { addClause } from "#ui/services/visualise/chart-picks.ts";

const SAID_MS = 6_000;

export class DiscoverTools extends LitElement {
  @property({ attribute: false }) accessor state: DiscoverState = DEFAULT_STATE;
  /** Of the last search. */
  @property({ attribute: false }) accessor range: ResolvedRange | undefined;
  @property({ attribute: false }) accessor client!: SearchClient;
  @state() accessor _menu: "saved" | "export" | undefined;
  @state() accessor _searches: readonly SavedObject[] | undefined;
  @state() accessor _said = "";

  static override styles = [
    controls,
    css`
      :host {
        position: relative;
        display: inline-flex;
        align-items: center;
        gap: 6px;
      }
      .menu {
        position: fixed;
        inset: auto;
        display: grid;
        min-width: 15rem;
        max-width: min(26rem, calc(100vw - 16px));
        margin: 0;
        padding: 5px;
        overflow: hidden auto;
        color: var(--ink);
        border: 1px solid var(--line-strong);
        border-radius: 8px;
        background: var(--surface);
        box-shadow: 0 14px 34px var(--shadow);
        font-size: var(--text);
      }
      .menu a,
      .menu button {
        display: block;
        height: auto;
        padding: 6px 10px;
        border: 0;
        border-radius: 5px;
        background: none;
        color: var(--ink);
        font-weight: 400;
        text-align: left;
        text-decoration: none;
        white-space: normal;
        overflow-wrap: anywhere;
      }
      .menu a:hover,
      .menu button:hover {
        background: var(--surface-hover);
      }
      .menu p {
        margin: 0;
        padding: 6px 10px;
        color: var(--ink-muted);
      }
      .menu p a {
        padding: 0;
        color: var(--accent);
        text-decoration: underline;
      }
      .menu .search {
        display: flex;
        align-items: center;
      }
      .menu .search a:first-child {
        flex: 1;
      }
      .menu .add {
        padding: 4px;
        color: var(--ink-muted);
      }
      output {
        /* Over the page: a text among the buttons would move them, and the lines below. */
        position: fixed;
        z-index: 12;
        right: 16px;
        bottom: 16px;
        max-width: min(26rem, calc(100vw - 32px));
        padding: 6px 12px;
        border-radius: var(--radius);
        background: var(--ink);
        color: var(--surface);
        overflow-wrap: anywhere;
      }
      @container results (width < 64rem) {
        button span,
        .button span {
          display: none;
        }
      }
    `,
  ];

  #saidTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #store = new SavedClient();
  readonly #rights = new OwnRights(this);

  constructor() {
    super();
    closeOutside(this, () => {
      this._menu = undefined;
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#saidTimer);
  }

  override render(): TemplateResult {
    return html`${this._said === "" ? nothing : html`<output>${this._said}</output>`}
      ${this.#buttons()}
      ${this._menu === undefined ? nothing : html`<div class="menu" popover="manual" @keydown=${this.#onKey} @click=${this.#onChosen}>${this._menu === "saved" ? this.#saved() : this.#formats()}</div>`}
      <tr-title-dialog></tr-title-dialog>`;
  }

  #buttons(): TemplateResult {
    return html`<button class="plain small" title=${msg("Saved searches")} aria-haspopup="true" aria-expanded=${this._menu === "saved"} @click=${() => this.#toggle("saved")}>${icon("save")}<span>${msg("Saved")}</span></button>
      <button class="plain small" title=${msg("Export the lines found")} aria-haspopup="true" aria-expanded=${this._menu === "export"} ?disabled=${this.range === undefined} @click=${() => this.#toggle("export")}>${icon("download")}<span>${msg("Export")}</span></button>
      <button class="plain small icon" aria-label=${msg("Copy a link")} title=${msg("Copy a link to these lines, with fixed times (y)")} ?disabled=${this.range === undefined} @click=${() => void this.copyLink()}>${icon("link")}</button>
      <a class="button plain small" aria-label=${msg("Visualise")} title=${msg("Visualise these lines")} href=${this.#chartAddress}>${icon("chart")}<span>${msg("Visualise")}</span></a>
      ${this.#rights.may("alert") ? html`<a class="button plain small" aria-label=${msg("Alert")} title=${msg("Get notified when too many or too few lines match")} href=${this.#alertAddress}>${icon("bell")}<span>${msg("Alert")}</span></a>` : nothing}`;
  }

  /** Copies an address that shows the same lines at any later time. */
  async copyLink(): Promise<void> {
    const { range } = this;
    if (range === undefined) return;
    const state = { ...this.state, range: absoluteRange(range.fromMs, range.toMs), refreshSeconds: 0 };
    const hash = formatRoute({ page: "discover", parameters: writeState(state) });
    const isCopied = await copyText(`${location.origin}${location.pathname}${hash}`);
    this.#say(
      isCopied ? msg("The link is copied") : msg("The browser blocked copying: copy the address instead"),
    );
  }

  get #alertAddress(): string {
    const { query, filters, index } = this.state;
    const parameters = new URLSearchParams({ new: "1", q: toQueryText(query, filters), index });
    return formatRoute({ page: "alerts", parameters });
  }

  get #chartAddress(): string {
    const { query, filters } = this.state;
    const asked = { ...this.state, query: toQueryText(query, filters), filters: [], columns: [] };
    return formatRoute({ page: "visualise", parameters: writeState(asked) });
  }

  #saved(): TemplateResult {
    const searches = this._searches;
    return html`${this.#rights.may("save") ? html`<button @click=${() => void this.#save()}>${msg("Save this search …")}</button>` : nothing}
      ${searches === undefined ? html`<p>${msg("Asking …")}</p>` : nothing}
      ${searches?.length === 0 ? html`<p>${msg("No search is saved yet.")}</p>` : nothing}
      ${(searches ?? []).map((search) => this.#search(search))}
      ${searches === undefined || searches.length === 0 ? nothing : html`<p><a href="#/dashboards">${msg("All that is saved")}</a></p>`}`;
  }

  /** A saved search, with buttons to open it or to add its query and filters to the current ones. */
  #search(search: SavedObject): TemplateResult {
    const { title } = search;
    const { query, filters } = readState(new URLSearchParams(parametersOf(search)));
    const joined = {
      ...this.state,
      query: query === "" ? this.state.query : addClause(this.state.query, `(${query})`),
      filters: filters.reduce(addFilter, this.state.filters),
    };
    const added = formatRoute({ page: "discover", parameters: writeState(joined) });
    return html`<span class="search"><a href=${addressOf(search)}>${title}</a>
      <a class="add" href=${added} aria-label=${msg(str`Add the query and filters of ${title}`)} title=${msg("Add its query and filters")}>${icon("filter")}</a></span>`;
  }

  #formats(): TemplateResult {
    const { columns } = this.state;
    return html`<button @click=${() => this.#export("csv")}>${columns.length === 0 ? msg("CSV, time, level, host, message") : msg("CSV, the columns shown")}</button>
      <button @click=${() => this.#export("ndjson")}>${msg("NDJSON, all fields")}</button>`;
  }

  #toggle(menu: "saved" | "export"): void {
    this._menu = this._menu === menu ? undefined : menu;
    if (this._menu === "saved") void this.#loadSearches();
    if (this._menu !== undefined)
      void this.updateComplete.then(() =>
        this.renderRoot.querySelector<HTMLElement>(".menu button")?.focus(),
      );
  }

  /** Searches that are loaded later may change the position. */
  protected override updated(): void {
    const panel = this.renderRoot.querySelector<HTMLElement>(".menu");
    const button = this.renderRoot.querySelector<HTMLElement>("[aria-expanded=true]");
    if (panel === null || button === null) return;
    if (!panel.matches(":popover-open")) panel.showPopover();
    placePanel(panel, button);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.renderRoot.querySelector<HTMLElement>("button[aria-expanded=true]")?.focus();
    this._menu = undefined;
  }

  #onChosen(): void {
    this._menu = undefined;
  }

  async #loadSearches(): Promise<void> {
    try {
      this._searches = await this.#store.list("search");
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error));
      this._menu = undefined;
    }
  }

  async #save(): Promise<void> {
    await import("./discover-deferred.ts");
    const answer = await this.renderRoot
      .querySelector("tr-title-dialog")!
      .ask({ heading: msg("Save this search"), title: this.state.query, isSaved: false });
    if (answer === undefined) return;
    try {
      await this.#store.create("search", answer.title, { parameters: writeState(this.state).toString() });
      this.#say(msg(str`Saved as “${answer.title}”`));
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error));
    }
  }

  /** The shell writes the file, also while other pages are open. */
  #export(format: ExportFormat): void {
    const { state, range, client } = this;
    if (range === undefined) return;
    const detail: ExportRequest = { state, range, client, format };
    this.dispatchEvent(new CustomEvent("tr-export", { detail, bubbles: true, composed: true }));
  }

  #say(text: string): void {
    this._said = text;
    clearTimeout(this.#saidTimer);
    this.#saidTimer = setTimeout(() => {
      this._said = "";
    }, SAID_MS);
  }
}

function addressOf(search: SavedObject): string {
  return formatRoute({ page: "discover", parameters: new URLSearchParams(parametersOf(search)) });
}

customElements.define("tr-discover-tools", DiscoverTools);

declare global {
  interface HTMLElementTagNameMap {
    "tr-discover-tools": DiscoverTools;
  }
}
