/** One document: its fields, its JSON, the lines around it. Fires `tr-filter`, `tr-column`, `tr-step` and `tr-close`. */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { fireColumn, fireFilter } from "#ui/components/controls/field-events.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { ansiStyles, colouredView } from "#ui/components/style/ansi-text.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { copyText } from "#ui/services/browser/copy-text.ts";
import { lineAddress, type SurroundingLines } from "#ui/services/discover/surrounding-lines.ts";
import { filterValues, type LogDocument, valueText } from "#ui/services/search/log-document.ts";
import { stripAnsi } from "#ui/services/text/ansi.ts";
import { visibleText } from "#ui/services/text/direction.ts";
import { type FormattedValue, type LinkPart, splitLinks } from "#ui/services/text/field-format.ts";
import { formatCount, formatTime } from "#ui/services/text/format.ts";
import { eventDetailsStyles } from "./event-details-styles.ts";
import "./selected-text.ts";
import "./surrounding-lines-view.ts";

/** Fields that connect lines of several services. */
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
/** Number of fields from which on a search field is shown. */
const MANY_FIELDS = 12;

type View = "table" | "json" | "around";
/** The part that was copied last. */
type Copied = string | undefined;

/** Characters of a value that are shown at once. */
const LONG_VALUE = 400;
const COPIED_MS = 1_500;

export class EventDetails extends LitElement {
  @property({ attribute: false }) accessor document: LogDocument | undefined;
  /** Fields shown as columns; undefined if the page has none. */
  @property({ attribute: false }) accessor columns: readonly string[] | undefined;
  @property({ type: Boolean }) accessor isUtc = false;
  /** Address of the lines around; "" if there is none. */
  @property() accessor surroundings = "";
  /** Returns the lines around one, none of them loaded yet; undefined if the page can't. */
  @property({ attribute: false }) accessor around: ((line: LogDocument) => SurroundingLines) | undefined;
  /** Covers all results instead of part of them: surrounding lines need the full width. */
  @property({ type: Boolean, reflect: true }) accessor isWide = false;
  @state() accessor _view: View = "table";
  /** The field, or the part of the document. */
  @state() accessor _copied: Copied;
  /** The browser has refused to copy the last part. */
  @state() accessor _isRefused = false;
  /** Part of the names or values that are listed. */
  @state() accessor _find = "";
  /** Fields that are drawn; the others follow, some each frame. */
  @state() accessor _shown: number = FIRST_FIELDS;

  #frame = 0;

  static override styles = [controls, ansiStyles, eventDetailsStyles];

