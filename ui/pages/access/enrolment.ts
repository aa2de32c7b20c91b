/** Enrolment: the command that connects another machine, and the agents that have credentials. */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { icon } from "#ui/components/style/icons.ts";
import {
  type AgentKey,
  changeAccess,
  type Enrolment,
  getAccess,
  isLocalReach,
  type Reach,
} from "#ui/services/administration/access-client.ts";
import { formatMoment } from "#ui/services/text/format.ts";
import { AccessPage, tableView } from "./access-page.ts";

export class EnrolmentPage extends AccessPage {
  @state() accessor _agents: readonly AgentKey[] | undefined;
  @state() accessor _open: readonly Enrolment[] = [];
  /** True if no other machine reaches this hub. */
  @state() accessor _isLocal = false;

  protected override get heading(): string {
    return msg("Connect servers");
  }

  protected override async load(signal: AbortSignal): Promise<void> {
    const { agents, enrolments, reach } = await getAccess<{
      agents: AgentKey[];
      enrolments: Enrolment[];
      reach: Reach;
    }>("auth/agents", signal);
    this._agents = agents;
    this._open = enrolments;
    this._isLocal = isLocalReach(reach);
  }

  protected override content(): TemplateResult | typeof nothing {
    if (this._agents === undefined) return nothing;
    return html`
      ${
        this._isLocal
          ? html`<div class="notice warning"><p><strong>${msg("No other machine reaches this hub yet: it listens on 127.0.0.1.")}</strong>
              ${msg("Set network.host first (docs/install.md). Until then a command connects an agent on this machine only.")}</p></div>`
          : nothing
      }
      <div class="card">
        <p>${msg("Install the agent on the other machine, then run one command there. The command works once; the agent creates its own key, which never leaves that machine.")}</p>
        <button class="primary" @click=${this.#invite}>${icon("plus")}${msg("Create command")}</button>
      </div>
      ${
        this._open.length === 0
          ? nothing
          : html`<h2>${msg("Unused commands")}</h2>${tableView(
              msg("Open enrolments"),
              [msg("Id"), msg("Created by"), msg("Valid until")],
              this._open.map((each) => this.#enrolment(each)),
              "",
            )}`
      }
      <h2>${msg("Agents with credentials")}</h2>
      ${tableView(
        msg("Agents"),
        [msg("Name"), msg("Enrolled by"), msg("Since"), msg("Key")],
        this._agents.map((each) => this.#agent(each)),
        msg("No agent has credentials of its own yet."),
      )}
    `;
  }

  #enrolment({ id, created_by, expires_at }: Enrolment): TemplateResult {
    return html`<tr><td class="mono">${id}</td><td>${created_by}</td><td>${formatMoment(Date.parse(expires_at))}</td>
      <td class="number"><button class="plain small icon" aria-label=${msg(str`Revoke ${id}`)} title=${msg("Revoke")}
        @click=${() => void this.change(() => changeAccess("DELETE", `auth/agents/enrolment/${id}`), msg("The command is revoked."))}>${icon("trash")}</button></td></tr>`;
  }

  #agent({ public_key, name, issued_at, issued_by, agent_id }: AgentKey): TemplateResult {
    return html`<tr><td class="name"><a href="#/agents?id=${agent_id}">${name}</a></td><td>${issued_by}</td><td>${formatMoment(Date.parse(issued_at))}</td>
      <td class="mono" title=${public_key}>${public_key.slice(0, 12)}…</td>
      <td class="number"><button class="small" aria-label=${msg(str`Revoke ${name}`)} @click=${() => void this.#revoke(public_key, name)}>${msg("Revoke")}</button></td></tr>`;
  }

  readonly #invite = (): void => {
    void this.change(async () => {
      const { id, command, expires_at } = await changeAccess<{
        id: string;
        command: string;
        expires_at: string;
      }>("POST", "auth/agents/enrolment", {});
      const until = formatMoment(Date.parse(expires_at));
      this._secret = {
        text: this._isLocal
          ? msg(str`Run this on this machine before ${until}.`)
          : msg(str`Run this on the other machine before ${until}.`),
        values: [
          [msg("Command"), command],
          [msg("In a checkout"), command.replace(/^tailrace-agent/, "agent/bin/tailrace-agent")],
          [msg("Id"), id],
        ],
      };
    });
  };

  #revoke(key: string, name: string): Promise<void> {
    const question = {
      title: msg(str`Revoke ${name}?`),
      text: msg(
        "Its connection ends at once. It loses nothing: it keeps its place and goes on when it is enrolled again.",
      ),
      action: msg("Revoke agent"),
    };
    return this.changeIfSure(
      question,
      () => changeAccess("DELETE", `auth/agents/${key}`),
      msg(str`${name} is revoked.`),
    );
  }
}

customElements.define("tr-page-enrolment", EnrolmentPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-enrolment": EnrolmentPage;
  }
}
