/** The newest lines of a saved search on a dashboard. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { LEVEL_NAMES } from "#proto/live.ts";
import { errorView } from "#ui/components/controls/error-view.ts";
import { ansiStyles, colouredView } from "#ui/components/style/ansi-text.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";
import { HUB_BACK_EVENT, HUB_MISSED_EVENT } from "#ui/services/hub/session-client.ts";
import { readState, toQueryText } from "#ui/services/search/discover-state.ts";
import { DEFAULT_COLUMNS, LogDocument } from "#ui/services/search/log-document.ts";
import { SearchClient, shardFailureOf, totalOf } from "#ui/services/search/search-client.ts";
import { rowsRequest } from "#ui/services/search/search-request.ts";
import { DEFAULT_RANGE, resolveRange, type TimeRange } from "#ui/services/search/time-range.ts";
import { formatCount, formatMoment, formatTime } from "#ui/services/text/format.ts";

const MAX_LINES = 50;
/** Status of a request that the hub didn't answer. */
const UNREACHED = 0;

export class LinesPanel extends LitElement {
  /** Of the saved search. */
  @property() accessor parameters = "";
  @property({ attribute: false }) accessor range: TimeRange = DEFAULT_RANGE;
  /** A further query that must match. */
  @property() accessor filter = "";
  /** A change of the number loads again. */
  @property({ type: Number }) accessor round = 0;
  @property({ type: Boolean }) accessor isUtc = false;
  @state() accessor _lines: readonly LogDocument[] | undefined;
  @state() accessor _total = 0;
  @state() accessor _fault: HubError | undefined;
  @state() accessor _warning: string | undefined;

  static override styles = [
    controls,
    notices,
    ansiStyles,
    css`
      :host {
        flex: 1;
        min-height: 0;
        overflow: auto;
      }
      table {
        width: 100%;
        border-collapse: collapse;
        font: var(--text-small) / 20px var(--font-mono);
      }
      th,
      td {
        padding: 0 8px 0 0;
        text-align: left;
        white-space: nowrap;
      }
      th {
        position: sticky;
        top: 0;
        background: var(--surface);
        color: var(--ink-muted);
        font-weight: 600;
      }
      th:last-child {
        width: 100%;
      }
      .number {
        text-align: right;
      }
      td.error,
      td.fatal {
        color: var(--level-error);
      }
      td.warn {
        color: var(--level-warn);
      }
      p {
        margin: 0;
        color: var(--ink-muted);
        font-size: var(--text-small);
      }
    `,
  ];

  readonly #client = new SearchClient();
  #abort = new AbortController();
  #isLoading = false;
  #loadedMs = 0;
  readonly #onHubBack = (): void => {
    if (this._fault !== undefined) void this.#load();
  };

  /** When moved on its page, it continues with the running request. */
  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener(HUB_BACK_EVENT, this.#onHubBack);
    if (this.#isLoading) void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener(HUB_BACK_EVENT, this.#onHubBack);
    this.#abort.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const asked = ["parameters", "range", "filter", "round"] as const;
    if (asked.some((name) => changed.has(name))) void this.#load();
  }

  override render(): TemplateResult | typeof nothing {
    if (this._fault !== undefined && this._lines === undefined) return errorView(this._fault);
    if (this._lines === undefined) return nothing;
    const { columns } = readState(new URLSearchParams(this.parameters));
    const shown = columns.length === 0 ? DEFAULT_COLUMNS : columns;
    const look = (name: string): string => (hasNumbers(this._lines ?? [], name) ? "number" : "");
    return html`${this._fault === undefined ? nothing : html`${errorView(this._fault)}<p>${msg(str`The lines below were found at ${formatMoment(this.#loadedMs)}.`)}</p>`}
      ${this._warning === undefined ? nothing : html`<div class="notice warning" role="alert"><p>${this._warning}</p></div>`}
      <p role="status">${msg(str`${formatCount(this._lines.length)} of ${formatCount(this._total)} lines`)}</p>
      <table><thead><tr><th scope="col">${msg("Time")}</th><th scope="col">${msg("Level")}</th>${shown.map((name) => html`<th scope="col" class=${look(name)}>${name === "message" ? msg("Message") : name}</th>`)}</tr></thead>
      <tbody>${this._lines.map((line) => this.#row(line, shown, shown.map(look)))}</tbody></table>`;
  }

  #row(line: LogDocument, columns: readonly string[], looks: readonly string[]): TemplateResult {
    const { level } = line;
    const name = level === 0 ? "" : LEVEL_NAMES[level];
    return html`<tr><td>${formatTime(line.timestampMs, this.isUtc)}</td><td class=${name.toLowerCase()}>${name.toUpperCase()}</td>${columns.map((column, at) => html`<td class=${looks[at]!}>${colouredView(line.rowText(column), (text) => text)}</td>`)}</tr>`;
  }

  async #load(): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const saved = readState(new URLSearchParams(this.parameters));
    const range = resolveRange(this.range, Date.now());
    if (range === undefined) return;
    const own = toQueryText(saved.query, saved.filters);
    const queries = [own, this.filter].filter((text) => text.trim() !== "" && text.trim() !== "*");
    const query = queries.map((text) => `(${text})`).join(" AND ");
    const body = { ...rowsRequest({ query, filters: [], sort: saved.sort }, range), size: MAX_LINES };
    this.#isLoading = true;
    try {
      const response = await this.#client.search(saved.index, body, signal);
      this._lines = response.hits.hits.map((hit) => new LogDocument(hit));
      this._total = totalOf(response);
      this._warning = shardFailureOf(response);
      this._fault = undefined;
      this.#loadedMs = Date.now();
    } catch (error) {
      if (signal.aborted) return;
      this._fault = toHubError(error);
      if (this._fault.status === UNREACHED) dispatchEvent(new Event(HUB_MISSED_EVENT));
    }
    this.#isLoading = false;
  }
}

/** Returns whether lines have numbers in a field, and nothing else. */
function hasNumbers(lines: readonly LogDocument[], name: string): boolean {
  const values = lines.map(({ fields }) => fields.get(name)).filter((value) => value !== undefined);
  return values.length > 0 && values.every((value) => typeof value === "number");
}

customElements.define("tr-lines-panel", LinesPanel);

declare global {
  interface HTMLElementTagNameMap {
    "tr-lines-panel": LinesPanel;
  }
}
