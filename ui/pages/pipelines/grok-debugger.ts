/** Tries a grok expression on a line: shows its fields, or how far its longest prefix matches. */

import { msg } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { type GrokAnswer, tryGrok } from "#ui/services/administration/pipeline-client.ts";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";

const TRY_AFTER_MS = 300;

export class GrokDebugger extends LitElement {
  @state() accessor _answer: GrokAnswer | undefined;
  @state() accessor _fault: HubError | undefined;
  @state() accessor _text = "55.3.244.1 GET /index.html 15824 0.043";

  static override styles = [
    controls,
    notices,
    pageStyles,
    css`
      :host {
        height: auto;
        overflow: visible;
      }
      label.block {
        display: grid;
        gap: 5px;
        margin-bottom: 12px;
        font-weight: 600;
      }
      textarea {
        min-height: 3.2rem;
        field-sizing: content;
      }
      .line {
        margin: 0 0 12px;
        padding: 8px 12px;
        border-radius: var(--radius);
        background: var(--surface);
        font: var(--text) / 1.6 var(--font-mono);
        overflow-wrap: anywhere;
      }
    `,
  ];

  #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.updateComplete.then(() => this.#try());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  override render(): TemplateResult {
    return html`<form @input=${this.#onInput} @submit=${(event: Event) => event.preventDefault()}>
        <label class="block">${msg("Line")}<textarea name="text" spellcheck="false">${"55.3.244.1 GET /index.html 15824 0.043"}</textarea></label>
        <label class="block">${msg("Expression")}<textarea name="pattern" spellcheck="false">${"%{IP:client} %{WORD:method} %{URIPATHPARAM:request} %{NUMBER:bytes} %{NUMBER:duration}"}</textarea></label>
        <label class="block">${msg("Custom patterns, one per line: name and expression")}<textarea name="definitions" spellcheck="false"></textarea></label>
      </form>
      ${this._fault === undefined ? nothing : errorView(this._fault)}
      <div role="status">${this._answer === undefined ? nothing : this.#answer(this._answer)}</div>`;
  }

  #answer({
    matched,
    end,
    fields,
    matched_pattern: read,
    failed_pattern: failed,
  }: GrokAnswer): TemplateResult {
    return html`<p><span class="badge ${matched ? "ok" : "failed"}">${matched ? msg("Match") : msg("No match")}</span></p>
      <p class="line"><mark>${this._text.slice(0, end)}</mark>${this._text.slice(end)}</p>
      ${matched ? nothing : html`<p>${msg("This part of the expression matches the marked text:")} <code class="mono">${read || "–"}</code><br />${msg("Matching stops here:")} <code class="mono">${failed}</code></p>`}
      ${
        fields.length === 0
          ? nothing
          : html`<div class="table" tabindex="0" role="region" aria-label=${msg("Fields")}><table><thead><tr><th scope="col">${msg("Field")}</th><th scope="col">${msg("Value")}</th></tr></thead>
          <tbody>${fields.map(({ name, value }) => html`<tr><td class="name">${name}</td><td class="mono">${value}</td></tr>`)}</tbody></table></div>`
      }`;
  }

  #onInput(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#try(), TRY_AFTER_MS);
  }

  async #try(): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const value = (name: string): string =>
      this.renderRoot.querySelector<HTMLTextAreaElement>(`[name=${name}]`)?.value ?? "";
    const text = value("text");
    try {
      const answer = await tryGrok(value("pattern"), text, value("definitions"), signal);
      if (signal.aborted) return;
      this._text = text;
      this._answer = answer;
      this._fault = undefined;
    } catch (error) {
      if (signal.aborted) return;
      this._answer = undefined;
      this._fault = toHubError(error);
    }
  }
}

customElements.define("tr-grok-debugger", GrokDebugger);

declare global {
  interface HTMLElementTagNameMap {
    "tr-grok-debugger": GrokDebugger;
  }
}
