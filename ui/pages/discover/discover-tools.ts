/** Saved searches and files of a search. Fires nothing: what it opens is an address. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { formatRoute } from "#ui/services/browser/router.ts";
import { saveFile } from "#ui/services/browser/save-file.ts";
import type { ExportFormat } from "#ui/services/discover/export.ts";
import { parametersOf, SavedClient, type SavedObject } from "#ui/services/hub/saved-client.ts";
import {
  DEFAULT_STATE,
  type DiscoverState,
  toQueryText,
  writeState,
} from "#ui/services/search/discover-state.ts";
import type { SearchClient } from "#ui/services/search/search-client.ts";
import { absoluteRange, type ResolvedRange } from "#ui/services/search/time-range.ts";
import { formatCount } from "#ui/services/text/format.ts";

const TYPES: Readonly<Record<ExportFormat, string>> = { csv: "text/csv", ndjson: "application/x-ndjson" };
const SAID_MS = 6_000;

export class DiscoverTools extends LitElement {
  @property({ attribute: false }) accessor state: DiscoverState = DEFAULT_STATE;
  /** Of the last search. */
  @property({ attribute: false }) accessor range: ResolvedRange | undefined;
  @property({ attribute: false }) accessor client!: SearchClient;
  @state() accessor _menu: "saved" | "export" | undefined;
  @state() accessor _searches: readonly SavedObject[] | undefined;
  /** Of a file that is being written: lines written, lines there are. */
  @state() accessor _progress: { readonly written: number; readonly total: number } | undefined;
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
        position: absolute;
        z-index: 12;
        top: 28px;
        right: 0;
        display: grid;
        min-width: 15rem;
        max-width: 88vw;
        max-height: 22rem;
        padding: 5px;
        overflow: auto;
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
      progress {
        width: 7rem;
        height: 6px;
        accent-color: var(--accent);
      }
      output {
        color: var(--ink);
      }
      @container results (width < 64rem) {
        button span,
        .button span {
          display: none;
        }
      }
    `,
  ];

  #abort = new AbortController();
  #saidTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #store = new SavedClient();
  readonly #closeOutside = (event: Event): void => {
    if (!event.composedPath().includes(this)) this._menu = undefined;
  };

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener("pointerdown", this.#closeOutside);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener("pointerdown", this.#closeOutside);
    clearTimeout(this.#saidTimer);
    this.#abort.abort();
  }

  override render(): TemplateResult {
    return html`${this._said === "" ? nothing : html`<output>${this._said}</output>`}
      ${this._progress === undefined ? this.#buttons() : this.#writing(this._progress)}
      ${this._menu === undefined ? nothing : html`<div class="menu" @keydown=${this.#onKey} @click=${this.#onChosen}>${this._menu === "saved" ? this.#saved() : this.#formats()}</div>`}
      <tr-title-dialog></tr-title-dialog>`;
  }

  #buttons(): TemplateResult {
    return html`<button class="plain small" title=${msg("Saved searches")} aria-haspopup="true" aria-expanded=${this._menu === "saved"} @click=${() => this.#toggle("saved")}>${icon("save")}<span>${msg("Saved")}</span></button>
      <button class="plain small" title=${msg("Export the lines found")} aria-haspopup="true" aria-expanded=${this._menu === "export"} ?disabled=${this.range === undefined} @click=${() => this.#toggle("export")}>${icon("download")}<span>${msg("Export")}</span></button>
      <button class="plain small icon" aria-label=${msg("Copy a link")} title=${msg("Copy a link to these lines, with fixed times (y)")} ?disabled=${this.range === undefined} @click=${() => void this.copyLink()}>${icon("link")}</button>
      <a class="button plain small" aria-label=${msg("Visualise")} title=${msg("Visualise these lines")} href=${this.#chartAddress}>${icon("chart")}<span>${msg("Visualise")}</span></a>
      <a class="button plain small" aria-label=${msg("Alert")} title=${msg("Get notified when too many or too few lines match")} href=${this.#alertAddress}>${icon("bell")}<span>${msg("Alert")}</span></a>`;
  }

  /** Copies an address that shows the same lines also when time has gone on. */
  async copyLink(): Promise<void> {
    const { range } = this;
    if (range === undefined) return;
    const state = { ...this.state, range: absoluteRange(range.fromMs, range.toMs), refreshSeconds: 0 };
    const hash = formatRoute({ page: "discover", parameters: writeState(state) });
    try {
      await navigator.clipboard.writeText(`${location.origin}${location.pathname}${hash}`);
      this.#say(msg("The link is copied"));
    } catch {
      this.#say(msg("The browser blocked copying: copy the address instead"));
    }
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

  #writing({ written, total }: { readonly written: number; readonly total: number }): TemplateResult {
    return html`<progress max=${Math.max(1, total)} value=${written} aria-label=${msg("Lines written")}></progress>
      <span>${msg(str`${formatCount(written)} of ${formatCount(total)}`)}</span>
      <button class="plain small" @click=${() => this.#abort.abort()}>${msg("Cancel")}</button>`;
  }

  #saved(): TemplateResult {
    const searches = this._searches;
    return html`<button @click=${() => void this.#save()}>${msg("Save this search …")}</button>
      ${searches === undefined ? html`<p>${msg("Asking …")}</p>` : nothing}
      ${searches?.length === 0 ? html`<p>${msg("No search is saved yet.")}</p>` : nothing}
      ${(searches ?? []).map((search) => html`<a href=${addressOf(search)}>${search.title}</a>`)}
      ${searches === undefined || searches.length === 0 ? nothing : html`<p><a href="#/dashboards">${msg("All that is saved")}</a></p>`}`;
  }

  #formats(): TemplateResult {
    const { columns } = this.state;
    return html`<button @click=${() => void this.#export("csv")}>${columns.length === 0 ? msg("CSV, time, level, host, message") : msg("CSV, the columns shown")}</button>
      <button @click=${() => void this.#export("ndjson")}>${msg("NDJSON, all fields")}</button>`;
  }

  #toggle(menu: "saved" | "export"): void {
    this._menu = this._menu === menu ? undefined : menu;
    if (this._menu === "saved") void this.#loadSearches();
    if (this._menu !== undefined)
      void this.updateComplete.then(() =>
        this.renderRoot.querySelector<HTMLElement>(".menu button")?.focus(),
      );
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

  async #export(format: ExportFormat): Promise<void> {
    const { state, range, client } = this;
    if (range === undefined) return;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this._progress = { written: 0, total: 0 };
    try {
      const onProgress = (written: number, total: number): void => {
        this._progress = { written, total };
      };
      const { exportLines } = await import("./discover-deferred.ts");
      const { parts, lines, isCut } = await exportLines({ client, state, range, format, onProgress, signal });
      const place = new Date(range.toMs).toISOString().slice(0, 16).replaceAll(/[:T]/g, "-");
      saveFile(`logs-${place}.${format}`, TYPES[format], parts);
      this.#say(
        `${formatCount(lines)} lines${isCut ? "; the others don't fit into one file: choose a shorter time range" : ""}`,
      );
    } catch (error) {
      this.#say(signal.aborted ? msg("Cancelled") : error instanceof Error ? error.message : String(error));
    }
    this._progress = undefined;
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
