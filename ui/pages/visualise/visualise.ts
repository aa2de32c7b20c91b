/** Visualise: a chart of the results of a search, defined in a form. Its address contains its whole state. */

import { msg } from "@lit/localize";
import { html, LitElement, noChange, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import { HotkeyController } from "#ui/components/controls/hotkeys.ts";
import { LateDrawing } from "#ui/components/controls/next-frame.ts";
import { icon } from "#ui/components/style/icons.ts";
import { OwnRights } from "#ui/services/administration/own-rights.ts";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";
import "#ui/components/editor/json-view.ts";
import "#ui/components/controls/query-bar.ts";
import type { SearchDetail } from "#ui/components/controls/query-bar.ts";
import { skeleton, skeletonStyles } from "#ui/components/style/skeleton.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import "#ui/components/controls/time-range-picker.ts";
import "#ui/components/controls/title-dialog.ts";
import "./visualisation-form.ts";
import { navigate, parseRoute } from "#ui/services/browser/router.ts";
import { saveFile } from "#ui/services/browser/save-file.ts";
import { parametersOf, SavedClient, type SavedObject } from "#ui/services/hub/saved-client.ts";
import {
  DEFAULT_STATE,
  type DiscoverState,
  readState,
  writeState,
} from "#ui/services/search/discover-state.ts";
import { type Field, readFields } from "#ui/services/search/fields.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { absoluteRange, type TimeRange } from "#ui/services/search/time-range.ts";
import { addClause } from "#ui/services/visualise/chart-picks.ts";
import type { MapView } from "#ui/services/visualise/map-view.ts";
import { toCsv } from "#ui/services/visualise/series.ts";
import {
  type Chart,
  metricName,
  readVisualisation,
  type Visualisation,
  writeVisualisation,
} from "#ui/services/visualise/visualisation.ts";
import { type FoundDetail, NewestLines, newestView } from "./newest-lines.ts";
import type { LoadedDetail, NarrowDetail } from "./visualisation-panel.ts";
import "./visualisation-panel.ts";
import { visualiseStyles } from "./visualise-styles.ts";

/** Charts that aren't drawn here, or by a component of their own. */
const UNDRAWN: ReadonlySet<Chart> = new Set(["table", "number", "map"]);

type Time = Pick<DiscoverState, "range" | "refreshSeconds" | "isUtc">;

export class VisualisePage extends LitElement {
  /** Of the address. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  @state() accessor _fields: readonly Field[] = [];
  @state() accessor _indices: readonly string[] = [];
  @state() accessor _loaded: LoadedDetail | undefined;
  /** The saved object. */
  @state() accessor _saved: SavedObject | undefined;
  @state() accessor _fault: HubError | undefined;
  @state() accessor _round = 0;
  @state() accessor _hasRequest = false;
  /** The numbers are shown instead of the chart. */
  @state() accessor _isTable = false;

  static override styles = [controls, notices, skeletonStyles, visualiseStyles];

  #shown: Visualisation = readVisualisation(new URLSearchParams());
  #time: Time = DEFAULT_STATE;
  #refresh: ReturnType<typeof setInterval> | undefined;
  #fieldsOf: string | undefined;
  #newest = new NewestLines();
  readonly #late = new LateDrawing();
  readonly #client = new SearchClient();
  readonly #store = new SavedClient();
  readonly #rights = new OwnRights(this);

  constructor() {
    super();
    new HotkeyController(this, {
      "/": () => this.renderRoot.querySelector("tr-query-bar")?.focusQuery(),
      t: () => void this.renderRoot.querySelector("tr-time-range-picker")?.open(),
      r: () => this.#again(),
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#client.indexNames().then(
      (names) => {
        this._indices = names;
      },
      () => undefined,
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#refresh);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("parameters")) return;
    if (this.hasUpdated) this.#late.defer(() => this.#draw());
    this.#shown = readVisualisation(this.parameters);
    this.#newest = new NewestLines();
    this.#time = readState(this.parameters);
    clearInterval(this.#refresh);
    const { refreshSeconds } = this.#time;
    if (refreshSeconds > 0) this.#refresh = setInterval(() => this.#again(), refreshSeconds * 1_000);
    void this.#loadFields();
    void this.#loadSaved(this.parameters.get("id"));
  }

  /** The saved object is loading: choices before it arrives would belong to another visualisation. */
  get #isAwaited(): boolean {
    const id = this.parameters.get("id");
    const isElsewhere = id === null || this._saved?.id === id || this._fault !== undefined;
    return !isElsewhere && writeVisualisation(this.#shown).size === 0;
  }

  override render(): TemplateResult | typeof noChange {
    if (this.#late.isDue) return noChange;
    if (this.#isAwaited) return skeleton(8);
    const { query, index } = this.#shown;
    const { range, refreshSeconds, isUtc } = this.#time;
    return html`
      <div class="bar">
        <tr-query-bar .query=${query} .index=${index} .indices=${["logs-*", "*", ...this._indices]} action=${msg("Show")} @tr-search=${this.#onSearch}></tr-query-bar>
        <tr-time-range-picker .range=${range} .refreshSeconds=${refreshSeconds} .isUtc=${isUtc}
          @tr-range=${(event: CustomEvent<TimeRange>) => this.#go({}, { range: event.detail })}
          @tr-refresh=${(event: CustomEvent<number>) => this.#go({}, { refreshSeconds: event.detail })}
          @tr-zone=${(event: CustomEvent<boolean>) => this.#go({}, { isUtc: event.detail })}></tr-time-range-picker>
      </div>
      <div class="work">
        <aside aria-label=${msg("Display")}>
          <tr-visualisation-form .shown=${this.#shown} .fields=${this._fields}
            @tr-shown=${(event: CustomEvent<Visualisation>) => this.#go(event.detail, {})}></tr-visualisation-form>
        </aside>
        <section class="main">
          ${this.#head()}
          ${this._fault === undefined ? nothing : errorView(this._fault)}
          ${newestView(this.#newest.outside(range), range, (found) => this.#go({}, { range: found }))}
          <tr-visualisation-panel .shown=${this.#shown} .range=${range} .isUtc=${isUtc} .round=${this._round} .isTable=${this._isTable} @tr-loaded=${this.#onLoaded} @tr-view=${this.#onView} @tr-narrow=${this.#onNarrow} @tr-found=${this.#onFound}></tr-visualisation-panel>
          ${this._hasRequest && this._loaded !== undefined ? html`<tr-json-view .text=${JSON.stringify(this._loaded.request)}></tr-json-view>` : nothing}
        </section>
      </div>
      <tr-title-dialog></tr-title-dialog>`;
  }

  #draw(): void {
    this.requestUpdate();
    this.performUpdate();
  }

  #head(): TemplateResult {
    const loaded = this._loaded;
    const link = new URLSearchParams({
      request: `GET ${this.#shown.index}/_search\n${JSON.stringify(loaded?.request, undefined, 2)}`,
    });
    return html`<div class="head">
      <h1>${this._saved?.title ?? metricName(this.#shown.metric)}</h1>
      <button class="small" aria-pressed=${this._isTable} @click=${() => {
        this._isTable = !this._isTable;
      }}>${icon("list")}${msg("As a table")}</button>
      <button class="small" aria-pressed=${this._hasRequest} @click=${() => {
        this._hasRequest = !this._hasRequest;
      }}>${icon("braces")}${msg("Request")}</button>
      <a class="button small" href="#/console?${link}">${icon("terminal")}${msg("Console")}</a>
      <button class="small" ?disabled=${loaded === undefined} @click=${() => loaded && saveFile("visualisation.csv", "text/csv", [toCsv(loaded.data)])}>${icon("download")}${msg("CSV")}</button>
      <button class="small" ?disabled=${loaded === undefined || this._isTable || UNDRAWN.has(this.#shown.chart)} @click=${() => void this.#savePicture()}>${icon("download")}${msg("PNG")}</button>
      ${this.#rights.may("save") ? html`<button class="small primary" @click=${() => void this.#save()}>${icon("save")}${msg("Save")}</button>` : nothing}
    </div>`;
  }

  async #savePicture(): Promise<void> {
    const title = this._saved?.title ?? metricName(this.#shown.metric);
    try {
      const picture = await this.renderRoot.querySelector("tr-visualisation-panel")?.picture(title);
      if (picture !== undefined) saveFile("visualisation.png", "image/png", [picture]);
    } catch (error) {
      this.#fail(error);
    }
  }

  #go(shown: Partial<Visualisation>, time: Partial<Time>, replaces = false): void {
    const parameters = writeVisualisation({ ...this.#shown, ...shown });
    const { range, refreshSeconds, isUtc } = { ...this.#time, ...time };
    const state = { ...DEFAULT_STATE, range, refreshSeconds, isUtc };
    for (const [key, value] of writeState(state)) parameters.set(key, value);
    const id = this.parameters.get("id");
    if (id !== null) parameters.set("id", id);
    this.#navigate(parameters, replaces);
  }

  /** The answer may arrive when another page is already open. */
  #navigate(parameters: URLSearchParams, replaces: boolean): void {
    if (parseRoute(location.hash).page === "visualise") navigate({ page: "visualise", parameters }, replaces);
  }

  #again(): void {
    this._round++;
  }

  #onSearch({ detail }: CustomEvent<SearchDetail>): void {
    if (detail.query === this.#shown.query && detail.index === this.#shown.index) this.#again();
    else this.#go(detail, {});
  }

  #onNarrow({ detail }: CustomEvent<NarrowDetail>): void {
    if ("range" in detail) this.#go({}, { range: absoluteRange(detail.range.fromMs, detail.range.toMs) });
    else this.#go({ query: addClause(this.#shown.query, detail.clause) }, {});
  }

  /** The shown part of the world is in the address, but isn't a step of the browser's history. */
  #onView(event: CustomEvent<MapView>): void {
    event.preventDefault();
    this.#go({ view: event.detail }, {}, true);
  }

  #onFound({ detail }: CustomEvent<FoundDetail>): void {
    this.#newest.take(detail, this.#time.range);
    this.requestUpdate();
  }

  #onLoaded({ detail }: CustomEvent<LoadedDetail>): void {
    this._loaded = detail;
  }

  async #loadFields(): Promise<void> {
    const { index } = this.#shown;
    if (this.#fieldsOf === index) return;
    this.#fieldsOf = index;
    try {
      const fields = readFields(await this.#client.fieldCapabilities(index));
      if (this.#fieldsOf !== index) return;
      this._fields = [...fields.values()];
      this.#choosePlaces();
    } catch {
      // The form accepts any name nevertheless.
    }
  }

  /** A map that was opened before the fields were loaded begins with the first field of places. */
  #choosePlaces(): void {
    const { by } = this.#shown;
    const field = this._fields.find(({ type }) => type === "geo_point")?.name;
    if (by.kind === "places" && by.field === "" && field !== undefined)
      this.#go({ by: { kind: "places", field } }, {}, true);
  }

  /** An address that names only a saved visualisation shows it. */
  async #loadSaved(id: string | null): Promise<void> {
    if (id === null) {
      this._saved = undefined;
      return;
    }
    if (this._saved?.id === id) return;
    try {
      const saved = await this.#store.get("visualisation", id);
      if (this.parameters.get("id") !== id) return;
      this._saved = saved;
      this._fault = undefined;
      if (writeVisualisation(this.#shown).size > 0) return;
      const parameters = new URLSearchParams(parametersOf(this._saved));
      for (const [key, value] of this.parameters) parameters.set(key, value);
      this.#navigate(parameters, true);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #save(): Promise<void> {
    const before = this._saved;
    const answer = await this.renderRoot.querySelector("tr-title-dialog")!.ask({
      heading: msg("Save this visualisation"),
      title: before?.title ?? metricName(this.#shown.metric),
      isSaved: before !== undefined,
    });
    if (answer === undefined) return;
    const attributes = { parameters: writeVisualisation(this.#shown).toString() };
    try {
      this._saved =
        before === undefined || answer.isCopy
          ? await this.#store.create("visualisation", answer.title, attributes)
          : await this.#store.put("visualisation", before.id, answer.title, attributes, before.revision);
      this._fault = undefined;
      const parameters = new URLSearchParams(this.parameters);
      parameters.set("id", this._saved.id);
      this.#navigate(parameters, true);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this._fault = toHubError(error);
  }
}

customElements.define("tr-page-visualise", VisualisePage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-visualise": VisualisePage;
  }
}
