/** OAuth clients: applications that may request access on behalf of users. */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { formText, resetSent } from "#ui/components/controls/form-text.ts";
import { icon } from "#ui/components/style/icons.ts";
import { changeAccess, getAccess, type OAuthClient } from "#ui/services/administration/access-client.ts";
import { scopeTitle } from "#ui/services/administration/scope-titles.ts";
import { AccessPage, tableView } from "./access-page.ts";

const KINDS = [
  ["confidential", msg("Has a server that keeps the secret")],
  ["public", msg("Runs on its user's device; PKCE instead of a secret")],
  ["resource_server", msg("An API that checks tokens")],
] as const;

/** A permission area that a client may ask for. */
interface Scope {
  readonly url: string;
  /** Name that the consent page shows. */
  readonly title: string;
}

interface Credentials {
  readonly client_id: string;
  readonly client_secret?: string;
}

export class OAuthClientsPage extends AccessPage {
  @state() accessor _clients: readonly OAuthClient[] | undefined;
  @state() accessor _scopes: readonly Scope[] = [];

  protected override get heading(): string {
    return msg("OAuth clients");
  }

  protected override async load(signal: AbortSignal): Promise<void> {
    const { clients, scopes } = await getAccess<{ clients: OAuthClient[]; scopes: Scope[] }>(
      "auth/clients",
      signal,
    );
    this._clients = clients;
    this._scopes = scopes;
  }

  protected override content(): TemplateResult | typeof nothing {
    if (this._clients === undefined) return nothing;
    return html`
      ${tableView(
        msg("OAuth clients"),
        [
          msg("Name"),
          msg("Client ID"),
          msg("Kind"),
          msg("Redirect URIs"),
          msg("Secrets"),
          msg("Last without PKCE"),
        ],
        this._clients.map((each) => this.#row(each)),
        msg(
          "No application is registered. Register those that sign people in here, or read and write in their name.",
        ),
      )}
      <h2>${msg("Register a client")}</h2>
      <form class="card form" @submit=${this.#register}>
        <label>${msg("Name, shown when it asks for consent")}<input name="name" required autocomplete="off" /></label>
        <label>${msg("Kind")}<select name="kind">${KINDS.map(([kind, text]) => html`<option value=${kind}>${text}</option>`)}</select></label>
        <label class="wide">${msg("Redirect URIs, separated by blanks")}<input name="uris" class="mono" autocomplete="off" placeholder="https://…/callback" /></label>
        <fieldset class="choices"><legend>${msg("Scopes it may ask for, none chosen: all")}</legend>
          ${this._scopes.map(({ url, title }) => html`<label title=${url}><input type="checkbox" name="scopes" value=${url} />${scopeTitle(url, location.origin, title)}</label>`)}</fieldset>
        <button class="primary">${msg("Register")}</button>
      </form>
      <p class="muted">${msg("Redirect URIs are compared character by character.")} ${msg("Authorization endpoint")}: <code>${location.origin}/o/oauth2/v2/auth</code>, ${msg("Token endpoint")}: <code>${location.origin}/token</code>.</p>
    `;
  }

  #row({ clientId, name, kind, redirectUris, secrets, withoutPkceAt }: OAuthClient): TemplateResult {
    const rotate = kind !== "public";
    return html`<tr><td class="name">${name}</td><td class="mono">${clientId}</td><td>${kind}</td>
      <td class="long mono">${redirectUris.join(" ")}</td><td>${secrets}</td><td>${withoutPkceAt === undefined ? "–" : new Date(withoutPkceAt).toISOString().slice(0, 10)}</td>
      <td class="number">
        ${rotate ? html`<button class="small" aria-label=${msg(str`New secret for ${name}`)} @click=${() => void this.#rotate(clientId, name)}>${msg("New secret")}</button>` : nothing}
        ${secrets > 1 ? html`<button class="small" aria-label=${msg(str`End the old secret of ${name}`)} @click=${() => void this.#retire(clientId)}>${msg("End the old secret")}</button>` : nothing}
        <button class="plain small icon" aria-label=${msg(str`Delete ${name}`)} title=${msg("Delete")} @click=${() => void this.#remove(clientId, name)}>${icon("trash")}</button></td></tr>`;
  }

  readonly #register = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const scopes = data.getAll("scopes").map(String);
    const body = {
      name: formText(data, "name"),
      kind: formText(data, "kind"),
      redirect_uris: formText(data, "uris")
        .split(/\s+/)
        .filter((uri) => uri !== ""),
      ...(scopes.length > 0 && { scopes }),
    };
    void this.change(async () => {
      this.#show(await changeAccess<Credentials>("POST", "auth/clients", body));
      resetSent(form, data);
    });
  };

  #rotate(clientId: string, name: string): Promise<void> {
    const question = {
      title: msg(str`Create a new secret for ${name}?`),
      text: msg(
        "The current secret stays valid until you end it or create the next one, so that the application can switch over.",
      ),
      action: msg("Create secret"),
    };
    const work = async (): Promise<void> =>
      this.#show(await changeAccess<Credentials>("POST", `auth/clients/${clientId}/rotate`));
    return this.changeIfSure(question, work);
  }

  #retire(clientId: string): Promise<void> {
    return this.change(
      () => changeAccess("DELETE", `auth/clients/${clientId}/old-secret`),
      msg("The old secret is no longer valid."),
    );
  }

  #remove(clientId: string, name: string): Promise<void> {
    const question = {
      title: msg(str`Delete ${name}?`),
      text: msg("All tokens it was given end at once."),
      action: msg("Delete client"),
    };
    return this.changeIfSure(
      question,
      () => changeAccess("DELETE", `auth/clients/${clientId}`),
      msg(str`${name} is deleted.`),
    );
  }

  #show({ client_id, client_secret }: Credentials): void {
    const secret = client_secret === undefined ? [] : ([["client_secret", client_secret]] as const);
    this._secret = {
      text: msg("Enter these in the application."),
      values: [["client_id", client_id], ...secret],
    };
  }
}

customElements.define("tr-page-oauth-clients", OAuthClientsPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-oauth-clients": OAuthClientsPage;
  }
}
