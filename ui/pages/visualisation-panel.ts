/**
 * One visualisation with its data: asks for them when what is shown, the time range or `round` changes. Fires
 * `tr-loaded` with the request and its answer.
 */

import { msg } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import "../components/chart.ts";
import { faultView } from "../components/fault-view.ts";
import { controls, notices } from "../components/styles.ts";
import { chooseInterval } from "../services/interval.ts";
import { SearchClient, SearchError, type SearchResponse, shardFailureOf } from "../services/search-client.ts";
import { DEFAULT_RANGE, resolveRange, type TimeRange } from "../services/time-range.ts";
import { visualisationRequest } from "../services/visualise/request.ts";
import { type ChartData, readSeries, type VisualisationAnswer } from "../services/visualise/series.ts";
import {
  DEFAULT_VISUALISATION,
  metricName,
  missingChoice,
  type Visualisation,
} from "../services/visualise/visualisation.ts";

/** What was asked and answered. */
export interface LoadedDetail {
  readonly request: unknown;
  readonly response: SearchResponse;
  readonly data: ChartData;
}

/** Groups of time in a chart; heat has fewer so that its squares can be seen. */
const MAX_TIMES = 100;
const MAX_HEAT_TIMES = 48;

export class VisualisationPanel extends LitElement {
  static override properties = {
    shown: { attribute: false },
    range: { attribute: false },
    filter: {},
    round: { type: Number },
    isUtc: { type: Boolean },
    _data: { state: true },
    _fault: { state: true },
    _warning: { state: true },
    _isLoading: { state: true },
    _view: { state: true },
  };

  declare shown: Visualisation;
  declare range: TimeRange;
  /** A further query that must match. */
  declare filter: string;
  /** Another number: ask again. */
  declare round: number;
  declare isUtc: boolean;
  declare _data: ChartData | undefined;
  declare _fault: SearchError | undefined;
  declare _warning: string | undefined;
  declare _isLoading: boolean;
  /** What `_data` belong to. */
  declare _view: Visualisation;

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
      tr-chart {
        flex: 1;
      }
      .loading {
        opacity: 0.6;
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

  constructor() {
    super();
    this.shown = DEFAULT_VISUALISATION;
    this.range = DEFAULT_RANGE;
    this.filter = "";
    this.round = 0;
    this.isUtc = false;
    this._data = undefined;
    this._fault = undefined;
    this._warning = undefined;
    this._isLoading = false;
    this._view = DEFAULT_VISUALISATION;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#abort.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const asked = ["shown", "range", "filter", "round", "isUtc"] as const;
    if (asked.some((name) => changed.has(name))) void this.#load();
  }

  override render(): TemplateResult {
    const missing = missingChoice(this.shown);
    if (missing !== undefined) return html`<p class="choice">${missing}</p>`;
    if (this._fault !== undefined) return faultView(this._fault);
    const { chart, metric } = this._view;
    return html`${this._warning === undefined ? nothing : html`<div class="notice warning" role="alert"><p>${this._warning}</p></div>`}
      <tr-chart class=${this._isLoading && this._data !== undefined ? "loading" : ""} .data=${this._data} .chart=${chart} .label=${metricName(metric)} aria-busy=${this._isLoading}></tr-chart>`;
  }

  async #load(): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const { shown, isUtc } = this;
    if (missingChoice(shown) !== undefined) return;
    this._isLoading = true;
    try {
      const range = resolveRange(this.range, Date.now());
      if (range === undefined)
        throw new SearchError(400, "range", msg("The time range can't be read."), msg("Choose another one."));
      const interval = chooseInterval(range, shown.chart === "heat" ? MAX_HEAT_TIMES : MAX_TIMES);
      const timeZone = isUtc ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
      const asked =
        shown.chart === "number" ? ({ ...shown, by: { kind: "none" }, split: undefined } as const) : shown;
      const request = visualisationRequest(asked, { range, interval, timeZone, filter: this.filter });
      const response = await this.#client.search(shown.index, request, signal);
      const answer = response as unknown as VisualisationAnswer;
      this._data = readSeries(asked, answer, metricName(shown.metric), isUtc);
      this._view = shown;
      this._fault = undefined;
      this._warning = shardFailureOf(response);
      const detail = { request, response, data: this._data };
      this.dispatchEvent(new CustomEvent<LoadedDetail>("tr-loaded", { detail }));
    } catch (error) {
      if (signal.aborted) return;
      this._fault = error instanceof SearchError ? error : new SearchError(0, "internal", String(error), "");
    }
    this._isLoading = false;
  }
}

customElements.define("tr-visualisation-panel", VisualisationPanel);

declare global {
  interface HTMLElementTagNameMap {
    "tr-visualisation-panel": VisualisationPanel;
  }
}
