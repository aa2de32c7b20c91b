/**
 * Discover's lines grouped by their patterns, the most frequent first. Fires `tr-pattern` with the clause that finds or
 * excludes a pattern's lines.
 */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, svg, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { LEVEL_NAMES } from "#proto/live.ts";
import { errorView } from "#ui/components/controls/error-view.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { icon } from "#ui/components/style/icons.ts";
import { controls, logRows, notices } from "#ui/components/style/styles.ts";
import {
  type FoundPatterns,
  findPatterns,
  type LogPattern,
  patternClause,
  WILDCARD,
} from "#ui/services/discover/log-patterns.ts";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";
import { DEFAULT_STATE, type DiscoverState } from "#ui/services/search/discover-state.ts";
import type { SearchClient } from "#ui/services/search/search-client.ts";
import type { ResolvedRange } from "#ui/services/search/time-range.ts";
import { formatCount, formatShare } from "#ui/services/text/format.ts";

export interface PatternDetail {
  readonly clause: string;
  /** True: the pattern's lines are excluded. */
  readonly exclude: boolean;
}

/** Rows shown: rarer patterns are found by excluding the frequent ones. */
const MAX_ROWS = 100;
const TREND_WIDTH = 96;
const TREND_HEIGHT = 22;

const patternStyles = css`
  :host {
    display: block;
    min-height: 0;
    overflow: auto;
    scrollbar-gutter: stable;
  }
  .notice {
    margin: 10px 12px;
  }
  p.about {
    margin: 0;
    padding: 8px 12px;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  ol {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  li.row {
    position: relative;
    display: grid;
    grid-template-columns: 5.5rem 3.5rem ${TREND_WIDTH}px 5ch minmax(0, 1fr) auto;
    gap: 0 14px;
    align-items: center;
    height: auto;
    min-height: 36px;
    padding: 5px 8px 5px 14px;
    border-bottom: 1px solid var(--line);
    line-height: 1.45;
  }
  /* None has a level: the texts get its column. */
  ol.plain li.row {
    grid-template-columns: 5.5rem 3.5rem ${TREND_WIDTH}px minmax(0, 1fr) auto;
  }
  ol.plain .level {
    display: none;
  }
  li.row:hover {
    background: var(--surface-hover);
  }
  .number {
    text-align: right;
    font-variant-numeric: tabular-nums;
  }
  .share {
    color: var(--ink-muted);
    text-align: right;
  }
  .trend {
    display: block;
    width: ${TREND_WIDTH}px;
    height: ${TREND_HEIGHT}px;
    fill: var(--bar);
    stroke: none;
  }
  [data-level="4"] .trend {
    fill: var(--level-warn);
  }
  [data-level="5"] .trend {
    fill: var(--level-error);
  }
  [data-level="6"] .trend {
    fill: var(--level-fatal);
  }
  .text {
    min-width: 0;
    overflow-wrap: anywhere;
    white-space: normal;
  }
  .text i {
    padding: 0 3px;
    border-radius: 3px;
    background: var(--surface-selected);
    color: var(--ink-muted);
    font-style: normal;
  }
  .actions {
    display: inline-flex;
    gap: 2px;
  }
  @media (width < 700px) {
    li.row,
    ol.plain li.row {
      grid-template-columns: auto auto minmax(0, 1fr) auto;
      gap: 2px 10px;
    }
    .trend {
      display: none;
    }
    .text {
      grid-column: 1 / -1;
      grid-row: 2;
    }
    .actions {
      grid-column: 4;
      grid-row: 1;
    }
  }
`;

export class PatternsPanel extends LitElement {
  @property({ attribute: false }) accessor state: DiscoverState = DEFAULT_STATE;
  /** Of the search whose lines are grouped; another object: grouped again. */
  @property({ attribute: false }) accessor range: ResolvedRange | undefined;
  @property({ attribute: false }) accessor client!: SearchClient;
  @state() accessor _found: FoundPatterns | undefined;
  @state() accessor _fault: HubError | undefined;

  static override styles = [controls, notices, logRows, patternStyles];

  constructor() {
    super();
    roveLists(this, "ol", "li.row");
  }

