/** One index: its fields, settings, aliases, a test of its analysers, and its actions. Fires `tr-changed`. */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import { formText, resetSent } from "#ui/components/controls/form-text.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import type { FieldNode, IndexAdmin, IndexAlias, IndexRow } from "#ui/services/administration/index-admin.ts";
import { OwnRights } from "#ui/services/administration/own-rights.ts";
import { navigate, rememberAddress } from "#ui/services/browser/router.ts";
import { HubError, toHubError } from "#ui/services/hub/json-call.ts";
import { formatBytes, formatCount, formatMoment } from "#ui/services/text/format.ts";
import "./analyse-form.ts";
import "#ui/components/controls/confirm-dialog.ts";
import "./mapping-tree.ts";

type Tab = "mapping" | "settings" | "aliases" | "analyse";

const TABS: readonly (readonly [Tab, string])[] = [
  ["mapping", msg("Fields")],
  ["settings", msg("Settings")],
  ["aliases", msg("Aliases")],
  ["analyse", msg("Analyse")],
];

export class IndexDetails extends LitElement {
  @property() accessor name = "";
  /** Of the address. */
  @property() accessor tab = "";
  @property({ attribute: false }) accessor admin!: IndexAdmin;
  /** Undefined if the table doesn't have it (yet). */
  @property({ attribute: false }) accessor row: IndexRow | undefined;
  /** True once the table is loaded. */
  @property({ type: Boolean }) accessor isKnown = false;
  @state() accessor _fields: readonly FieldNode[] = [];
  @state() accessor _settings: ReadonlyMap<string, string> = new Map();
  @state() accessor _aliases: readonly IndexAlias[] = [];
  @state() accessor _fault: HubError | undefined;
  /** The running action. */
  @state() accessor _doing = "";
  @state() accessor _done = "";

  static override styles = [controls, notices, pageStyles];

  constructor() {
    super();
    roveLists(this);
  }

