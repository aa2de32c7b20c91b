/** Edits the formats of the fields of an index pattern, for all users. Fires `tr-formats` when they are saved. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { formText } from "#ui/components/controls/form-text.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls, dialogFrame } from "#ui/components/style/styles.ts";
import { toHubError } from "#ui/services/hub/json-call.ts";
import { DataViews, isTemplate, MAX_FORMATS, type SavedFormats } from "#ui/services/search/data-view.ts";
import type { FieldCatalogue } from "#ui/services/search/fields.ts";
import {
  type FieldFormat,
  type FieldFormats,
  FORMAT_KINDS,
  type FormatKind,
  formatField,
  LENGTH_UNITS,
  type LengthUnit,
} from "#ui/services/text/field-format.ts";

const KIND_NAMES: Readonly<Record<FormatKind, string>> = {
  plain: msg("As it stands"),
  bytes: msg("Bytes"),
  duration: msg("Length of time"),
  number: msg("Number with separators"),
  link: msg("Link"),
};
const UNIT_NAMES: Readonly<Record<LengthUnit, string>> = {
  ns: msg("Nanoseconds"),
  us: msg("Microseconds"),
  ms: msg("Milliseconds"),
  s: msg("Seconds"),
};

export class DataViewDialog extends LitElement {
  @state() accessor _view: SavedFormats | undefined;
  @state() accessor _fields: FieldCatalogue | undefined;
  @state() accessor _kind: FormatKind = "bytes";
  @state() accessor _fault = "";

  static override styles = [
    controls,
    dialogFrame,
    css`
      dialog {
        width: min(44rem, calc(100vw - 24px));
        max-height: 86vh;
        padding: 18px 20px;
        overflow: auto;
      }
      h2 {
        margin: 0 0 4px;
        font-size: var(--text-large);
        font-weight: 600;
      }
      p {
        margin: 0 0 12px;
        color: var(--ink-muted);
      }
      ul {
        margin: 0 0 14px;
        padding: 0;
        list-style: none;
      }
      li {
        display: grid;
        grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) auto auto;
        align-items: center;
        gap: 4px 12px;
        padding: 3px 0;
        border-bottom: 1px solid var(--line);
      }
      li > * {
        overflow-wrap: anywhere;
      }
      code,
      .mono {
        font-family: var(--font-mono);
      }
      form {
        display: flex;
        flex-wrap: wrap;
        align-items: end;
        gap: 8px;
        margin-bottom: 14px;
      }
      label {
        display: grid;
        gap: 3px;
        color: var(--ink-muted);
        font-size: var(--text-small);
      }
      label.wide {
        flex: 1 1 14rem;
      }
      .buttons {
        display: flex;
        justify-content: flex-end;
        gap: 8px;
      }
      [role="alert"] {
        color: var(--level-error);
      }
    `,
  ];

  readonly #views = new DataViews();

  /** Opens the editor of a pattern, as it is saved now. */
  async open(pattern: string, fields: FieldCatalogue | undefined): Promise<void> {
    this._fields = fields;
    this._fault = "";
    this._view = undefined;
    this.renderRoot.querySelector("dialog")!.showModal();
    try {
      this._view = await this.#views.load(pattern);
    } catch (error) {
      this._fault = toHubError(error).message;
    }
  }

  override render(): TemplateResult {
    const pattern = this._view?.pattern ?? "";
    const heading = msg(str`Formats of the fields of ${pattern}`);
    return html`<dialog aria-label=${heading}>
      <h2>${heading}</h2>
      <p>${msg("They are saved with the index pattern and hold for everybody who reads it.")}</p>
      ${this._fault === "" ? nothing : html`<p role="alert">${this._fault}</p>`}
      ${this._view === undefined ? nothing : this.#editor(this._view)}
      <div class="buttons"><button type="button" @click=${this.#close}>${msg("Cancel")}</button>
        <button class="primary" ?disabled=${this._view === undefined} @click=${() => void this.#save()}>${icon("save")}${msg("Save")}</button></div>
    </dialog>`;
  }

  #editor({ formats }: SavedFormats): TemplateResult {
    return html`${formats.size === 0 ? nothing : html`<ul aria-label=${msg("Formats")}>${[...formats].map(([field, format]) => this.#row(field, format))}</ul>`}
      <form @submit=${this.#add}>
        <label class="wide">${msg("Field")}<input name="field" class="mono" required list="fields" autocomplete="off" spellcheck="false" /></label>
        <label>${msg("Format of the values")}<select name="kind" @change=${this.#onKind}>${FORMAT_KINDS.map((kind) => html`<option value=${kind} .selected=${kind === this._kind}>${KIND_NAMES[kind]}</option>`)}</select></label>
        ${this._kind === "duration" ? html`<label>${msg("Unit of the number")}<select name="unit">${LENGTH_UNITS.map((unit) => html`<option value=${unit} .selected=${unit === "ms"}>${UNIT_NAMES[unit]}</option>`)}</select></label>` : nothing}
        ${this._kind === "link" ? html`<label class="wide">${msg("Address with {value}")}<input name="template" class="mono" required autocomplete="off" spellcheck="false" placeholder="https://…/{value}" /></label>` : nothing}
        <button ?disabled=${formats.size >= MAX_FORMATS}>${icon("plus")}${msg("Add")}</button>
      </form>
      <datalist id="fields">${[...(this._fields?.keys() ?? [])].map((name) => html`<option value=${name}></option>`)}</datalist>`;
  }

  #row(field: string, format: FieldFormat): TemplateResult {
    const example = formatField(field, format.kind === "link" ? "abc" : 1_234_567, format);
    return html`<li><code>${field}</code><span>${KIND_NAMES[format.kind]}${format.unit === undefined ? nothing : ` (${UNIT_NAMES[format.unit]})`}</span>
      <span class="mono">${format.template ?? example?.text ?? "1234567"}</span>
      <button class="plain small icon" aria-label=${msg(str`Remove the format of ${field}`)} title=${msg("Remove")} @click=${() => this.#change((formats) => formats.delete(field))}>${icon("trash")}</button></li>`;
  }

  #onKind(event: Event): void {
    this._kind = (event.currentTarget as HTMLSelectElement).value as FormatKind;
  }

  #add(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const kind = this._kind;
    const template = formText(data, "template");
    this._fault = "";
    if (kind === "link" && !isTemplate(template)) {
      this._fault = msg("A link begins with https://, http:// or #/ and has {value} in it.");
      return;
    }
    const format: FieldFormat = {
      kind,
      ...(kind === "duration" && { unit: formText(data, "unit") as LengthUnit }),
      ...(kind === "link" && { template }),
    };
    this.#change((formats) => formats.set(formText(data, "field"), format));
    form.querySelector<HTMLInputElement>("input[name=field]")!.value = "";
  }

  #change(change: (formats: Map<string, FieldFormat>) => void): void {
    const formats = new Map(this._view!.formats);
    change(formats);
    this._view = { ...this._view!, formats };
  }

  async #save(): Promise<void> {
    try {
      const { formats } = await this.#views.save(this._view!);
      this.#close();
      this.dispatchEvent(new CustomEvent<FieldFormats>("tr-formats", { detail: formats }));
    } catch (error) {
      this._fault = toHubError(error).message;
    }
  }

  #close(): void {
    this.renderRoot.querySelector("dialog")?.close();
  }
}

customElements.define("tr-data-view-dialog", DataViewDialog);

declare global {
  interface HTMLElementTagNameMap {
    "tr-data-view-dialog": DataViewDialog;
  }
}
