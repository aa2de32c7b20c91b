/** Parts of the live page: its toolbar and its messages. */

import "./colour-rules-panel.ts";
import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { DEFAULT_LIMITS, type LiveError } from "#proto/live.ts";
import { icon } from "#ui/components/style/icons.ts";
import { colourReader, THEME_EVENT } from "#ui/services/browser/theme.ts";
import type { ColourRule } from "#ui/services/live/colour-rules.ts";
import type { TailState } from "#ui/services/live/tail-client.ts";
import { HISTORY_SECONDS, type RateHistory, RING_ENTRIES, type TailLog } from "#ui/services/live/tail-log.ts";
import { formatCount, formatRate, formatSeconds, formatShort } from "#ui/services/text/format.ts";
import { sentence } from "#ui/services/text/sentence.ts";

const HEIGHT_PX = 26;
const DRAW_MS = 1_000;
/** An error among thousands of lines must be visible. */
const MIN_ERROR_PX = 3;

class RateStrip extends LitElement {
  @property({ attribute: false }) accessor history: RateHistory | undefined;
  @state() accessor _text = "";

  static override styles = css`
    :host {
      /* It gives way before the tools wrap. */
      flex: 20 1 90px;
      max-width: 300px;
      line-height: 0;
    }
    canvas {
      width: 100%;
      height: 26px;
      border-bottom: 1px solid var(--line);
    }
  `;

  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #draw = (): void => this.#redraw();

