/** Agents: every server that sends lines and its health, or the one that the address names. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { keyed } from "lit/directives/keyed.js";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import "./agent-details.ts";
import { errorView } from "#ui/components/controls/error-view.ts";
import { addListKeys } from "#ui/components/controls/hotkeys.ts";
import { Refreshing } from "#ui/components/controls/polling-controller.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { skeleton } from "#ui/components/style/skeleton.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import { cardTableStyles } from "#ui/components/table/card-table.ts";
import {
  type FleetAgent,
  healthLook,
  healthText,
  rateText,
  readAgent,
} from "#ui/services/administration/fleet.ts";
import { OwnRights } from "#ui/services/administration/own-rights.ts";
import { fetchAgents } from "#ui/services/hub/hub-client.ts";
import { formatAgo, formatBytes, formatCount, formatShort } from "#ui/services/text/format.ts";

const REFRESH_MS = 3_000;
/** From this many agents on a strip shows the colours of all at a glance; fewer are read in the table. */
const MANY_AGENTS = 10;

export class AgentsPage extends LitElement {
  /** Of the address: `id` of an agent. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  @state() accessor _search = "";

  static override styles = [
    controls,
    notices,
    pageStyles,
    css`
      .strip {
        display: flex;
        flex-wrap: wrap;
        gap: 3px;
        margin: 0 0 16px;
        padding: 0;
        list-style: none;
      }
      .strip a {
        display: block;
        width: 24px;
        height: 24px;
        border-radius: 4px;
        background: var(--accent);
      }
      .strip a.warning {
        background: var(--level-warn);
      }
      .strip a.failed {
        background: var(--level-error);
      }
    `,
    cardTableStyles,
  ];

  readonly #rights = new OwnRights(this);
  readonly #agents = new Refreshing(
    this,
    async (signal) => (await fetchAgents(signal)).map(readAgent),
    REFRESH_MS,
    ["/api/agents"],
  );

  constructor() {
    super();
    roveLists(this);
    addListKeys(this, () => void this.#agents.refresh());
  }

  override render(): TemplateResult {
    const id = this.parameters.get("id");
    if (id !== null) return html`${keyed(id, html`<tr-agent-details .agent=${id}></tr-agent-details>`)}`;
    const { value: agents, fault } = this.#agents;
    return html`<div class="page">
      <div class="title">
        <h1>${msg("Agents")}</h1><span class="space"></span>
        ${this.#connectView()}
        <button @click=${() => void this.#agents.refresh()} title=${msg("Refresh (r)")}>${icon("refresh")}${msg("Refresh")}</button>
      </div>
      ${fault === undefined ? nothing : errorView(fault)}
      ${agents === undefined ? (fault === undefined ? skeleton(8) : nothing) : this.#fleet(agents)}
    </div>`;
  }

  #fleet(all: readonly FleetAgent[]): TemplateResult {
    if (all.length === 0) return emptyFleetView(this.#connectView());
    const word = this._search.toLowerCase();
    const agents = all.filter(({ name, host, version }) =>
      `${name} ${host} ${version}`.toLowerCase().includes(word),
    );
    const count = (look: string): number => all.filter(({ health }) => healthLook(health) === look).length;
    const sum = (of: (agent: FleetAgent) => number): number =>
      all.reduce((total, agent) => total + of(agent), 0);
    const facts: readonly (readonly [string, string])[] = [
      [msg("Healthy"), formatCount(count("ok"))],
      [msg("Unhealthy"), formatCount(count("warning"))],
      [msg("Not reporting"), formatCount(count("failed"))],
      [msg("Lines per second"), formatShort(sum(({ linesPerSecond = 0 }) => linesPerSecond))],
      [msg("Behind"), formatBytes(sum(({ lagBytes }) => lagBytes))],
      [msg("Open files"), formatCount(sum(({ openFiles }) => openFiles))],
    ];
    return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
      ${all.length < MANY_AGENTS ? nothing : stripView(all)}
      <div class="tools"><input type="search" aria-label=${msg("Search agents")} placeholder=${msg("Search: name, host, version")} .value=${this._search}
        @input=${(event: Event) => {
          this._search = (event.currentTarget as HTMLInputElement).value;
        }} /></div>
      <div class="table cards wide" tabindex="0" role="region" aria-label=${msg("Agents")}><table role="table">
        <thead role="rowgroup"><tr role="row">${columns().map(({ title, isNumber }) => html`<th scope="col" role="columnheader" class=${isNumber ? "number" : ""}>${title}</th>`)}</tr></thead>
        <tbody role="rowgroup">${agents.map((agent) => this.#row(agent))}</tbody></table></div>`;
  }

  /** Only administrators reach the page. */
  #connectView(): TemplateResult | typeof nothing {
    if (!this.#rights.may("administer")) return nothing;
    return html`<a class="button" href="#/enrolment">${icon("plus")}${msg("Connect a server")}</a>`;
  }

