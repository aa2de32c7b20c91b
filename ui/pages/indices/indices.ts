/** Indices: a table of all, or the one that the address names. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import { addListKeys } from "#ui/components/controls/hotkeys.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { skeleton } from "#ui/components/style/skeleton.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { cardTableStyles } from "#ui/components/table/card-table.ts";
import {
  IndexAdmin,
  type IndexRow,
  type SortKey,
  selectRows,
} from "#ui/services/administration/index-admin.ts";
import { OwnRights } from "#ui/services/administration/own-rights.ts";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { formatBytes, formatCount, formatMoment } from "#ui/services/text/format.ts";
import "./index-details.ts";
import "./retention.ts";

interface Column {
  readonly key: SortKey;
  readonly title: string;
  readonly isNumber: boolean;
}

const COLUMNS: readonly Column[] = [
  { key: "name", title: msg("Index"), isNumber: false },
  { key: "health", title: msg("Health"), isNumber: false },
  { key: "docs", title: msg("Documents"), isNumber: true },
  { key: "sizeBytes", title: msg("Size"), isNumber: true },
  { key: "shards", title: msg("Shards"), isNumber: true },
  { key: "createdMs", title: msg("Created"), isNumber: false },
];

export class IndicesPage extends LitElement {
  /** Of the address: `index` shows one, `view=retention` the retention. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  @state() accessor _rows: readonly IndexRow[] | undefined;
  @state() accessor _fault: HubError | undefined;
  @state() accessor _search = "";
  @state() accessor _sort: SortKey = "name";
  @state() accessor _isDescending = false;
  @state() accessor _hasHidden = false;
  @state() accessor _hasGrowth = false;

  static override styles = [
    controls,
    notices,
    pageStyles,
    css`
      td .size {
        display: block;
        height: 3px;
        margin-top: 3px;
        border-radius: 2px;
        background: var(--bar-soft);
        margin-left: auto;
      }
      td .muted {
        font-weight: 400;
      }
    `,
    cardTableStyles,
  ];

  readonly #admin = new IndexAdmin(new SearchClient());
  readonly #rights = new OwnRights(this);
  #abort = new AbortController();
  /** Number of the last request. */
  #asked = 0;

  constructor() {
    super();
    roveLists(this);
    addListKeys(this, () => void this.#load());
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#abort = new AbortController();
    void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#abort.abort();
  }

  override render(): TemplateResult {
    const name = this.parameters.get("index");
    if (name !== null)
      return html`<tr-index-details .name=${name} .tab=${this.parameters.get("tab") ?? ""} .admin=${this.#admin}
        .row=${this._rows?.find((row) => row.name === name)} .isKnown=${this._rows !== undefined} @tr-changed=${() => void this.#load()}></tr-index-details>`;
    if (this.parameters.get("view") === "retention") return html`<tr-retention></tr-retention>`;
    return html`<div class="page">
      <div class="title"><h1>${msg("Indices")}</h1><span class="space"></span>
        <button aria-pressed=${this._hasGrowth} @click=${() => void this.#toggleGrowth()}>${icon("chart")}${msg("Growth")}</button>
        ${this.#rights.may("administer") ? html`<a class="button" href="#/indices?view=retention">${icon("clock")}${msg("Retention")}</a>` : nothing}
        <button @click=${() => void this.#load()} title=${msg("Refresh (r)")}>${icon("refresh")}${msg("Refresh")}</button></div>
      ${this._fault === undefined ? nothing : errorView(this._fault)}
      ${this._hasGrowth && this._rows !== undefined ? html`<tr-growth-panel .rows=${this.#unhidden(this._rows)}></tr-growth-panel>` : nothing}
      ${this._rows === undefined ? (this._fault === undefined ? skeleton(8) : nothing) : this.#list(this._rows)}
    </div>`;
  }

  protected override updated(): void {
    for (const bar of this.renderRoot.querySelectorAll<HTMLElement>(".size"))
      bar.style.width = `${bar.dataset["share"]}%`;
  }

  #list(all: readonly IndexRow[]): TemplateResult {
    const rows = selectRows(all, {
      search: this._search,
      sort: this._sort,
      isDescending: this._isDescending,
      hasHidden: this._hasHidden,
    });
    const sum = (key: "docs" | "sizeBytes"): number => rows.reduce((total, row) => total + row[key], 0);
    const [docs, size] = [formatCount(sum("docs")), formatBytes(sum("sizeBytes"))];
    const found =
      rows.length === 1
        ? msg(str`1 index, ${docs} documents, ${size}`)
        : msg(str`${formatCount(rows.length)} indices, ${docs} documents, ${size}`);
    return html`<div class="tools">
        <input type="search" aria-label=${msg("Search indices")} placeholder=${msg("Search: logs-*")} .value=${this._search} @input=${this.#onSearch} />
        <label><input type="checkbox" .checked=${this._hasHidden} @change=${this.#onHidden} />${msg("Show hidden")}</label>
        <span class="muted" role="status">${found}</span>
      </div>
      ${rows.length === 0 ? emptyView(this.#unhidden(all).length) : this.#table(rows)}`;
  }

  /** Returns what an empty search shows. */
  #unhidden(all: readonly IndexRow[]): readonly IndexRow[] {
    return all.filter(({ name }) => this._hasHidden || !name.startsWith("."));
  }

  #table(rows: readonly IndexRow[]): TemplateResult {
    const largest = Math.max(1, ...rows.map(({ sizeBytes }) => sizeBytes));
    return html`<div class="table cards" tabindex="0" role="region" aria-label=${msg("Indices")}><table role="table">
      <thead role="rowgroup"><tr role="row">${COLUMNS.map((column) => this.#header(column))}</tr></thead>
      <tbody role="rowgroup">${rows.map((row) => rowView(row, largest))}</tbody>
    </table></div>`;
  }

  #header({ key, title, isNumber }: Column): TemplateResult {
    const order = this._isDescending ? "descending" : "ascending";
    return html`<th scope="col" role="columnheader" class=${isNumber ? "number" : ""} aria-sort=${this._sort === key ? order : "none"}>
      <button @click=${() => this.#sortBy(key)}>${title}</button></th>`;
  }

  /** Charts are loaded on first use. */
  async #toggleGrowth(): Promise<void> {
    if (!this._hasGrowth) await import("./growth-panel.ts");
    this._hasGrowth = !this._hasGrowth;
  }

  #sortBy(key: SortKey): void {
    this._isDescending = this._sort === key ? !this._isDescending : key !== "name" && key !== "health";
    this._sort = key;
  }

  #onSearch(event: Event): void {
    this._search = (event.currentTarget as HTMLInputElement).value;
  }

  #onHidden(event: Event): void {
    this._hasHidden = (event.currentTarget as HTMLInputElement).checked;
  }

  async #load(): Promise<void> {
    const { signal } = this.#abort;
    const number = ++this.#asked;
    // A request made before a change may be answered after one made later.
    const isLate = (): boolean => signal.aborted || number < this.#asked;
    try {
      const rows = await this.#admin.list(signal);
      if (isLate()) return;
      this._rows = rows;
      this._fault = undefined;
    } catch (error) {
      if (isLate()) return;
      this._fault = toHubError(error);
    }
  }
}

