/**
 * Around a text of a line: whoever selects words of it can look for the lines with them, or those without. Fires
 * `tr-filter` for the message.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { fireFilter } from "#ui/components/controls/field-events.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { wholeWords } from "#ui/services/text/highlight.ts";

/** Longer selections are meant for copying. */
const MAX_LENGTH = 200;
/** Characters of the selection on the button. */
const SHOWN_LENGTH = 30;

export class SelectedText extends LitElement {
  /** The whole text. */
  @property() accessor text = "";
  /** The selected words; "": none. */
  @state() accessor _words = "";

  static override styles = [
    controls,
    css`
      :host {
        display: block;
        position: relative;
      }
      div {
        position: absolute;
        z-index: 3;
        top: calc(100% + 2px);
        left: 14px;
        display: flex;
        gap: 4px;
        max-width: calc(100% - 28px);
        padding: 4px;
        border: 1px solid var(--line-strong);
        border-radius: var(--radius);
        background: var(--surface);
        box-shadow: 0 6px 20px var(--shadow);
      }
    `,
  ];

  readonly #onChange = (): void => {
    if (String(getSelection()) === "") this._words = "";
  };

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener("selectionchange", this.#onChange);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener("selectionchange", this.#onChange);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("text")) this._words = "";
  }

  override render(): TemplateResult {
    return html`<slot @pointerup=${this.#onSelected}></slot>${this._words === "" ? nothing : this.#tools(this._words)}`;
  }

  /** A press on one of the buttons must not end the selection. */
  #tools(words: string): TemplateResult {
    const shown = words.length <= SHOWN_LENGTH ? words : `${words.slice(0, SHOWN_LENGTH)}…`;
    return html`<div role="group" aria-label=${msg("Selected text")} @mousedown=${(event: Event) => event.preventDefault()}>
      <button class="small" @click=${() => this.#filter(false)}>${icon("plus")}${msg(str`Filter for “${shown}”`)}</button>
      <button class="small" @click=${() => this.#filter(true)}>${icon("minus")}${msg("Filter it out")}</button></div>`;
  }

  #onSelected(): void {
    const selected = String(getSelection()).trim();
    this._words = selected.length > MAX_LENGTH ? "" : wholeWords(this.text, selected);
  }

  #filter(exclude: boolean): void {
    fireFilter(this, { field: "message", value: this._words, exclude });
    getSelection()?.removeAllRanges();
    this._words = "";
  }
}

customElements.define("tr-selected-text", SelectedText);

declare global {
  interface HTMLElementTagNameMap {
    "tr-selected-text": SelectedText;
  }
}
