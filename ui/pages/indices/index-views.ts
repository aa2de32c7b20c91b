/** Parts of an index's page: its settings and its aliases. */

import { msg, str } from "@lit/localize";
import { html, type TemplateResult } from "lit";
import { icon } from "#ui/components/style/icons.ts";
import type { IndexAlias } from "#ui/services/administration/index-admin.ts";

/** Settings that are changed most. */
const FREQUENT_SETTINGS = [
  "index.refresh_interval",
  "index.number_of_replicas",
  "index.max_result_window",
  "index.mapping.total_fields.limit",
];

/** Returns the settings that were given, and a form to set one; it is submitted with `key` and `value`. */
export function settingsView(
  settings: ReadonlyMap<string, string>,
  onSet: (event: SubmitEvent) => void,
): TemplateResult {
  return html`<form class="form tools" @submit=${onSet}>
      <label>${msg("Setting")}<input name="key" class="mono" size="30" required autocomplete="off" placeholder="index.refresh_interval" list="settings" /></label>
      <datalist id="settings">${FREQUENT_SETTINGS.map((key) => html`<option value=${key}></option>`)}</datalist>
      <label>${msg("Value, empty for the default")}<input name="value" class="mono" autocomplete="off" placeholder="5s" /></label>
      <button>${msg("Set")}</button>
    </form>
    <div class="table" tabindex="0" role="region" aria-label=${msg("Settings")}><table>
      <thead><tr><th scope="col">${msg("Setting")}</th><th scope="col">${msg("Value")}</th></tr></thead>
      <tbody>${[...settings].map(([key, value]) => html`<tr><td class="mono">${key}</td><td class="mono">${value}</td></tr>`)}</tbody>
    </table></div>`;
}

/** Returns the aliases, and a form for another one; it is submitted with `alias`. */
export function aliasesView(
  aliases: readonly IndexAlias[],
  onAdd: (event: SubmitEvent) => void,
  onRemove: (alias: string) => void,
): TemplateResult {
  return html`<form class="form tools" @submit=${onAdd}>
      <label>${msg("Another name for this index")}<input name="alias" class="mono" required autocomplete="off" /></label><button>${msg("Add alias")}</button>
    </form>
    ${aliases.length === 0 ? html`<p class="muted">${msg("This index has no alias.")}</p>` : aliasTable(aliases, onRemove)}`;
}

function aliasTable(aliases: readonly IndexAlias[], onRemove: (alias: string) => void): TemplateResult {
  return html`<div class="table" tabindex="0" role="region" aria-label=${msg("Aliases")}><table>
    <thead><tr><th scope="col">${msg("Alias")}</th><th scope="col">${msg("Role")}</th><th scope="col"><span class="hidden-text">${msg("Remove")}</span></th></tr></thead>
    <tbody>${aliases.map(
      (alias) => html`<tr><td class="name">${alias.name}</td><td>${roleText(alias)}</td>
        <td class="number"><button class="plain small icon" aria-label=${msg(str`Remove alias ${alias.name}`)} title=${msg("Remove")}
          @click=${() => onRemove(alias.name)}>${icon("close")}</button></td></tr>`,
    )}</tbody></table></div>`;
}

function roleText({ isWriteIndex, hasFilter }: IndexAlias): string {
  const roles = [isWriteIndex ? msg("takes what is written") : "", hasFilter ? msg("with a filter") : ""];
  return roles.filter((role) => role !== "").join(", ") || "–";
}
