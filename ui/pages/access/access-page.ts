/** Shared by the pages of access: loading, changes with a confirmation, a secret that is shown once. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { copyText } from "#ui/services/browser/copy-text.ts";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";
import "#ui/components/controls/confirm-dialog.ts";
import type { Question } from "#ui/components/controls/confirm-dialog.ts";
import { errorView } from "#ui/components/controls/error-view.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { controls, notices } from "#ui/components/style/styles.ts";

/** A secret that the hub shows once. */
export interface Secret {
  /** Name and purpose of the secret. */
  readonly text: string;
  readonly values: readonly (readonly [label: string, value: string])[];
}

export abstract class AccessPage extends LitElement {
  @state() accessor _fault: HubError | undefined;
  @state() accessor _said = "";
  @state() accessor _secret: Secret | undefined;

  static override styles = [
    controls,
    notices,
    pageStyles,
    css`
      .notice {
        margin-bottom: 12px;
      }
      .secret {
        margin-bottom: 16px;
        border-color: var(--accent);
      }
      .values {
        display: grid;
        grid-template-columns: auto 1fr auto;
        align-items: center;
        gap: 6px 12px;
        margin: 10px 0 0;
      }
      .values code {
        overflow-wrap: anywhere;
        font-family: var(--font-mono);
      }
      td.long {
        white-space: normal;
        overflow-wrap: anywhere;
      }
      @media (width < 700px) {
        td.name {
          min-width: 7rem;
          white-space: normal;
          overflow-wrap: anywhere;
        }
      }
      .form label.wide {
        flex: 1 1 18rem;
      }
      .form input:not([type="checkbox"]) {
        width: 100%;
      }
      .choices {
        flex: 1 1 100%;
        display: flex;
        flex-wrap: wrap;
        gap: 4px 18px;
        min-width: 0;
        margin: 0;
        padding: 0;
        border: 0;
      }
      .choices legend {
        padding: 0 0 4px;
        color: var(--ink-muted);
        font-size: var(--text-small);
      }
      .form .choices label {
        display: flex;
        align-items: center;
        gap: 7px;
        min-height: 24px;
        color: var(--ink);
        font-size: var(--text);
      }
    `,
  ];

  constructor() {
    super();
    roveLists(this);
  }

  #abort = new AbortController();
  #loading = new AbortController();

  override connectedCallback(): void {
    super.connectedCallback();
    this.#abort = new AbortController();
    void this.attempt((signal) => this.#load(signal));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#abort.abort();
    this._secret = undefined;
  }

  override render(): TemplateResult {
    return html`<div class="page">
      <div class="title"><h1>${this.heading}</h1></div>
      ${this._fault === undefined ? nothing : errorView(this._fault)}
      <p role="status" class="muted">${this._said}</p>
      ${this._secret === undefined ? nothing : this.#secretView(this._secret)}
      ${this.content()}
      <tr-confirm-dialog></tr-confirm-dialog>
    </div>`;
  }

  protected abstract get heading(): string;

  protected abstract content(): TemplateResult | typeof nothing;

  protected abstract load(signal: AbortSignal): Promise<void>;

  /** Does `work`, then loads again; an error is shown. Screen readers read `said` when the work is done. */
  protected change(work: () => Promise<unknown>, said = ""): Promise<void> {
    return this.attempt(async (signal) => {
      await work();
      this._said = said;
      await this.#load(signal);
    });
  }

  /** Loads, and drops the result of a load that still runs: it may arrive later, with older data. */
  async #load(page: AbortSignal): Promise<void> {
    this.#loading.abort();
    this.#loading = new AbortController();
    const signal = AbortSignal.any([page, this.#loading.signal]);
    try {
      await this.load(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** As `change`, after a confirmation. */
  protected async changeIfSure(question: Question, work: () => Promise<unknown>, said = ""): Promise<void> {
    const dialog = this.renderRoot.querySelector("tr-confirm-dialog");
    if (dialog !== null && (await dialog.ask(question))) await this.change(work, said);
  }

  protected async attempt(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#abort;
    try {
      this._fault = undefined;
      await work(signal);
    } catch (error) {
      if (signal.aborted) return;
      this._said = "";
      this._fault = toHubError(error);
    }
  }

  #secretView({ text, values }: Secret): TemplateResult {
    return html`<section class="card secret" aria-label=${msg("Shown once")}>
      <strong>${text} ${msg("It is shown only once.")}</strong>
      <div class="values">${values.map(
        ([label, value]) => html`<span>${label}</span><code>${value}</code>
          <button aria-label=${msg(str`Copy ${label}`)} @click=${() => void this.#copy(label, value)}>${icon("copy")}${msg("Copy")}</button>`,
      )}</div>
      <p><button @click=${this.#forget}>${msg("I have saved it")}</button></p>
    </section>`;
  }

  readonly #forget = (): void => {
    this._secret = undefined;
  };

  async #copy(label: string, value: string): Promise<void> {
    this._said = (await copyText(value))
      ? msg(str`${label} is copied.`)
      : msg(str`The browser blocked copying: select the ${label} and copy it by hand.`);
  }
}

/** Returns a table in a box that scrolls by itself; `head` ends with the column of buttons. */
export function tableView(
  label: string,
  head: readonly string[],
  rows: readonly TemplateResult[],
  empty: string,
): TemplateResult {
  if (rows.length === 0) return html`<p class="muted">${empty}</p>`;
  return html`<div class="table" tabindex="0" role="region" aria-label=${label}><table>
    <thead><tr>${head.map((each) => html`<th scope="col">${each}</th>`)}<th scope="col"><span class="hidden-text">${msg("Actions")}</span></th></tr></thead>
    <tbody>${rows}</tbody></table></div>`;
}

/** Returns index patterns as a form's field has them. */
export function patternsOf(text: string): string[] {
  const patterns = text.split(/[\s,]+/).filter((each) => each !== "");
  return patterns.length === 0 ? ["*"] : patterns;
}