  override connectedCallback(): void {
    super.connectedCallback();
    this.#timer = setInterval(this.#draw, DRAW_MS);
    addEventListener(THEME_EVENT, this.#draw);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#timer);
    removeEventListener(THEME_EVENT, this.#draw);
  }

  override render(): TemplateResult {
    return html`<canvas role="img" aria-label=${this._text} title=${this._text} width=${HISTORY_SECONDS} height=${HEIGHT_PX}></canvas>`;
  }

  protected override firstUpdated(): void {
    this.#redraw();
  }

  #redraw(): void {
    const context = this.renderRoot.querySelector("canvas")?.getContext("2d");
    if (context === undefined || context === null || this.history === undefined || document.hidden) return;
    const seconds = this.history.seconds(Date.now());
    const most = Math.max(1, ...seconds.map(({ lines }) => lines));
    const errors = seconds.reduce((sum, second) => sum + second.errors, 0);
    this._text = msg(
      str`Last 5 minutes: at most ${formatCount(most)} lines a second, ${formatCount(errors)} errors`,
    );
    const colour = colourReader(this);
    const [lineColour, errorColour] = [colour("--bar"), colour("--level-error")];
    context.clearRect(0, 0, HISTORY_SECONDS, HEIGHT_PX);
    for (const [x, second] of seconds.entries()) {
      const height = (second.lines / most) * HEIGHT_PX;
      context.fillStyle = lineColour;
      context.fillRect(x, HEIGHT_PX - height, 1, height);
      if (second.errors === 0) continue;
      const errorHeight = Math.max(MIN_ERROR_PX, (second.errors / most) * HEIGHT_PX);
      context.fillStyle = errorColour;
      context.fillRect(x, HEIGHT_PX - errorHeight, 1, errorHeight);
    }
  }
}

customElements.define("tr-rate-strip", RateStrip);

declare global {
  interface HTMLElementTagNameMap {
    "tr-rate-strip": RateStrip;
  }
}

/** Choices of lines a second, the default first: more can't be read. */
export const RATES: readonly number[] = [DEFAULT_LIMITS.defaultRate, 10_000, DEFAULT_LIMITS.maxRate];

export interface ToolbarOptions {
  readonly log: TailLog;
  readonly state: TailState;
  /** Why the hub refuses the filter: no line can come. */
  readonly refused: LiveError | undefined;
  readonly isPaused: boolean;
  readonly isFollowing: boolean;
  /** One of RATES. */
  readonly rate: number;
  readonly onPause: () => void;
  readonly onClear: () => void;
  readonly onRate: (rate: number) => void;
  readonly rules: readonly ColourRule[];
  readonly onRules: (rules: readonly ColourRule[]) => void;
  /** Saves the filter as a search; undefined: the reader may save nothing. */
  readonly onSave: (() => void) | undefined;
  /** Writes the lines into a file. */
  readonly onFile: () => void;
  /** Opens another tail beside this one; undefined if there is one already. */
  readonly onBeside: (() => void) | undefined;
  /** The same filter in Discover. */
  readonly discoverAddress: string;
}

/** Returns the toolbar: pause, state, rates, what was skipped, the most lines a second. */
export function toolbarView(options: ToolbarOptions): TemplateResult {
  const { log, state, refused, isPaused, rate, onPause, onClear, onRate } = options;
  const { matchedRate, shownRate, skipped, lagMs, ring } = log;
  const choose = (event: Event): void => onRate(Number((event.currentTarget as HTMLSelectElement).value));
  return html`<div class="tools">
    <button class="small" aria-pressed=${isPaused} title=${msg("Pause or go on (p)")} @click=${onPause}>
      ${isPaused ? html`${icon("play")}${msg("Resume")}` : html`${icon("pause")}${msg("Pause")}`}
    </button>
    <span class="signal ${refused === undefined ? state.name : ""}">${stateText(options)}</span>
    <span><b>${formatRate(matchedRate)}</b> ${msg("match,")} <b>${formatRate(shownRate)}</b> ${msg("shown")}</span>
    ${skipped > 0 ? html`<span class="skipped"><b>${formatCount(skipped)}</b> ${msg("skipped")}</span>` : nothing}
    ${lagMs > 1_000 ? html`<span>${msg(str`${formatSeconds(lagMs)} behind`)}</span>` : nothing}
    <tr-rate-strip .history=${log.history}></tr-rate-strip>
    <span class="space"></span>
    <tr-colour-rules .rules=${options.rules} @tr-rules=${(event: CustomEvent<readonly ColourRule[]>) => options.onRules(event.detail)}></tr-colour-rules>
    ${options.onSave === undefined ? nothing : html`<button class="plain small" aria-label=${msg("Save this filter as a search")} title=${msg("Save this filter as a search")} @click=${options.onSave}>${icon("save")}<span class="word">${msg("Save")}</span></button>`}
    <button class="plain small" aria-label=${msg("The lines kept here, as a text file")} title=${msg("The lines kept here, as a text file")} ?disabled=${ring.size === 0} @click=${options.onFile}>${icon("download")}<span class="word">${msg("File")}</span></button>
    ${options.onBeside === undefined ? nothing : html`<button class="plain small icon" aria-label=${msg("Another tail beside this one")} title=${msg("Another tail beside this one")} @click=${options.onBeside}>${icon("columns")}</button>`}
    <a class="button plain small" aria-label=${msg("Discover: stored lines with this filter")} title=${msg("Discover: stored lines with this filter")} href=${options.discoverAddress}>${icon("search")}<span class="word">${msg("Discover")}</span></a>
    <label><span class="label">${msg("Limit")}</span>
      <select @change=${choose}>
        ${RATES.map((one) => html`<option value=${one} .selected=${one === rate}>${formatCount(one)}/s</option>`)}
      </select>
    </label>
    <span class="word">${msg(str`${formatCount(ring.size)} of ${formatShort(RING_ENTRIES)} lines kept`)}</span>
    <button class="plain small" aria-label=${msg("Clear")} title=${msg("Clear (c)")} @click=${onClear}>${icon("trash")}<span class="word">${msg("Clear")}</span></button>
  </div>`;
}

/** Returns the state in a word. */
export function stateText({
  state,
  refused,
  isPaused,
  isFollowing,
}: Pick<ToolbarOptions, "state" | "refused" | "isPaused" | "isFollowing">): string {
  const isOpen = state.name === "open";
  if (isOpen && isPaused) return msg("Paused");
  // A connection whose first filter is refused stays in the state before it is open.
  if (refused !== undefined && (isOpen || state.name === "connecting")) return msg("Not following");
  if (isOpen) return isFollowing ? msg("Following") : msg("Not following");
  if (state.name === "connecting") return msg("Connecting");
  return state.name === "waiting" ? msg("Reconnecting") : msg("Ended");
}

/** Returns what keeps lines away: a refused filter, an ended or a broken connection. */
export function noticeView(
  refused: LiveError | undefined,
  state: TailState,
  onRetry: () => void,
): TemplateResult | typeof nothing {
  if (refused !== undefined)
    return html`<div class="notice fault" role="alert"><p><strong>${sentence(refused.message)}</strong> ${sentence(refused.hint ?? "")}</p></div>`;
  if (state.name === "ended")
    return html`<div class="notice fault" role="alert"><p><strong>${sentence(state.reason)}</strong></p>
      <button class="small" @click=${onRetry}>${msg("Reconnect")}</button></div>`;
  if (state.name !== "waiting") return nothing;
  return html`<div class="notice warning" role="status"><p>${msg(str`${state.reason}; trying again.`)}</p>
    <button class="small" @click=${onRetry}>${msg("Retry now")}</button></div>`;
}
