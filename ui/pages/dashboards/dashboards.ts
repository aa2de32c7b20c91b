/** Dashboards: the list of saved ones, or the one that the address names. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { OwnRights } from "#ui/services/administration/own-rights.ts";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";
import "#ui/components/controls/confirm-dialog.ts";
import { errorView } from "#ui/components/controls/error-view.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { skeleton } from "#ui/components/style/skeleton.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import "#ui/components/controls/title-dialog.ts";
import { formatRoute, navigate, rememberAddress } from "#ui/services/browser/router.ts";
import { EMPTY_DASHBOARD, readDashboard } from "#ui/services/dashboards/dashboard.ts";
import { importDashboard, withIds } from "#ui/services/dashboards/dashboard-file.ts";
import {
  parametersOf,
  SavedClient,
  type SavedObject,
  type SavedType,
} from "#ui/services/hub/saved-client.ts";
import { formatAgo } from "#ui/services/text/format.ts";
import "./dashboard-view.ts";

/** Larger files aren't dashboards. */
const MAX_FILE_BYTES = 1_000_000;
/** What is listed here; formats of fields are edited in Discover. */
type ListedType = Exclude<SavedType, "data-view">;

const TYPES: readonly ListedType[] = ["dashboard", "visualisation", "search"];
const HEADINGS: Readonly<Record<ListedType, string>> = {
  dashboard: msg("Dashboards"),
  visualisation: msg("Visualisations"),
  search: msg("Searches"),
};