  readonly #rights = new OwnRights(this);
  #abort = new AbortController();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#abort.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("name")) void this.#load();
  }

  override render(): TemplateResult {
    const { row } = this;
    return html`<div class="page">
      <div class="title">
        <a class="button icon" href="#/indices" aria-label=${msg("All indices")} title=${msg("All indices")}>${icon("arrowLeft")}</a>
        <h1 class="mono">${this.name}</h1>
        ${row === undefined ? nothing : html`<span class="badge ${row.isOpen ? row.health : ""}">${row.isOpen ? row.health : msg("closed")}</span>`}
        <span class="space"></span>
        <a class="button" href="#/discover?${new URLSearchParams({ index: this.name, from: "now-1y" })}">${icon("search")}${msg("Discover")}</a>
        <a class="button" href="#/console?${new URLSearchParams({ request: `GET ${this.name}/_search` })}">${icon("terminal")}${msg("Console")}</a>
      </div>
      ${this._fault === undefined ? nothing : errorView(this._fault)}
      ${row === undefined ? this.#missing() : this.#content(row)}
      <tr-confirm-dialog></tr-confirm-dialog>
    </div>`;
  }

  #missing(): TemplateResult {
    return this.isKnown
      ? html`<div class="empty"><h2>${msg("There is no such index")}</h2><p>${msg("It may have been deleted.")} <a href="#/indices">${msg("See all indices")}</a></p></div>`
      : html``;
  }

  #content(row: IndexRow): TemplateResult {
    const tab = TABS.find(([key]) => key === this.tab)?.[0] ?? "mapping";
    const mayManage = this.#rights.may("index_manage");
    return html`
      <dl class="facts">
        ${fact(msg("Documents"), formatCount(row.docs))}${fact(msg("Deleted"), formatCount(row.deleted))}
        ${fact(msg("Size"), formatBytes(row.sizeBytes))}${fact(msg("Segments"), formatCount(row.segments))}
        ${fact(msg("Shards"), `${row.shards}${row.replicas > 0 ? ` × ${row.replicas + 1}` : ""}`)}
        ${fact(msg("Created"), formatMoment(row.createdMs))}
      </dl>
      <div class="tools">
        ${
          mayManage
            ? html`<button ?disabled=${!row.isOpen} @click=${() => void this.#do(msg("Refreshing …"), msg("Refreshed: everything written so far is found."), () => this.admin.refresh(this.name))}>${icon("refresh")}${msg("Refresh")}</button>
        <button ?disabled=${!row.isOpen} @click=${() => void this.#merge(row)}>${msg("Merge segments")}</button>
        <button @click=${() => void this.#toggleOpen(row)}>${row.isOpen ? msg("Close") : msg("Open")}</button>`
            : nothing
        }
        ${this.#rights.may("index_delete") ? html`<button class="destructive outline" @click=${() => void this.#delete(row)}>${icon("trash")}${msg("Delete")}</button>` : nothing}
        <span role="status" class="muted">${this._doing === "" ? this._done : this._doing}</span>
      </div>
      <div class="tabs" role="tablist" aria-label=${msg("About the index")} @keydown=${this.#onTabKey}>
        ${TABS.map(
          ([key, title]) =>
            html`<button role="tab" id="tab-${key}" aria-controls="panel" aria-selected=${key === tab} tabindex=${key === tab ? 0 : -1}
              @click=${() => this.#choose(key)}>${title}</button>`,
        )}
      </div>
      <div role="tabpanel" id="panel" aria-labelledby="tab-${tab}">${this.#panel(tab)}</div>`;
  }

  #panel(tab: Tab): TemplateResult {
    const mayManage = this.#rights.may("index_manage");
    if (tab === "settings")
      return settingsView(this._settings, mayManage ? this.#putSetting.bind(this) : undefined);
    if (tab === "aliases") {
      const remove = (name: string): void => void this.#removeAlias(name);
      return aliasesView(this._aliases, mayManage ? { add: this.#addAlias.bind(this), remove } : undefined);
    }
    if (tab === "analyse")
      return html`<tr-analyse-form .index=${this.name} .admin=${this.admin} .fieldNames=${analysedFields(this._fields)}></tr-analyse-form>`;
    return html`<tr-mapping-tree .fields=${this._fields}></tr-mapping-tree>`;
  }

  async #load(): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const { name, admin } = this;
    try {
      const [fields, settings, aliases] = await Promise.all([
        admin.mapping(name, signal),
        admin.settings(name, signal),
        admin.aliases(name, signal),
      ]);
      this._fields = fields;
      this._settings = settings;
      this._aliases = aliases;
      this._fault = undefined;
    } catch (error) {
      if (!signal.aborted && !(error instanceof HubError && error.status === 404)) this.#fail(error);
    }
  }

  /**
   * Runs a change, announces it, and shows the index again if it still exists. Returns true if the change succeeded.
   */
  async #do(doing: string, done: string, work: () => Promise<void>, isThere = true): Promise<boolean> {
    this._doing = doing;
    this._done = "";
    this._fault = undefined;
    try {
      await work();
      this._done = done;
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    } finally {
      this._doing = "";
      this.dispatchEvent(new CustomEvent("tr-changed"));
      if (isThere) void this.#load();
    }
  }

  #fail(error: unknown): void {
    this._fault = toHubError(error);
  }

  async #merge({ segments, shards }: IndexRow): Promise<void> {
    const done = msg(
      str`Merged: ${formatCount(segments)} segments before, one for each of ${shards} shards now.`,
    );
    await this.#do(msg("Merging …"), done, () => this.admin.forceMerge(this.name, 1));
  }

  async #toggleOpen({ isOpen }: IndexRow): Promise<void> {
    const isMeant =
      !isOpen ||
      (await this.#ask().ask({
        title: msg(str`Close ${this.name}?`),
        text: msg(
          "A closed index keeps its data but can be neither searched nor written to, until it is opened again.",
        ),
        action: msg("Close index"),
      }));
    if (isMeant)
      await this.#do(
        isOpen ? msg("Closing …") : msg("Opening …"),
        isOpen ? msg("Closed.") : msg("Opened."),
        () => this.admin.setOpen(this.name, !isOpen),
      );
  }

  async #delete({ docs, sizeBytes }: IndexRow): Promise<void> {
    const isHere = rememberAddress();
    const isMeant = await this.#ask().ask({
      title: msg("Delete this index?"),
      text: msg(
        str`Its ${formatCount(docs)} documents (${formatBytes(sizeBytes)}) are removed and can't be brought back.`,
      ),
      action: msg("Delete index"),
      typed: this.name,
    });
    if (
      isMeant &&
      (await this.#do(msg("Deleting …"), msg("Deleted."), () => this.admin.remove(this.name), false)) &&
      isHere()
    )
      navigate({ page: "indices", parameters: new URLSearchParams() });
  }

  #ask() {
    return this.renderRoot.querySelector("tr-confirm-dialog")!;
  }

  #putSetting(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const key = formText(data, "key");
    const value = formText(data, "value");
    void this.#do(msg("Setting …"), msg(str`${key} is set.`), () =>
      this.admin.putSettings(this.name, { [key]: value === "" ? null : value }),
    ).then((isDone) => isDone && resetSent(form, data));
  }

  #addAlias(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const alias = formText(data, "alias");
    void this.#do(msg("Adding …"), msg(str`Alias ${alias} added.`), () =>
      this.admin.changeAlias(this.name, alias, "add"),
    ).then((isDone) => isDone && resetSent(form, data));
  }

  async #removeAlias(alias: string): Promise<void> {
    await this.#do(msg("Removing …"), msg(str`Alias ${alias} removed.`), () =>
      this.admin.changeAlias(this.name, alias, "remove"),
    );
  }

  #choose(tab: Tab): void {
    const parameters = new URLSearchParams({ index: this.name });
    if (tab !== "mapping") parameters.set("tab", tab);
    navigate({ page: "indices", parameters }, true);
  }

  #onTabKey(event: KeyboardEvent): void {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const now = TABS.findIndex(([key]) => key === this.tab);
    const step = event.key === "ArrowRight" ? 1 : -1;
    const [next] = TABS[(Math.max(0, now) + step + TABS.length) % TABS.length]!;
    this.#choose(next);
    this.renderRoot.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  }
}

