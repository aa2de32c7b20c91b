/**
 * One visualisation with its data: requests them when the definition, the time range or `round` changes. Fires
 * `tr-loaded` with the request and its answer, and `tr-view` when a map was moved: a listener that stores the view
 * prevents the default, by which the panel keeps it. `tr-narrow` bubbles up with the clause or range that a part of the
 * chart represents. `tr-found` bubbles up with whether there are lines in the range, or the time of the newest ones.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { HubError, toHubError } from "#ui/services/hub/json-call.ts";
import "#ui/components/chart/chart.ts";
import { errorView } from "#ui/components/controls/error-view.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { HUB_BACK_EVENT, HUB_MISSED_EVENT } from "#ui/services/hub/session-client.ts";
import { chooseInterval } from "#ui/services/search/interval.ts";
import { LogDocument } from "#ui/services/search/log-document.ts";
import { rangeFault } from "#ui/services/search/range-labels.ts";
import {
  SearchClient,
  type SearchResponse,
  shardFailureOf,
  totalOf,
} from "#ui/services/search/search-client.ts";
import { newestRequest, rowsRequest } from "#ui/services/search/search-request.ts";
import {
  DEFAULT_RANGE,
  type ResolvedRange,
  resolveRange,
  type TimeRange,
} from "#ui/services/search/time-range.ts";
import { formatMoment } from "#ui/services/text/format.ts";
import { type ChartPick, isComputedPick, pickClause } from "#ui/services/visualise/chart-picks.ts";
import { parseFormula } from "#ui/services/visualise/formula.ts";
import {
  formulaRequest,
  isFault,
  joinMeasures,
  offsetsOf,
  readFormula,
} from "#ui/services/visualise/formula-series.ts";
import { fitView, type MapView, precisionOf, WORLD } from "#ui/services/visualise/map-view.ts";
import { type PlaceData, readPlaces } from "#ui/services/visualise/places.ts";
import { joinedQuery, type Surroundings, visualisationRequest } from "#ui/services/visualise/request.ts";
import {
  type ChartData,
  readSeries,
  type TimeMark,
  type VisualisationAnswer,
} from "#ui/services/visualise/series.ts";
import {
  DEFAULT_VISUALISATION,
  drawnPart,
  formulaLines,
  metricName,
  missingChoice,
  type Visualisation,
} from "#ui/services/visualise/visualisation.ts";
import type { FoundDetail } from "./newest-lines.ts";

/** The last request and its answer. */
export interface LoadedDetail {
  readonly request: unknown;
  readonly response: SearchResponse;
  readonly data: ChartData;
}

/** The filter of a selected part of a chart: a clause, or a range of time. */
export type NarrowDetail =
  | {
      readonly clause: string;
      /** The clause has a field that only this visualisation computes. */
      readonly isComputed: boolean;
    }
  | { readonly range: ResolvedRange };

/** Statuses of failures that end when the hub is back. */
const UNREACHED = 0;
const UNAVAILABLE = 503;
/** Groups of time in a chart; heat has fewer so that its squares can be seen. */
const MAX_TIMES = 100;
const MAX_HEAT_TIMES = 48;
/** More marks would hide the plot. */
const MAX_MARKS = 50;

export class VisualisationPanel extends LitElement {
  @property({ attribute: false }) accessor shown: Visualisation = DEFAULT_VISUALISATION;
  @property({ attribute: false }) accessor range: TimeRange = DEFAULT_RANGE;
  /** A further query that must match. */
  @property() accessor filter = "";
  /** A change of the number loads again. */
  @property({ type: Number }) accessor round = 0;
  @property({ type: Boolean }) accessor isUtc = false;
  /** The time under the cursor in another chart, ms. */
  @property({ attribute: false }) accessor crosshairMs: number | undefined;
  /** Shows the numbers instead of the chart. */
  @property({ type: Boolean }) accessor isTable = false;
  @state() accessor _data: ChartData | PlaceData | undefined;
  /** Lines that are marked in time. */
  @state() accessor _marks: readonly TimeMark[] = [];
  @state() accessor _fault: HubError | undefined;
  @state() accessor _warning: string | undefined;
  /** When the shown data arrived, ms since 1970, if newer ones can't be loaded now. */
  @state() accessor _staleMs: number | undefined;
  @state() accessor _isLoading = false;
  /** The visualisation of `_data`. */
  @state() accessor _view: Visualisation = DEFAULT_VISUALISATION;
  /**
   * The part of a map that is shown if the visualisation has none: where the user moved it, else what fits its places.
   */
  @state() accessor _mapView: MapView | undefined;

