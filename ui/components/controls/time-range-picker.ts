/** The time range, its steps, the automatic refresh and the zone. Fires `tr-range`, `tr-refresh` and `tr-zone`. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { closeOutside, placePanel } from "#ui/components/controls/drop-panel.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { describeRange, QUICK_RANGES, rangeFault } from "#ui/services/search/range-labels.ts";
import { DEFAULT_RANGE, moveRange, resolveRange, type TimeRange } from "#ui/services/search/time-range.ts";
import { formatTime, formatZone } from "#ui/services/text/format.ts";

const timeRangePickerStyles = css`
  :host {
    display: flex;
    position: relative;
    min-width: 0;
  }
  .ends {
    min-width: 0;
    border-radius: 0;
    margin: 0 -1px;
  }
  .ends span {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .every {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    color: var(--accent);
  }
  .zone {
    color: var(--ink-muted);
    font-weight: 400;
  }
  .back {
    border-radius: var(--radius) 0 0 var(--radius);
  }
  .ahead {
    border-radius: 0 var(--radius) var(--radius) 0;
  }
  .panel {
    position: fixed;
    inset: auto;
    display: grid;
    grid-template-columns: 11rem 17rem;
    width: auto;
    max-width: calc(100vw - 16px);
    margin: 0;
    padding: 0;
    overflow: hidden auto;
    color: var(--ink);
    border: 1px solid var(--line-strong);
    border-radius: 8px;
    background: var(--surface);
    box-shadow: 0 12px 32px var(--shadow);
  }
  .quick {
    display: flex;
    flex-direction: column;
    padding: 8px;
    border-right: 1px solid var(--line);
  }
  .quick button {
    justify-content: flex-start;
    font-weight: 400;
  }
  form {
    display: grid;
    align-content: start;
    gap: 10px;
    padding: 14px;
  }
  label {
    display: grid;
    gap: 3px;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  .line {
    display: flex;
    gap: 6px;
    align-items: end;
  }
  .line label {
    flex: 1;
  }
  p {
    margin: 0;
    font-size: var(--text-small);
    color: var(--ink-muted);
  }
  p.fault {
    color: var(--level-error);
  }
  @media (width < 700px) {
    :host {
      flex: 1;
    }
    .ends {
      flex: 1;
    }
    .zone {
      display: none;
    }
    .panel {
      grid-template-columns: 1fr;
      width: calc(100vw - 20px);
    }
    .quick {
      display: grid;
      grid-template-columns: 1fr 1fr;
      border-right: 0;
      border-bottom: 1px solid var(--line);
    }
  }
`;

const REFRESH_SECONDS = [0, 5, 10, 30, 60, 300] as const;

export class TimeRangePicker extends LitElement {
  @property({ attribute: false }) accessor range: TimeRange = DEFAULT_RANGE;
  @property({ type: Number }) accessor refreshSeconds = 0;
  @property({ type: Boolean }) accessor isUtc = false;
  @state() accessor _isOpen = false;
  @state() accessor _fault: string | undefined;

  static override styles = [controls, timeRangePickerStyles];

  constructor() {
    super();
    closeOutside(this, () => {
      this._isOpen = false;
    });
  }

  /** Opens the panel with the cursor in it. */
  async open(): Promise<void> {
    this._isOpen = true;
    await this.updateComplete;
    const panel = this.renderRoot.querySelector<HTMLElement>(".panel");
    const button = this.renderRoot.querySelector<HTMLElement>(".ends");
    if (panel === null || button === null) return;
    panel.showPopover();
    placePanel(panel, button);
    this.renderRoot.querySelector<HTMLElement>(".quick button")?.focus();
  }

  override render(): TemplateResult {
    const nowMs = Date.now();
    const text = describeRange(this.range, (atMs) => formatTime(atMs, this.isUtc).slice(0, 19), nowMs);
    return html`
      <button class="icon back" title=${msg("Previous time range")} aria-label=${msg("Previous time range")} @click=${() => this.#move(-1)}>
        ${icon("chevronLeft")}
      </button>
      <button class="ends" aria-haspopup="dialog" aria-expanded=${this._isOpen} title=${msg("Time range (t)")} @click=${this.#toggle}>
        ${icon("calendar")}<span>${text}</span><span class="zone">${formatZone(nowMs, this.isUtc)}</span>
        ${this.refreshSeconds === 0 ? nothing : html`<span class="every" title=${msg("Refresh")}>${icon("refresh")}${refreshText(this.refreshSeconds)}</span>`}
      </button>
      <button class="icon ahead" title=${msg("Next time range")} aria-label=${msg("Next time range")} @click=${() => this.#move(1)}>
        ${icon("chevronRight")}
      </button>
      <button class="icon plain out" title=${msg("Zoom out")} aria-label=${msg("Zoom out")} @click=${this.#zoomOut}>${icon("zoomOut")}</button>
      ${this._isOpen ? this.#panel(nowMs) : nothing}
    `;
  }

  #panel(nowMs: number): TemplateResult {
    return html`<div class="panel" popover="manual" role="dialog" aria-label=${msg("Time range")} @keydown=${this.#onKey}>
      <div class="quick">
        ${QUICK_RANGES.map(
          (quick) =>
            html`<button class="plain" aria-pressed=${quick.from === this.range.from && quick.to === this.range.to}
              @click=${() => this.#choose(quick)}>${quick.label}</button>`,
        )}
      </div>
      <form @submit=${this.#apply}>
        <label>${msg("From")}<input name="from" .value=${this.#written(this.range.from)} autocomplete="off" /></label>
        <label>${msg("To")}<input name="to" .value=${this.#written(this.range.to)} autocomplete="off" /></label>
        ${this._fault === undefined ? nothing : html`<p class="fault" role="alert">${this._fault}</p>`}
        <button class="primary">${msg("Apply range")}</button>
        <p>${msg(str`2026-01-31 14:00, now-15m, now/d … in ${formatZone(nowMs, this.isUtc)}`)}</p>
        <div class="line">
          <label>${msg("Refresh")}
            <select @change=${this.#onRefresh}>
              ${REFRESH_SECONDS.map(
                (seconds) =>
                  html`<option value=${seconds} .selected=${seconds === this.refreshSeconds}>
                    ${refreshText(seconds)}
                  </option>`,
              )}
            </select>
          </label>
          <button type="button" aria-pressed=${this.isUtc} @click=${this.#onZone}>UTC</button>
        </div>
      </form>
    </div>`;
  }

  #toggle(): void {
    if (this._isOpen) this._isOpen = false;
    else void this.open();
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this._isOpen = false;
    this.renderRoot.querySelector<HTMLElement>(".ends")?.focus();
  }

  /** Times are shown and read in the chosen zone, date maths as it is. */
  #written(text: string): string {
    const atMs = Date.parse(text);
    return text.startsWith("now") || Number.isNaN(atMs) ? text : formatTime(atMs, this.isUtc).slice(0, 19);
  }

  #read(text: string): string {
    const trimmed = text.trim();
    if (trimmed.startsWith("now")) return trimmed;
    const isPlain = /^\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d(\.\d+)?)?)?$/.test(trimmed);
    const iso = isPlain ? `${trimmed.replace(" ", "T")}${trimmed.includes(" ") ? "" : "T00:00"}` : trimmed;
    const atMs = Date.parse(isPlain && this.isUtc ? `${iso}Z` : iso);
    return Number.isNaN(atMs) ? trimmed : new Date(atMs).toISOString();
  }

  #apply(event: SubmitEvent): void {
    event.preventDefault();
    const text = (name: string): string =>
      this.renderRoot.querySelector<HTMLInputElement>(`input[name=${name}]`)?.value ?? "";
    const range = { from: this.#read(text("from")), to: this.#read(text("to")) };
    this._fault = rangeFault(range, Date.now());
    if (this._fault === undefined) this.#choose(range);
  }

  #move(direction: -1 | 1): void {
    const range = resolveRange(this.range, Date.now());
    if (range !== undefined) this.#choose(moveRange(range, direction));
  }

  /** To twice the length around the same middle. */
  #zoomOut(): void {
    const range = resolveRange(this.range, Date.now());
    if (range !== undefined) this.#choose(moveRange(range, 0, 2));
  }

  #choose({ from, to }: TimeRange): void {
    this._isOpen = false;
    this._fault = undefined;
    this.dispatchEvent(new CustomEvent<TimeRange>("tr-range", { detail: { from, to } }));
  }

  #onRefresh(event: Event): void {
    const detail = Number((event.currentTarget as HTMLSelectElement).value);
    this.dispatchEvent(new CustomEvent<number>("tr-refresh", { detail }));
  }

  #onZone(): void {
    this.dispatchEvent(new CustomEvent<boolean>("tr-zone", { detail: !this.isUtc }));
  }
}

function refreshText(seconds: number): string {
  if (seconds === 0) return msg("Off");
  return seconds < 60 ? msg(str`Every ${seconds} s`) : msg(str`Every ${seconds / 60} min`);
}

customElements.define("tr-time-range-picker", TimeRangePicker);

declare global {
  interface HTMLElementTagNameMap {
    "tr-time-range-picker": TimeRangePicker;
  }
}
