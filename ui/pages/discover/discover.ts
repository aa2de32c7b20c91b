/** Discover: search the lines of a time range. Everything it shows follows from its address. */

import { msg } from "@lit/localize";
import { html, LitElement, noChange, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { HotkeyController } from "#ui/components/controls/hotkeys.ts";
import { LateDrawing } from "#ui/components/controls/next-frame.ts";
import type { SearchDetail } from "#ui/components/controls/query-bar.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { navigate } from "#ui/services/browser/router.ts";
import { takeFirstSearch } from "#ui/services/discover/first-search.ts";
import { HUB_BACK_EVENT, HUB_MISSED_EVENT } from "#ui/services/hub/session-client.ts";
import {
  DEFAULT_INDEX,
  type DiscoverState,
  type FieldFilter,
  isSameSearch,
  readState,
  toQueryText,
  writeState,
} from "#ui/services/search/discover-state.ts";
import { pinnedAddress } from "#ui/services/search/pinned-filters.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { isRelative, type TimeRange } from "#ui/services/search/time-range.ts";
import { DiscoverModel } from "./discover-model.ts";
import { discoverStyles } from "./discover-styles.ts";
import "#ui/components/controls/query-bar.ts";
import "#ui/components/controls/time-range-picker.ts";
import "./discover-results.ts";
import "./filter-pills.ts";

/** Statuses of failures that end when the hub is back. */
const UNREACHED = 0;
const UNAVAILABLE = 503;

export class DiscoverPage extends LitElement {
  /** Of the address. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  /** One of two searches side by side. */
  @property({ type: Boolean }) accessor isSide = false;
  /** Goes to another state; by default the address is changed. */
  @property({ attribute: false }) accessor go = (parameters: URLSearchParams): void =>
    navigate({ page: "discover", parameters });

  static override styles = [controls, discoverStyles];

  #state: DiscoverState = readState(new URLSearchParams());
  /** The user removed the last condition of the address, which may have been a pinned filter. */
  #isEmptied = false;
  #refresh: ReturnType<typeof setInterval> | undefined;
  /** Of the first page only: its requests were sent before this was loaded. */
  #first = takeFirstSearch();
  readonly #late = new LateDrawing();
  readonly #client = new SearchClient(this.#first?.fetch);
  readonly #model = new DiscoverModel(this.#client, () => {
    this.requestUpdate();
    if (!this.#late.isDue) this.#results?.requestUpdate();
    if (this.#model.fault?.status === UNREACHED) dispatchEvent(new Event(HUB_MISSED_EVENT));
  });
  readonly #onHubBack = (): void => {
    const status = this.#model.fault?.status;
    if (status === UNREACHED || status === UNAVAILABLE) this.#run();
  };

  constructor() {
    super();
    new HotkeyController(this, {
      "/": () => this.renderRoot.querySelector("tr-query-bar")?.focusQuery(),
      t: () => void this.renderRoot.querySelector("tr-time-range-picker")?.open(),
      r: () => this.#run(),
      l: () => this.#goLive(),
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener(HUB_BACK_EVENT, this.#onHubBack);
    void this.#model.loadIndexNames();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener(HUB_BACK_EVENT, this.#onHubBack);
    clearInterval(this.#refresh);
    this.#model.stop();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("parameters")) return;
    if (this.hasUpdated) this.#late.defer(() => this.#draw());
    const pinned = pinnedAddress(this.parameters, this.isSide || this.#isEmptied);
    this.#isEmptied = false;
    if (pinned !== undefined) {
      this.parameters = pinned;
      navigate({ page: "discover", parameters: pinned }, true);
    }
    const before = this.#state;
    this.#state = readState(this.parameters);
    clearInterval(this.#refresh);
    if (this.#state.refreshSeconds > 0)
      this.#refresh = setInterval(() => this.#refreshNow(), this.#state.refreshSeconds * 1_000);
    if (this.#model.range === undefined || !isSameSearch(before, this.#state)) this.#run();
  }

  override render(): TemplateResult | typeof noChange {
    if (this.#late.isDue) return noChange;
    const { query, index, range, refreshSeconds, isUtc } = this.#state;
    const model = this.#model;
    return html`
      ${this.isSide ? nothing : html`<h1 class="hidden-text">${msg("Discover")}</h1>`}
      <div class="bar">
        <tr-query-bar .query=${query} .index=${index} .indices=${choices(model.indexNames)} .isBusy=${model.isLoading} .fault=${model.queryFault}
          .fields=${model.fields} .loadValues=${model.valuesOf.bind(model)} @tr-search=${this.#onSearch}></tr-query-bar>
        <tr-time-range-picker .range=${range} .refreshSeconds=${refreshSeconds} .isUtc=${isUtc}
          @tr-range=${this.#onRange} @tr-refresh=${this.#onRefresh} @tr-zone=${this.#onZone}></tr-time-range-picker>
        ${this.isSide ? nothing : this.#ways()}
      </div>
      <tr-filter-pills .filters=${this.#state.filters} .fields=${model.fields} @tr-filters=${({ detail }: CustomEvent<readonly FieldFilter[]>) => this.#go({ filters: detail })}></tr-filter-pills>
      <tr-discover-results .state=${this.#state} .model=${model} .client=${this.#client} .isSide=${this.isSide}
        @tr-go=${(event: CustomEvent<Partial<DiscoverState>>) => this.#go(event.detail)} @tr-again=${this.#run}></tr-discover-results>
    `;
  }

  #draw(): void {
    this.requestUpdate();
    this.performUpdate();
    this.#results?.requestUpdate();
  }

  /** Links that continue with this search. */
  #ways(): TemplateResult {
    return html`<button @click=${this.#goLive} title=${msg("Follow new lines (l)")}>${icon("play")}${msg("Live")}</button>
      <button class="icon compare" aria-label=${msg("Compare")} title=${msg("Compare with another search")} @click=${this.#compare}>${icon("columns")}</button>`;
  }

  #run(): void {
    this.#results?.reset();
    void this.#model.run(this.#state, this.#first?.nowMs);
    this.#first = undefined;
  }

  /** A refresh would remove the line that the user is reading. */
  #refreshNow(): void {
    if (
      this.#results?.isReading !== true &&
      !document.hidden &&
      isRelative(this.#state.range) &&
      !this.#model.isLoading
    )
      this.#run();
  }

  #go(change: Partial<DiscoverState>): void {
    const parameters = writeState({ ...this.#state, ...change });
    this.#isEmptied = parameters.size === 0 && this.parameters.size > 0;
    this.go(parameters);
  }

  #onSearch({ detail }: CustomEvent<SearchDetail>): void {
    const { query, index } = this.#state;
    if (detail.query === query && detail.index === index) this.#run();
    else this.#go(detail);
  }

  #onRange({ detail }: CustomEvent<TimeRange>): void {
    if (detail.from === this.#state.range.from && detail.to === this.#state.range.to) this.#run();
    else this.#go({ range: detail });
  }

  #onRefresh({ detail }: CustomEvent<number>): void {
    this.#go({ refreshSeconds: detail });
  }

  #onZone({ detail }: CustomEvent<boolean>): void {
    this.#go({ isUtc: detail });
  }

  #compare(): void {
    const side = writeState(this.#state).toString();
    navigate({ page: "compare", parameters: new URLSearchParams({ left: side, right: side }) });
  }

  #goLive(): void {
    const parameters = new URLSearchParams();
    const { query, filters, index } = this.#state;
    const text = toQueryText(query, filters);
    if (text !== "") parameters.set("q", text);
    if (index !== DEFAULT_INDEX) parameters.set("index", index);
    navigate({ page: "live", parameters });
  }

  get #results(): HTMLElementTagNameMap["tr-discover-results"] | null {
    return this.renderRoot?.querySelector?.("tr-discover-results") ?? null;
  }
}

/** Patterns of the names' prefixes, then the names. */
function choices(names: readonly string[]): string[] {
  const patterns = new Set<string>([DEFAULT_INDEX, "*"]);
  for (const name of names) {
    const stem = /^([a-z_]+-)(?=.*\d)/.exec(name)?.[1];
    if (stem !== undefined) patterns.add(`${stem}*`);
  }
  return [...patterns, ...names];
}

customElements.define("tr-page-discover", DiscoverPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-discover": DiscoverPage;
  }
}