function fact(name: string, value: string): TemplateResult {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

/** Names of the text fields: their analysers are of interest. */
function analysedFields(nodes: readonly FieldNode[]): string[] {
  return nodes.flatMap(({ path, type, children }) => [
    ...(type === "text" ? [path] : []),
    ...analysedFields(children),
  ]);
}

/** Settings that are changed most. */
const FREQUENT_SETTINGS = [
  "index.refresh_interval",
  "index.number_of_replicas",
  "index.max_result_window",
  "index.mapping.total_fields.limit",
];

/** Returns the settings that were given, and a form to set one, which is submitted with `key` and `value`. */
function settingsView(
  settings: ReadonlyMap<string, string>,
  onSet: ((event: SubmitEvent) => void) | undefined,
): TemplateResult {
  return html`${onSet === undefined ? nothing : settingForm(onSet)}
    <div class="table" tabindex="0" role="region" aria-label=${msg("Settings")}><table>
      <thead><tr><th scope="col">${msg("Setting")}</th><th scope="col">${msg("Value")}</th></tr></thead>
      <tbody>${[...settings].map(([key, value]) => html`<tr><td class="mono">${key}</td><td class="mono">${value}</td></tr>`)}</tbody>
    </table></div>`;
}

function settingForm(onSet: (event: SubmitEvent) => void): TemplateResult {
  return html`<form class="form tools" @submit=${onSet}>
      <label>${msg("Setting")}<input name="key" class="mono" size="30" required autocomplete="off" placeholder="index.refresh_interval" list="settings" /></label>
      <datalist id="settings">${FREQUENT_SETTINGS.map((key) => html`<option value=${key}></option>`)}</datalist>
      <label>${msg("Value, empty for the default")}<input name="value" class="mono" autocomplete="off" placeholder="5s" /></label>
      <button>${msg("Set")}</button>
    </form>`;
}

/** What a reader may do with aliases; the form is submitted with `alias`. */
interface AliasActions {
  readonly add: (event: SubmitEvent) => void;
  readonly remove: (alias: string) => void;
}

/** Returns the aliases, and a form for another one. */
function aliasesView(aliases: readonly IndexAlias[], actions: AliasActions | undefined): TemplateResult {
  const form = (add: AliasActions["add"]): TemplateResult => html`<form class="form tools" @submit=${add}>
      <label>${msg("Alias name")}<input name="alias" class="mono" required autocomplete="off" /></label><button>${msg("Add alias")}</button>
    </form>`;
  return html`${actions === undefined ? nothing : form(actions.add)}
    ${aliases.length === 0 ? html`<p class="muted">${msg("This index has no alias.")}</p>` : aliasTable(aliases, actions?.remove)}`;
}

function aliasTable(
  aliases: readonly IndexAlias[],
  onRemove: AliasActions["remove"] | undefined,
): TemplateResult {
  return html`<div class="table" tabindex="0" role="region" aria-label=${msg("Aliases")}><table>
    <thead><tr><th scope="col">${msg("Alias")}</th><th scope="col">${msg("Role")}</th><th scope="col"><span class="hidden-text">${msg("Remove")}</span></th></tr></thead>
    <tbody>${aliases.map(
      (alias) => html`<tr><td class="name">${alias.name}</td><td>${roleText(alias)}</td>
        <td class="number">${
          onRemove === undefined
            ? nothing
            : html`<button class="plain small icon" aria-label=${msg(str`Remove alias ${alias.name}`)} title=${msg("Remove")}
          @click=${() => onRemove(alias.name)}>${icon("close")}</button>`
        }</td></tr>`,
    )}</tbody></table></div>`;
}

function roleText({ isWriteIndex, hasFilter }: IndexAlias): string {
  const roles = [isWriteIndex ? msg("write index") : "", hasFilter ? msg("with a filter") : ""];
  return roles.filter((role) => role !== "").join(", ") || "–";
}

customElements.define("tr-index-details", IndexDetails);

declare global {
  interface HTMLElementTagNameMap {
    "tr-index-details": IndexDetails;
  }
}
