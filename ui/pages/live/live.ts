/** Live: lines as they arrive. The filter is in the address; the lines are held only by the page. */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { DEFAULT_LIMITS, type TailGap } from "#proto/live.ts";
import type { FilterDetail } from "#ui/components/controls/field-events.ts";
import { HotkeyController } from "#ui/components/controls/hotkeys.ts";
import type { SearchDetail } from "#ui/components/controls/query-bar.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { OwnRights } from "#ui/services/administration/own-rights.ts";
import { formatRoute, navigate } from "#ui/services/browser/router.ts";
import { saveFile } from "#ui/services/browser/save-file.ts";
import { signInAddress } from "#ui/services/browser/sign-in.ts";
import { SurroundingLines, surroundingsOf } from "#ui/services/discover/surrounding-lines.ts";
import { SavedClient } from "#ui/services/hub/saved-client.ts";
import { isSignedOut } from "#ui/services/hub/session-client.ts";
import { type ColourRule, readRules, writeRules } from "#ui/services/live/colour-rules.ts";
import type { TailLine } from "#ui/services/live/tail-client.ts";
import type { TailEntry } from "#ui/services/live/tail-log.ts";
import { DEFAULT_INDEX, DEFAULT_STATE, toQueryText, writeState } from "#ui/services/search/discover-state.ts";
import { LogDocument } from "#ui/services/search/log-document.ts";
import type { QueryFault } from "#ui/services/search/query-check.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { absoluteRange } from "#ui/services/search/time-range.ts";
import { formatCount, formatTime } from "#ui/services/text/format.ts";
import { highlightWords } from "#ui/services/text/highlight.ts";
import { sentence } from "#ui/services/text/sentence.ts";
import { FieldSource, LiveModel, toDocument } from "./live-model.ts";
import { liveStyles } from "./live-styles.ts";
import { noticeView, RATES, toolbarView } from "./live-views.ts";
import "#ui/components/table/event-details.ts";
import "#ui/components/controls/query-bar.ts";
import "./tail-window.ts";
import "#ui/components/controls/title-dialog.ts";

/** A hidden page stops taking lines after this long. */
const HIDDEN_PAUSE_MS = 10 * 60_000;

export class LivePage extends LitElement {
  /** Of the address. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  /** One of several tails side by side. */
  @property({ type: Boolean }) accessor isSide = false;
  /** Goes to another filter; by default the address is changed. */
  @property({ attribute: false }) accessor go = (parameters: URLSearchParams): void =>
    navigate({ page: "live", parameters });
  @state() accessor _document: LogDocument | undefined;
  @state() accessor _rules: readonly ColourRule[] = readRules();
  @state() accessor _notice = "";

  static override styles = [controls, notices, liveStyles];

