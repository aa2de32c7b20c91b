/**
 * One dashboard. Its address may override the saved time range, query, refresh and values of variables; `edit=1` shows
 * the tools to arrange its panels: drag a header or a corner, or press a button.
 */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import { HotkeyController } from "#ui/components/controls/hotkeys.ts";
import { type IconName, icon } from "#ui/components/style/icons.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { type FoundDetail, NewestLines, newestView } from "#ui/pages/visualise/newest-lines.ts";
import type { NarrowDetail } from "#ui/pages/visualise/visualisation-panel.ts";
import { copyText } from "#ui/services/browser/copy-text.ts";
import { isUtcPreferred } from "#ui/services/browser/preferences.ts";
import { formatRoute, navigate, rememberAddress } from "#ui/services/browser/router.ts";
import { saveFile } from "#ui/services/browser/save-file.ts";
import {
  type Dashboard,
  dashboardFilter,
  EMPTY_DASHBOARD,
  MAX_PANELS,
  type Panel,
  type Variable,
} from "#ui/services/dashboards/dashboard.ts";
import { exportDashboard } from "#ui/services/dashboards/dashboard-file.ts";
import {
  changeLook,
  type DashboardLook,
  type LookChange,
  readingAddress,
  readLook,
} from "#ui/services/dashboards/dashboard-look.ts";
import {
  heightenPanel,
  movePanel,
  placePanel,
  resizePanel,
  widenPanel,
} from "#ui/services/dashboards/panel-grid.ts";
import type { SavedObject } from "#ui/services/hub/saved-client.ts";
import { HUB_BACK_EVENT } from "#ui/services/hub/session-client.ts";
import { absoluteRange, resolveRange, type TimeRange } from "#ui/services/search/time-range.ts";
import { formatTime, formatZone } from "#ui/services/text/format.ts";
import { addClause } from "#ui/services/visualise/chart-picks.ts";
import { DashboardModel } from "./dashboard-model.ts";
import { emptyView, panelKeys, panelView } from "./dashboard-panels.ts";
import { dashboardStyles } from "./dashboard-styles.ts";
import { PanelDrag } from "./panel-drag.ts";
import "#ui/components/controls/time-range-picker.ts";
import "./panel-picker.ts";
import "./revisions-panel.ts";
import "./variable-bar.ts";

/** Time to read a notice. */
const COPIED_MS = 5_000;

export class DashboardView extends LitElement {
  /** Of the address. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  @state() accessor _round = 0;
  /** Keys of the panels that show numbers instead of their chart. */
  @state() accessor _tables: ReadonlySet<string> = new Set();
  /** The last change of a panel, for screen readers. */
  @state() accessor _said = "";
  @state() accessor _copied = "";

  static override styles = [controls, notices, dashboardStyles];

