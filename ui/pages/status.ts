/** Status: the hub, what waits in its streams, its pipelines, slow searches, and the agents that send it lines. */

import { msg } from "@lit/localize";
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { faultView } from "../components/fault-view.ts";
import { HotkeyController } from "../components/hotkeys.ts";
import { icon } from "../components/icons.ts";
import { pageStyles } from "../components/page-styles.ts";
import { controls, notices } from "../components/styles.ts";
import { type Facts, fetchAgents, fetchStatus } from "../services/hub-client.ts";
import { SearchError } from "../services/search-client.ts";
import { fetchSlowQueries, type SlowQueries } from "../services/slow-queries.ts";
import { slowQueriesView } from "./slow-queries-view.ts";
import { statusStyles } from "./status-styles.ts";
import { agentsView, factsView, identityView, pipelinesView, streamsView } from "./status-views.ts";

const REFRESH_MS = 5_000;

export class StatusPage extends LitElement {
  static override properties = {
    _status: { state: true },
    _agents: { state: true },
    _slow: { state: true },
    _fault: { state: true },
  };

  declare _status: Facts | undefined;
  declare _agents: readonly Facts[] | undefined;
  declare _slow: SlowQueries | undefined;
  declare _fault: SearchError | undefined;

  static override styles = [controls, notices, pageStyles, statusStyles];

  #abort = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super();
    this._status = undefined;
    this._agents = undefined;
    this._slow = undefined;
    this._fault = undefined;
    new HotkeyController(this, { r: () => void this.#load() });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#abort = new AbortController();
    this.#timer = setInterval(() => {
      if (!document.hidden) void this.#load();
    }, REFRESH_MS);
    void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#timer);
    this.#abort.abort();
  }

  override render(): TemplateResult {
    const status = this._status;
    return html`<div class="page">
      <div class="title"><h1>${msg("Health")}</h1><span class="space"></span>
        <button @click=${() => void this.#load()} title=${msg("Ask again (r)")}>${icon("refresh")}${msg("Refresh")}</button></div>
      ${this._fault === undefined ? nothing : faultView(this._fault)}
      ${status === undefined ? nothing : html`${factsView(status)}`}
      <h2>${msg("Agents")}</h2>
      ${agentsView(this._agents, this._fault !== undefined)}
      ${status === undefined ? nothing : html`${streamsView(status["streams"])}${pipelinesView(status["pipelines"])}${slowQueriesView(this._slow)}<h2>${msg("This hub")}</h2>${identityView(status)}`}
    </div>`;
  }

  protected override updated(): void {
    for (const bar of this.renderRoot.querySelectorAll<HTMLElement>("[data-share]"))
      bar.style.width = `${bar.dataset["share"]}%`;
  }

  /** Not every viewer may see them, nor does every hub have them: then the rest is shown. */
  #slowQueries(signal: AbortSignal): Promise<SlowQueries | undefined> {
    return fetchSlowQueries(signal).catch(() => undefined);
  }

  async #load(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const [status, agents] = await Promise.all([fetchStatus(signal), fetchAgents(signal)]);
      this._status = status;
      this._agents = agents;
      this._fault = undefined;
      this._slow = await this.#slowQueries(signal);
    } catch (error) {
      if (signal.aborted) return;
      this._fault = error instanceof SearchError ? error : new SearchError(0, "internal", String(error), "");
    }
  }
}

customElements.define("tr-page-status", StatusPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-status": StatusPage;
  }
}
