/**
 * A dashboard's variables: a selection for each and, while the dashboard is edited, buttons to add and remove them.
 * Fires `tr-choose` with a variable's new value and `tr-variables` with other variables.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { MAX_VARIABLES, type Variable } from "#ui/services/dashboards/dashboard.ts";
import type { Field } from "#ui/services/search/fields.ts";

export class VariableBar extends LitElement {
  @property({ attribute: false }) accessor variables: readonly Variable[] = [];
  /** Possible values, by field. */
  @property({ attribute: false }) accessor values: ReadonlyMap<string, readonly string[]> = new Map();
  /** Fields of a further variable. */
  @property({ attribute: false }) accessor fields: readonly Field[] = [];
  @property({ type: Boolean }) accessor isEditing = false;

  static override styles = [
    controls,
    css`
      :host {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 8px 14px;
        padding: 8px 12px;
        border-bottom: 1px solid var(--line);
        background: var(--surface);
      }
      label,
      form {
        display: flex;
        align-items: center;
        gap: 6px;
        min-width: 0;
      }
      button {
        flex: none;
      }
      span {
        overflow-wrap: anywhere;
        color: var(--ink-muted);
        font-size: var(--text-small);
      }
      select {
        max-width: 14rem;
      }
      input {
        width: 17rem;
        min-width: 0;
      }
      .variable {
        display: flex;
        align-items: center;
        min-width: 0;
      }
    `,
  ];

  override render(): TemplateResult {
    return html`${this.variables.map((variable) => this.#variable(variable))}
      ${this.isEditing && this.variables.length < MAX_VARIABLES ? this.#adder() : nothing}`;
  }

  #variable({ field, value }: Variable): TemplateResult {
    const known = this.values.get(field) ?? [];
    const values = value === "" || known.includes(value) ? known : [value, ...known];
    const remove = msg(str`Remove variable ${field}`);
    return html`<div class="variable"><label><span>${field}</span>
        <select aria-label=${field} @change=${(event: Event) => this.#choose(field, (event.currentTarget as HTMLSelectElement).value)}>
          <option value="" .selected=${value === ""}>${msg("All")}</option>
          ${values.map((one) => html`<option value=${one} .selected=${one === value}>${one}</option>`)}
        </select></label>
      ${this.isEditing ? html`<button class="plain small icon" aria-label=${remove} title=${remove} @click=${() => this.#fire(this.variables.filter((one) => one.field !== field))}>${icon("close")}</button>` : nothing}</div>`;
  }

  #adder(): TemplateResult {
    return html`<form @submit=${this.#add}>
      <input name="field" class="mono" list="fields" autocomplete="off" spellcheck="false" aria-label=${msg("Field of a further variable")} placeholder=${msg("Field of a further variable")} />
      <datalist id="fields">${this.fields.map(({ aggregatableName, type }) => (aggregatableName === undefined ? nothing : html`<option value=${aggregatableName}>${type}</option>`))}</datalist>
      <button>${icon("plus")}${msg("Add variable")}</button></form>`;
  }

  #add(event: SubmitEvent): void {
    event.preventDefault();
    const input = this.renderRoot.querySelector<HTMLInputElement>("input[name=field]")!;
    const field = input.value.trim();
    if (field === "" || this.variables.some((one) => one.field === field)) return;
    input.value = "";
    this.#fire([...this.variables, { field, value: "" }]);
  }

  #choose(field: string, value: string): void {
    this.dispatchEvent(new CustomEvent<Variable>("tr-choose", { detail: { field, value } }));
  }

  #fire(detail: readonly Variable[]): void {
    this.dispatchEvent(new CustomEvent<readonly Variable[]>("tr-variables", { detail }));
  }
}

customElements.define("tr-variable-bar", VariableBar);

declare global {
  interface HTMLElementTagNameMap {
    "tr-variable-bar": VariableBar;
  }
}