export class DashboardsPage extends LitElement {
  /** Of the address: `id` shows one. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  @state() accessor _saved: Readonly<Record<ListedType, readonly SavedObject[]>> | undefined;
  @state() accessor _fault: HubError | undefined;

  static override styles = [
    controls,
    notices,
    pageStyles,
    css`
      input[type="file"] {
        display: none;
      }
      td:first-child {
        width: 60%;
        white-space: normal;
        overflow-wrap: anywhere;
      }
    `,
  ];

  constructor() {
    super();
    roveLists(this);
  }

  readonly #store = new SavedClient();
  readonly #rights = new OwnRights(this);
  #abort = new AbortController();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#abort.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("parameters") && !this.parameters.has("id")) void this.#load();
  }

  override render(): TemplateResult {
    if (this.parameters.has("id"))
      return html`<tr-dashboard-view .parameters=${this.parameters}></tr-dashboard-view>`;
    return html`<div class="page">
      <div class="title"><h1>${msg("Dashboards")}</h1><span class="space"></span>
        ${this.#rights.may("save") ? this.#makers() : nothing}</div>
      ${this._fault === undefined ? nothing : errorView(this._fault)}
      ${this._saved === undefined ? (this._fault === undefined ? skeleton(8) : nothing) : TYPES.map((type) => this.#list(type, this._saved![type]))}
      <tr-title-dialog></tr-title-dialog><tr-confirm-dialog></tr-confirm-dialog>
    </div>`;
  }

  #list(type: ListedType, objects: readonly SavedObject[]): TemplateResult {
    const heading = type === "dashboard" ? nothing : html`<h2>${HEADINGS[type]}</h2>`;
    if (objects.length === 0)
      return html`${heading}${type === "dashboard" ? this.#beginning() : emptyView(type)}`;
    const nowMs = Date.now();
    return html`${heading}<div class="table" tabindex="0" role="region" aria-label=${HEADINGS[type]}><table>
      <thead><tr><th scope="col">${msg("Title")}</th><th scope="col">${msg("Changed")}</th><th scope="col"><span class="hidden-text">${msg("Actions")}</span></th></tr></thead>
      <tbody>${objects.map(
        (object) => html`<tr><td><a href=${addressOf(object)}>${object.title}</a></td>
          <td>${formatAgo(Date.parse(object.updated), nowMs)}</td>
          <td class="number">${this.#rights.may("save") ? this.#changers(object) : nothing}</td></tr>`,
      )}</tbody></table></div>`;
  }

  /** What makes objects. */
  #makers(): TemplateResult {
    return html`${this._saved === undefined || this._saved.dashboard.length === 0 ? nothing : this.#samplesButton()}
      <input type="file" accept=".json,application/json" @change=${this.#importFile} />
      <button @click=${() => this.renderRoot.querySelector<HTMLInputElement>("input[type=file]")?.click()}>${icon("upload")}${msg("Import")}</button>
      <button class="primary" @click=${() => void this.#create()}>${icon("plus")}${msg("New dashboard")}</button>`;
  }

  /** What changes an object. */
  #changers(object: SavedObject): TemplateResult {
    return html`<button class="plain small icon" aria-label=${msg(str`Rename or copy ${object.title}`)} title=${msg("Rename or copy")} @click=${() => void this.#rename(object)}>${icon("edit")}</button>
            <button class="plain small icon" aria-label=${msg(str`Delete ${object.title}`)} title=${msg("Delete")} @click=${() => void this.#delete(object)}>${icon("trash")}</button>`;
  }

  #beginning(): TemplateResult {
    return html`<div class="empty"><h2>${msg("No dashboard yet")}</h2>
      <p>${msg("A dashboard shows saved visualisations side by side. Make one of your own, import a file, or begin with samples: access logs, and the health of shipping.")}</p>
      ${this.#rights.may("save") ? this.#samplesButton() : nothing}</div>`;
  }

  #samplesButton(): TemplateResult {
    return html`<button @click=${() => void this.#loadSamples()}>${icon("download")}${msg("Load samples")}</button>`;
  }

  async #loadSamples(): Promise<void> {
    try {
      await this.#store.loadSamples();
      await this.#load();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #load(): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    try {
      const [dashboard, visualisation, search] = await Promise.all(
        TYPES.map((type) => this.#store.list(type, signal)),
      );
      this._saved = { dashboard: dashboard!, visualisation: visualisation!, search: search! };
      this._fault = undefined;
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
  }

  async #create(): Promise<void> {
    const answer = await this.renderRoot
      .querySelector("tr-title-dialog")!
      .ask({ heading: msg("New dashboard"), title: "", isSaved: false });
    if (answer === undefined) return;
    const isHere = rememberAddress();
    try {
      const { id } = await this.#store.create("dashboard", answer.title, EMPTY_DASHBOARD);
      if (isHere()) navigate({ page: "dashboards", parameters: new URLSearchParams({ id, edit: "1" }) });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Asks for another title; for a copy, the copy's title. */
  async #rename(object: SavedObject): Promise<void> {
    const { type, id, revision, attributes } = object;
    const heading = msg("Rename or copy");
    const answer = await this.renderRoot
      .querySelector("tr-title-dialog")!
      .ask({ heading, title: object.title, isSaved: true });
    if (answer === undefined) return;
    try {
      if (answer.isCopy) await this.#store.create(type, answer.title, attributes);
      else await this.#store.put(type, id, answer.title, attributes, revision);
      await this.#load();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #delete(object: SavedObject): Promise<void> {
    const users = (this._saved?.dashboard ?? []).filter(({ attributes }) =>
      readDashboard(attributes).panels.some(({ id }) => id === object.id),
    );
    const isMeant = await this.renderRoot.querySelector("tr-confirm-dialog")!.ask({
      title: msg(str`Delete “${object.title}”?`),
      text:
        users.length === 0
          ? msg("This can't be undone.")
          : msg("This can't be undone, and these dashboards show it:"),
      items: users.map(({ title }) => title),
      action: msg("Delete"),
    });
    if (!isMeant) return;
    try {
      await this.#store.remove(object);
      await this.#load();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Every object of the file is saved as a new one, so that nothing is replaced. */
  async #importFile(event: Event): Promise<void> {
    const input = event.currentTarget as HTMLInputElement;
    const [file] = input.files ?? [];
    if (file === undefined) return;
    const isHere = rememberAddress();
    try {
      if (file.size > MAX_FILE_BYTES) throw new Error(msg("The file is too large to be a dashboard."));
      const { title, dashboard, visualisations, searches = [] } = importDashboard(await file.text());
      const ids = new Map<string, string>();
      const parts = [
        ...visualisations.map((part) => ["visualisation", part] as const),
        ...searches.map((part) => ["search", part] as const),
      ];
      for (const [type, { id, title: name, parameters }] of parts)
        ids.set(id, (await this.#store.create(type, name, { parameters })).id);
      const { id } = await this.#store.create("dashboard", title, withIds(dashboard, ids));
      if (isHere()) navigate({ page: "dashboards", parameters: new URLSearchParams({ id }) });
    } catch (error) {
      this.#fail(error);
    }
    input.value = "";
  }

  #fail(error: unknown): void {
    this._fault = toHubError(error);
  }
}

function addressOf(object: SavedObject): string {
  const { type, id } = object;
  if (type === "search")
    return formatRoute({ page: "discover", parameters: new URLSearchParams(parametersOf(object)) });
  return `#/${type === "dashboard" ? "dashboards" : "visualise"}?id=${id}`;
}

function emptyView(type: ListedType): TemplateResult {
  return type === "visualisation"
    ? html`<p class="muted">${msg("Make one under")} <a href="#/visualise">${msg("Visualise")}</a> ${msg("and save it.")}</p>`
    : html`<p class="muted">${msg("Searches are saved in")} <a href="#/discover">${msg("Discover")}</a>.</p>`;
}

customElements.define("tr-page-dashboards", DashboardsPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-dashboards": DashboardsPage;
  }
}
