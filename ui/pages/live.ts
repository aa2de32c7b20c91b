/** Live: lines as they come. The filter is in the address; what is shown is held by the page alone. */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { DEFAULT_LIMITS, type LiveError, type TailGap, type TailStats } from "#proto/live.ts";
import "../components/event-details.ts";
import type { FilterDetail } from "../components/filter-events.ts";
import { HotkeyController } from "../components/hotkeys.ts";
import { icon } from "../components/icons.ts";
import "../components/query-bar.ts";
import type { SearchDetail } from "../components/query-bar.ts";
import { controls, notices } from "../components/styles.ts";
import "../components/tail-window.ts";
import { navigate } from "../router.ts";
import { DEFAULT_INDEX, DEFAULT_STATE, toQueryText, writeState } from "../services/discover-state.ts";
import { formatCount } from "../services/format.ts";
import { highlightWords } from "../services/highlight.ts";
import { LogDocument, valueText } from "../services/log-document.ts";
import { SearchClient } from "../services/search-client.ts";
import { rowsRequest } from "../services/search-request.ts";
import { TailClient, type TailLine, type TailState } from "../services/tail-client.ts";
import { RING_ENTRIES, type TailEntry, TailLog } from "../services/tail-log.ts";
import { absoluteRange } from "../services/time-range.ts";
import { liveStyles } from "./live-styles.ts";
import { noticeView, RATES, stateText, toolbarView } from "./live-views.ts";
import { surroundingsOf } from "./surroundings.ts";

/** Screen readers hear the counts no oftener. */
const ANNOUNCE_INTERVAL_MS = 10_000;
/** A page nobody sees stops taking lines after so long. */
const HIDDEN_PAUSE_MS = 10 * 60_000;
/** Lines of the past shown to begin with are at most so old. */
const PREFILL_MS = 24 * 3_600_000;

export class LivePage extends LitElement {
  static override properties = {
    parameters: { attribute: false },
    _state: { state: true },
    _refused: { state: true },
    _isPaused: { state: true },
    _isFollowing: { state: true },
    _document: { state: true },
    _announcement: { state: true },
  };

  /** Of the address. */
  declare parameters: URLSearchParams;
  declare _state: TailState;
  declare _refused: LiveError | undefined;
  declare _isPaused: boolean;
  declare _isFollowing: boolean;
  declare _document: LogDocument | undefined;
  declare _announcement: string;

  static override styles = [controls, notices, liveStyles];

