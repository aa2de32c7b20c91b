/** One agent: its state, its inputs, and its files, those with problems first. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import { addListKeys } from "#ui/components/controls/hotkeys.ts";
import { Refreshing } from "#ui/components/controls/polling-controller.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import {
  behindBytes,
  type FleetAgent,
  type FleetFile,
  type FleetInput,
  fileState,
  healthLook,
  healthText,
  rateText,
  readAgent,
} from "#ui/services/administration/fleet.ts";
import { fetchAgent } from "#ui/services/hub/hub-client.ts";
import { formatAgo, formatBytes, formatCount, formatMoment } from "#ui/services/text/format.ts";

const REFRESH_MS = 3_000;

const PLACES: Readonly<Record<string, string>> = {
  open: msg("open"),
  closed: msg("closed"),
  moved: msg("rotated away, still open"),
  deleted: msg("deleted, held open"),
};

export class AgentDetails extends LitElement {
  /** Id of the agent; another one needs another element. */
  @property() accessor agent = "";
  @state() accessor _search = "";

  static override styles = [
    controls,
    notices,
    pageStyles,
    css`
      .path {
        display: inline-block;
        min-width: 11rem;
        overflow-wrap: anywhere;
      }
    `,
  ];

  readonly #found = new Refreshing(
    this,
    async (signal) => {
      const facts = await fetchAgent(this.agent, signal);
      return facts === undefined ? null : readAgent(facts);
    },
    REFRESH_MS,
  );

  constructor() {
    super();
    roveLists(this);
    addListKeys(this, () => void this.#found.refresh());
  }

  override render(): TemplateResult {
    const { value: agent, fault } = this.#found;
    return html`<div class="page">
      <div class="title">
        <a class="button icon" href="#/agents" aria-label=${msg("All agents")} title=${msg("All agents")}>${icon("arrowLeft")}</a>
        <h1>${agent?.name ?? this.agent}</h1><span class="space"></span>
        <button @click=${() => void this.#found.refresh()} title=${msg("Refresh (r)")}>${icon("refresh")}${msg("Refresh")}</button>
      </div>
      ${fault === undefined ? nothing : errorView(fault)}
      ${agent === null ? html`<div class="notice"><p>${msg("This agent hasn't reported in the last week.")}</p></div>` : nothing}
      ${agent == null ? nothing : html`${this.#state(agent)}${inputsView(agent.inputs)}${this.#files(agent)}`}
    </div>`;
  }

  #state(agent: FleetAgent): TemplateResult {
    const lines = new URLSearchParams({ f: `shipper.name:${agent.name}` });
    const facts: readonly (readonly [string, string | TemplateResult])[] = [
      [
        msg("Health"),
        html`<span class="badge ${healthLook(agent.health)}">${healthText(agent.health)}</span>`,
      ],
      [msg("Last seen"), formatAgo(agent.lastSeenMs, Date.now())],
      [msg("Lines per second"), rateText(agent.linesPerSecond)],
      [msg("Lines read"), formatCount(agent.linesRead)],
      [msg("Bytes read"), formatBytes(agent.bytesRead)],
      [msg("Bytes stored by the hub"), formatBytes(agent.bytesAcked)],
      [msg("Behind"), formatBytes(agent.lagBytes)],
      [msg("Memory"), formatBytes(agent.rssBytes)],
      [msg("Version"), agent.version],
      [msg("Host"), agent.host],
      [msg("Started"), formatMoment(agent.startedMs)],
      [msg("Open files"), formatCount(agent.openFiles)],
    ];
    return html`${agent.reason === "" ? nothing : html`<div class="notice warning"><p>${agent.reason}</p></div>`}
      ${agent.openDeletedBytes > 0 ? html`<div class="notice fault" role="alert"><p>${msg(str`Files with ${formatBytes(agent.openDeletedBytes)} not yet stored were deleted on this server. The agent keeps them open: don't stop it before the hub is back.`)}</p></div>` : nothing}
      <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
      <p><a class="button" href="#/discover?${lines}">${icon("search")}${msg("Show lines")}</a>
        <a class="button" href="#/live?${new URLSearchParams({ q: `shipper.name:${quoted(agent.name)}` })}">${icon("play")}${msg("Follow lines")}</a></p>`;
  }

  #files({ files, filesMore }: FleetAgent): TemplateResult | typeof nothing {
    if (files.length === 0) return nothing;
    const word = this._search.toLowerCase();
    const shown = files.filter(({ path }) => path.toLowerCase().includes(word));
    return html`<h2>${msg("Files")}</h2>
      <div class="tools"><input type="search" aria-label=${msg("Search files")} placeholder=${msg("Search: a part of the path")} .value=${this._search}
        @input=${(event: Event) => {
          this._search = (event.currentTarget as HTMLInputElement).value;
        }} />
        <span class="muted" role="status">${filesMore === 0 ? msg(str`${formatCount(shown.length)} files`) : msg(str`${formatCount(shown.length)} files; ${formatCount(filesMore)} more, of which none is further behind`)}</span></div>
      ${shown.length === 0 ? html`<p class="muted">${msg("No file's path holds this.")}</p>` : fileTable(shown)}`;
  }
}

function inputsView(inputs: readonly FleetInput[]): TemplateResult {
  return html`<h2>${msg("Inputs")}</h2>
    <div class="table" tabindex="0" role="region" aria-label=${msg("Inputs")}><table>
      <thead><tr><th scope="col">${msg("Input")}</th><th scope="col">${msg("Type")}</th><th scope="col" class="number">${msg("Files")}</th>
        <th scope="col" class="number">${msg("Behind")}</th><th scope="col" class="number">${msg("Errors")}</th><th scope="col">${msg("Last error")}</th></tr></thead>
      <tbody>${inputs.map(
        ({ id, type, files, lagBytes, errors, lastError }) =>
          html`<tr><td class="name">${id}</td><td>${type}</td><td class="number">${formatCount(files)}</td>
            <td class="number">${formatBytes(lagBytes)}</td><td class="number">${formatCount(errors)}</td><td>${lastError || "–"}</td></tr>`,
      )}</tbody></table></div>`;
}

function fileTable(files: readonly FleetFile[]): TemplateResult {
  return html`<div class="table" tabindex="0" role="region" aria-label=${msg("Files")}><table>
    <thead><tr><th scope="col">${msg("Path")}</th><th scope="col">${msg("Lines")}</th><th scope="col">${msg("File")}</th>
      <th scope="col" class="number">${msg("Sent")}</th><th scope="col" class="number">${msg("Size")}</th><th scope="col" class="number">${msg("Behind")}</th></tr></thead>
    <tbody>${files.map(fileRow)}</tbody></table></div>`;
}

function fileRow(file: FleetFile): TemplateResult {
  const [word, look] = fileState(file);
  const lines = new URLSearchParams({ f: `log.file.path:${file.path}` });
  return html`<tr>
    <td><a class="name path" href="#/discover?${lines}" title=${msg("Show lines")}>${file.path}</a>${file.lastError === "" ? nothing : html`<div class="muted">${file.lastError}</div>`}</td>
    <td><span class="badge ${look}">${word}</span></td>
    <td>${PLACES[file.place] ?? file.place}</td>
    <td class="number" title=${formatCount(file.sentBytes)}>${formatBytes(file.sentBytes)}</td>
    <td class="number" title=${formatCount(file.sizeBytes)}>${formatBytes(file.sizeBytes)}</td>
    <td class="number">${formatBytes(behindBytes(file))}</td>
  </tr>`;
}

/** A name as the query language takes it. */
function quoted(name: string): string {
  return `"${name.replaceAll(/["\\]/g, "\\$&")}"`;
}

customElements.define("tr-agent-details", AgentDetails);

declare global {
  interface HTMLElementTagNameMap {
    "tr-agent-details": AgentDetails;
  }
}
