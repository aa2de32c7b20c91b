/** How a search's time was spent, and which of its parts are known to be slow: behind a button beside the counts. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { dropPanel, toggleDropPanel } from "#ui/components/controls/drop-panel.ts";
import { controls } from "#ui/components/style/styles.ts";
import { slowReasons } from "#ui/services/administration/slow-queries.ts";
import { formatCount } from "#ui/services/text/format.ts";

/** Durations of a search. */
export interface SearchCost {
  /** The hub's own work, ms. */
  readonly hubMs: number;
  /** From the request to the answer, ms. */
  readonly totalMs: number;
  /** Until the first rows were drawn, ms. */
  readonly drawnMs: number;
  readonly shards: number;
  /** Lines that matched. */
  readonly total: number;
  /** The request. */
  readonly body: unknown;
  readonly index: string;
}

/** A slower search is pointed out. */
const SLOW_MS = 1_000;

export class SearchCostView extends LitElement {
  @property({ attribute: false }) accessor cost: SearchCost | undefined;

  static override styles = [
    controls,
    dropPanel,
    css`
      :host {
        display: inline-flex;
      }
      .slow {
        color: var(--level-warn);
      }
      dl {
        display: grid;
        grid-template-columns: auto auto 1fr;
        align-items: center;
        gap: 5px 12px;
        margin: 0 0 10px;
        font-variant-numeric: tabular-nums;
      }
      dt {
        color: var(--ink-muted);
      }
      dd {
        margin: 0;
        text-align: right;
      }
      .share {
        height: 6px;
        border-radius: 3px;
        background: var(--bar);
      }
      p {
        margin: 6px 0 0;
        color: var(--ink-muted);
      }
      ul {
        margin: 6px 0 0;
        padding-left: 1.1rem;
      }
    `,
  ];

  override render(): TemplateResult | typeof nothing {
    const { cost } = this;
    if (cost === undefined) return nothing;
    const isSlow = cost.drawnMs >= SLOW_MS;
    return html`<button class="plain small ${isSlow ? "slow" : ""}" aria-haspopup="dialog" title=${msg("Time breakdown")} @click=${(event: Event) => toggleDropPanel(event.currentTarget as HTMLElement)}>${isSlow ? msg("Explain the time it took") : msg("Explain")}</button>
      <div class="panel" popover role="dialog" aria-label=${msg("Time breakdown")}>${this.#panel(cost)}</div>`;
  }

  protected override updated(): void {
    const all = Math.max(1, this.cost?.drawnMs ?? 1);
    for (const bar of this.renderRoot.querySelectorAll<HTMLElement>(".share"))
      bar.style.width = `${Math.max(1, Math.min(1, Number(bar.dataset["ms"]) / all) * 100)}%`;
  }

  #panel(cost: SearchCost): TemplateResult {
    const { hubMs, totalMs, drawnMs, shards, total, body, index } = cost;
    const reasons = slowReasons({ body: JSON.stringify(body), indices: index.split(",") });
    const part = (name: string, ms: number): TemplateResult =>
      html`<dt>${name}</dt><dd>${formatCount(Math.max(0, Math.round(ms)))} ms</dd><div class="share" data-ms=${ms}></div>`;
    return html`<h2>${msg("Time breakdown")}</h2>
      <dl>${part(msg("The hub searched"), hubMs)}${part(msg("On its way"), totalMs - hubMs)}${part(msg("Drawn"), drawnMs - totalMs)}</dl>
      <p>${shards === 1 ? msg(str`${formatCount(total)} lines match in 1 shard.`) : msg(str`${formatCount(total)} lines match in ${formatCount(shards)} shards.`)}</p>
      ${reasons.length === 0 ? html`<p>${msg("Nothing in this search is known to be slow. A shorter time range reads less.")}</p>` : html`<ul>${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`}
      <p><a href="#/status">${msg("Slow searches of this hub")}</a></p>`;
  }
}

customElements.define("tr-search-cost", SearchCostView);

declare global {
  interface HTMLElementTagNameMap {
    "tr-search-cost": SearchCostView;
  }
}
