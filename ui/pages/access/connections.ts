/** Connections: accounts elsewhere whose logs a pipeline may poll, and the providers they are connected through. */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { formText, resetSent } from "#ui/components/controls/form-text.ts";
import { icon } from "#ui/components/style/icons.ts";
import {
  type ConnectedAccount,
  changeAccess,
  getAccess,
  type Provider,
} from "#ui/services/administration/access-client.ts";
import { formatAgo, formatMoment } from "#ui/services/text/format.ts";
import { AccessPage, tableView } from "./access-page.ts";

/** The state may change by itself. */
const REFRESH_MS = 5_000;

export class ConnectionsPage extends AccessPage {
  @state() accessor _accounts: readonly ConnectedAccount[] | undefined;
  @state() accessor _providers: readonly Provider[] = [];

  #timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#timer = setInterval(() => {
      if (!document.hidden && this._fault === undefined) void this.attempt((signal) => this.load(signal));
    }, REFRESH_MS);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#timer);
  }

  protected override get heading(): string {
    return msg("Connections");
  }

  protected override async load(signal: AbortSignal): Promise<void> {
    const [{ connections }, { providers }] = await Promise.all([
      getAccess<{ connections: ConnectedAccount[] }>("connections", signal),
      getAccess<{ providers: Provider[] }>("connections/providers", signal),
    ]);
    this._accounts = connections;
    this._providers = providers;
  }

  protected override content(): TemplateResult | typeof nothing {
    if (this._accounts === undefined) return nothing;
    return html`
      ${tableView(
        msg("Connected accounts"),
        [msg("Account"), msg("State"), msg("Provider"), msg("Scope"), msg("Token")],
        this._accounts.map((each) => this.#account(each)),
        msg(
          "No account is connected. Pipelines read other services in the name of the accounts connected here.",
        ),
      )}
      <h2>${msg("Connect an account")}</h2>
      ${this._providers.length === 0 ? html`<p class="muted">${msg("Define the provider below first.")}</p>` : this.#connectForm()}
      <h2>${msg("Providers")}</h2>
      ${tableView(
        msg("Providers"),
        [msg("Provider"), msg("Scope"), msg("Hosts that get the token")],
        this._providers.map((each) => this.#provider(each)),
        msg("No provider is defined."),
      )}
      <h2>${msg("Define a provider")}</h2>
      <form class="card form" @submit=${this.#define}>
        <label>${msg("Name")}<input name="name" required autocomplete="off" /></label>
        <label>${msg("Issuer, or both addresses")}<input name="issuer" type="url" class="mono" autocomplete="off" placeholder="https://…" /></label>
        <label>${msg("Authorization endpoint")}<input name="authorization_endpoint" type="url" class="mono" autocomplete="off" /></label>
        <label>${msg("Token endpoint")}<input name="token_endpoint" type="url" class="mono" autocomplete="off" /></label>
        <label>client_id<input name="client_id" required class="mono" autocomplete="off" /></label>
        <label>client_secret<input name="client_secret" type="password" autocomplete="off" /></label>
        <label class="wide">${msg("Scope")}<input name="scope" class="mono" autocomplete="off" placeholder=${msg("a resource URL for each")} /></label>
        <label class="wide">${msg("Hosts that get the token")}<input name="api_hosts" required class="mono" autocomplete="off" placeholder="api.example.com" /></label>
        <button class="primary">${msg("Define")}</button>
      </form>
      <p class="muted">${msg("Register this hub there with the redirect URI")} <code>${location.origin}/api/connections/callback</code>.</p>
    `;
  }

  #connectForm(): TemplateResult {
    return html`<form class="card form" @submit=${this.#connect}>
      <label>${msg("Provider")}<select name="provider">${this._providers.map(({ id, definition: { name } }) => html`<option value=${id}>${name}</option>`)}</select></label>
      <label>${msg("Name, for")} <code>connection =&gt; "…"</code><input name="name" required autocomplete="off" placeholder="audit" /></label>
      <button class="primary">${msg("Connect …")}</button>
    </form>`;
  }

  #account(account: ConnectedAccount): TemplateResult {
    const { id, name, providerId, state, reason, scope, expiresAt, refreshedAt, connectedAt } = account;
    const provider = this._providers.find((each) => each.id === providerId)?.definition.name ?? providerId;
    const isWell = state === "connected";
    return html`<tr><td class="name">${name}</td>
      <td class="long"><span class="badge ${isWell ? "ok" : "failed"}">${state}</span>${reason === undefined ? nothing : html`<br /><span class="muted">${reason}</span>`}</td>
      <td>${provider}</td><td class="long mono">${scope}</td>
      <td>${msg(str`renewed ${formatAgo(refreshedAt ?? connectedAt, Date.now())}`)}${expiresAt === null ? nothing : html`<br /><span class="muted">${msg(str`valid until ${formatMoment(expiresAt)}`)}</span>`}</td>
      <td class="number">
        <button class="small ${isWell ? "" : "primary"}" aria-label=${msg(str`Reconnect ${name}`)} @click=${() => void this.#go({ provider: providerId, name, id })}>${msg("Reconnect")}</button>
        <button class="plain small icon" aria-label=${msg(str`Remove ${name}`)} title=${msg("Remove")} @click=${() => void this.#remove(id, name)}>${icon("trash")}</button></td></tr>`;
  }

  #provider({ id, definition: { name, scope, api_hosts } }: Provider): TemplateResult {
    return html`<tr><td class="name">${name}</td><td class="long mono">${scope}</td><td class="long mono">${api_hosts.join(" ")}</td>
      <td class="number"><button class="plain small icon" aria-label=${msg(str`Remove ${name}`)} title=${msg("Remove")}
        @click=${() => void this.change(() => changeAccess("DELETE", `connections/providers/${id}`), msg(str`${name} is removed.`))}>${icon("trash")}</button></td></tr>`;
  }

  readonly #connect = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    void this.#go({ provider: formText(data, "provider"), name: formText(data, "name") });
  };

  /** Leaves for the provider's prompt; its answer comes back to the hub. */
  #go(wanted: { provider: string; name: string; id?: string }): Promise<void> {
    return this.attempt(async () => {
      const { url } = await changeAccess<{ url: string }>("POST", "connections", wanted);
      location.assign(url);
    });
  }

  readonly #define = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const texts = ["issuer", "authorization_endpoint", "token_endpoint", "client_secret"];
    const given = texts.map((name) => [name, formText(data, name)]).filter(([, text]) => text !== "");
    const body = {
      name: formText(data, "name"),
      client_id: formText(data, "client_id"),
      scope: formText(data, "scope"),
      api_hosts: formText(data, "api_hosts").split(/[\s,]+/),
      ...(Object.fromEntries(given) as Record<string, string>),
    };
    void this.change(
      async () => {
        await changeAccess("POST", "connections/providers", body);
        resetSent(form, data);
      },
      msg(str`${body.name} is defined.`),
    );
  };

  #remove(id: string, name: string): Promise<void> {
    const question = {
      title: msg(str`Remove ${name}?`),
      text: msg(
        "Its tokens are revoked at the provider and forgotten here. Pipelines that poll with it stop getting events.",
      ),
      action: msg("Remove connection"),
    };
    return this.changeIfSure(
      question,
      () => changeAccess("DELETE", `connections/${id}`),
      msg(str`${name} is removed.`),
    );
  }
}

customElements.define("tr-page-connections", ConnectionsPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-connections": ConnectionsPage;
  }
}
