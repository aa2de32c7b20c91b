/**
 * Shows the tokens that an analyser produces from a text: the analyser of a field, one by name, or one assembled from
 * its parts.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import { formText } from "#ui/components/controls/form-text.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import type { AnalysedToken, IndexAdmin } from "#ui/services/administration/index-admin.ts";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";
import { formatCount } from "#ui/services/text/format.ts";

type Way = "analyzer" | "field" | "parts";

const ANALYZERS = ["standard", "simple", "whitespace", "keyword", "stop", "english", "german", "french"];
const TOKENIZERS = ["standard", "letter", "lowercase", "whitespace", "keyword", "uax_url_email", "pattern"];
const DEFAULT_TEXT = "Connection refused: web-1.example.com 10.0.0.1 [GET /index.html]";

export class AnalyseForm extends LitElement {
  @property() accessor index = "";
  @property({ attribute: false }) accessor admin!: IndexAdmin;
  /** Fields that are analysed. */
  @property({ attribute: false }) accessor fieldNames: readonly string[] = [];
  @state() accessor _way: Way = "analyzer";
  @state() accessor _tokens: readonly AnalysedToken[] | undefined;
  @state() accessor _fault: HubError | undefined;

  static override styles = [
    controls,
    notices,
    pageStyles,
    css`
      :host {
        height: auto;
        overflow: visible;
      }
      form {
        display: grid;
        gap: 12px;
      }
      .ways {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
      }
      ol {
        display: flex;
        flex-wrap: wrap;
        gap: 6px;
        margin: 14px 0 0;
        padding: 0;
        list-style: none;
      }
      li {
        padding: 3px 10px 4px;
        border: 1px solid var(--line-strong);
        border-radius: 6px;
        background: var(--surface);
      }
      li b {
        display: block;
        font: 600 var(--text) / 20px var(--font-mono);
        overflow-wrap: anywhere;
      }
      li small {
        color: var(--ink-faint);
        font-size: 0.6875rem;
        font-variant-numeric: tabular-nums;
      }
    `,
  ];

  /** Number of the last request; only its answer is shown. */
  #asked = 0;

  override render(): TemplateResult {
    return html`<form class="card" @submit=${this.#submit}>
        <div class="ways" role="group" aria-label=${msg("Analyse by")}>
          ${this.#wayButton("analyzer", msg("An analyser"))}${this.#wayButton("field", msg("A field"))}${this.#wayButton("parts", msg("Tokenizer and filters"))}
        </div>
        <div class="form">${this.#inputs()}</div>
        <label class="form"><span>${msg("Text")}</span><textarea name="text" required>${DEFAULT_TEXT}</textarea></label>
        <div><button class="primary">${msg("Analyse")}</button></div>
      </form>
      ${this._fault === undefined ? nothing : errorView(this._fault)}
      ${this._tokens === undefined ? nothing : this.#result(this._tokens)}`;
  }

  #wayButton(way: Way, text: string): TemplateResult {
    return html`<button type="button" class="small" aria-pressed=${this._way === way} @click=${() => {
      this._way = way;
    }}>${text}</button>`;
  }

  #inputs(): TemplateResult {
    if (this._way === "field")
      return html`<label>${msg("Field")}<input name="field" list="fields" required autocomplete="off" class="mono" value=${this.fieldNames[0] ?? ""} /></label>
        <datalist id="fields">${this.fieldNames.map((name) => html`<option value=${name}></option>`)}</datalist>`;
    if (this._way === "parts")
      return html`<label>${msg("Tokenizer")}<input name="tokenizer" list="tokenizers" required autocomplete="off" class="mono" value="standard" /></label>
        <datalist id="tokenizers">${TOKENIZERS.map((name) => html`<option value=${name}></option>`)}</datalist>
        <label>${msg("Filters, with commas")}<input name="filter" autocomplete="off" class="mono" value="lowercase, unique" /></label>`;
    return html`<label>${msg("Analyser")}<input name="analyzer" list="analyzers" required autocomplete="off" class="mono" value="standard" /></label>
      <datalist id="analyzers">${ANALYZERS.map((name) => html`<option value=${name}></option>`)}</datalist>`;
  }

  #result(tokens: readonly AnalysedToken[]): TemplateResult {
    return html`<p class="muted" role="status">${tokens.length === 1 ? msg("1 token, with its position and offsets in the text") : msg(str`${formatCount(tokens.length)} tokens, each with its position and offsets in the text`)}</p>
      <ol>${tokens.map(
        ({ token, position, start_offset, end_offset, type }) =>
          html`<li title=${type}><b>${token}</b><small>${position} · ${start_offset}–${end_offset}</small></li>`,
      )}</ol>`;
  }

  async #submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string): string => formText(form, name);
    const filter = text("filter")
      .split(/\s*,\s*/)
      .filter((name) => name !== "");
    const chosen =
      this._way === "parts" ? { tokenizer: text("tokenizer"), filter } : { [this._way]: text(this._way) };
    const number = ++this.#asked;
    try {
      const tokens = await this.admin.analyse(this.index, { ...chosen, text: form.get("text") });
      if (number !== this.#asked) return;
      this._tokens = tokens;
      this._fault = undefined;
    } catch (error) {
      if (number !== this.#asked) return;
      this._tokens = undefined;
      this._fault = toHubError(error);
    }
  }
}

customElements.define("tr-analyse-form", AnalyseForm);

declare global {
  interface HTMLElementTagNameMap {
    "tr-analyse-form": AnalyseForm;
  }
}
