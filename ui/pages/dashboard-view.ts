/**
 * One dashboard. Its address may say another time range, query or refresh than was saved; `edit=1` shows the tools to
 * arrange its panels, every one of them a button.
 */

import { msg } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { faultView } from "../components/fault-view.ts";
import { HotkeyController } from "../components/hotkeys.ts";
import { type IconName, icon } from "../components/icons.ts";
import { controls, notices } from "../components/styles.ts";
import "../components/time-range-picker.ts";
import { navigate } from "../router.ts";
import {
  type Dashboard,
  EMPTY_DASHBOARD,
  exportDashboard,
  heightenPanel,
  MAX_PANELS,
  movePanel,
  type Panel,
  readDashboard,
  widenPanel,
} from "../services/dashboard.ts";
import { saveFile } from "../services/save-file.ts";
import { parametersOf, SavedClient, type SavedObject } from "../services/saved-client.ts";
import { SearchError } from "../services/search-client.ts";
import type { TimeRange } from "../services/time-range.ts";
import { readVisualisation, type Visualisation } from "../services/visualise/visualisation.ts";
import { dashboardStyles } from "./dashboard-styles.ts";
import "./visualisation-panel.ts";

export class DashboardView extends LitElement {
  static override properties = {
    parameters: { attribute: false },
    _saved: { state: true },
    _dashboard: { state: true },
    _visualisations: { state: true },
    _fault: { state: true },
    _round: { state: true },
    _isSaving: { state: true },
  };

  /** Of the address. */
  declare parameters: URLSearchParams;
  declare _saved: SavedObject | undefined;
  /** As it is arranged now, saved or not. */
  declare _dashboard: Dashboard;
  declare _visualisations: ReadonlyMap<string, SavedObject>;
  declare _fault: SearchError | undefined;
  declare _round: number;
  declare _isSaving: boolean;

  static override styles = [controls, notices, dashboardStyles];

  readonly #store = new SavedClient();
  /** Read once: another object would be taken for another visualisation. */
  readonly #shown = new Map<string, Visualisation>();
  #range: TimeRange = EMPTY_DASHBOARD.range;
  #refresh: ReturnType<typeof setInterval> | undefined;
  #refreshSeconds = 0;

