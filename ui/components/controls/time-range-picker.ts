/** The time range, its steps, the automatic refresh and the zone. Fires `tr-range`, `tr-refresh` and `tr-zone`. */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { closeOutside, placePanel } from "#ui/components/controls/drop-panel.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { describeRange, QUICK_RANGES, rangeFault } from "#ui/services/search/range-labels.ts";
import {
  DEFAULT_RANGE,
  moveRange,
  resolveRange,
  resolveTime,
  type TimeRange,
} from "#ui/services/search/time-range.ts";
import { formatTime, formatZone } from "#ui/services/text/format.ts";
import { timeRangePickerStyles } from "./time-range-picker-styles.ts";

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
        ${icon("calendar")}<span>${text}</span><span class="zone">${this.#zone(nowMs)}</span>
        ${this.refreshSeconds === 0 ? nothing : html`<span class="every" title=${msg("Refresh")}>${icon("refresh")}${refreshText(this.refreshSeconds)}</span>`}
      </button>
      <button class="icon ahead" title=${msg("Next time range")} aria-label=${msg("Next time range")} @click=${() => this.#move(1)}>
        ${icon("chevronRight")}
      </button>
      <button class="icon plain out" title=${msg("Zoom out")} aria-label=${msg("Zoom out")} @click=${this.#zoomOut}>${icon("zoomOut")}</button>
      ${this._isOpen ? this.#panel(nowMs) : nothing}
    `;
  }

  /** The zone at the ends that are shown as times: summer time may begin between them. */
  #zone(nowMs: number): string {
    const times = [this.range.from, this.range.to]
      .filter((text) => !text.startsWith("now"))
      .map((text) => resolveTime(text, nowMs) ?? nowMs);
    const zones = (times.length === 0 ? [nowMs] : times).map((atMs) => formatZone(atMs, this.isUtc));
    return [...new Set(zones)].join(" → ");
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
        ${this.#end("from", msg("From"), msg("Choose the start in a calendar"))}
        ${this.#end("to", msg("To"), msg("Choose the end in a calendar"))}
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

  /** One end: its text, and the browser's calendar, which fills it in. */
  #end(name: "from" | "to", label: string, choice: string): TemplateResult {
    return html`<div class="line">
      <label>${label}<input name=${name} .value=${this.#written(this.range[name])} autocomplete="off" /></label>
      <button type="button" class="icon calendar" aria-label=${choice} title=${choice} @click=${this.#showCalendar}>${icon("calendar")}</button>
      <input type="datetime-local" step="1" tabindex="-1" aria-hidden="true" @change=${this.#onCalendar} />
    </div>`;
  }

  /** Opens the calendar at the time in the field, or at now. */
  #showCalendar(event: Event): void {
    const calendar = (event.currentTarget as HTMLElement).nextElementSibling as HTMLInputElement;
    const text = calendar.parentElement!.querySelector("input")!.value;
    const atMs = resolveTime(this.#read(text), Date.now()) ?? Date.now();
    calendar.value = formatTime(atMs, this.isUtc).slice(0, 19).replace(" ", "T");
    calendar.showPicker();
  }

  #onCalendar(event: Event): void {
    const calendar = event.currentTarget as HTMLInputElement;
    if (calendar.value !== "")
      calendar.parentElement!.querySelector("input")!.value = calendar.value.replace("T", " ");
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

  /** Times are shown and read in the chosen zone, date maths unchanged. */
  #written(text: string): string {
    const atMs = Date.parse(text);
    return text.startsWith("now") || Number.isNaN(atMs) ? text : formatTime(atMs, this.isUtc).slice(0, 19);
  }

  #read(text: string): string {
    const trimmed = text.trim();
    if (trimmed.startsWith("now")) return trimmed;
    const isPlain = /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?$/.test(trimmed);
    const iso = isPlain ? `${trimmed.replace(" ", "T")}${trimmed.length > 10 ? "" : "T00:00"}` : trimmed;
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
