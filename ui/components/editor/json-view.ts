/** JSON with lines that fold. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { controls } from "#ui/components/style/styles.ts";
import { type JsonLine, jsonLines, linesAtDepth, seenLines } from "#ui/services/console/json-lines.ts";
import { formatCount } from "#ui/services/text/format.ts";
import { codeColours } from "./code-editor-styles.ts";

/** Lines drawn at once; more are a click away. */
const PAGE_LINES = 3_000;

export class JsonView extends LitElement {
  /** JSON as it came. */
  @property() accessor text = "";
  @state() accessor _folded: ReadonlySet<number> = new Set();
  @state() accessor _limit: number = PAGE_LINES;

  static override styles = [
    controls,
    codeColours,
    css`
      :host {
        display: block;
      }
      .lines {
        margin: 0;
        padding: 8px 16px 8px 26px;
        /* A row is as high as the button that folds it. */
        font: 0.8125rem / 24px var(--font-mono);
        font-variant-ligatures: none;
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
      .line {
        position: relative;
        padding-left: calc(var(--depth) * 16px + 16px);
        text-indent: -16px;
      }
      .line button {
        position: absolute;
        left: calc(var(--depth) * 16px - 22px);
        top: 0;
        width: 24px;
        min-width: 24px;
        height: 24px;
        padding: 0;
        border: 0;
        background: none;
        color: var(--ink-faint);
        text-indent: 0;
      }
      .line button:hover {
        color: var(--ink);
      }
      .line button::before {
        content: "";
        width: 0;
        height: 0;
        border: 4px solid transparent;
        border-top: 5px solid currentColor;
        border-bottom: 0;
      }
      .line button[aria-expanded="false"]::before {
        border: 4px solid transparent;
        border-left: 5px solid currentColor;
        border-right: 0;
      }
      .count {
        padding: 0 5px;
        border-radius: 3px;
        background: var(--surface-selected);
        color: var(--ink-muted);
        font: var(--text-small) / 16px var(--font);
      }
      .more {
        margin: 0 26px 12px;
      }
    `,
  ];

  #lines: JsonLine[] = [];

  /** Folds everything below `depth`; Infinity opens all. */
  foldTo(depth: number): void {
    this._folded = new Set(Number.isFinite(depth) ? linesAtDepth(this.#lines, depth) : []);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("text")) return;
    this.#lines = jsonLines(this.text);
    this._folded = new Set();
    this._limit = PAGE_LINES;
  }

  override render(): TemplateResult {
    const seen = seenLines(this.#lines, this._folded);
    const rest = seen.length - this._limit;
    return html`<div class="lines" tabindex="0" role="region" aria-label=${msg("Answer")}>${seen
      .slice(0, this._limit)
      .map((index) => this.#line(index))}</div>
      ${
        rest > 0
          ? html`<button class="more" @click=${() => {
              this._limit += PAGE_LINES * 3;
            }}>${msg(str`Show more of ${formatCount(rest)} lines`)}</button>`
          : nothing
      }`;
  }

  protected override updated(): void {
    for (const line of this.renderRoot.querySelectorAll<HTMLElement>(".line"))
      line.style.setProperty("--depth", line.dataset["depth"] ?? "0");
  }

  #line(index: number): TemplateResult {
    const { depth, spans, end, members } = this.#lines[index]!;
    const isFolded = this._folded.has(index);
    const shown = spans.map(({ kind, text }) => html`<span class=${kind}>${text}</span>`);
    if (end === index) return html`<div class="line" data-depth=${depth}>${shown}</div>`;
    const closing = isFolded
      ? html`<span class="count">${formatCount(members)}</span>${this.#lines[end]!.spans.map(({ kind, text }) => html`<span class=${kind}>${text}</span>`)}`
      : nothing;
    return html`<div class="line" data-depth=${depth}><button aria-expanded=${!isFolded} aria-label=${msg(str`Fold ${spans[0]?.text ?? ""}`)}
      @click=${() => this.#toggle(index)}></button>${shown}${closing}</div>`;
  }

  #toggle(index: number): void {
    const folded = new Set(this._folded);
    if (!folded.delete(index)) folded.add(index);
    this._folded = folded;
  }
}

customElements.define("tr-json-view", JsonView);

declare global {
  interface HTMLElementTagNameMap {
    "tr-json-view": JsonView;
  }
}