  constructor() {
    super();
    roveLists(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    cancelAnimationFrame(this.#frame);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("document")) return;
    this._shown = FIRST_FIELDS;
    this._isRefused = false;
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
        <button class="plain icon wide" aria-label=${msg("Full width")} title=${msg("Full width")} aria-pressed=${this.isWide} @click=${this.#toggleWide}>${icon("expand")}</button>
        <button class="plain icon" aria-label=${msg("Newer line")} title=${msg("Newer line (k)")} @click=${() => this.#step(-1)}>${icon("chevronLeft")}</button>
        <button class="plain icon" aria-label=${msg("Older line")} title=${msg("Older line (j)")} @click=${() => this.#step(1)}>${icon("chevronRight")}</button>
        <button class="plain icon" aria-label=${msg("Close")} title=${msg("Close (Esc)")} @click=${this.#close}>${icon("close")}</button>
      </header>
      <tr-selected-text .text=${document.fields.has("message") ? stripAnsi(document.message) : ""}><pre class="message" tabindex="0" aria-label=${msg("Message")}>${colouredView(document.message, linksView)}</pre></tr-selected-text>
      <div class="tools">
        <span role="group" aria-label=${msg("View")}>${this.#viewButton("table", msg("Fields"))}${this.#viewButton("json", "JSON")}${this.around === undefined ? nothing : this.#viewButton("around", msg("Surrounding lines"))}</span>
        <span role="group" aria-label=${msg("Copy")}>
          ${this.#copyButton("line", msg("Copy line"), () => document.message)}${this.#copyButton("json", msg("Copy JSON"), () => this.#json(document))}${document.id === "" || document.timestampMs === 0 ? nothing : this.#copyButton("link", msg("Copy link"), () => `${location.origin}${location.pathname}${lineAddress(document)}`)}
        </span>
        ${this.#pivots(document)}
        ${this.surroundings === "" ? nothing : html`<a class="button small" href=${this.surroundings}>${msg("Open in Discover")}</a>`}
      </div>
      <p class="refused" role="status">${this._isRefused ? msg("The browser blocked copying: select the text and copy it by hand") : nothing}</p>
      <div class="content">${this.#content(document)}</div>
    `;
  }

  #content(document: LogDocument): TemplateResult {
    if (this._view === "json") return html`<pre>${visibleText(this.#json(document))}</pre>`;
    if (this._view === "table") return this.#table(document);
    return html`<tr-surrounding-lines .document=${document} .around=${this.around} .isUtc=${this.isUtc}></tr-surrounding-lines>`;
  }

  #copyButton(what: string, text: string, source: () => string): TemplateResult {
    const isCopied = this._copied === what;
    return html`<button class="small" @click=${() => void this.#copy(what, source())}>${icon(isCopied ? "check" : "copy")}${isCopied ? msg("Copied") : text}</button>`;
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
    const sought = this._find.trim().toLowerCase();
    const found = [...document.fields].filter(
      ([name, value]) => value !== document.message && isFound(sought, name, value),
    );
    return html`${document.fields.size < MANY_FIELDS ? nothing : this.#finder()}<table>
      <caption class="hidden-text">${msg("Fields of the line")}</caption>
      <tbody>
        ${found.slice(0, this._shown).map(([name, value]) => this.#field(name, value))}
        ${this.#field("_index", document.index)}
        <tr><th scope="row">_id</th><td>${document.id}</td><td></td></tr>
      </tbody>
    </table>`;
  }

  #finder(): TemplateResult {
    return html`<input type="search" class="find" aria-label=${msg("Find a field or value")} placeholder=${msg("Find a field or value")} .value=${this._find} @input=${this.#onFind} />`;
  }

  #onFind(event: Event): void {
    this._find = (event.currentTarget as HTMLInputElement).value;
  }

  #field(name: string, value: unknown): TemplateResult {
    const values = filterValues(value);
    const only = values[0];
    return html`<tr>
      <th scope="row">${breakable(visibleText(name))}</th>
      <td>${valueView(this.document?.formatted(name), value)}</td>
      <td class="actions">
        <button class="plain small icon" aria-label=${msg(str`Copy ${name}`)} title=${this._copied === name ? msg("Copied") : msg("Copy the value")}
          @click=${() => void this.#copy(name, valueText(value))}>${icon(this._copied === name ? "check" : "copy")}</button>
        ${
          only === undefined || values.length > 1 || name === "@timestamp"
            ? nothing
            : html`<button class="plain small icon" aria-label=${msg(str`Filter for this ${name}`)} title=${msg("Filter for this value")}
                  @click=${() => fireFilter(this, { field: name, value: only, exclude: false })}>${icon("plus")}</button>
                <button class="plain small icon" aria-label=${msg(str`Filter out this ${name}`)} title=${msg("Filter out this value")}
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

  async #copy(what: string, text: string): Promise<void> {
    this._isRefused = !(await copyText(text));
    if (this._isRefused) return;
    this._copied = what;
    setTimeout(() => {
      if (this._copied === what) this._copied = undefined;
    }, COPIED_MS);
  }

  #toggleWide(): void {
    this.isWide = !this.isWide;
  }

  #step(detail: -1 | 1): void {
    this.dispatchEvent(new CustomEvent<-1 | 1>("tr-step", { detail }));
  }

  #close(): void {
    this.dispatchEvent(new CustomEvent("tr-close"));
  }
}

function isFound(sought: string, name: string, value: unknown): boolean {
  return (
    sought === "" || name.toLowerCase().includes(sought) || valueText(value).toLowerCase().includes(sought)
  );
}

/** A number with its unit, followed by the original value; an address as a link. */
function valueView(formatted: FormattedValue | undefined, value: unknown): TemplateResult | string {
  if (formatted === undefined) return textView(visibleText(valueText(value)));
  if (formatted.href !== undefined) return linkView(formatted);
  return html`${visibleText(formatted.text)} <span class="raw">${visibleText(valueText(value))}</span>`;
}

/** A long text is folded after its start, so that the fields below it are in reach. */
function textView(text: string): TemplateResult | string {
  if (text === "") return html`<span class="raw">${msg("(empty)")}</span>`;
  if (text.length <= LONG_VALUE) return text;
  const rest = text.slice(LONG_VALUE);
  return html`${text.slice(0, LONG_VALUE)}<details><summary>${msg(str`${formatCount(rest.length)} more characters`)}</summary>${rest}</details>`;
}

function linksView(text: string): TemplateResult[] {
  return splitLinks(text).map(linkView);
}

function linkView({ text, href }: LinkPart): TemplateResult {
  return href === undefined
    ? html`${visibleText(text)}`
    : html`<a href=${href} target="_blank" rel="noopener noreferrer">${visibleText(text)}</a>`;
}

/** A name that breaks after its parts, if it must. */
function breakable(name: string): (TemplateResult | string)[] {
  return name.split(/(?<=[._])/).map((part, at) => (at === 0 ? part : html`<wbr />${part}`));
}

customElements.define("tr-event-details", EventDetails);

declare global {
  interface HTMLElementTagNameMap {
    "tr-event-details": EventDetails;
  }
}
