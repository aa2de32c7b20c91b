/** The fields of an index as a tree that can be searched. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { controls } from "#ui/components/style/styles.ts";
import { type FieldNode, filterTree } from "#ui/services/administration/index-admin.ts";
import { formatCount } from "#ui/services/text/format.ts";

export class MappingTree extends LitElement {
  @property({ attribute: false }) accessor fields: readonly FieldNode[] = [];
  @state() accessor _search = "";

  static override styles = [
    controls,
    css`
      :host {
        display: block;
      }
      .tools {
        display: flex;
        align-items: center;
        gap: 12px;
        margin-bottom: 10px;
      }
      .tools input {
        flex: 0 1 20rem;
      }
      ul {
        margin: 0;
        padding: 0;
        list-style: none;
      }
      .tree {
        padding: 6px 0;
        border: 1px solid var(--line);
        border-radius: 8px;
        background: var(--surface);
      }
      ul ul {
        margin-left: 22px;
        border-left: 1px solid var(--line);
      }
      .field {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 2px 12px;
        padding: 4px 14px;
      }
      .field:hover {
        background: var(--surface-hover);
      }
      summary {
        cursor: pointer;
      }
      summary .field {
        display: inline-flex;
        padding-left: 2px;
      }
      details > summary {
        padding-left: 10px;
      }
      .field > b {
        font: 600 var(--text) / 20px var(--font-mono);
        overflow-wrap: anywhere;
      }
      .type {
        padding: 0 7px;
        border-radius: 9px;
        background: var(--accent-soft);
        color: var(--accent);
        font: 600 0.6875rem / 18px var(--font-mono);
      }
      .type.object {
        background: var(--surface-sunken);
        color: var(--ink-muted);
      }
      small {
        color: var(--ink-muted);
        font-size: var(--text-small);
        overflow-wrap: anywhere;
      }
    `,
  ];

  override render(): TemplateResult {
    const found = filterTree(this.fields, this._search);
    return html`<div class="tools">
        <input type="search" aria-label=${msg("Search the fields")} placeholder=${msg("Search the fields")} .value=${this._search}
          @input=${(event: Event) => {
            this._search = (event.currentTarget as HTMLInputElement).value;
          }} />
        <span class="muted" role="status">${msg(str`${formatCount(countFields(found))} fields`)}</span>
      </div>
      ${found.length === 0 ? html`<p class="muted">${this.fields.length === 0 ? msg("No field is known yet: fields come with the first document.") : msg("No field holds this.")}</p>` : html`<div class="tree"><ul>${found.map((node) => this.#node(node))}</ul></div>`}`;
  }

  #node(node: FieldNode): TemplateResult {
    const { name, type, isSubField, details, children } = node;
    const line = html`<span class="field"><b>${name}</b><span class="type ${type}">${type}</span>
      ${isSubField ? html`<small>${msg("sub-field")}</small>` : nothing}
      ${details.map((detail) => html`<small>${detail}</small>`)}</span>`;
    if (children.length === 0) return html`<li>${line}</li>`;
    return html`<li><details open><summary>${line}</summary><ul>${children.map((child) => this.#node(child))}</ul></details></li>`;
  }
}

function countFields(nodes: readonly FieldNode[]): number {
  return nodes.reduce(
    (sum, { type, children }) => sum + (type === "object" ? 0 : 1) + countFields(children),
    0,
  );
}

customElements.define("tr-mapping-tree", MappingTree);

declare global {
  interface HTMLElementTagNameMap {
    "tr-mapping-tree": MappingTree;
  }
}
