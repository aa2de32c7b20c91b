/**
 * The edge of a pane: dragged, or moved by arrow keys; Home and End go to its limits, Enter and a double click restore
 * the default size. The size is stored in this browser and set as `--pane-NAME` of the parent element.
 */

import { css, html, LitElement, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { readPreference, writePreference } from "#ui/services/browser/preferences.ts";

/** Of an arrow key. */
const STEP_PX = 16;

export class PaneEdge extends LitElement {
  /** Name under which the size is stored, such as `fields`. */
  @property() accessor name = "";
  @property() accessor label = "";
  /** Position within the parent: its pane is beyond the left or the right edge, or above the bottom. */
  @property({ reflect: true }) accessor side: "left" | "right" | "bottom" = "left";
  /** Finds the pane beside this element. */
  @property() accessor pane = "";
  @property({ type: Number }) accessor leastPx = 0;
  @property({ type: Number }) accessor mostPx = 0;
  /** Size before one is chosen. */
  @property({ type: Number }) accessor usualPx = 0;
  /** Undefined until one is chosen. */
  @state() accessor _sizePx: number | undefined;

  static override styles = css`
    :host {
      position: absolute;
      z-index: 4;
      inset: 0 -4px 0 auto;
      width: 7px;
      touch-action: none;
      cursor: col-resize;
    }
    :host([side="left"]) {
      inset: 0 auto 0 -4px;
    }
    :host([side="bottom"]) {
      inset: auto 0 -4px;
      width: auto;
      height: 7px;
      cursor: row-resize;
    }
    div {
      box-sizing: border-box;
      height: 100%;
    }
    div:is(:hover, .held) {
      background-color: var(--accent);
    }
    /* A finger needs 24 px (WCAG 2.2, 2.5.8); what is seen stays as narrow. */
    @media (pointer: coarse) {
      :host {
        inset: 0 -12px 0 auto;
        width: 24px;
      }
      :host([side="left"]) {
        inset: 0 auto 0 -12px;
      }
      :host([side="bottom"]) {
        inset: auto 0 -12px;
        width: auto;
        height: 24px;
      }
      div {
        background-clip: content-box;
        padding: 0 8px;
      }
      :host([side="bottom"]) div {
        padding: 8px 0;
      }
    }
    div:focus-visible {
      outline: 2px solid var(--accent);
      outline-offset: -1px;
    }
    @media print {
      :host {
        display: none;
      }
    }
  `;

  override connectedCallback(): void {
    super.connectedCallback();
    const kept = Number(readPreference(`pane-${this.name}`));
    if (kept > 0) this.#show(kept);
  }

  override render(): TemplateResult {
    return html`<div role="separator" tabindex="0" aria-label=${this.label} title=${this.label} aria-orientation=${this.#isUpright ? "vertical" : "horizontal"}
      aria-valuemin=${this.leastPx} aria-valuemax=${this.mostPx} aria-valuenow=${this._sizePx ?? this.usualPx}
      @pointerdown=${this.#onPointer} @keydown=${this.#onKey} @dblclick=${() => this.#choose(undefined)}></div>`;
  }

  /** True where the panes are side by side. */
  get #isUpright(): boolean {
    return this.side !== "bottom";
  }

  get #paneSizePx(): number {
    const pane = (this.getRootNode() as ShadowRoot).querySelector(this.pane);
    const { width = 0, height = 0 } = pane?.getBoundingClientRect() ?? {};
    return Math.round(this.#isUpright ? width : height);
  }

  #onPointer(event: PointerEvent): void {
    const edge = event.currentTarget as HTMLElement;
    const at = ({ clientX, clientY }: PointerEvent): number => (this.#isUpright ? clientX : clientY);
    const [from, sizePx] = [at(event), this.#paneSizePx];
    const sign = this.side === "right" ? -1 : 1;
    const move = (moved: PointerEvent): void => this.#show(sizePx + sign * (at(moved) - from));
    const end = (): void => {
      edge.classList.remove("held");
      edge.removeEventListener("pointermove", move);
      if (this._sizePx !== undefined) this.#choose(this._sizePx);
    };
    event.preventDefault();
    edge.classList.add("held");
    edge.setPointerCapture(event.pointerId);
    edge.addEventListener("pointermove", move);
    edge.addEventListener("lostpointercapture", end, { once: true });
  }

  #onKey(event: KeyboardEvent): void {
    const [less, more] = this.#isUpright ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const sign = this.side === "right" ? -1 : 1;
    if (event.key === less) this.#choose(this.#paneSizePx - sign * STEP_PX);
    else if (event.key === more) this.#choose(this.#paneSizePx + sign * STEP_PX);
    else if (event.key === "Home") this.#choose(this.leastPx);
    else if (event.key === "End") this.#choose(this.mostPx);
    else if (event.key === "Enter") this.#choose(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Shows and stores a size; undefined: the default. */
  #choose(sizePx: number | undefined): void {
    this.#show(sizePx);
    writePreference(`pane-${this.name}`, this._sizePx === undefined ? undefined : String(this._sizePx));
  }

  #show(sizePx: number | undefined): void {
    const bounded = sizePx === undefined ? undefined : Math.max(this.leastPx, Math.min(this.mostPx, sizePx));
    const { style } = (this.getRootNode() as ShadowRoot).host as HTMLElement;
    this._sizePx = bounded;
    if (bounded === undefined) style.removeProperty(`--pane-${this.name}`);
    else style.setProperty(`--pane-${this.name}`, `${bounded}px`);
  }
}

customElements.define("tr-pane-edge", PaneEdge);

declare global {
  interface HTMLElementTagNameMap {
    "tr-pane-edge": PaneEdge;
  }
}