  #abort = new AbortController();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#abort.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("range")) void this.#load();
  }

  override render(): TemplateResult {
    const { _found: found, _fault: fault } = this;
    if (fault !== undefined) return errorView(fault);
    if (found === undefined) return html`<p class="about" role="status">${msg("Grouping lines …")}</p>`;
    return html`
      ${found.warning === undefined ? nothing : html`<div class="notice warning" role="alert"><p>${found.warning}</p></div>`}
      <p class="about" role="status">${aboutText(found)}</p>
      <ol class=${found.patterns.some(({ level }) => level > 0) ? "" : "plain"} aria-label=${msg("Patterns, the most frequent first")}>${found.patterns.slice(0, MAX_ROWS).map((pattern) => this.#row(pattern, found))}</ol>`;
  }

  #row(pattern: LogPattern, { compared, total }: FoundPatterns): TemplateResult {
    const { count, level } = pattern;
    const share = count / Math.max(1, compared);
    const isSampled = total > compared;
    const lines = isSampled ? `≈ ${formatCount(Math.round(share * total))}` : formatCount(count);
    const clause = patternClause(pattern);
    const act = (exclude: boolean, text: string): TemplateResult =>
      html`<button class="plain small icon" ?disabled=${clause === undefined} aria-label=${text} title=${clause === undefined ? msg("Nothing in this pattern can be searched for") : text}
        @click=${() => clause !== undefined && this.#fire({ clause, exclude })}>${icon(exclude ? "minus" : "plus")}</button>`;
    return html`<li class="row" data-level=${level} title=${pattern.sample}>
      <span class="number">${lines}</span><span class="share number">${formatShare(share)}</span>
      ${trendView(pattern.trend)}<span class="level">${level === 0 ? "" : LEVEL_NAMES[level as 1].slice(0, 5)}</span>
      <span class="text">${pattern.tokens.map(tokenView)}</span>
      <span class="actions">${act(false, msg("Show the lines of this pattern"))}${act(true, msg("Leave out the lines of this pattern"))}</span>
    </li>`;
  }

  #fire(detail: PatternDetail): void {
    this.dispatchEvent(new CustomEvent<PatternDetail>("tr-pattern", { detail }));
  }

  async #load(): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    if (this.range === undefined) return;
    try {
      const found = await findPatterns(this.client, this.state, this.range, signal);
      if (signal.aborted) return;
      this._found = found;
      this._fault = undefined;
    } catch (error) {
      if (!signal.aborted) this._fault = toHubError(error);
    }
  }
}

function aboutText({ patterns, compared, total, others }: FoundPatterns): string {
  const of =
    total > compared
      ? msg(
          str`${formatCount(patterns.length)} patterns in a random sample of ${formatCount(compared)} of ${formatCount(total)} lines; numbers of lines are estimates.`,
        )
      : msg(str`${formatCount(patterns.length)} patterns in ${formatCount(compared)} lines.`);
  return others === 0 ? of : `${of} ${msg(str`${formatCount(others)} lines fit none of them.`)}`;
}

/** A word of a pattern; a variable part is marked. */
function tokenView(token: string): (TemplateResult | string)[] {
  const parts = token.split(WILDCARD);
  return [...parts.flatMap((part, at) => (at === 0 ? [part] : [html`<i>…</i>`, part])), " "];
}

function trendView(trend: readonly number[]): TemplateResult {
  const most = Math.max(1, ...trend);
  const step = TREND_WIDTH / trend.length;
  const bars = trend.map((count, at) => {
    const height = count === 0 ? 0 : Math.max(1, (count / most) * TREND_HEIGHT);
    return svg`<rect x=${at * step} y=${TREND_HEIGHT - height} width=${step - 1} height=${height} />`;
  });
  return html`<svg class="trend" width=${TREND_WIDTH} height=${TREND_HEIGHT} viewBox="0 0 ${TREND_WIDTH} ${TREND_HEIGHT}" aria-hidden="true">${bars}</svg>`;
}

customElements.define("tr-patterns-panel", PatternsPanel);

declare global {
  interface HTMLElementTagNameMap {
    "tr-patterns-panel": PatternsPanel;
  }
}