  readonly #search = new SearchClient();
  readonly #rights = new OwnRights(this);
  readonly #fields = new FieldSource(this.#search);
  readonly #model = new LiveModel(this.#search, {
    onLines: () => this.#window?.draw(),
    onChange: () => this.requestUpdate(),
  });
  readonly #around = (line: LogDocument): SurroundingLines =>
    new SurroundingLines(line, this.#search, this.#index);
  #abort = new AbortController();
  #hiddenTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #onVisible = (): void => this.#visibilityChanged();
  readonly #onOnline = (): void => this.#model.retryNow();

  constructor() {
    super();
    new HotkeyController(this, {
      "/": () => this.renderRoot.querySelector("tr-query-bar")?.focusQuery(),
      " ": () => this.#togglePause(),
      p: () => this.#togglePause(),
      c: () => this.#model.clear(),
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
    this.#model.stop();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("parameters")) this.#start();
  }

  override render(): TemplateResult {
    const { log, state, refused, isPaused, isFollowing, announcement } = this.#model;
    const isWaiting = log.ring.size === 0 && refused === undefined;
    return html`
      ${this.isSide ? nothing : html`<h1 class="hidden-text">${msg("Live")}</h1>`}
      <div class="bar">
        <tr-query-bar .query=${this.#query} .index=${this.#index} .indices=${[DEFAULT_INDEX, "*"]} action=${msg("Follow")} .fault=${this.#queryFault}
          .fields=${this.#fields.fields} .loadValues=${this.#fields.valuesOf.bind(this.#fields)} @tr-search=${this.#onSearch}></tr-query-bar>
      </div>
      ${this.#toolbar()}${noticeView(refused, state, () => this.#retry())}
      <div class="work ${this._document === undefined ? "" : "with-details"}" @tr-filter=${this.#onFilter}>
        <tr-tail-window .log=${log} .words=${highlightWords(this.#query)} .rules=${this._rules}
          @tr-follow=${(event: CustomEvent<boolean>) => this.#model.follow(event.detail)} @tr-open=${this.#onOpen}></tr-tail-window>
        ${isWaiting ? html`<p class="waiting">${isPaused ? msg("Paused") : msg("Waiting for the first line …")}</p>` : nothing}
        ${isFollowing ? nothing : html`<button class="jump primary" @click=${this.#jump}>${icon("end")}${log.unseen === 0 ? msg("Follow (End)") : msg(str`${formatCount(log.unseen)} new (End)`)}</button>`}
        ${this.#details()}
      </div>
      <span class="hidden-text" role="status">${announcement}</span>
      ${this._notice === "" ? nothing : html`<output class="said">${this._notice}</output>`}
      <tr-title-dialog></tr-title-dialog>
    `;
  }

  #toolbar(): TemplateResult {
    const { log, state, refused, isPaused, isFollowing } = this.#model;
    const stored = { ...DEFAULT_STATE, query: this.#query, index: this.#index };
    return toolbarView({
      log,
      state,
      refused,
      isPaused,
      isFollowing,
      rate: this.#maxRate ?? DEFAULT_LIMITS.defaultRate,
      rules: this._rules,
      discoverAddress: formatRoute({ page: "discover", parameters: writeState(stored) }),
      onPause: () => this.#togglePause(),
      onClear: () => this.#model.clear(),
      onRate: (rate) => this.#chooseRate(rate),
      onRules: (rules) => this.#setRules(rules),
      onSave: this.#rights.may("save") ? () => void this.#save() : undefined,
      onFile: () => this.#saveLines(),
      onBeside: this.isSide ? undefined : () => this.#openBeside(),
    });
  }

  #details(): TemplateResult | typeof nothing {
    const document = this._document;
    if (document === undefined) return nothing;
    return html`<tr-event-details role="complementary" aria-label=${msg("Selected line")} .document=${document} .around=${this.#around}
      .surroundings=${surroundingsOf(document, { ...DEFAULT_STATE, index: this.#index })}
      @tr-close=${this.#close} @tr-step=${(event: CustomEvent<number>) => this.#window?.step(event.detail)}></tr-event-details>`;
  }

  #start(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this._document = undefined;
    this.#model.start({ query: this.#query, index: this.#index, maxRate: this.#maxRate });
    void this.#fields.load(this.#index).then(() => this.requestUpdate());
    this.#window?.follow(true);
    this.#window?.draw();
  }

  #onSearch({ detail }: CustomEvent<SearchDetail>): void {
    const parameters = new URLSearchParams();
    if (this.#maxRate !== undefined) parameters.set("rate", String(this.#maxRate));
    if (detail.query !== "") parameters.set("q", detail.query);
    if (detail.index !== DEFAULT_INDEX) parameters.set("index", detail.index);
    if (parameters.toString() === this.parameters.toString()) this.#start();
    else this.go(parameters);
  }

  #chooseRate(rate: number): void {
    const parameters = new URLSearchParams(this.parameters);
    if (rate === DEFAULT_LIMITS.defaultRate) parameters.delete("rate");
    else parameters.set("rate", String(rate));
    this.go(parameters);
  }

  #setRules(rules: readonly ColourRule[]): void {
    this._rules = rules;
    writeRules(rules);
  }

  #retry(): void {
    if (this.#model.state.name === "ended") void this.#reconnect();
    else this.#model.retryNow();
  }

  /** Begins again, by way of the sign-in where the session has ended. */
  async #reconnect(): Promise<void> {
    if (await isSignedOut()) location.assign(signInAddress(location));
    else this.#start();
  }

  #onFilter({ detail }: CustomEvent<FilterDetail>): void {
    const query = toQueryText(this.#query, [{ ...detail, disabled: false }]);
    this.#onSearch(new CustomEvent("tr-search", { detail: { query, index: this.#index } }));
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

  /** Shows the line's own content at once, and the whole document when it is loaded. */
  async #openLine(line: TailLine): Promise<void> {
    const first = toDocument(line);
    this._document = first;
    try {
      const hit = await this.#search.document(first.index, first.id, this.#abort.signal);
      if (this._document === first) this._document = new LogDocument({ ...hit, sort: first.sort });
    } catch {
      // Not stored yet: the line's own content has to do.
    }
  }

  async #save(): Promise<void> {
    const answer = await this.renderRoot
      .querySelector("tr-title-dialog")!
      .ask({ heading: msg("Save this search"), title: this.#query, isSaved: false });
    if (answer === undefined) return;
    const state = { ...DEFAULT_STATE, query: this.#query, index: this.#index };
    try {
      await new SavedClient().create("search", answer.title, { parameters: writeState(state).toString() });
      this._notice = msg(str`Saved as “${answer.title}”`);
    } catch (error) {
      this._notice = error instanceof Error ? error.message : String(error);
    }
  }

  #saveLines(): void {
    const timestamp = formatTime(Date.now(), true).slice(0, 19).replaceAll(/[: ]/g, "-");
    saveFile(`live-${timestamp}.log`, "text/plain", this.#model.log.texts());
  }

  /** Opens another tail beside this one. */
  #openBeside(): void {
    const tail = this.parameters.toString();
    navigate({
      page: "tails",
      parameters: new URLSearchParams([
        ["t", tail],
        ["t", tail],
      ]),
    });
  }

  /** Pauses or resumes. */
  setPaused(isPaused: boolean): void {
    if (isPaused !== this.#model.isPaused) this.#togglePause();
  }

  #togglePause(): void {
    if (this.#model.isPaused) this.#jump();
    else this.#model.pause();
  }

  #jump(): void {
    this.#model.resume();
    this.#window?.follow(true);
  }

  #close(): void {
    this._document = undefined;
  }

  #visibilityChanged(): void {
    clearTimeout(this.#hiddenTimer);
    if (!document.hidden) {
      this.#model.retryNow();
      return;
    }
    this.#hiddenTimer = setTimeout(() => this.#model.pause(), HIDDEN_PAUSE_MS);
  }

  get #query(): string {
    return this.parameters.get("q") ?? "";
  }

  /** Offset of the fault in the filter, as reported by the hub. */
  get #queryFault(): QueryFault | undefined {
    const { refused } = this.#model;
    if (refused?.at === undefined) return undefined;
    return {
      message: sentence(refused.message),
      hint: sentence(refused.hint ?? ""),
      from: refused.at[0],
      to: refused.at[1],
    };
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

customElements.define("tr-page-live", LivePage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-live": LivePage;
  }
}
