/** Adds panels to a dashboard: one of a list, or several at once. Fires `tr-panels` with the new ones. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { dropPanel, toggleDropPanel } from "#ui/components/controls/drop-panel.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import type { Panel } from "#ui/services/dashboards/dashboard.ts";
import type { SavedObject } from "#ui/services/hub/saved-client.ts";

/** Of a choice, before the id of a saved search. */
const SEARCH = "search:";
const TEXT = "text:";

export class PanelPicker extends LitElement {
  @property({ attribute: false }) accessor visualisations: ReadonlyMap<string, SavedObject> = new Map();
  @property({ attribute: false }) accessor searches: ReadonlyMap<string, SavedObject> = new Map();
  /** Number of panels that may still be added. */
  @property({ type: Number }) accessor free = 0;
  /** Part of the titles that are listed. */
  @state() accessor _find = "";
  @state() accessor _chosen: ReadonlySet<string> = new Set();

  static override styles = [
    controls,
    dropPanel,
    css`
      :host {
        display: flex;
        gap: 8px;
        min-width: 0;
      }
      select {
        flex: 1;
        min-width: 0;
      }
      input[type="search"] {
        width: 100%;
      }
      ul {
        max-height: 18rem;
        margin: 8px 0;
        padding: 0;
        overflow: auto;
        list-style: none;
      }
      label {
        display: flex;
        align-items: center;
        gap: 8px;
        min-height: 28px;
        padding: 0 4px;
      }
      label:hover {
        background: var(--surface-hover);
      }
      label input {
        flex: none;
        width: 16px;
        height: 16px;
        margin: 0;
        accent-color: var(--accent);
      }
      small {
        margin-left: auto;
        color: var(--ink-muted);
      }
    `,
  ];

  override render(): TemplateResult {
    const isFull = this.free <= 0;
    const several = msg("Add several panels");
    return html`<select aria-label=${msg("Add a panel")} ?disabled=${isFull} @change=${this.#onSelect}>
        <option value="">${isFull ? msg("No further panel fits") : msg("Add a panel …")}</option>
        ${this.#options()}
      </select>
      <button class="icon" aria-haspopup="dialog" aria-label=${several} title=${several} ?disabled=${isFull} @click=${this.#toggle}>${icon("list")}</button>
      <div class="panel" popover role="dialog" aria-label=${several}>
        <input type="search" aria-label=${msg("Search titles")} placeholder=${msg("Search titles")} .value=${this._find} @input=${this.#onFind} />
        ${this.#list()}
        <button class="primary" ?disabled=${this._chosen.size === 0 || this._chosen.size > this.free} @click=${this.#addChosen}>${icon("plus")}${this.#addText()}</button>
      </div>`;
  }

  /** The choices: visualisations, then lines of searches, each after the name of its kind. */
  #options(): TemplateResult {
    const { visualisations, searches } = this;
    const options = (kind: string, objects: ReadonlyMap<string, SavedObject>): TemplateResult[] =>
      [...objects.values()].map(({ id, title }) => html`<option value="${kind}${id}">${title}</option>`);
    return html`<option value=${TEXT}>${msg("A text")}</option>
      <optgroup label=${msg("Visualisations")}>${options("", visualisations)}</optgroup>
      ${searches.size === 0 ? nothing : html`<optgroup label=${msg("Lines of a saved search")}>${options(SEARCH, searches)}</optgroup>`}`;
  }

  #list(): TemplateResult {
    const sought = this._find.trim().toLowerCase();
    const choices = [
      ...[...this.visualisations.values()].map(({ id, title }) => ({ choice: id, title, kind: "" })),
      ...[...this.searches.values()].map(({ id, title }) => ({
        choice: `${SEARCH}${id}`,
        title,
        kind: msg("Lines"),
      })),
    ].filter(({ title }) => title.toLowerCase().includes(sought));
    return html`<ul>${choices.map(
      ({ choice, title, kind }) =>
        html`<li><label><input type="checkbox" .checked=${this._chosen.has(choice)} @change=${() => this.#mark(choice)} />${title}<small>${kind}</small></label></li>`,
    )}</ul>`;
  }

  #addText(): string {
    const { size } = this._chosen;
    if (size > this.free) return msg(str`Only ${this.free} more fit`);
    return size === 1 ? msg("Add 1 panel") : msg(str`Add ${size} panels`);
  }

  #onFind(event: Event): void {
    this._find = (event.currentTarget as HTMLInputElement).value;
  }

  #mark(choice: string): void {
    const chosen = new Set(this._chosen);
    if (!chosen.delete(choice)) chosen.add(choice);
    this._chosen = chosen;
  }

  #toggle(event: Event): void {
    this._find = "";
    this._chosen = new Set();
    toggleDropPanel(event.currentTarget as HTMLElement);
  }

  #addChosen(): void {
    this.renderRoot.querySelector<HTMLElement>(".panel")!.hidePopover();
    this.#add([...this._chosen]);
  }

  #onSelect(event: Event): void {
    const select = event.currentTarget as HTMLSelectElement;
    if (select.value !== "") this.#add([select.value]);
    select.value = "";
  }

  #add(choices: readonly string[]): void {
    this.dispatchEvent(new CustomEvent<readonly Panel[]>("tr-panels", { detail: choices.map(newPanel) }));
  }
}

function newPanel(choice: string): Panel {
  if (choice === TEXT)
    return { id: `text-${Date.now().toString(36)}`, width: 4, height: "low", kind: "text", text: "" };
  if (choice.startsWith(SEARCH))
    return { id: choice.slice(SEARCH.length), width: 12, height: "middle", kind: "search" };
  return { id: choice, width: 6, height: "middle" };
}

customElements.define("tr-panel-picker", PanelPicker);

declare global {
  interface HTMLElementTagNameMap {
    "tr-panel-picker": PanelPicker;
  }
}
