/** What a rule would have counted, as bars over time with the threshold as a line. The same is said in words. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, svg, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import type { PreviewPoint } from "#ui/services/administration/alert-client.ts";
import { formatCount, formatMoment } from "#ui/services/text/format.ts";

const WIDTH = 600;
const HEIGHT = 110;

export class PreviewBars extends LitElement {
  @property({ attribute: false }) accessor points: readonly PreviewPoint[] = [];
  @property({ type: Number }) accessor threshold = 0;

  static override styles = css`
    svg {
      display: block;
      width: 100%;
      height: 110px;
    }
    .bar {
      fill: var(--bar);
    }
    .bar.firing {
      fill: var(--level-error);
    }
    line {
      stroke: var(--ink);
      stroke-width: 1.5;
      stroke-dasharray: 5 4;
      vector-effect: non-scaling-stroke;
    }
    p {
      display: flex;
      justify-content: space-between;
      gap: 12px;
      margin: 6px 0 0;
      color: var(--ink-muted);
      font-size: var(--text-small);
    }
  `;

  override render(): TemplateResult | typeof nothing {
    const { points, threshold } = this;
    const first = points[0];
    const last = points.at(-1);
    if (first === undefined || last === undefined) return nothing;
    const most = Math.max(1, threshold, ...points.map(({ count }) => count));
    const firings = points.filter(({ firing }, at) => firing && points[at - 1]?.firing !== true).length;
    const step = WIDTH / points.length;
    const y = (count: number): number => HEIGHT - (count / most) * (HEIGHT - 6);
    const text = msg(
      str`Would have fired ${formatCount(firings)} times; most lines in a window: ${formatCount(Math.max(...points.map(({ count }) => count)))}.`,
    );
    return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${text}>
        ${points.map(({ count, firing }, at) => svg`<rect class="bar ${firing ? "firing" : ""}" x=${at * step} y=${y(count)} width=${Math.max(0.5, step - 0.6)} height=${HEIGHT - y(count)}></rect>`)}
        <line x1="0" x2=${WIDTH} y1=${y(threshold)} y2=${y(threshold)}></line>
      </svg>
      <p><span>${formatMoment(Date.parse(first.at))}</span><strong>${text}</strong><span>${formatMoment(Date.parse(last.at))}</span></p>`;
  }
}

customElements.define("tr-preview-bars", PreviewBars);

declare global {
  interface HTMLElementTagNameMap {
    "tr-preview-bars": PreviewBars;
  }
}
