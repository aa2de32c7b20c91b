/**
 * The lines of a live tail: a window on a ring, of which only the rows in sight are in the document and are patched in
 * place, once a frame. Follows the newest line until the user scrolls up, selects text or moves with a key; fires
 * `tr-follow` when that changes and `tr-open` with a line.
 */

import { msg } from "@lit/localize";
import { html, LitElement, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { ansiStyles } from "#ui/components/style/ansi-text.ts";
import { controls, logRows } from "#ui/components/style/styles.ts";
import { rowHeightPx } from "#ui/services/browser/theme.ts";
import { type ColourRule, compileRules } from "#ui/services/live/colour-rules.ts";
import type { TailEntry, TailLog } from "#ui/services/live/tail-log.ts";
import { scrollToRow, visibleRows } from "#ui/services/table/row-heights.ts";
import { compileHighlight, hasOtherWords } from "#ui/services/text/highlight.ts";
import { type TailLook, TailRow } from "./tail-row.ts";
import { tailWindowStyles } from "./tail-window-styles.ts";

const NARROW_ROW_HEIGHT_PX = 44;
/** Scrolled to within this many pixels of the end counts as the end. */
const END_TOLERANCE_PX = 4;

export class TailWindow extends LitElement {
  @property({ attribute: false }) accessor log!: TailLog;
  @property({ attribute: false, hasChanged: hasOtherWords }) accessor words: readonly string[] = [];
  @property({ type: Boolean }) accessor isUtc = false;
  /** Colours of lines. */
  @property({ attribute: false }) accessor rules: readonly ColourRule[] = [];

  static override styles = [controls, logRows, ansiStyles, tailWindowStyles];

  readonly #pool: TailRow[] = [];
  readonly #narrow = globalThis.matchMedia?.("(width < 700px)");
  #frame = 0;
  #isFollowing = true;
  /** Number in the ring of the chosen line. */
  #chosen: number | undefined;
  /** The next drawing must scroll the chosen line into view. */
  #isRevealing = false;
  /** First number at the last drawing: how far the rest has moved up since. */
  #firstDrawn = 0;
  /** Scroll offset in px at the last drawing or scroll event. */
  #scrolledTo = 0;
  #look: TailLook = { highlight: undefined, colourOf: () => 0, isUtc: false };
  #resize: ResizeObserver | undefined;

  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener("selectionchange", this.#onSelection);
    this.#resize = new ResizeObserver(() => this.draw());
    this.#resize.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener("selectionchange", this.#onSelection);
    this.#resize?.disconnect();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  override render(): TemplateResult {
    return html`<div class="scroll" tabindex="0" role="log" aria-live="off" aria-label=${msg("Lines as they come, newest last")}
      @scroll=${this.#onScroll} @wheel=${this.#onWheel} @keydown=${this.#onKey} @click=${this.#onClick} @dblclick=${this.#onDoubleClick}>
      <div class="body"></div>
    </div>`;
  }

  protected override updated(): void {
    this.#look = {
      highlight: compileHighlight(this.words),
      colourOf: compileRules(this.rules),
      isUtc: this.isUtc,
    };
    for (const row of this.#pool) row.forget();
    this.draw();
  }

  /** Draws with the next frame. */
  draw(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#flush());
  }

  /** Follows the newest line, or stays. */
  follow(isFollowing: boolean): void {
    if (isFollowing) this.#chosen = undefined;
    if (isFollowing === this.#isFollowing) return;
    this.#isFollowing = isFollowing;
    this.dispatchEvent(new CustomEvent<boolean>("tr-follow", { detail: isFollowing }));
    this.draw();
  }

  /** Chooses the line `step` further and stops following. */
  move(step: number): void {
    const { ring } = this.log;
    if (ring.size === 0) return;
    const from = this.#chosen ?? (step < 0 ? ring.end : ring.end - 2);
    this.#chosen = Math.max(ring.first, Math.min(ring.end - 1, from + step));
    this.follow(false);
    this.#isRevealing = true;
    this.draw();
  }

  /** Opens the line `step` further. */
  step(step: number): void {
    this.move(step);
    this.openChosen();
  }

  /** Opens the chosen line. */
  openChosen(): void {
    if (this.#chosen !== undefined) this.#open(this.#chosen);
  }

  #flush(): void {
    this.#frame = 0;
    const { ring } = this.log;
    const height = this.#rowHeight;
    const scroller = this.#scroller;
    const body = scroller.firstElementChild as HTMLElement;
    body.style.height = `${ring.size * height}px`;
    const viewHeight = scroller.clientHeight;
    if (this.#isFollowing) scroller.scrollTop = Math.max(0, ring.size * height - viewHeight);
    else this.#holdPlace(ring.first - this.#firstDrawn, height);
    this.#firstDrawn = ring.first;
    if (this.#isRevealing && this.#chosen !== undefined)
      scroller.scrollTop = scrollToRow(this.#chosen - ring.first, scroller.scrollTop, viewHeight, height);
    this.#isRevealing = false;
    this.#scrolledTo = scroller.scrollTop;
    const { first, end } = visibleRows(scroller.scrollTop, viewHeight, height, ring.size);
    this.#fillPool(body, end - first);
    for (let i = 0; i < this.#pool.length; i++) {
      const row = this.#pool[i]!;
      const number = ring.first + first + i;
      const entry = first + i < end ? ring.at(number) : undefined;
      row.element.hidden = entry === undefined;
      if (entry === undefined) continue;
      row.show(entry, this.#look);
      row.place(number, (first + i) * height, number === this.#chosen);
    }
  }

  /** Overwritten rows have moved the others up; the scroll position moves with them. */
  #holdPlace(gone: number, height: number): void {
    if (gone > 0) this.#scroller.scrollTop = Math.max(0, this.#scroller.scrollTop - gone * height);
  }

  #fillPool(body: HTMLElement, count: number): void {
    while (this.#pool.length < count) {
      const row = new TailRow();
      body.append(row.element);
      this.#pool.push(row);
    }
  }

  /**
   * Follows again when the user has scrolled down to the end. The event of the window's own last scroll arrives a frame
   * late, perhaps after the user's wheel: it is at the end, too, but without movement.
   */
  #onScroll(): void {
    this.draw();
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    const isMovedDown = scrollTop > this.#scrolledTo || scrollHeight <= clientHeight;
    this.#scrolledTo = scrollTop;
    const isAtEnd = isMovedDown && scrollTop + clientHeight >= scrollHeight - END_TOLERANCE_PX;
    if (isAtEnd && this.#chosen === undefined && !this.#isFollowing && !this.#hasSelection())
      this.follow(true);
  }

  /** Scroll events alone don't distinguish the user's scrolling from the window's own. */
  #onWheel(event: WheelEvent): void {
    if (event.deltaY < 0) this.follow(false);
  }

  #onKey(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.#scroller.clientHeight / this.#rowHeight) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.log.ring.size,
    };
    const step = steps[event.key];
    if (event.key === "End") this.follow(true);
    else if (event.key === "Enter") this.openChosen();
    else if (step !== undefined) this.move(step);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  readonly #onSelection = (): void => {
    if (this.#isFollowing && this.#hasSelection()) this.follow(false);
  };

  #hasSelection(): boolean {
    const selection = getSelection();
    if (selection === null || selection.isCollapsed) return false;
    return selection.containsNode(this, true) || this.matches(":focus-within");
  }

  #onClick(event: MouseEvent): void {
    const target = event.target as HTMLElement;
    if (target.matches(".time, .gap .message")) this.#open(this.#numberOf(target));
  }

  #onDoubleClick(event: MouseEvent): void {
    this.#open(this.#numberOf(event.target as HTMLElement));
  }

  #numberOf(target: HTMLElement): number {
    const row = target.closest(".row");
    return this.#pool.find(({ element }) => element === row)?.number ?? -1;
  }

  #open(number: number): void {
    const entry = this.log.ring.at(number);
    if (entry === undefined) return;
    if (!("gap" in entry)) this.#chosen = number;
    this.follow(false);
    this.draw();
    this.dispatchEvent(new CustomEvent<TailEntry>("tr-open", { detail: entry }));
  }

  get #scroller(): HTMLElement {
    return this.renderRoot.querySelector<HTMLElement>(".scroll")!;
  }

  get #rowHeight(): number {
    return this.#narrow?.matches === true ? NARROW_ROW_HEIGHT_PX : rowHeightPx();
  }
}

customElements.define("tr-tail-window", TailWindow);

declare global {
  interface HTMLElementTagNameMap {
    "tr-tail-window": TailWindow;
  }
}