  readonly #model = new DashboardModel(() => this.requestUpdate());
  readonly #drag = new PanelDrag(this, {
    grid: () => this.renderRoot.querySelector<HTMLElement>(".grid"),
    move: (from, to) => this.#model.arrange(placePanel(this.#model.dashboard.panels, from, to)),
    resize: (at, size) => this.#model.arrange(resizePanel(this.#model.dashboard.panels, at, size)),
  });
  #look: DashboardLook = readLook(new URLSearchParams(), EMPTY_DASHBOARD, false);
  #range: TimeRange = EMPTY_DASHBOARD.range;
  #refresh: ReturnType<typeof setInterval> | undefined;
  #refreshSeconds = 0;
  #copiedTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #newest = new NewestLines();
  readonly #onHubBack = (): void => void this.#model.onHubBack(this.parameters.get("read") === "1");
  /** Key of the variables for which values were requested. */
  #valuesOf = "";

  constructor() {
    super();
    new HotkeyController(this, {
      "/": () => this.renderRoot.querySelector<HTMLElement>("input[name=query]")?.focus(),
      t: () => void this.renderRoot.querySelector("tr-time-range-picker")?.open(),
      r: () => this.#again(),
      e: () => this.#edit(!this.#look.isEditing),
      u: () => this.#model.undo(),
      U: () => this.#model.redo(),
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener(HUB_BACK_EVENT, this.#onHubBack);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener(HUB_BACK_EVENT, this.#onHubBack);
    clearInterval(this.#refresh);
    clearTimeout(this.#copiedTimer);
    this.#refreshSeconds = 0;
    this.#model.stop();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const id = this.parameters.get("id") ?? "";
    if (changed.has("parameters") && id !== this.#model.saved?.id)
      void this.#model.load(id, this.parameters.get("read") === "1");
    const look = readLook(this.parameters, this.#model.dashboard, isUtcPreferred());
    this.#look = { ...look, isEditing: look.isEditing && this.#model.canEdit };
    const { range, variables, refreshSeconds, isEditing } = this.#look;
    // Another object of the same range would make all panels load again.
    if (range.from !== this.#range.from || range.to !== this.#range.to) this.#range = range;
    this.#keepRefreshing(refreshSeconds);
    const asked = JSON.stringify([range, variables.map(({ field }) => field), isEditing]);
    if (asked === this.#valuesOf || this.#model.saved === undefined) return;
    this.#valuesOf = asked;
    void this.#model.loadValues(range);
    if (isEditing) void this.#model.loadFields();
  }

  #keepRefreshing(seconds: number): void {
    if (seconds === this.#refreshSeconds) return;
    this.#refreshSeconds = seconds;
    clearInterval(this.#refresh);
    if (seconds > 0) this.#refresh = setInterval(() => document.hidden || this.#again(), seconds * 1_000);
  }

  override render(): TemplateResult {
    const { saved, fault, dashboard, values, fields } = this.#model;
    const { panels } = dashboard;
    const keys = panelKeys(panels);
    return html`${this.#bar(saved?.title ?? "")}
      ${this.#look.isEditing ? this.#editor() : nothing}${this.#model.isChanged && !this.#look.isEditing ? this.#unsaved() : nothing}
      ${this.#look.isEditing || dashboard.variables.length > 0 ? html`<tr-variable-bar .variables=${this.#look.variables} .values=${values} .fields=${fields} .isEditing=${this.#look.isEditing} @tr-choose=${({ detail }: CustomEvent<Variable>) => this.#go({ variable: detail })} @tr-variables=${({ detail }: CustomEvent<readonly Variable[]>) => this.#model.setVariables(detail)}></tr-variable-bar>` : nothing}
      ${newestView(this.#newest.outside(this.#range), this.#range, (range) => this.#go({ range }))}
      <div class="grid" @tr-found=${this.#onFound} @tr-narrow=${this.#onNarrow} @tr-crosshair=${this.#onCrosshair}>
        ${fault === undefined ? nothing : errorView(fault)}
        ${repeat(
          panels,
          (_, at) => keys[at]!,
          (panel, at) => this.#panel(panel, at, keys[at]!),
        )}
        ${saved !== undefined && panels.length === 0 ? emptyView(this.#look.isEditing) : nothing}
      </div>
      <p class="hidden-text" role="status">${this._said}</p>
      ${this._copied === "" ? nothing : html`<output class="said" aria-hidden="true">${this._copied}</output>`}`;
  }

  #bar(title: string): TemplateResult {
    return html`<div class="bar">
      <a class="button icon" href="#/dashboards" aria-label=${msg("All dashboards")} title=${msg("All dashboards")}>${icon("arrowLeft")}</a>
      <h1 title=${title}>${title}</h1>
      <form role="search" @submit=${this.#onQuery}><input name="query" type="search" aria-label=${msg("Query for all panels")} placeholder=${msg("Search in all panels")}
        autocomplete="off" spellcheck="false" .value=${this.#look.query} @change=${this.#onQuery} /></form>
      <tr-time-range-picker .range=${this.#range} .refreshSeconds=${this.#refreshSeconds} .isUtc=${this.#look.isUtc}
        @tr-range=${({ detail }: CustomEvent<TimeRange>) => this.#go({ range: detail })}
        @tr-refresh=${({ detail }: CustomEvent<number>) => this.#go({ refreshSeconds: detail })}
        @tr-zone=${({ detail }: CustomEvent<boolean>) => this.#go({ isUtc: detail })}></tr-time-range-picker>
      <button class="icon" aria-label=${msg("Refresh")} title=${msg("Refresh (r)")} @click=${this.#again}>${icon("refresh")}</button>
      <button class="icon" aria-label=${msg("Export")} title=${msg("Export as a file")} @click=${this.#export}>${icon("download")}</button>
      <button class="icon" aria-label=${msg("Save as a picture")} title=${msg("Save as a picture (PNG)")} @click=${() => void this.#savePicture()}>${icon("image")}</button>
      <button class="icon" aria-label=${msg("Print")} title=${msg("Print")} @click=${() => print()}>${icon("print")}</button>
      <button class="icon" aria-label=${msg("Full screen")} title=${msg("Full screen")} @click=${() => void this.#fill()}>${icon("expand")}</button>
      <button class="icon" aria-label=${msg("Copy a link to read")} title=${msg("Copy a link to read: it offers no editing")} ?disabled=${this.#model.saved === undefined} @click=${() => void this.#copyLink()}>${icon("link")}</button>
      ${this.#model.canEdit ? html`<button aria-pressed=${this.#look.isEditing} title=${msg("Edit (e)")} @click=${() => this.#edit(!this.#look.isEditing)}>${icon("edit")}${msg("Edit")}</button>` : nothing}
    </div>`;
  }

  #editor(): TemplateResult {
    const { saved, isSaving, isChanged } = this.#model;
    const { panels } = this.#model.dashboard;
    const state = isChanged
      ? this.#unsavedText()
      : msg("Time range, query, variables and refresh are saved with it.");
    return html`<div class="editor" role="toolbar" aria-label=${msg("Edit")}>
      <tr-panel-picker .visualisations=${this.#model.visualisations} .searches=${this.#model.searches} .free=${saved === undefined ? 0 : MAX_PANELS - panels.length}
        @tr-panels=${({ detail }: CustomEvent<readonly Panel[]>) => this.#model.arrange([...panels, ...detail])}></tr-panel-picker>
      <a class="button" href="#/visualise">${icon("chart")}${msg("New visualisation")}</a>
      <button class="icon" aria-label=${msg("Undo")} title=${msg("Undo (u)")} ?disabled=${!this.#model.canUndo} @click=${() => this.#model.undo()}>${icon("undo")}</button>
      <button class="icon" aria-label=${msg("Redo")} title=${msg("Redo (U)")} ?disabled=${!this.#model.canRedo} @click=${() => this.#model.redo()}>${icon("redo")}</button>
      <tr-revisions-panel .saved=${saved} @tr-revision=${this.#onRevision}></tr-revisions-panel>
      <button class="primary" ?disabled=${isSaving} @click=${() => void this.#save()}>${icon("save")}${msg("Save dashboard")}</button>
      ${this.#discardButton()}
      <span class="muted" role="status" title=${state}>${state}</span>
    </div>`;
  }

  #unsaved(): TemplateResult {
    return html`<div class="notice unsaved" role="status"><p>${this.#unsavedText()}</p>
      <button class="small" ?disabled=${this.#model.isSaving} @click=${() => void this.#save()}>${icon("save")}${msg("Save dashboard")}</button>
      ${this.#discardButton()}</div>`;
  }

  #unsavedText(): string {
    if (this.#model.isOutdated)
      return msg("Somebody saved this dashboard after your changes began; saving yours replaces theirs.");
    return !this.#model.isKept
      ? msg("Your changes aren't saved yet, and this browser can't keep them: save before you leave.")
      : msg("Your changes aren't saved yet. This browser keeps them.");
  }

  #discardButton(): TemplateResult {
    return html`<button class="small" ?disabled=${!this.#model.isChanged} @click=${() => this.#model.discard()}>${msg("Discard changes")}</button>`;
  }

  #onNarrow({ detail }: CustomEvent<NarrowDetail>): void {
    if ("range" in detail) this.#go({ range: absoluteRange(detail.range.fromMs, detail.range.toMs) });
    else if (detail.isComputed)
      this.#showNotice(msg("Only this chart computes that field: the other panels can't be filtered by it."));
    else this.#go({ query: addClause(this.#look.query, detail.clause) });
  }

  /** Marks the time under the pointer in all panels; they are not drawn again by the page. */
  #onCrosshair({ detail }: CustomEvent<number | undefined>): void {
    for (const panel of this.renderRoot.querySelectorAll("tr-visualisation-panel"))
      panel.crosshairMs = detail;
  }

  #onFound({ detail }: CustomEvent<FoundDetail>): void {
    this.#newest.take(detail, this.#range);
    this.requestUpdate();
  }

  #panel(panel: Panel, at: number, key: string): TemplateResult {
    const isSearch = panel.kind === "search";
    const saved = (isSearch ? this.#model.searches : this.#model.visualisations).get(panel.id);
    return panelView({
      panel,
      saved,
      shown: saved && !isSearch ? this.#model.visualisation(saved) : undefined,
      range: this.#range,
      filter: dashboardFilter(this.#look.query, this.#look.variables),
      round: this._round,
      isUtc: this.#look.isUtc,
      isTable: this._tables.has(key),
      isHeld: this.#drag.heldPanel === at,
      onTable: () => {
        const tables = new Set(this._tables);
        if (!tables.delete(key)) tables.add(key);
        this._tables = tables;
      },
      tools: this.#look.isEditing ? (title) => this.#tools(title, at) : undefined,
      onText: (text) => {
        const panels = this.#model.dashboard.panels.map((one) => (one === panel ? { ...one, text } : one));
        this.#model.arrange(panels);
      },
      onTake: (kind, event) => this.#drag.take(kind, at, event),
    });
  }

  #tools(title: string, at: number): TemplateResult[] {
    const { panels } = this.#model.dashboard;
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
        html`<button class="plain small icon" aria-label="${name}: ${title}" title=${name} @click=${(event: Event) => void this.#apply(change(), at, event.currentTarget as HTMLElement)}>${icon(sign)}</button>`,
    );
  }

  /** Arranges the panels, announces the result, and keeps the focus on the button, wherever its panel moved. */
  async #apply(panels: readonly Panel[], at: number, button: HTMLElement): Promise<void> {
    const before = this.#model.dashboard.panels;
    const panel = before[at]!;
    this.#model.arrange(panels);
    const moved = panels.indexOf(panel);
    const now = moved < 0 && panels.length === before.length ? at : moved;
    this._said =
      now < 0
        ? msg("Removed")
        : msg(str`Position ${now + 1} of ${panels.length}, ${panels[now]!.width} of 12 columns wide`);
    await this.updateComplete;
    button.focus();
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
    if (this.#model.canEdit) this.#go({ isEditing });
  }

  /** Copies an address that shows the same and offers no editing. */
  async #copyLink(): Promise<void> {
    const parameters = readingAddress(this.#model.saved!.id, this.#look);
    const hash = formatRoute({ page: "dashboards", parameters });
    const isCopied = await copyText(`${location.origin}${location.pathname}${hash}`);
    this.#showNotice(
      isCopied ? msg("The link is copied") : msg("The browser blocked copying: copy the address instead"),
    );
  }

  #showNotice(text: string): void {
    this._copied = text;
    this._said = text;
    clearTimeout(this.#copiedTimer);
    this.#copiedTimer = setTimeout(() => {
      this._copied = "";
    }, COPIED_MS);
  }

  /** Also applies its time range and query, which those of the address would hide. */
  #onRevision({ detail }: CustomEvent<SavedObject>): void {
    this.#model.restore(detail);
    navigate({ page: "dashboards", parameters: new URLSearchParams({ id: detail.id, edit: "1" }) });
  }

  #onQuery(event: Event): void {
    event.preventDefault();
    const query = this.renderRoot.querySelector<HTMLInputElement>("input[name=query]")!.value.trim();
    if (query !== this.#look.query) this.#go({ query });
  }

  #go(change: LookChange): void {
    navigate({ page: "dashboards", parameters: changeLook(this.parameters, change) });
  }

  #export(): void {
    const title = this.#model.saved?.title ?? "dashboard";
    const text = exportDashboard(
      title,
      this.#current(),
      [...this.#model.visualisations.values()],
      [...this.#model.searches.values()],
    );
    saveFile(`${fileName(title)}.json`, "application/json", [text]);
  }

  async #savePicture(): Promise<void> {
    const { elementImage } = await import("#ui/components/chart/element-image.ts");
    const { isUtc } = this.#look;
    const { fromMs, toMs } = resolveRange(this.#range, Date.now())!;
    const times = [fromMs, toMs].map((atMs) => formatTime(atMs, isUtc).slice(0, 19)).join(" – ");
    const grid = this.renderRoot.querySelector<HTMLElement>(".grid")!;
    const title = this.#model.saved?.title ?? "dashboard";
    const line = `${times} ${formatZone(toMs, isUtc)}`;
    saveFile(`${fileName(title)}.png`, "image/png", [await elementImage(grid, title, line)]);
  }

  /** The current state. */
  #current(): Dashboard {
    const { range, query, variables, refreshSeconds } = this.#look;
    return { panels: this.#model.dashboard.panels, range, query, variables, refreshSeconds };
  }

  async #save(): Promise<void> {
    const isHere = rememberAddress();
    if (!(await this.#model.save(this.#current())) || this.#model.isChanged || !isHere()) return;
    navigate({ page: "dashboards", parameters: new URLSearchParams({ id: this.#model.saved!.id }) });
  }
}

function fileName(title: string): string {
  return title.replaceAll(/[^\w-]+/g, "-").toLowerCase();
}

customElements.define("tr-dashboard-view", DashboardView);

declare global {
  interface HTMLElementTagNameMap {
    "tr-dashboard-view": DashboardView;
  }
}