  #row(agent: FleetAgent): TemplateResult {
    const [name, ...others] = columns();
    return html`<tr role="row">
      <td role="cell">${name!.view(agent)}</td>
      ${others.map(({ title, isNumber, view }) => html`<td role="cell" class=${isNumber ? "number" : ""} data-label=${title}>${view(agent)}</td>`)}
    </tr>`;
  }
}

interface Column {
  readonly title: string;
  readonly isNumber: boolean;
  readonly view: (agent: FleetAgent) => TemplateResult | string;
}

/** Returns the columns of the fleet, the agent's name first. */
function columns(): readonly Column[] {
  const text = (title: string, view: Column["view"]): Column => ({ title, isNumber: false, view });
  const number = (title: string, view: Column["view"]): Column => ({ title, isNumber: true, view });
  return [
    text(msg("Agent"), ({ id, name }) => html`<a class="name" href="#/agents?id=${id}">${name}</a>`),
    text(
      msg("Health"),
      ({ health, reason }) =>
        html`<span class="badge ${healthLook(health)}">${healthText(health)}</span> <span class="muted">${reason}</span>`,
    ),
    text(msg("Inputs"), inputsView),
    number(msg("Lines/s"), ({ linesPerSecond }) => rateText(linesPerSecond)),
    number(msg("Behind"), ({ lagBytes }) => formatBytes(lagBytes)),
    number(msg("Files"), ({ openFiles }) => formatCount(openFiles)),
    number(msg("Memory"), ({ rssBytes }) => formatBytes(rssBytes)),
    text(msg("Last seen"), ({ lastSeenMs }) => formatAgo(lastSeenMs, Date.now())),
    text(msg("Version"), ({ version }) => version),
    text(msg("Host"), ({ host }) => host),
  ];
}

function inputsView({ inputs }: FleetAgent): TemplateResult {
  const errors = inputs.reduce((sum, input) => sum + input.errors, 0);
  return html`${inputs.map(({ type }) => type).join(", ")}${errors > 0 ? html` <b>${msg(str`${formatCount(errors)} errors`)}</b>` : nothing}`;
}

/** A square for each agent, in the colour of its health. */
function stripView(agents: readonly FleetAgent[]): TemplateResult {
  return html`<ul class="strip" aria-label=${msg("Health of all agents")}>${agents.map((agent) => {
    const text = `${agent.name}: ${healthText(agent.health)}`;
    return html`<li><a class=${healthLook(agent.health)} href="#/agents?id=${agent.id}" title=${text} aria-label=${text}></a></li>`;
  })}</ul>`;
}

function emptyFleetView(connect: TemplateResult | typeof nothing): TemplateResult {
  return html`<div class="card empty"><h2>${msg("No agent has reported yet")}</h2>
    <p>${msg("Start one on a server whose logs should come here:")}</p>
    <p class="mono">tailrace-agent run -c agent.yml</p>
    <p>${connect}</p></div>`;
}

customElements.define("tr-page-agents", AgentsPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-agents": AgentsPage;
  }
}
