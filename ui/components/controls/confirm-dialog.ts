/** Asks for confirmation before something is destroyed, optionally until its name is typed. */

import { msg } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { controls, dialogFrame } from "#ui/components/style/styles.ts";

export interface Question {
  readonly title: string;
  /** What will happen, and whether it can be undone. */
  readonly text: string;
  /** More lines, shown as code. */
  readonly items?: readonly string[];
  /** The button's label: what it does. */
  readonly action: string;
  /** Text that must be typed first. */
  readonly typed?: string;
}

export class ConfirmDialog extends LitElement {
  @state() accessor _question: Question | undefined;
  @state() accessor _typed = "";

  static override styles = [
    controls,
    dialogFrame,
    css`
      dialog {
        width: min(30rem, calc(100vw - 24px));
        padding: 0;
        border-top: 3px solid var(--level-error);
      }
      form {
        padding: 18px 20px;
      }
      h2 {
        margin: 0 0 8px;
        font-size: var(--text-large);
        font-weight: 600;
      }
      p {
        margin: 0 0 12px;
        color: var(--ink-muted);
      }
      ul {
        max-height: 10rem;
        margin: 0 0 12px;
        padding: 8px 12px;
        overflow: auto;
        border-radius: var(--radius);
        background: var(--surface-sunken);
        font: var(--text-small) / 20px var(--font-mono);
        list-style: none;
        overflow-wrap: anywhere;
      }
      label {
        display: grid;
        gap: 5px;
        margin-bottom: 14px;
      }
      label strong {
        font-family: var(--font-mono);
        overflow-wrap: anywhere;
      }
      .buttons {
        display: flex;
        justify-content: flex-end;
        gap: 8px;
      }
    `,
  ];

  #settle: ((isConfirmed: boolean) => void) | undefined;

  /** Asks; resolves with true if it was confirmed. */
  async ask(question: Question): Promise<boolean> {
    this.#settle?.(false);
    this._question = question;
    this._typed = "";
    await this.updateComplete;
    this.renderRoot.querySelector("dialog")!.showModal();
    this.renderRoot.querySelector<HTMLElement>(question.typed === undefined ? ".cancel" : "input")?.focus();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#settle = resolve;
    return promise;
  }

  override render(): TemplateResult {
    const { title = "", text = "", items = [], action = "", typed } = this._question ?? {};
    return html`<dialog aria-labelledby="title" aria-describedby="text" @close=${this.#onClose}>
      <form @submit=${this.#submit}>
        <h2 id="title">${title}</h2>
        <p id="text">${text}</p>
        ${items.length === 0 ? nothing : html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`}
        ${
          typed === undefined
            ? nothing
            : html`<label><span>${msg("Type")} <strong>${typed}</strong> ${msg("to confirm")}</span>
                <input autocomplete="off" spellcheck="false" .value=${this._typed} @input=${this.#onInput} /></label>`
        }
        <div class="buttons">
          <button type="button" class="cancel" @click=${() => this.#end(false)}>${msg("Cancel")}</button>
          <button class="destructive" ?disabled=${typed !== undefined && this._typed !== typed}>${action}</button>
        </div>
      </form>
    </dialog>`;
  }

  #onInput(event: Event): void {
    this._typed = (event.currentTarget as HTMLInputElement).value;
  }

  #submit(event: Event): void {
    event.preventDefault();
    this.#end(true);
  }

  #onClose(event: Event): void {
    if (!(event.currentTarget as HTMLDialogElement).open) this.#end(false);
  }

  /** Resolved here instead of at the dialog's event, before which another question may be asked. */
  #end(isConfirmed: boolean): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.renderRoot.querySelector("dialog")?.close();
    settle?.(isConfirmed);
  }
}

customElements.define("tr-confirm-dialog", ConfirmDialog);

declare global {
  interface HTMLElementTagNameMap {
    "tr-confirm-dialog": ConfirmDialog;
  }
}
