/** Lines and errors of the last minutes, second by second, in a strip as small as a word. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { colourReader } from "#ui/components/style/theme-colour.ts";
import { THEME_EVENT } from "#ui/services/browser/theme.ts";
import { HISTORY_SECONDS, type RateHistory } from "#ui/services/live/rate-history.ts";
import { formatCount } from "#ui/services/text/format.ts";

const HEIGHT_PX = 26;
const DRAW_MS = 1_000;
/** An error among thousands of lines is to be seen. */
const MIN_ERROR_PX = 3;

export class RateStrip extends LitElement {
  @property({ attribute: false }) accessor history: RateHistory | undefined;
  @state() accessor _text = "";

  static override styles = css`
    :host {
      display: inline-block;
      line-height: 0;
    }
    canvas {
      width: 300px;
      max-width: 40vw;
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
