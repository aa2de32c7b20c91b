/**
 * The filters of a search. Each can be turned off, inverted, edited, pinned and removed. Fires `tr-filters` with the
 * new filters.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { dropPanel, toggleDropPanel } from "#ui/components/controls/drop-panel.ts";
import { formText } from "#ui/components/controls/form-text.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { type FieldFilter, replaceFilter } from "#ui/services/search/discover-state.ts";
import type { FieldCatalogue } from "#ui/services/search/fields.ts";
import { isPinned, togglePinned } from "#ui/services/search/pinned-filters.ts";

/** How a field is compared: with a value, or by its existence. */
const CONDITIONS = ["is", "is-not", "exists", "missing"] as const;
type Condition = (typeof CONDITIONS)[number];
const CONDITION_NAMES: Readonly<Record<Condition, string>> = {
  is: msg("is"),
  "is-not": msg("is not"),
  exists: msg("exists"),
  missing: msg("is missing"),
};

const pillStyles = css`
  ul {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    margin: 0;
    padding: 7px 12px;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
    list-style: none;
  }
  .join {
    display: flex;
    align-items: center;
  }
  .join button {
    border-radius: 12px;
    color: var(--ink-muted);
  }
  .join.or button {
    border-color: var(--accent);
    color: var(--accent);
    font-weight: 600;
  }
  .pill {
    display: flex;
    max-width: 100%;
    border: 1px solid var(--accent);
    border-radius: 14px;
    background: var(--accent-soft);
  }
  .pill.exclude {
    border-color: var(--level-error);
    background: none;
  }
  .pill.disabled {
    border-style: dashed;
    background: none;
  }
  .pill.disabled > .toggle {
    color: var(--ink-muted);
    text-decoration: line-through;
  }
  .pill.pinned {
    border-width: 2px;
  }
  .pill > button {
    border: 0;
    border-radius: 14px;
    background: none;
    color: var(--ink);
    font-family: var(--font-mono);
    font-weight: 400;
  }
  .pill > .toggle {
    min-width: 0;
    padding: 0 2px 0 10px;
  }
  .toggle span {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  form {
    display: grid;
    gap: 10px;
  }
  label {
    display: grid;
    gap: 3px;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  .actions {
    display: flex;
    gap: 8px;
  }
`;

export class FilterPills extends LitElement {
  @property({ attribute: false }) accessor filters: readonly FieldFilter[] = [];
  /** For the choice of another field. */
  @property({ attribute: false }) accessor fields: FieldCatalogue | undefined;

  static override styles = [controls, dropPanel, pillStyles];

  override render(): TemplateResult | typeof nothing {
    if (this.filters.length === 0) return nothing;
    return html`<ul aria-label=${msg("Filters")}>${this.filters.map((filter, at) => html`${at === 0 ? nothing : this.#join(filter, at)}${this.#pill(filter, at)}`)}</ul>
      <datalist id="fields">${[...(this.fields?.keys() ?? [])].map((name) => html`<option value=${name}></option>`)}</datalist>`;
  }

  /** Joins a filter to the one before: both must hold, or one of them. */
  #join(filter: FieldFilter, at: number): TemplateResult {
    const isOr = filter.isOr === true;
    const before = filterText(this.filters[at - 1]!);
    const label = isOr
      ? msg(str`${before} or ${filterText(filter)}: require both`)
      : msg(str`${before} and ${filterText(filter)}: accept either`);
    return html`<li class="join ${isOr ? "or" : ""}"><button class="plain small" aria-label=${label} title=${isOr ? msg("Require both") : msg("Accept either")}
      @click=${() => this.#replace(at, { ...filter, isOr: !isOr })}>${isOr ? msg("or") : msg("and")}</button></li>`;
  }

  #pill(filter: FieldFilter, at: number): TemplateResult {
    const text = filterText(filter);
    const { exclude, disabled } = filter;
    return html`<li class="pill ${exclude ? "exclude" : ""} ${disabled ? "disabled" : ""} ${isPinned(filter) ? "pinned" : ""}">
      <button class="plain small toggle" aria-pressed=${!disabled} title=${msg("Turn on or off")} @click=${() => this.#replace(at, { ...filter, disabled: !disabled })}><span>${text}</span></button>
      <button class="plain small icon" aria-haspopup="dialog" aria-label=${msg(str`Edit filter ${text}`)} title=${msg("Edit")} @click=${(event: Event) => toggleDropPanel(event.currentTarget as HTMLElement)}>${icon("edit")}</button>
      <div class="panel" popover role="dialog" aria-label=${msg(str`Edit filter ${text}`)}>${this.#form(filter, at)}</div>
      <button class="plain small icon" aria-label=${msg(str`Remove filter ${text}`)} title=${msg("Remove")} @click=${() => this.#replace(at)}>${icon("close")}</button>
    </li>`;
  }

  #form(filter: FieldFilter, at: number): TemplateResult {
    const condition = conditionOf(filter);
    return html`<form @submit=${(event: SubmitEvent) => this.#apply(event, at)}>
      <label>${msg("Field")}<input name="field" class="mono" required list="fields" autocomplete="off" spellcheck="false" .value=${filter.field} /></label>
      <label>${msg("Condition")}<select name="condition">${CONDITIONS.map((one) => html`<option value=${one} .selected=${one === condition}>${CONDITION_NAMES[one]}</option>`)}</select></label>
      <label>${msg("Value")}<input name="value" class="mono" autocomplete="off" spellcheck="false" .value=${filter.value ?? ""} /></label>
      <div class="actions"><button class="primary">${msg("Apply")}</button>
        <button type="button" @click=${() => this.#replace(at, { ...filter, exclude: !filter.exclude })}>${msg("Invert")}</button>
        <button type="button" aria-pressed=${isPinned(filter)} title=${msg("Keep this filter for new searches")} @click=${() => this.#pin(filter)}>${msg("Pin")}</button></div>
    </form>`;
  }

  #apply(event: SubmitEvent, at: number): void {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const condition = formText(data, "condition") as Condition;
    const hasValue = condition === "is" || condition === "is-not";
    this.#replace(at, {
      isOr: this.filters[at]?.isOr === true,
      field: formText(data, "field"),
      // Not trimmed: a value may begin with a space.
      value: hasValue ? (data.get("value") as string) : undefined,
      exclude: condition === "is-not" || condition === "missing",
      disabled: false,
    });
  }

  #pin(filter: FieldFilter): void {
    togglePinned(filter);
    this.requestUpdate();
  }

  /** Replaces a filter with others: none or one. */
  #replace(at: number, ...others: readonly FieldFilter[]): void {
    for (const panel of this.renderRoot.querySelectorAll<HTMLElement>(".panel:popover-open"))
      panel.hidePopover();
    const detail = replaceFilter(this.filters, at, ...others);
    this.dispatchEvent(new CustomEvent<readonly FieldFilter[]>("tr-filters", { detail }));
  }
}

function conditionOf({ value, exclude }: FieldFilter): Condition {
  if (value === undefined) return exclude ? "missing" : "exists";
  return exclude ? "is-not" : "is";
}

function filterText({ field, value, exclude }: FieldFilter): string {
  if (value === undefined) return exclude ? msg(str`${field} is missing`) : msg(str`${field} exists`);
  return exclude ? msg(str`not ${field}: ${value}`) : `${field}: ${value}`;
}

customElements.define("tr-filter-pills", FilterPills);

declare global {
  interface HTMLElementTagNameMap {
    "tr-filter-pills": FilterPills;
  }
}
