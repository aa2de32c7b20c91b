/** One document with all its fields, as a table or as JSON. Fires `tr-filter`, `tr-column`, `tr-step` and `tr-close`. */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { formatTime } from "../services/format.ts";
import { filterValues, type LogDocument, valueText } from "../services/log-document.ts";
import type { SearchClient } from "../services/search-client.ts";
import { eventDetailsStyles } from "./event-details-styles.ts";
import { fireColumn, fireFilter } from "./filter-events.ts";
import { icon } from "./icons.ts";
import { controls } from "./styles.ts";

/** Fields that tie lines together over services. */
const PIVOT_FIELDS = [
  "trace.id",
  "trace_id",
  "traceId",
  "request.id",
  "request_id",
  "http.request.id",
  "transaction.id",
  "session.id",
];

/** Fields drawn at once, about a screen; a document of a thousand must open as quickly as others. */
const FIRST_FIELDS = 50;
const MORE_FIELDS = 50;

type View = "table" | "json";

export class EventDetails extends LitElement {
  static override properties = {
    document: { attribute: false },
    columns: { attribute: false },
    isUtc: { type: Boolean },
    surroundings: {},
    client: { attribute: false },
    _view: { state: true },
    _copied: { state: true },
    _shown: { state: true },
  };

  declare document: LogDocument | undefined;
  /** Fields shown as columns; undefined where the page has none. */
  declare columns: readonly string[] | undefined;
  declare isUtc: boolean;
  /** Address of the lines around; "" where there is none. */
  declare surroundings: string;
  /** Finds the lines around; undefined where the page can't. */
  declare client: SearchClient | undefined;
  declare _view: View;
  declare _copied: boolean;
  /** Fields that are drawn; the others follow, some each frame. */
  declare _shown: number;

  #frame = 0;

  static override styles = [controls, eventDetailsStyles];

  constructor() {
    super();
    this.document = undefined;
    this.columns = undefined;
    this.isUtc = false;
    this.surroundings = "";
    this.client = undefined;
    this._view = "table";
    this._copied = false;
    this._shown = FIRST_FIELDS;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    cancelAnimationFrame(this.#frame);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("document")) this._shown = FIRST_FIELDS;
  }

  protected override updated(): void {
    cancelAnimationFrame(this.#frame);
    if (this._shown >= (this.document?.fields.size ?? 0)) return;
    this.#frame = requestAnimationFrame(() => {
      this._shown += MORE_FIELDS;
    });
  }

  override render(): TemplateResult | typeof nothing {
    const { document } = this;
    if (document === undefined) return nothing;
    return html`
      <header>
        <h2>${formatTime(document.timestampMs, this.isUtc)}</h2>
        <button class="plain icon" aria-label=${msg("Newer line")} title=${msg("Newer line (k)")} @click=${() => this.#step(-1)}>${icon("chevronLeft")}</button>
        <button class="plain icon" aria-label=${msg("Older line")} title=${msg("Older line (j)")} @click=${() => this.#step(1)}>${icon("chevronRight")}</button>
        <button class="plain icon" aria-label=${msg("Close")} title=${msg("Close (Esc)")} @click=${this.#close}>${icon("close")}</button>
      </header>
      <pre class="message" tabindex="0" aria-label=${msg("Message")}>${document.message}</pre>
      <div class="tools" role="group" aria-label=${msg("View")}>
        ${this.#viewButton("table", "Fields")}${this.#viewButton("json", "JSON")}
        <button class="small" @click=${this.#copy}>${icon(this._copied ? "check" : "copy")}${this._copied ? msg("Copied") : "Copy JSON"}</button>
        ${this.#pivots(document)}
        ${this.surroundings === "" ? nothing : html`<a class="button small" href=${this.surroundings}>${msg("Lines around it")}</a>`}
      </div>
      <div class="content">${this._view === "json" ? html`<pre>${this.#json(document)}</pre>` : this.#table(document)}</div>
    `;
  }

  #viewButton(view: View, text: string): TemplateResult {
    return html`<button class="small" aria-pressed=${this._view === view} @click=${() => {
      this._view = view;
    }}>${text}</button>`;
  }

  /** Addresses of all lines of the same trace, request … */
  #pivots(document: LogDocument): TemplateResult[] {
    return PIVOT_FIELDS.flatMap((name) => {
      const value = filterValues(document.fields.get(name))[0];
      if (value === undefined) return [];
      const parameters = new URLSearchParams({ f: `${name}:${value}`, from: "now-24h" });
      return [
        html`<a class="button small" href=${`#/discover?${parameters}`}>${msg(str`All of this ${name}`)}</a>`,
      ];
    });
  }

  #table(document: LogDocument): TemplateResult {
    return html`<table>
      <caption class="hidden-text">${msg("Fields of the line")}</caption>
      <tbody>
        ${[...document.fields].slice(0, this._shown).map(([name, value]) => (value === document.message ? nothing : this.#field(name, value)))}
        ${this.#field("_index", document.index)}
        <tr><th scope="row">${msg("_id")}</th><td>${document.id}</td><td></td></tr>
      </tbody>
    </table>`;
  }

  #field(name: string, value: unknown): TemplateResult {
    const values = filterValues(value);
    const only = values[0];
    return html`<tr>
      <th scope="row">${name}</th>
      <td>${valueText(value)}</td>
      <td class="actions">
        ${
          only === undefined || values.length > 1 || name === "@timestamp"
            ? nothing
            : html`<button class="plain small icon" aria-label=${msg(str`Only this ${name}`)} title=${msg("Only this value")}
                  @click=${() => fireFilter(this, { field: name, value: only, exclude: false })}>${icon("plus")}</button>
                <button class="plain small icon" aria-label=${msg(str`Without this ${name}`)} title=${msg("Without this value")}
                  @click=${() => fireFilter(this, { field: name, value: only, exclude: true })}>${icon("minus")}</button>`
        }
        ${
          this.columns === undefined
            ? nothing
            : html`<button class="plain small icon" aria-label=${msg(str`Column ${name}`)} title=${msg("Show as column")}
                aria-pressed=${this.columns.includes(name)} @click=${() => fireColumn(this, name)}>${icon("columns")}</button>`
        }
      </td>
    </tr>`;
  }

  #json({ index, id, source }: LogDocument): string {
    return JSON.stringify({ _index: index, _id: id, _source: source }, undefined, 2);
  }

  #copy(): void {
    if (this.document === undefined) return;
    void navigator.clipboard.writeText(this.#json(this.document)).then(() => {
      this._copied = true;
      setTimeout(() => {
        this._copied = false;
      }, 1_500);
    });
  }

  #step(detail: -1 | 1): void {
    this.dispatchEvent(new CustomEvent<-1 | 1>("tr-step", { detail }));
  }

  #close(): void {
    this.dispatchEvent(new CustomEvent("tr-close"));
  }
}

customElements.define("tr-event-details", EventDetails);

declare global {
  interface HTMLElementTagNameMap {
    "tr-event-details": EventDetails;
  }
}
