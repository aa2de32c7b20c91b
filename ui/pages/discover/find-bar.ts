/**
 * Searches for a text in all loaded lines, including those that aren't drawn. Fires `tr-find` with the text,
 * `tr-select` with the number of a line that contains it, and `tr-close`.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { type LogDocument, linesWith } from "#ui/services/search/log-document.ts";
import { formatCount } from "#ui/services/text/format.ts";

export class FindBar extends LitElement {
  @property({ attribute: false }) accessor rows: readonly LogDocument[] = [];
  @property({ attribute: false }) accessor columns: readonly string[] = [];
  /** Number of the chosen row; -1: none. */
  @property({ type: Number }) accessor selected = -1;
  @state() accessor _text = "";

  static override styles = [
    controls,
    css`
      :host {
        display: block;
      }
      form {
        display: flex;
        align-items: center;
        gap: 4px;
        padding: 4px 8px;
        border-bottom: 1px solid var(--line);
        background: var(--surface-sunken);
      }
      input {
        flex: 1 1 6rem;
        max-width: 24rem;
        height: 26px;
      }
      output {
        min-width: 5rem;
        color: var(--ink-muted);
        font-size: var(--text-small);
        font-variant-numeric: tabular-nums;
      }
    `,
  ];

  #found: readonly number[] = [];

  /** Puts the cursor into the field. */
  focusText(): void {
    this.renderRoot.querySelector("input")?.select();
  }

  protected override firstUpdated(): void {
    this.focusText();
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (["rows", "columns", "_text"].some((name) => changed.has(name)))
      this.#found = linesWith(this.rows, this.columns, this._text);
  }

  override render(): TemplateResult {
    const index = this.#found.indexOf(this.selected);
    const count = formatCount(this.#found.length);
    const said =
      this._text === ""
        ? ""
        : index < 0
          ? msg(str`${count} of ${formatCount(this.rows.length)} lines`)
          : msg(str`${formatCount(index + 1)} of ${count}`);
    return html`<form role="search" aria-label=${msg("In the lines that are loaded")} @submit=${this.#onSubmit} @keydown=${this.#onKey}>
      <input aria-label=${msg("Find in the lines")} placeholder=${msg("Find in the lines that are loaded")} autocomplete="off" spellcheck="false"
        .value=${this._text} @input=${this.#onInput} />
      <button type="button" class="plain small icon" aria-label=${msg("Previous match")} title=${msg("Previous match (Shift+Enter)")} @click=${() => this.#go(-1)}>${icon("arrowUp")}</button>
      <button class="plain small icon" aria-label=${msg("Next match")} title=${msg("Next match (Enter)")}>${icon("arrowDown")}</button>
      <output>${said}</output>
      <button type="button" class="plain small icon" aria-label=${msg("Close the search in lines")} title=${msg("Close (Esc)")} @click=${this.#close}>${icon("close")}</button>
    </form>`;
  }

  #onInput(event: Event): void {
    this._text = (event.currentTarget as HTMLInputElement).value;
    this.dispatchEvent(new CustomEvent<string>("tr-find", { detail: this._text }));
  }

  #onSubmit(event: Event): void {
    event.preventDefault();
    this.#go(1);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === "Escape") this.#close();
    else if (event.key === "Enter" && event.shiftKey) this.#go(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Goes to the next line that contains the text, from the chosen one on, then from the start. */
  #go(step: 1 | -1): void {
    if (this.#found.length === 0) return;
    const next =
      step > 0
        ? (this.#found.find((row) => row > this.selected) ?? this.#found[0]!)
        : (this.#found.findLast((row) => row < this.selected) ?? this.#found.at(-1)!);
    this.dispatchEvent(new CustomEvent<number>("tr-select", { detail: next }));
  }

  #close(): void {
    this.dispatchEvent(new CustomEvent("tr-close"));
  }
}

customElements.define("tr-find-bar", FindBar);

declare global {
  interface HTMLElementTagNameMap {
    "tr-find-bar": FindBar;
  }
}
