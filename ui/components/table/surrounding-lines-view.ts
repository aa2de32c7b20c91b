/** A line between those written before and after it. More are loaded on either side on request. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { LEVEL_NAMES } from "#proto/live.ts";
import { ansiStyles, colouredView } from "#ui/components/style/ansi-text.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls, logRows } from "#ui/components/style/styles.ts";
import { SURROUNDING_LINES, type SurroundingLines } from "#ui/services/discover/surrounding-lines.ts";
import type { LogDocument } from "#ui/services/search/log-document.ts";
import { formatTime } from "#ui/services/text/format.ts";

type Side = "before" | "after";

export class SurroundingLinesView extends LitElement {
  @property({ attribute: false }) accessor document: LogDocument | undefined;
  /** Returns the lines around one, none of them loaded yet. */
  @property({ attribute: false }) accessor around: ((line: LogDocument) => SurroundingLines) | undefined;
  @property({ type: Boolean }) accessor isUtc = false;
  @state() accessor _lines: SurroundingLines | undefined;
  @state() accessor _fault: string | undefined;
  /** The sides whose lines are loading. */
  @state() accessor _loading: ReadonlySet<Side> = new Set();

  static override styles = [
    controls,
    logRows,
    ansiStyles,
    css`
      :host {
        display: block;
      }
      ol {
        margin: 6px -14px;
        padding: 0;
        list-style: none;
      }
      .row {
        position: relative;
        display: grid;
        grid-template-columns: 6.8rem 3rem minmax(0, 1fr);
        gap: 0 8px;
        padding: 2px 14px;
        line-height: 1.45;
        --row-height: 1.45;
      }
      .row > span:last-child {
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
      .anchor {
        background: var(--surface-selected);
        outline: 1px solid var(--accent);
        outline-offset: -1px;
        font-weight: 600;
      }
      p {
        margin: 8px 0;
        color: var(--ink-muted);
      }
    `,
  ];

  #abort = new AbortController();
  #isRevealed = false;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#abort.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("document")) return;
    this.#abort.abort();
    this.#abort = new AbortController();
    this._fault = undefined;
    this._loading = new Set();
    this.#isRevealed = false;
    this._lines = this.document && this.around?.(this.document);
    void this.#load("before");
    void this.#load("after");
  }

  protected override updated(): void {
    if (this.#isRevealed || this._loading.size > 0) return;
    this.#isRevealed = true;
    this.renderRoot.querySelector(".anchor")?.scrollIntoView({ block: "center" });
  }

  override render(): TemplateResult | typeof nothing {
    const lines = this._lines;
    if (lines === undefined) return nothing;
    return html`
      ${this._fault === undefined ? nothing : html`<p role="alert">${this._fault}</p>`}
      ${this.#more("before", lines.hasMoreBefore)}
      <ol aria-label=${msg("Surrounding lines, oldest first")}>
        ${lines.before.map((line) => this.#row(line))}${this.#row(lines.line)}${lines.after.map((line) => this.#row(line))}
      </ol>
      ${this.#more("after", lines.hasMoreAfter)}
    `;
  }

  #row(line: LogDocument): TemplateResult {
    const isAnchor = line === this._lines?.line;
    return html`<li class="row ${isAnchor ? "anchor" : ""}" data-level=${line.level} aria-current=${isAnchor ? "true" : nothing}>
      <span class="time">${formatTime(line.timestampMs, this.isUtc).slice(11)}</span>
      <span class="level">${LEVEL_NAMES[line.level].slice(0, 5)}</span>
      <span>${colouredView(line.fullText("message"), (text) => text)}</span>
    </li>`;
  }

  #more(side: Side, hasMore: boolean): TemplateResult {
    if (this._loading.has(side)) return html`<p>${msg("Asking …")}</p>`;
    if (!hasMore)
      return html`<p>${side === "before" ? msg("No earlier line of this file") : msg("No later line of this file")}</p>`;
    const text =
      side === "before"
        ? msg(str`${SURROUNDING_LINES} earlier lines`)
        : msg(str`${SURROUNDING_LINES} later lines`);
    return html`<button class="small" @click=${() => void this.#load(side)}>${icon(side === "before" ? "arrowUp" : "arrowDown")}${text}</button>`;
  }

  async #load(side: Side): Promise<void> {
    const { signal } = this.#abort;
    this._loading = new Set([...this._loading, side]);
    try {
      await this._lines?.load(side, signal);
    } catch (error) {
      if (signal.aborted) return;
      this._fault = error instanceof Error ? error.message : String(error);
    }
    if (!signal.aborted) this._loading = new Set([...this._loading].filter((one) => one !== side));
  }
}

customElements.define("tr-surrounding-lines", SurroundingLinesView);

declare global {
  interface HTMLElementTagNameMap {
    "tr-surrounding-lines": SurroundingLinesView;
  }
}
