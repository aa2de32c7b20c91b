/** A note on a dashboard, written in Markdown. Fires `tr-text` with the text when it was changed. */

import { msg } from "@lit/localize";
import { css, html, LitElement, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { controls } from "#ui/components/style/styles.ts";
import { type Block, type Inline, MAX_MARKDOWN, parseMarkdown } from "#ui/services/text/markdown.ts";

export class TextPanel extends LitElement {
  @property() accessor text = "";
  @property({ type: Boolean }) accessor isEditing = false;

  static override styles = [
    controls,
    css`
      :host {
        flex: 1;
        display: flex;
        flex-direction: column;
        min-height: 0;
        overflow: auto;
      }
      textarea {
        flex: 1;
        width: 100%;
        padding: 8px;
        border: 1px solid var(--control-line);
        border-radius: var(--radius);
        background: var(--surface);
        color: var(--ink);
        font: var(--text-small) / 1.5 var(--font-mono);
        resize: none;
      }
      h3,
      h4,
      h5 {
        margin: 8px 0 4px;
        font-size: var(--text-large);
      }
      h4,
      h5 {
        font-size: var(--text);
      }
      p,
      ul,
      ol,
      pre {
        margin: 4px 0;
        overflow-wrap: anywhere;
      }
      pre,
      code {
        font-family: var(--font-mono);
        white-space: pre-wrap;
      }
      code,
      pre {
        padding: 1px 4px;
        border-radius: 4px;
        background: var(--surface-sunken);
      }
      a {
        color: var(--accent);
      }
    `,
  ];

  override render(): TemplateResult {
    if (!this.isEditing) return html`${parseMarkdown(this.text).map(blockView)}`;
    return html`<textarea aria-label=${msg("Text in Markdown")} maxlength=${MAX_MARKDOWN} .value=${this.text} @change=${this.#onChange}></textarea>`;
  }

  #onChange(event: Event): void {
    const detail = (event.currentTarget as HTMLTextAreaElement).value;
    this.dispatchEvent(new CustomEvent<string>("tr-text", { detail }));
  }
}

function blockView(block: Block): TemplateResult {
  if (block.kind === "code") return html`<pre>${block.text}</pre>`;
  if (block.kind === "paragraph") return html`<p>${block.content.map(inlineView)}</p>`;
  if (block.kind === "list") {
    const items = block.items.map((item) => html`<li>${item.map(inlineView)}</li>`);
    return block.isNumbered ? html`<ol>${items}</ol>` : html`<ul>${items}</ul>`;
  }
  const content = block.content.map(inlineView);
  // Headings begin below the titles of the page and the panels.
  if (block.level === 1) return html`<h3>${content}</h3>`;
  return block.level === 2 ? html`<h4>${content}</h4>` : html`<h5>${content}</h5>`;
}

function inlineView({ kind, text, address }: Inline): TemplateResult | string {
  if (kind === "strong") return html`<strong>${text}</strong>`;
  if (kind === "emphasis") return html`<em>${text}</em>`;
  if (kind === "code") return html`<code>${text}</code>`;
  return kind === "link" ? html`<a href=${address!} rel="noopener noreferrer">${text}</a>` : text;
}

customElements.define("tr-text-panel", TextPanel);

declare global {
  interface HTMLElementTagNameMap {
    "tr-text-panel": TextPanel;
  }
}