  static override styles = [
    controls,
    notices,
    css`
      :host {
        display: flex;
        flex-direction: column;
        position: relative;
        min-width: 0;
        min-height: 0;
      }
      tr-chart,
      tr-world-map {
        flex: 1;
      }
      /* Not paler: its text has to stay legible. */
      .loading {
        filter: grayscale(0.8);
      }
      .stale {
        margin: 0;
        padding: 2px 8px;
        color: var(--ink-muted);
        font-size: var(--text-small);
      }
      .choice {
        margin: auto;
        padding: 20px;
        color: var(--ink-muted);
        text-align: center;
      }
    `,
  ];

  readonly #client = new SearchClient();
  #abort = new AbortController();
  #loadedMs = 0;
  readonly #onHubBack = (): void => {
    if (this._fault !== undefined || this._staleMs !== undefined) void this.#load();
  };

  /** When moved on its page, it continues with the running request. */
  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener(HUB_BACK_EVENT, this.#onHubBack);
    if (this._isLoading) void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener(HUB_BACK_EVENT, this.#onHubBack);
    this.#abort.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("shown") && placesOf(changed.get("shown")) !== placesOf(this.shown))
      this._mapView = undefined;
    const asked = ["shown", "range", "filter", "round", "isUtc"] as const;
    if (asked.some((name) => changed.has(name))) void this.#load();
  }

  override render(): TemplateResult {
    const missing = missingChoice(this.shown);
    if (missing !== undefined) return html`<p class="choice">${missing}</p>`;
    if (this._fault !== undefined) return errorView(this._fault);
    return html`${this._warning === undefined ? nothing : html`<div class="notice warning" role="alert"><p>${this._warning}</p></div>`}
      ${this._staleMs === undefined ? nothing : html`<p class="stale" role="status">${msg(str`As of ${formatMoment(this._staleMs)}`)}</p>`}${this.#chart()}`;
  }

  /** Returns a PNG of the chart; undefined if nothing is drawn. */
  async picture(title: string): Promise<Blob | undefined> {
    return this.renderRoot.querySelector("tr-chart")?.picture(title);
  }

  #chart(): TemplateResult {
    const { chart, metric, ring, look } = this._view;
    // Not from the answer: the user may have moved the map since the request.
    const { view } = this.shown.chart === chart ? this.shown : this._view;
    const data = this._data;
    const state = this._isLoading && data !== undefined ? "loading" : "";
    const label = metricName(metric);
    if (chart === "map" && !this.isTable && data !== undefined && "places" in data)
      return html`<tr-world-map class=${state} .data=${data} .view=${view ?? this._mapView} .ring=${ring} .metric=${metric} .label=${label} aria-busy=${this._isLoading} @tr-view=${this.#onView}></tr-world-map>`;
    return html`<tr-chart class=${state} .data=${data} .chart=${this.isTable || chart === "map" ? "table" : chart} .label=${label} .look=${look} .crosshairMs=${this.crosshairMs} .marks=${this._marks} aria-busy=${this._isLoading}
      @tr-pick=${this.#onPick} @tr-zoom=${({ detail }: CustomEvent<ResolvedRange>) => this.#narrow({ range: detail })}></tr-chart>`;
  }

  #onPick({ detail }: CustomEvent<ChartPick>): void {
    const drawn = drawnPart(this._view);
    const clause = pickClause(drawn, detail);
    if (clause !== undefined) this.#narrow({ clause, isComputed: isComputedPick(drawn, detail) });
  }

  #narrow(detail: NarrowDetail): void {
    this.dispatchEvent(new CustomEvent<NarrowDetail>("tr-narrow", { detail, bubbles: true, composed: true }));
  }

  #onView({ detail }: CustomEvent<MapView>): void {
    if (!this.dispatchEvent(new CustomEvent<MapView>("tr-view", { detail, cancelable: true }))) return;
    this._mapView = detail;
    void this.#load();
  }

  async #load(): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const { shown } = this;
    this._isLoading = missingChoice(shown) === undefined;
    if (!this._isLoading) return;
    try {
      if (shown.chart === "map") await import("#ui/components/chart/world-map.ts");
      const [detail, marks] = await Promise.all([this.#ask(shown, signal), this.#marksOf(shown, signal)]);
      signal.throwIfAborted();
      this._marks = marks;
      this._data = detail.data;
      this._view = shown;
      this._fault = undefined;
      this._staleMs = undefined;
      this.#loadedMs = Date.now();
      this._warning = shardFailureOf(detail.response);
      this.dispatchEvent(new CustomEvent<LoadedDetail>("tr-loaded", { detail }));
      const found = await this.#found(shown, detail.response, signal);
      signal.throwIfAborted();
      this.dispatchEvent(
        new CustomEvent<FoundDetail>("tr-found", { detail: found, bubbles: true, composed: true }),
      );
    } catch (error) {
      if (signal.aborted) return;
      const fault = toHubError(error);
      const isAway = fault.status === UNREACHED || fault.status === UNAVAILABLE;
      if (isAway) dispatchEvent(new Event(HUB_MISSED_EVENT));
      // The badge shows that the hub is unreachable; the previous numbers are more useful than a second message.
      if (isAway && this._data !== undefined && this._view === shown) this._staleMs = this.#loadedMs;
      else this._fault = fault;
    }
    this._isLoading = false;
  }

  async #found(shown: Visualisation, response: SearchResponse, signal: AbortSignal): Promise<FoundDetail> {
    if (totalOf(response) > 0) return { newestMs: undefined, hasLines: true };
    const query = { query: joinedQuery(shown, this.filter), filters: [] };
    const newest = await this.#client.search(shown.index, newestRequest(query), signal);
    const value = newest.aggregations?.newest?.value;
    const isKnown = typeof value === "number" && totalOf(newest) > 0;
    return { newestMs: isKnown ? value : undefined, hasLines: false };
  }

  async #ask(shown: Visualisation, signal: AbortSignal): Promise<LoadedDetail> {
    const { isUtc, filter } = this;
    const nowMs = Date.now();
    const range = resolveRange(this.range, nowMs);
    if (range === undefined) throw new HubError(400, "range", rangeFault(this.range, nowMs) ?? "", "");
    const interval = chooseInterval(range, shown.chart === "heat" ? MAX_HEAT_TIMES : MAX_TIMES);
    const timeZone = isUtc ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
    const asked = { ...drawnPart(shown), view: shown.view ?? this._mapView };
    const around = { range, interval, timeZone, filter };
    if (shown.metric.kind === "formula") return this.#askFormulas(asked, around, signal);
    const request = visualisationRequest(asked, around);
    const response = await this.#client.search(shown.index, request, signal);
    const answer = response as unknown as VisualisationAnswer;
    const name = metricName(shown.metric);
    if (asked.by.kind !== "places")
      return { request, response, data: readSeries(asked, answer, name, isUtc) };
    const data = readPlaces(answer, shown.metric, name);
    if (asked.view !== undefined || data.bounds === undefined) return { request, response, data };
    this._mapView = fitView(data.bounds);
    if (precisionOf(this._mapView) === precisionOf(WORLD)) return { request, response, data };
    return this.#ask(shown, signal);
  }

  /** Each line is a measure; all are requested at once. */
  async #askFormulas(shown: Visualisation, around: Surroundings, signal: AbortSignal): Promise<LoadedDetail> {
    const lines = formulaLines(shown.metric.field);
    const details = await Promise.all(
      lines.map(({ text }) => {
        const metric = { kind: "formula", field: text } as const;
        return this.#askFormula({ ...shown, metric }, around, signal);
      }),
    );
    const data = joinMeasures(details.map((detail, at) => ({ name: lines[at]!.name, data: detail.data })));
    const failed = details.find(({ response }) => shardFailureOf(response) !== undefined);
    return { ...(failed ?? details[0]!), data };
  }

  /** Returns the lines that are marked in time; without the right to see them, or where they fail, there are none. */
  async #marksOf(shown: Visualisation, signal: AbortSignal): Promise<readonly TimeMark[]> {
    const range = resolveRange(this.range, Date.now());
    if (shown.marks === "" || shown.by.kind !== "time" || range === undefined) return [];
    const body = { ...rowsRequest({ query: shown.marks, filters: [] }, range), size: MAX_MARKS };
    try {
      const { hits } = await this.#client.search(shown.index, body, signal);
      return hits.hits
        .map((hit) => new LogDocument(hit))
        .map((line) => ({ atMs: line.timestampMs, text: line.rowText("message") }))
        .toReversed();
    } catch {
      return [];
    }
  }

  /** One search for each offset of the formula's measures, at once. */
  async #askFormula(shown: Visualisation, around: Surroundings, signal: AbortSignal): Promise<LoadedDetail> {
    const formula = parseFormula(shown.metric.field);
    if (isFault(formula)) throw new HubError(400, "formula", formula.fault, "");
    const asked = offsetsOf(formula).map((offsetMs) => ({
      offsetMs,
      request: formulaRequest(shown, formula, around, offsetMs),
    }));
    const responses = await Promise.all(
      asked.map(({ request }) => this.#client.search(shown.index, request, signal)),
    );
    const answers = new Map(
      asked.map(({ offsetMs }, at) => [offsetMs, responses[at] as unknown as VisualisationAnswer]),
    );
    const data = readFormula(shown, answers, metricName(shown.metric), this.isUtc);
    const failed = responses.find((response) => shardFailureOf(response) !== undefined);
    return { request: asked[0]!.request, response: failed ?? responses[0]!, data };
  }
}

/** The data for which a map's view was chosen. */
function placesOf(shown: Visualisation | undefined): string {
  return shown === undefined ? "" : `${shown.index} ${shown.by.kind === "places" ? shown.by.field : ""}`;
}

customElements.define("tr-visualisation-panel", VisualisationPanel);

declare global {
  interface HTMLElementTagNameMap {
    "tr-visualisation-panel": VisualisationPanel;
  }
}