  constructor() {
    super();
    this.parameters = new URLSearchParams();
    this._saved = undefined;
    this._dashboard = EMPTY_DASHBOARD;
    this._visualisations = new Map();
    this._fault = undefined;
    this._round = 0;
    this._isSaving = false;
    new HotkeyController(this, {
      "/": () => this.renderRoot.querySelector<HTMLElement>("input[name=query]")?.focus(),
      t: () => void this.renderRoot.querySelector("tr-time-range-picker")?.open(),
      r: () => this.#again(),
      e: () => this.#edit(!this.#isEditing),
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#refresh);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("parameters") && this.parameters.get("id") !== this._saved?.id) void this.#load();
    const { range } = this._dashboard;
    const from = this.parameters.get("from") ?? range.from;
    const to = this.parameters.get("to") ?? range.to;
    if (from !== this.#range.from || to !== this.#range.to) this.#range = { from, to };
    const seconds = Number(this.parameters.get("refresh") ?? this._dashboard.refreshSeconds) || 0;
    if (seconds === this.#refreshSeconds) return;
    this.#refreshSeconds = seconds;
    clearInterval(this.#refresh);
    if (seconds > 0) this.#refresh = setInterval(() => document.hidden || this.#again(), seconds * 1_000);
  }

  override render(): TemplateResult {
    const { panels } = this._dashboard;
    return html`<div class="bar">
        <a class="button icon" href="#/dashboards" aria-label=${msg("All dashboards")} title=${msg("All dashboards")}>${icon("arrowLeft")}</a>
        <h1>${this._saved?.title ?? ""}</h1>
        <form role="search" @submit=${this.#onQuery}><input name="query" type="search" aria-label=${msg("Query for all panels")} placeholder=${msg("Search in all panels")}
          autocomplete="off" spellcheck="false" .value=${this.#query} @change=${this.#onQuery} /></form>
        <tr-time-range-picker .range=${this.#range} .refreshSeconds=${this.#refreshSeconds} .isUtc=${this.#isUtc}
          @tr-range=${({ detail }: CustomEvent<TimeRange>) => this.#go({ from: detail.from, to: detail.to })}
          @tr-refresh=${({ detail }: CustomEvent<number>) => this.#go({ refresh: String(detail) })}
          @tr-zone=${({ detail }: CustomEvent<boolean>) => this.#go({ tz: detail ? "utc" : undefined })}></tr-time-range-picker>
        <button class="icon" aria-label=${msg("Ask again")} title=${msg("Ask again (r)")} @click=${this.#again}>${icon("refresh")}</button>
        <button class="icon" aria-label=${msg("Export")} title=${msg("Export as a file")} @click=${this.#export}>${icon("download")}</button>
        <button class="icon" aria-label=${msg("Print")} title=${msg("Print")} @click=${() => print()}>${icon("print")}</button>
        <button class="icon" aria-label=${msg("Full screen")} title=${msg("Full screen")} @click=${() => void this.#fill()}>${icon("expand")}</button>
        <button aria-pressed=${this.#isEditing} title=${msg("Edit (e)")} @click=${() => this.#edit(!this.#isEditing)}>${icon("edit")}${msg("Edit")}</button>
      </div>
      ${this.#isEditing ? this.#editor() : nothing}
      <div class="grid">
        ${this._fault === undefined ? nothing : faultView(this._fault)}
        ${panels.map((panel, at) => this.#panel(panel, at))}
        ${this._saved !== undefined && panels.length === 0 ? emptyView(this.#isEditing) : nothing}
      </div>`;
  }

  get #isEditing(): boolean {
    return this.parameters.get("edit") === "1";
  }

  get #isUtc(): boolean {
    return this.parameters.get("tz") === "utc";
  }

  get #query(): string {
    return this.parameters.get("q") ?? this._dashboard.query;
  }

  #editor(): TemplateResult {
    const isFull = this._dashboard.panels.length >= MAX_PANELS;
    return html`<div class="editor" role="toolbar" aria-label=${msg("Edit")}>
      <select aria-label=${msg("Add a visualisation")} ?disabled=${isFull} @change=${this.#add}>
        <option value="">${isFull ? msg("No further panel fits") : msg("Add a visualisation …")}</option>
        ${[...this._visualisations.values()].map(({ id, title }) => html`<option value=${id}>${title}</option>`)}
      </select>
      <a class="button" href="#/visualise">${icon("chart")}${msg("Make one")}</a>
      <button class="primary" ?disabled=${this._isSaving} @click=${() => void this.#save()}>${icon("save")}${msg("Save dashboard")}</button>
      <span class="muted">${msg("Time range, query and refresh are saved along.")}</span>
    </div>`;
  }

  #panel({ id, width, height }: Panel, at: number): TemplateResult {
    const saved = this._visualisations.get(id);
    const title = saved?.title ?? msg("A deleted visualisation");
    const link = new URLSearchParams({ id, from: this.#range.from, to: this.#range.to });
    return html`<section class="panel w${width} ${height}" aria-label=${title}>
      <header><h2>${saved === undefined ? title : html`<a href="#/visualise?${link}" title=${msg("Open in Visualise")}>${title}</a>`}</h2>
        ${this.#isEditing ? this.#tools(title, at) : nothing}</header>
      ${saved === undefined ? html`<p class="muted">${msg("It isn't there any more.")}</p>` : html`<tr-visualisation-panel .shown=${this.#visualisation(saved)} .range=${this.#range} .filter=${this.#query} .round=${this._round} .isUtc=${this.#isUtc}></tr-visualisation-panel>`}
    </section>`;
  }

  #tools(title: string, at: number): TemplateResult[] {
    const { panels } = this._dashboard;
    const tools: readonly (readonly [string, IconName, () => readonly Panel[]])[] = [
      [msg("Move to the front"), "arrowLeft", () => movePanel(panels, at, -1)],
      [msg("Move to the back"), "arrowRight", () => movePanel(panels, at, 1)],
      [msg("Narrower"), "narrower", () => widenPanel(panels, at, -1)],
      [msg("Wider"), "wider", () => widenPanel(panels, at, 1)],
      [msg("Lower"), "lower", () => heightenPanel(panels, at, -1)],
      [msg("Higher"), "higher", () => heightenPanel(panels, at, 1)],
      [msg("Remove"), "close", () => panels.filter((_, index) => index !== at)],
    ];
    return tools.map(
      ([name, sign, change]) =>
        html`<button class="plain small icon" aria-label="${name}: ${title}" title=${name} @click=${() => this.#arrange(change())}>${icon(sign)}</button>`,
    );
  }

  #visualisation(saved: SavedObject): Visualisation {
    const key = `${saved.id}/${saved.revision}`;
    let shown = this.#shown.get(key);
    if (shown === undefined) {
      shown = readVisualisation(new URLSearchParams(parametersOf(saved)));
      this.#shown.set(key, shown);
    }
    return shown;
  }

  #arrange(panels: readonly Panel[]): void {
    this._dashboard = { ...this._dashboard, panels };
  }

  #add(event: Event): void {
    const select = event.currentTarget as HTMLSelectElement;
    if (select.value !== "")
      this.#arrange([...this._dashboard.panels, { id: select.value, width: 6, height: "middle" }]);
    select.value = "";
  }