  readonly #log = new TailLog();
  readonly #search = new SearchClient();
  readonly #client = new TailClient({
    onLines: (lines) => this.#onLines(lines),
    onGap: (gap) => this.#onGap(gap),
    onStats: (stats) => this.#onStats(stats),
    onState: (state) => {
      this._state = state;
    },
    onRefused: (error) => {
      this._refused = error;
    },
  });
  #abort = new AbortController();
  #announcedMs = 0;
  #hiddenTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #onVisible = (): void => this.#visibilityChanged();
  readonly #onOnline = (): void => this.#client.retryNow();

  constructor() {
    super();
    this.parameters = new URLSearchParams();
    this._state = { name: "connecting" };
    this._refused = undefined;
    this._isPaused = false;
    this._isFollowing = true;
    this._document = undefined;
    this._announcement = "";
    new HotkeyController(this, {
      "/": () => this.renderRoot.querySelector("tr-query-bar")?.focusQuery(),
      " ": () => this.#togglePause(),
      p: () => this.#togglePause(),
      c: () => this.#clear(),
      j: () => this.#window?.move(1),
      k: () => this.#window?.move(-1),
      End: () => this.#jump(),
      Enter: () => this.#window?.openChosen(),
      Escape: () => this.#close(),
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener("visibilitychange", this.#onVisible);
    addEventListener("online", this.#onOnline);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener("visibilitychange", this.#onVisible);
    removeEventListener("online", this.#onOnline);
    clearTimeout(this.#hiddenTimer);
    this.#abort.abort();
    this.#client.stop();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("parameters")) this.#start();
  }

  override render(): TemplateResult {
    return html`
      <div class="bar">
        <tr-query-bar .query=${this.#query} .index=${this.#index} .indices=${[DEFAULT_INDEX, "*"]} action=${msg("Watch")} @tr-search=${this.#onSearch}></tr-query-bar>
      </div>
      ${this.#toolbar()}${noticeView(this._refused, this._state, () => this.#retry())}
      <div class="work ${this._document === undefined ? "" : "with-details"}" @tr-filter=${this.#onFilter}>
        <tr-tail-window .log=${this.#log} .words=${highlightWords(this.#query)} @tr-follow=${this.#onFollow} @tr-open=${this.#onOpen}></tr-tail-window>
        ${this.#log.ring.size === 0 && this._refused === undefined ? html`<p class="waiting">${this._isPaused ? msg("Paused") : msg("Waiting for the first line …")}</p>` : nothing}
        ${this._isFollowing ? nothing : html`<button class="jump primary" @click=${this.#jump}>${icon("end")}${this.#log.unseen === 0 ? msg("Follow") : `${formatCount(this.#log.unseen)} new`} (End)</button>`}
        ${this.#details()}
      </div>
      <span class="hidden-text" role="status">${this._announcement}</span>
    `;
  }

  #toolbar(): TemplateResult {
    return toolbarView({
      log: this.#log,
      state: this._state,
      isPaused: this._isPaused,
      isFollowing: this._isFollowing,
      rate: this.#maxRate ?? DEFAULT_LIMITS.defaultRate,
      onPause: () => this.#togglePause(),
      onClear: () => this.#clear(),
      onRate: (rate) => this.#chooseRate(rate),
    });
  }

  #details(): TemplateResult | typeof nothing {
    const document = this._document;
    if (document === undefined) return nothing;
    return html`<tr-event-details role="complementary" aria-label=${msg("The chosen line")} .document=${document} .client=${this.#search} .index=${this.#index}
      .surroundings=${surroundingsOf(document, { ...DEFAULT_STATE, index: this.#index })}
      @tr-close=${this.#close} @tr-step=${(event: CustomEvent<number>) => this.#step(event.detail)}></tr-event-details>`;
  }

  #start(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#log.reset();
    this._refused = undefined;
    this._isPaused = false;
    this._document = undefined;
    this.#client.start({ query: this.#query, index: this.#index.split(","), maxRate: this.#maxRate });
    void this.#prefill(this.#abort.signal);
    this.#window?.follow(true);
    this.#window?.draw();
  }

  /** Begins with the newest lines that are stored, as long as no live ones have come. */
  async #prefill(signal: AbortSignal): Promise<void> {
    const nowMs = Date.now();
    const body = rowsRequest(
      { query: this.#query, filters: [] },
      { fromMs: nowMs - PREFILL_MS, toMs: nowMs + 60_000 },
    );
    try {
      const { hits } = await this.#search.search(this.#index, body, signal);
      if (signal.aborted || this.#log.ring.size > 0) return;
      const documents = hits.hits.map((hit) => new LogDocument(hit)).toReversed();
      this.#onLines(this.#client.remember(documents.map(toLine)));
    } catch {
      // Live lines come all the same; a filter that isn't right is refused there, with its place.
    }
  }

  #onLines(lines: readonly TailLine[]): void {
    const wasEmpty = this.#log.ring.size === 0;
    this.#log.addLines(lines, this._isFollowing);
    this.#window?.draw();
    if (wasEmpty || !this._isFollowing) this.requestUpdate();
    this.#protectPlace();
  }

  /** A reader's lines must not be written over: the hub holds the others, counted. */
  #protectPlace(): void {
    if (!this._isFollowing && this.#log.unseen > RING_ENTRIES / 2) this.#client.pause();
  }

  #onGap(gap: TailGap): void {
    this.#log.addGap(gap);
    this.#window?.draw();
    this.requestUpdate();
  }

  #onStats(stats: TailStats): void {
    const nowMs = Date.now();
    this.#log.addStats(stats, nowMs);
    this.requestUpdate();
    if (nowMs - this.#announcedMs < ANNOUNCE_INTERVAL_MS) return;
    this.#announcedMs = nowMs;
    const state = { state: this._state, isPaused: this._isPaused, isFollowing: this._isFollowing };
    this._announcement = msg(
      str`${stateText(state)}, ${formatCount(Math.round(this.#log.matchedRate))} lines per second, ${formatCount(this.#log.skipped)} skipped`,
    );
  }

  #onSearch({ detail }: CustomEvent<SearchDetail>): void {
    const parameters = new URLSearchParams();
    if (this.#maxRate !== undefined) parameters.set("rate", String(this.#maxRate));
    if (detail.query !== "") parameters.set("q", detail.query);
    if (detail.index !== DEFAULT_INDEX) parameters.set("index", detail.index);
    if (parameters.toString() === this.parameters.toString()) this.#start();
    else navigate({ page: "live", parameters });
  }

  #chooseRate(rate: number): void {
    const parameters = new URLSearchParams(this.parameters);
    if (rate === DEFAULT_LIMITS.defaultRate) parameters.delete("rate");
    else parameters.set("rate", String(rate));
    navigate({ page: "live", parameters });
  }

  #retry(): void {
    if (this._state.name === "ended") this.#start();
    else this.#client.retryNow();
  }

  #onFilter({ detail }: CustomEvent<FilterDetail>): void {
    const query = toQueryText(this.#query, [{ ...detail, disabled: false }]);
    this.#onSearch(new CustomEvent("tr-search", { detail: { query, index: this.#index } }));
  }

  #onFollow({ detail }: CustomEvent<boolean>): void {
    this._isFollowing = detail;
    if (!detail) return;
    this.#log.unseen = 0;
    if (!this._isPaused) this.#client.resume();
  }

  #onOpen({ detail }: CustomEvent<TailEntry>): void {
    if ("gap" in detail) this.#openGap(detail.gap);
    else void this.#openLine(detail);
  }

  #openGap(gap: TailGap): void {
    const range = gap.fromTs === 0 ? DEFAULT_STATE.range : absoluteRange(gap.fromTs, gap.toTs + 1);
    const state = { ...DEFAULT_STATE, query: this.#query, index: this.#index, range };
    navigate({ page: "discover", parameters: writeState(state) });
  }

  /** Shows what the line itself holds at once, and the whole document when it has come. */
  async #openLine({ row, source }: TailLine): Promise<void> {
    const [id, atMs, , , message] = row;
    const [index, host, path] = source;
    const known = {
      message,
      "host.name": host,
      "log.file.path": path,
      "@timestamp": new Date(atMs).toISOString(),
    };
    const first = new LogDocument({ _index: index, _id: id, _source: known, sort: [atMs] });
    this._document = first;
    try {
      const hit = await this.#search.document(index, id, this.#abort.signal);
      if (this._document === first) this._document = new LogDocument({ ...hit, sort: [atMs] });
    } catch {
      // Not stored yet: the line itself has to do.
    }
  }

  #step(step: number): void {
    this.#window?.move(step);
    this.#window?.openChosen();
  }

  #togglePause(): void {
    this._isPaused = !this._isPaused;
    if (this._isPaused) this.#client.pause();
    else this.#jump();
  }

  #jump(): void {
    this._isPaused = false;
    this.#client.resume();
    this.#log.unseen = 0;
    this.#window?.follow(true);
  }

  #clear(): void {
    this.#log.clear();
    this.#window?.draw();
    this.requestUpdate();
  }

  #close(): void {
    this._document = undefined;
  }

  #visibilityChanged(): void {
    clearTimeout(this.#hiddenTimer);
    if (!document.hidden) {
      this.#client.retryNow();
      return;
    }
    this.#hiddenTimer = setTimeout(() => {
      if (!this._isPaused) this.#togglePause();
    }, HIDDEN_PAUSE_MS);
  }

  get #query(): string {
    return this.parameters.get("q") ?? "";
  }

  get #maxRate(): number | undefined {
    const rate = Number(this.parameters.get("rate"));
    return RATES.includes(rate) ? rate : undefined;
  }

  get #index(): string {
    return this.parameters.get("index") || DEFAULT_INDEX;
  }

  get #window(): HTMLElementTagNameMap["tr-tail-window"] | null {
    return this.renderRoot?.querySelector?.("tr-tail-window") ?? null;
  }
}

function toLine(document: LogDocument): TailLine {
  const text = (field: string): string => valueText(document.fields.get(field));
  return {
    row: [document.id, document.timestampMs, document.level, 0, document.message, null, 0],
    source: [document.index, text("host.name"), text("log.file.path")],
  };
}

customElements.define("tr-page-live", LivePage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-live": LivePage;
  }
}
