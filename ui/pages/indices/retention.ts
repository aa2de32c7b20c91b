/** Retention of indices: rules by pattern, those of the hub's settings and those created here. */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { errorView } from "#ui/components/controls/error-view.ts";
import { formText, resetSent } from "#ui/components/controls/form-text.ts";
import { Refreshing } from "#ui/components/controls/polling-controller.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { skeleton } from "#ui/components/style/skeleton.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import {
  fetchRetention,
  previewRetention,
  putRetention,
  type Retention,
  type RetentionRule,
  readRule,
  writeRule,
} from "#ui/services/administration/index-admin.ts";
import "#ui/components/controls/confirm-dialog.ts";

const REFRESH_MS = 30_000;
/** Names shown of what would be deleted. */
const MAX_NAMES = 12;

export class RetentionPanel extends LitElement {
  static override styles = [controls, notices, pageStyles];

  constructor() {
    super();
    roveLists(this);
  }

  readonly #kept = new Refreshing(this, fetchRetention, REFRESH_MS);

  override render(): TemplateResult {
    const { value, fault } = this.#kept;
    return html`<div class="page">
      <div class="title">
        <a class="button icon" href="#/indices" aria-label=${msg("All indices")} title=${msg("All indices")}>${icon("arrowLeft")}</a>
        <h1>${msg("Retention")}</h1>
      </div>
      <p class="muted">${msg("A rule deletes an index when its newest line is older than the rule allows, and the oldest one when all that match take more space. The first rule that matches an index applies; an index without a rule is kept.")}</p>
      ${fault === undefined ? nothing : errorView(fault)}
      ${value === undefined ? (fault === undefined ? skeleton(8) : nothing) : html`${rulesView(value, (rule) => void this.#remove(rule))}${this.#form()}`}
      <tr-confirm-dialog></tr-confirm-dialog>
    </div>`;
  }

  #form(): TemplateResult {
    return html`<h2>${msg("Add rule")}</h2>
      <form class="form tools" @submit=${(event: SubmitEvent) => void this.#add(event)}>
        <label>${msg("Indices")}<input name="pattern" class="mono" required autocomplete="off" placeholder="logs-*" /></label>
        <label>${msg("Keep for, such as 30d")}<input name="age" class="mono" size="8" autocomplete="off" pattern="\\d+[hdw]" placeholder="30d" /></label>
        <label>${msg("At most, such as 50gb")}<input name="size" class="mono" size="8" autocomplete="off" pattern="\\d+(kb|mb|gb|tb)" placeholder="50gb" /></label>
        <button>${icon("plus")}${msg("Add")}</button>
      </form>`;
  }

  async #add(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const [pattern, age, size] = ["pattern", "age", "size"].map((name) => formText(data, name)) as [
      string,
      string,
      string,
    ];
    const isDone = await this.#change((rules) => [...rules, writeRule({ pattern, age, size })]);
    if (isDone) resetSent(form, data);
  }

  /** What is left may fit another rule then, so that is asked about, too. */
  async #remove(rule: string): Promise<void> {
    await this.#change((rules) => rules.filter((one) => one !== rule));
  }

  /** Changes the current rules: another change may be in progress. Returns false if that failed. */
  #change(change: (rules: readonly string[]) => readonly string[]): Promise<boolean> {
    return this.#kept.attempt(async () => {
      const { rules, revision } = this.#kept.value!;
      const changed = change(rules);
      if (await this.#isMeant(changed)) await putRetention(changed, revision);
    });
  }

  /** Shows which indices the rules would delete at once, and asks for confirmation if there are any. */
  async #isMeant(rules: readonly string[]): Promise<boolean> {
    const due = await previewRetention(rules);
    if (due.length === 0) return true;
    const more = due.length - MAX_NAMES;
    return this.renderRoot.querySelector("tr-confirm-dialog")!.ask({
      title: msg("Delete indices by this rule?"),
      text:
        due.length === 1
          ? msg("1 index is due at once: it is removed within a minute and can't be brought back.")
          : msg(
              str`${due.length} indices are due at once: they are removed within a minute and can't be brought back.`,
            ),
      items: [...due.slice(0, MAX_NAMES), ...(more > 0 ? [msg(str`and ${more} more`)] : [])],
      action: msg("Save and delete"),
    });
  }
}

function rulesView({ fixed, rules }: Retention, onRemove: (rule: string) => void): TemplateResult {
  if (fixed.length + rules.length === 0)
    return html`<div class="empty"><h2>${msg("Everything is kept")}</h2><p>${msg("There is no rule yet: the disk fills up in time.")}</p></div>`;
  return html`<div class="table" tabindex="0" role="region" aria-label=${msg("Rules")}><table>
    <thead><tr><th scope="col">${msg("Indices")}</th><th scope="col" class="number">${msg("Kept for")}</th><th scope="col" class="number">${msg("At most")}</th>
      <th scope="col">${msg("From")}</th><th scope="col"><span class="hidden-text">${msg("Remove")}</span></th></tr></thead>
    <tbody>${fixed.map((rule) => rowView(readRule(rule), msg("the hub's settings"), undefined))}
      ${rules.map((rule) => rowView(readRule(rule), msg("this page"), () => onRemove(rule)))}</tbody></table></div>`;
}

function rowView({ pattern, age, size }: RetentionRule, from: string, onRemove?: () => void): TemplateResult {
  return html`<tr><td class="name">${pattern}</td><td class="number">${age === "" ? "–" : age}</td><td class="number">${size === "" ? "–" : size}</td><td class="muted">${from}</td>
    <td class="number">${onRemove === undefined ? nothing : html`<button class="plain small icon" aria-label=${msg(str`Remove the rule of ${pattern}`)} title=${msg("Remove")} @click=${onRemove}>${icon("trash")}</button>`}</td></tr>`;
}

customElements.define("tr-retention", RetentionPanel);

declare global {
  interface HTMLElementTagNameMap {
    "tr-retention": RetentionPanel;
  }
}