function rowView(row: IndexRow, largest: number): TemplateResult {
  const { name, health, isOpen, docs, deleted, sizeBytes, shards, replicas, createdMs } = row;
  const [, healthTitle, docsTitle, sizeTitle, shardsTitle, createdTitle] = COLUMNS.map(({ title }) => title);
  return html`<tr role="row">
    <td role="cell"><a class="name" href="#/indices?${new URLSearchParams({ index: name })}">${name}</a></td>
    <td role="cell" data-label=${healthTitle}><span class="badge ${isOpen ? health : ""}">${isOpen ? health : msg("closed")}</span></td>
    <td role="cell" data-label=${docsTitle} class="number">${formatCount(docs)}${deleted > 0 ? html` <span class="muted">− ${formatCount(deleted)}</span>` : nothing}</td>
    <td role="cell" data-label=${sizeTitle} class="number">${formatBytes(sizeBytes)}<span class="size" data-share=${Math.round((sizeBytes / largest) * 100)}></span></td>
    <td role="cell" data-label=${shardsTitle} class="number">${shards}${replicas > 0 ? ` × ${replicas + 1}` : ""}</td>
    <td role="cell" data-label=${createdTitle}>${createdMs === 0 ? "–" : formatMoment(createdMs)}</td>
  </tr>`;
}

function emptyView(leftOut: number): TemplateResult {
  if (leftOut === 0)
    return html`<div class="empty"><h2>${msg("There is no index yet")}</h2><p>${msg("An index comes with the first line or document.")}</p></div>`;
  const text =
    leftOut === 1
      ? msg("1 index is left out by the search.")
      : msg(str`${formatCount(leftOut)} indices are left out by the search.`);
  return html`<div class="empty"><h2>${msg("No index matches")}</h2><p>${text}</p></div>`;
}

customElements.define("tr-page-indices", IndicesPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-indices": IndicesPage;
  }
}
