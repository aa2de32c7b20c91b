/** OAuth clients: applications that may ask people here for access in their name. */

import { html, nothing, type TemplateResult } from "lit";
import { formText } from "../components/form-text.ts";
import { icon } from "../components/icons.ts";
import { changeAccess, getAccess, type OAuthClient } from "../services/access-client.ts";
import { AccessPage, tableView } from "./access-page.ts";

const KINDS = [
  ["confidential", "Has a server that keeps the secret"],
  ["public", "Runs on its user's device; PKCE instead of a secret"],
  ["resource_server", "An API that checks tokens"],
] as const;

interface Credentials {
  readonly client_id: string;
  readonly client_secret?: string;
}

export class OAuthClientsPage extends AccessPage {
  static override properties = {
    ...AccessPage.properties,
    _clients: { state: true },
    _scopes: { state: true },
  };

  declare _clients: readonly OAuthClient[] | undefined;
  declare _scopes: readonly string[];

  constructor() {
    super();
    this._clients = undefined;
    this._scopes = [];
  }

  protected override get heading(): string {
    return "OAuth clients";
  }

  protected override async load(signal: AbortSignal): Promise<void> {
    const { clients, scopes } = await getAccess<{ clients: OAuthClient[]; scopes: string[] }>(
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
        "OAuth clients",
        ["Name", "Client ID", "Kind", "Redirect URIs", "Secrets"],
        this._clients.map((each) => this.#row(each)),
        "No application is registered.",
      )}
      <h2>Register a client</h2>
      <form class="card form" @submit=${this.#register}>
        <label>Name, shown when it asks for consent<input name="name" required autocomplete="off" /></label>
        <label>Kind<select name="kind">${KINDS.map(([kind, text]) => html`<option value=${kind}>${text}</option>`)}</select></label>
        <label class="wide">Redirect URIs, separated by blanks<input name="uris" class="mono" autocomplete="off" placeholder="https://…/callback" /></label>
        <label class="wide">Scopes it may ask for, none chosen: all<select name="scopes" multiple size=${Math.min(4, Math.max(2, this._scopes.length))}>${this._scopes.map((scope) => html`<option value=${scope}>${scope}</option>`)}</select></label>
        <button class="primary">Register</button>
      </form>
      <p class="muted">Redirect URIs are compared character by character. Authorization endpoint: <code>${location.origin}/o/oauth2/v2/auth</code>, token endpoint: <code>${location.origin}/token</code>.</p>
    `;
  }

  #row({ clientId, name, kind, redirectUris, secrets }: OAuthClient): TemplateResult {
    const rotate = kind !== "public";
    return html`<tr><td class="name">${name}</td><td class="mono">${clientId}</td><td>${kind}</td>
      <td class="long mono">${redirectUris.join(" ")}</td><td>${secrets}</td>
      <td class="number">
        ${rotate ? html`<button class="small" aria-label="New secret for ${name}" @click=${() => void this.#rotate(clientId, name)}>New secret</button>` : nothing}
        ${secrets > 1 ? html`<button class="small" aria-label="End the old secret of ${name}" @click=${() => void this.#retire(clientId)}>End the old secret</button>` : nothing}
        <button class="plain small icon" aria-label="Delete ${name}" title="Delete" @click=${() => void this.#remove(clientId, name)}>${icon("trash")}</button></td></tr>`;
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
      form.reset();
    });
  };

  #rotate(clientId: string, name: string): Promise<void> {
    const question = {
      title: `Make a new secret for ${name}?`,
      text: "The present one stays good until you end it or make the next, so that the application can be changed over.",
      action: "Make secret",
    };
    const work = async (): Promise<void> =>
      this.#show(await changeAccess<Credentials>("POST", `auth/clients/${clientId}/rotate`));
    return this.changeIfSure(question, work);
  }

  #retire(clientId: string): Promise<void> {
    return this.change(
      () => changeAccess("DELETE", `auth/clients/${clientId}/old-secret`),
      "The old secret is over.",
    );
  }

  #remove(clientId: string, name: string): Promise<void> {
    const question = {
      title: `Delete ${name}?`,
      text: "All tokens it was given end at once.",
      action: "Delete client",
    };
    return this.changeIfSure(
      question,
      () => changeAccess("DELETE", `auth/clients/${clientId}`),
      `${name} is deleted.`,
    );
  }

  #show({ client_id, client_secret }: Credentials): void {
    const secret = client_secret === undefined ? [] : ([["client_secret", client_secret]] as const);
    this._secret = { text: "Put these into the application.", values: [["client_id", client_id], ...secret] };
  }
}

customElements.define("tr-page-oauth-clients", OAuthClientsPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-oauth-clients": OAuthClientsPage;
  }
}
