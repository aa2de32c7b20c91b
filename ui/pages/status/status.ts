/** Health: the hub, what waits in its streams, its pipelines, slow searches, and the agents that send it lines. */

import { msg } from "@lit/localize";
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { errorView } from "#ui/components/controls/error-view.ts";
import { HotkeyController } from "#ui/components/controls/hotkeys.ts";
import { Refreshing } from "#ui/components/controls/polling-controller.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { cardTableStyles } from "#ui/components/table/card-table.ts";
import { fetchSlowQueries, type SlowQueries } from "#ui/services/administration/slow-queries.ts";
import { fetchAgents, fetchStatus } from "#ui/services/hub/hub-client.ts";
import type { Facts } from "#ui/services/hub/json-call.ts";
import { slowQueriesView } from "./slow-queries-view.ts";
import { statusStyles } from "./status-styles.ts";
import { agentsView, factsView, identityView, pipelinesView, streamsView } from "./status-views.ts";

const REFRESH_MS = 5_000;

export class StatusPage extends LitElement {
  static override styles = [controls, notices, pageStyles, statusStyles, cardTableStyles];

  readonly #facts = new Refreshing(this, askFacts, REFRESH_MS);

  constructor() {
    super();
    new HotkeyController(this, { r: () => void this.#facts.refresh() });
  }

  override render(): TemplateResult {
    const { value, fault } = this.#facts;
    return html`<div class="page">
      <div class="title"><h1>${msg("Health")}</h1><span class="space"></span>
        <button @click=${() => void this.#facts.refresh()} title=${msg("Ask again (r)")}>${icon("refresh")}${msg("Refresh")}</button></div>
      ${fault === undefined ? nothing : errorView(fault)}
      ${value === undefined ? nothing : factsView(value.status)}
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
  /** Undefined where the viewer may not see them, or the hub has none. */
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
