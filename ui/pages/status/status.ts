/** Health: the hub, the backlog of its streams, its pipelines, slow searches, and the agents that send it lines. */

import { msg } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { errorView } from "#ui/components/controls/error-view.ts";
import { HotkeyController } from "#ui/components/controls/hotkeys.ts";
import { Refreshing } from "#ui/components/controls/polling-controller.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { skeleton } from "#ui/components/style/skeleton.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { cardTableStyles } from "#ui/components/table/card-table.ts";
import { fetchSlowQueries, type SlowQueries } from "#ui/services/administration/slow-queries.ts";
import { fetchAgents, fetchStatus } from "#ui/services/hub/hub-client.ts";
import type { Facts } from "#ui/services/hub/json-call.ts";
import {
  agentsView,
  factsView,
  identityView,
  pipelinesView,
  slowQueriesView,
  streamsView,
} from "./status-views.ts";

const statusStyles = css`
  .facets {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr));
    gap: 12px;
  }
  .card h3 {
    margin: 0 0 8px;
    color: var(--ink-muted);
    font-size: var(--text);
    font-weight: 600;
  }
  .card p {
    margin: 0 0 4px;
  }
  .card dl {
    display: grid;
    grid-template-columns: minmax(5rem, max-content) minmax(0, 1fr);
    gap: 5px 16px;
    margin: 0;
  }
  .card dt {
    color: var(--ink-muted);
  }
  .card dd {
    margin: 0;
    overflow-wrap: anywhere;
    font-variant-numeric: tabular-nums;
  }
  .facts dd a {
    color: inherit;
  }
  .fill {
    width: 9rem;
    margin-right: 10px;
  }
  .fill.failed i {
    background: var(--level-error);
  }
  td.why {
    min-width: 14rem;
    white-space: normal;
  }
  td.indices {
    min-width: 8rem;
    white-space: normal;
    overflow-wrap: anywhere;
  }
  .why p {
    margin: 0;
  }
  td.search {
    min-width: 10rem;
    white-space: normal;
  }
  .search pre {
    max-width: 60ch;
    max-height: 20rem;
    margin: 4px 0;
    overflow: auto;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }
  .search summary {
    min-height: 24px;
    cursor: pointer;
  }
  @media (width < 900px) {
    .cards td:is(.why, .search) {
      grid-column: 1 / -1;
    }
  }
`;

const REFRESH_MS = 5_000;
const WATCHED = ["/api/status", "/api/agents", "/api/slow-queries"];

export class StatusPage extends LitElement {
  static override styles = [controls, notices, pageStyles, statusStyles, cardTableStyles];

  readonly #facts = new Refreshing(this, askFacts, REFRESH_MS, WATCHED);

  constructor() {
    super();
    roveLists(this);
    new HotkeyController(this, { r: () => void this.#facts.refresh() });
  }

  override render(): TemplateResult {
    const { value, fault } = this.#facts;
    return html`<div class="page">
      <div class="title"><h1>${msg("Health")}</h1><span class="space"></span>
        <button @click=${() => void this.#facts.refresh()} title=${msg("Refresh (r)")}>${icon("refresh")}${msg("Refresh")}</button></div>
      ${fault === undefined ? nothing : errorView(fault)}
      ${value === undefined ? (fault === undefined ? skeleton(8) : nothing) : factsView(value.status)}
      <h2>${msg("Agents")}</h2>
      ${agentsView(value?.agents, fault !== undefined)}
      ${value === undefined ? nothing : html`${streamsView(value.status["streams"])}${pipelinesView(value.status["pipelines"])}${slowQueriesView(value.slow)}<h2>${msg("This hub")}</h2>${identityView(value.status)}`}
    </div>`;
  }

  protected override updated(): void {
    for (const bar of this.renderRoot.querySelectorAll<HTMLElement>("[data-share]"))
      bar.style.width = `${bar.dataset["share"]}%`;
  }
}

interface StatusFacts {
  readonly status: Facts;
  readonly agents: readonly Facts[];
  /** Undefined if the viewer may not see them, or the hub has none. */
  readonly slow: SlowQueries | undefined;
}

async function askFacts(signal: AbortSignal): Promise<StatusFacts> {
  const [status, agents, slow] = await Promise.all([
    fetchStatus(signal),
    fetchAgents(signal),
    fetchSlowQueries(signal).catch(() => undefined),
  ]);
  return { status, agents, slow };
}

customElements.define("tr-page-status", StatusPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-status": StatusPage;
  }
}