  #again(): void {
    this._round++;
  }

  /** Fills the screen with the dashboard, or ends that. */
  async #fill(): Promise<void> {
    if (document.fullscreenElement === null) await this.requestFullscreen();
    else await document.exitFullscreen();
  }

  #edit(isEditing: boolean): void {
    this.#go({ edit: isEditing ? "1" : undefined });
  }

  #onQuery(event: Event): void {
    event.preventDefault();
    const query = this.renderRoot.querySelector<HTMLInputElement>("input[name=query]")!.value.trim();
    if (query !== this.#query) this.#go({ q: query });
  }

  #go(changes: Readonly<Record<string, string | undefined>>): void {
    const parameters = new URLSearchParams(this.parameters);
    for (const [key, value] of Object.entries(changes))
      if (value === undefined) parameters.delete(key);
      else parameters.set(key, value);
    navigate({ page: "dashboards", parameters });
  }

  #export(): void {
    const title = this._saved?.title ?? "dashboard";
    const text = exportDashboard(title, this.#current(), [...this._visualisations.values()]);
    saveFile(`${title.replaceAll(/[^\w-]+/g, "-").toLowerCase()}.json`, "application/json", [text]);
  }

  /** As it is shown now. */
  #current(): Dashboard {
    return {
      ...this._dashboard,
      range: this.#range,
      query: this.#query,
      refreshSeconds: this.#refreshSeconds,
    };
  }

  async #load(): Promise<void> {
    const id = this.parameters.get("id") ?? "";
    try {
      const [saved, visualisations] = await Promise.all([
        this.#store.get("dashboard", id),
        this.#store.list("visualisation"),
      ]);
      this._saved = saved;
      this._dashboard = readDashboard(saved.attributes);
      this._visualisations = new Map(visualisations.map((one) => [one.id, one]));
      this._fault = undefined;
    } catch (error) {
      this.#fail(error);
    }
  }

  async #save(): Promise<void> {
    const saved = this._saved;
    if (saved === undefined) return;
    this._isSaving = true;
    try {
      this._dashboard = this.#current();
      this._saved = await this.#store.put(
        "dashboard",
        saved.id,
        saved.title,
        this._dashboard,
        saved.revision,
      );
      this._fault = undefined;
      navigate({ page: "dashboards", parameters: new URLSearchParams({ id: saved.id }) });
    } catch (error) {
      this.#fail(error);
    }
    this._isSaving = false;
  }

  #fail(error: unknown): void {
    this._fault = error instanceof SearchError ? error : new SearchError(0, "internal", String(error), "");
  }
}

function emptyView(isEditing: boolean): TemplateResult {
  return html`<div class="empty"><h2>${msg("Nothing on this dashboard yet")}</h2>
    <p>${isEditing ? msg("Add a saved visualisation above.") : msg("Press Edit and add a saved visualisation.")}</p></div>`;
}

customElements.define("tr-dashboard-view", DashboardView);

declare global {
  interface HTMLElementTagNameMap {
    "tr-dashboard-view": DashboardView;
  }
}
