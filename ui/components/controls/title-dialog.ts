/** Asks for the title under which something is saved. */

import { msg } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { controls, dialogFrame } from "#ui/components/style/styles.ts";
import { formText } from "./form-text.ts";

export interface TitleQuestion {
  /** `Save this search` */
  readonly heading: string;
  /** The initial text of the field. */
  readonly title: string;
  /** True if a saved object can be replaced or saved as another one. */
  readonly isSaved: boolean;
}

export interface TitleAnswer {
  readonly title: string;
  /** True: as another object. */
  readonly isCopy: boolean;
}

export class TitleDialog extends LitElement {
  @state() accessor _question: TitleQuestion | undefined;

  static override styles = [
    controls,
    dialogFrame,
    css`
      dialog {
        width: min(26rem, calc(100vw - 24px));
        padding: 18px 20px;
      }
      h2 {
        margin: 0 0 12px;
        font-size: var(--text-large);
        font-weight: 600;
      }
      label {
        display: grid;
        gap: 4px;
        margin-bottom: 14px;
      }
      label.copy {
        display: flex;
        align-items: center;
        gap: 8px;
      }
      label.copy input {
        width: 16px;
        height: 16px;
      }
      .buttons {
        display: flex;
        justify-content: flex-end;
        gap: 8px;
      }
    `,
  ];

  #settle: ((answer: TitleAnswer | undefined) => void) | undefined;

  /** Asks; resolves with undefined if the user cancels. */
  async ask(question: TitleQuestion): Promise<TitleAnswer | undefined> {
    this.#settle?.(undefined);
    this._question = question;
    await this.updateComplete;
    // The previous answer, such as the wish for a copy, doesn't apply to this question.
    this.renderRoot.querySelector("form")!.reset();
    const input = this.renderRoot.querySelector<HTMLInputElement>("input[name=title]")!;
    input.value = question.title;
    this.renderRoot.querySelector("dialog")!.showModal();
    input.select();
    const { promise, resolve } = Promise.withResolvers<TitleAnswer | undefined>();
    this.#settle = resolve;
    return promise;
  }

  override render(): TemplateResult {
    const { heading = "", isSaved = false } = this._question ?? {};
    return html`<dialog aria-labelledby="heading" @close=${this.#onClose}>
      <form @submit=${this.#submit}>
        <h2 id="heading">${heading}</h2>
        <label>${msg("Title")}<input name="title" required maxlength="200" autocomplete="off" /></label>
        ${isSaved ? html`<label class="copy"><input type="checkbox" name="copy" />${msg("Save as new")}</label>` : nothing}
        <div class="buttons"><button type="button" @click=${() => this.#end(undefined)}>${msg("Cancel")}</button><button class="primary">${msg("Save")}</button></div>
      </form>
    </dialog>`;
  }

  #submit(event: SubmitEvent): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const title = formText(form, "title");
    if (title !== "") this.#end({ title, isCopy: form.get("copy") !== null });
  }

  /** Another question may be asked before the event arrives. */
  #onClose(event: Event): void {
    if (!(event.currentTarget as HTMLDialogElement).open) this.#end(undefined);
  }

  #end(answer: TitleAnswer | undefined): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.renderRoot.querySelector("dialog")?.close();
    settle?.(answer);
  }
}

customElements.define("tr-title-dialog", TitleDialog);

declare global {
  interface HTMLElementTagNameMap {
    "tr-title-dialog": TitleDialog;
  }
}
