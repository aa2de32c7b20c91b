/** Status: the hub, and the agents that send it lines. */

import { html, LitElement, nothing, type TemplateResult } from "lit";
import { faultView } from "../components/fault-view.ts";
import { HotkeyController } from "../components/hotkeys.ts";
import { icon } from "../components/icons.ts";
import { controls, notices } from "../components/styles.ts";
import { formatAgo, formatBytes, formatCount, formatDuration, formatTime } from "../services/format.ts";
import { type Facts, fetchAgents, fetchStatus } from "../services/hub-client.ts";
import { valueText } from "../services/log-document.ts";
import { SearchError } from "../services/search-client.ts";
import { statusStyles } from "./status-styles.ts";

type Cell = (agent: Facts) => string | TemplateResult;

const AGENT_COLUMNS: readonly (readonly [string, Cell])[] = [
  ["Name", (agent) => valueText(agent["name"] ?? agent["id"])],
  ["Health", healthCell],
  ["Last seen", (agent) => formatAgo(Date.parse(valueText(agent["last_seen"])) || 0, Date.now())],
  ["Behind", (agent) => factText("bytes", agent["lag_bytes"])],
  ["Lines read", (agent) => factText("count", agent["lines_read"])],
  ["Bytes read", (agent) => factText("bytes", agent["bytes_read"])],
  ["Files", (agent) => factText("count", agent["open_files"])],
  ["Memory", (agent) => factText("bytes", agent["rss_bytes"])],
  ["Version", (agent) => valueText(agent["version"])],
  ["Host", (agent) => valueText(agent["host"])],
];

const REFRESH_MS = 5_000;
/** Deeper facts are shown as JSON. */
const MAX_DEPTH = 2;

export class StatusPage extends LitElement {
  static override properties = {
    _status: { state: true },
    _agents: { state: true },
    _fault: { state: true },
  };

  declare _status: Facts | undefined;
  declare _agents: readonly Facts[] | undefined;
  declare _fault: SearchError | undefined;

  static override styles = [controls, notices, statusStyles];

  #abort = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super();
    this._status = undefined;
    this._agents = undefined;
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
    return html`<div class="page">
      <div class="title"><h1>Status</h1>
        <button @click=${() => void this.#load()} title="Ask again (r)">${icon("refresh")}Refresh</button></div>
      ${this._fault === undefined ? nothing : faultView(this._fault)}
      ${this._status === undefined ? nothing : this.#cards(this._status)}
      <h2>Agents</h2>
      ${this.#agents()}
    </div>`;
  }

  #cards(status: Facts): TemplateResult {
    const plain = Object.entries(status).filter(([, value]) => !isFacts(value));
    const groups = Object.entries(status).filter((entry): entry is [string, Facts] => isFacts(entry[1]));
    return html`<div class="cards">
      ${plain.length === 0 ? nothing : card("Hub", plain)}
      ${groups.map(([name, facts]) => card(words(name), flat(facts, "", 1)))}
    </div>`;
  }

  #agents(): TemplateResult {
    const agents = this._agents;
    if (agents === undefined)
      return html`<p class="muted">${this._fault === undefined ? "Asking …" : "Unknown"}</p>`;
    if (agents.length === 0)
      return html`<div class="notice"><p><strong>No agent has reported yet.</strong>
        Start one on a server whose logs should come here: <span class="mono">tailrace-agent run -c agent.yml</span></p></div>`;
    return html`<div class="table" tabindex="0" role="region" aria-label="Agents"><table>
      <thead><tr>${AGENT_COLUMNS.map(([title]) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>${agents.map(
        (agent) => html`<tr>${AGENT_COLUMNS.map(([, cell]) => html`<td>${cell(agent)}</td>`)}</tr>`,
      )}</tbody>
    </table></div>`;
  }

  async #load(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const [status, agents] = await Promise.all([fetchStatus(signal), fetchAgents(signal)]);
      this._status = status;
      this._agents = agents;
      this._fault = undefined;
    } catch (error) {
      if (signal.aborted) return;
      this._fault = error instanceof SearchError ? error : new SearchError(0, "internal", String(error), "");
    }
  }
}

function healthCell(agent: Facts): TemplateResult {
  const health = valueText(agent["health"]);
  const reason = valueText(agent["reason"]).replace("last_seen", "then");
  return html`<span class="health ${health}">${health}</span>${reason === "" ? nothing : html` <span class="muted">${reason}</span>`}`;
}

function card(title: string, facts: readonly (readonly [string, unknown])[]): TemplateResult {
  return html`<section class="card"><h2>${title}</h2>
    <dl>${facts.map(([name, value]) => html`<dt>${words(name)}</dt><dd>${factText(name, value)}</dd>`)}</dl>
  </section>`;
}

function isFacts(value: unknown): value is Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function flat(facts: Facts, prefix: string, depth: number): [string, unknown][] {
  return Object.entries(facts).flatMap(([name, value]): [string, unknown][] =>
    isFacts(value) && depth < MAX_DEPTH
      ? flat(value, `${prefix}${name} `, depth + 1)
      : [[`${prefix}${name}`, value]],
  );
}

/** `last_seen`, `lastSeen` and `last.seen` become `Last seen`. */
function words(name: string): string {
  const text = name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[_.]+/g, " ")
    .replace(/ (bytes|ms)$/i, "")
    .toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function factText(name: string, value: unknown): string {
  if (value === undefined || value === null || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return valueText(value);
  if (/bytes$/i.test(name)) return formatBytes(value);
  if (/(^|[_. ])uptime_?(ms)?$/i.test(name))
    return formatDuration(name.endsWith("ms") ? value : value * 1_000);
  if (value > 1e12 && value < 1e13) return formatTime(value, false).slice(0, 19);
  if (/ms$/i.test(name)) return `${formatCount(value)} ms`;
  return formatCount(value);
}

customElements.define("tr-page-status", StatusPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-status": StatusPage;
  }
}
