/** Users: accounts with their roles, API keys, and the sessions of who looks. */

import { html, nothing, type TemplateResult } from "lit";
import { formText } from "../components/form-text.ts";
import { icon } from "../components/icons.ts";
import {
  type Account,
  type ApiKey,
  changeAccess,
  getAccess,
  ROLES,
  type Session,
} from "../services/access-client.ts";
import { formatAgo, formatTime } from "../services/format.ts";
import { AccessPage, patternsOf, tableView } from "./access-page.ts";

export class UsersPage extends AccessPage {
  static override properties = {
    ...AccessPage.properties,
    _accounts: { state: true },
    _keys: { state: true },
    _sessions: { state: true },
  };

  declare _accounts: readonly Account[] | undefined;
  declare _keys: readonly ApiKey[];
  declare _sessions: readonly Session[];

  constructor() {
    super();
    this._accounts = undefined;
    this._keys = [];
    this._sessions = [];
  }

  protected override get heading(): string {
    return "Users and keys";
  }

  protected override async load(signal: AbortSignal): Promise<void> {
    const [{ accounts }, { keys }, sessions] = await Promise.all([
      getAccess<{ accounts: Account[] }>("auth/accounts", signal),
      getAccess<{ keys: ApiKey[] }>("auth/keys", signal),
      // Where nobody has to sign in there are no sessions.
      getAccess<{ sessions: Session[] }>("auth/sessions", signal).catch(() => ({ sessions: [] })),
    ]);
    this._accounts = accounts;
    this._keys = keys;
    this._sessions = sessions.sessions;
  }

  protected override content(): TemplateResult | typeof nothing {
    if (this._accounts === undefined) return nothing;
    return html`
      ${tableView(
        "Accounts",
        ["Name", "Role", "Indices", "Since"],
        this._accounts.map((each) => this.#account(each)),
        "There is no account yet.",
      )}
      <h2>Add an account</h2>
      <form class="card form" @submit=${this.#addAccount}>
        <label>Name<input name="name" required autocomplete="off" /></label>
        <label>Password<input name="password" type="password" required autocomplete="new-password" /></label>
        ${roleField()}${indicesField()}<button class="primary">Add account</button>
      </form>
      <h2>API keys</h2>
      ${tableView(
        "API keys",
        ["Name", "Role", "Indices", "Made by", "First used", "Ends"],
        this._keys.map((each) => this.#key(each)),
        "There is no API key. Programs that write or read logs need one each.",
      )}
      <h2>Make an API key</h2>
      <form class="card form" @submit=${this.#addKey}>
        <label>Name<input name="name" required autocomplete="off" placeholder="billing import" /></label>
        ${roleField("ingest")}${indicesField()}
        <label>Ends on, empty: never<input name="expires" type="date" /></label><button class="primary">Make key</button>
      </form>
      <h2>My sessions</h2>
      ${tableView(
        "My sessions",
        ["Browser", "Address", "Last used"],
        this._sessions.map((each) => this.#session(each)),
        "You aren't signed in: this hub asks nobody to.",
      )}
    `;
  }

  #account(account: Account): TemplateResult {
    const { name, role, indices, createdAt } = account;
    return html`<tr><td class="name">${name}</td>
      <td><select aria-label="Role of ${name}" @change=${(event: Event) => this.#setRole(account, (event.currentTarget as HTMLSelectElement).value)}>
        ${ROLES.map((each) => html`<option value=${each} ?selected=${each === role}>${each}</option>`)}</select></td>
      <td class="long">${indices.join(", ")}</td><td>${formatTime(createdAt, false)}</td>
      <td class="number"><button class="plain small icon" aria-label="Remove ${name}" title="Remove" @click=${() => void this.#removeAccount(name)}>${icon("trash")}</button></td></tr>`;
  }

  #key({ id, name, role, indices, createdBy, firstUsedAt, expiresAt }: ApiKey): TemplateResult {
    return html`<tr><td class="name">${name}</td><td>${role}</td><td class="long">${indices.join(", ")}</td><td>${createdBy}</td>
      <td>${firstUsedAt === null ? "never" : formatAgo(firstUsedAt, Date.now())}</td>
      <td>${expiresAt === null ? "never" : formatTime(expiresAt, false)}</td>
      <td class="number"><button class="plain small icon" aria-label="Revoke ${name}" title="Revoke" @click=${() => void this.#revoke(id, name)}>${icon("trash")}</button></td></tr>`;
  }

  #session({ key, current, seen_at, ip, user_agent }: Session): TemplateResult {
    return html`<tr><td class="long">${user_agent || "unknown"}${current ? html` <strong>(this one)</strong>` : nothing}</td><td>${ip}</td>
      <td>${formatAgo(Date.parse(seen_at), Date.now())}</td>
      <td class="number">${current ? nothing : html`<button class="small" @click=${() => void this.change(() => changeAccess("DELETE", `auth/sessions/${encodeURIComponent(key)}`), "The session is over.")}>End</button>`}</td></tr>`;
  }

  readonly #addAccount = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const name = formText(data, "name");
    const body = {
      name,
      // Not trimmed: blanks may belong to it.
      password: data.get("password"),
      role: formText(data, "role"),
      indices: patternsOf(formText(data, "indices")),
    };
    void this.change(async () => {
      await changeAccess("POST", "auth/accounts", body);
      form.reset();
    }, `${name} can sign in now.`);
  };

  readonly #addKey = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const expires = formText(data, "expires");
    const body = {
      name: formText(data, "name"),
      role: formText(data, "role"),
      indices: patternsOf(formText(data, "indices")),
      ...(expires !== "" && { expires_at: `${expires}T23:59:59Z` }),
    };
    void this.change(async () => {
      const { key } = await changeAccess<{ key: string }>("POST", "auth/keys", body);
      this._secret = {
        text: "Send this key as “Authorization: Bearer KEY”.",
        values: [["API key", key]],
      };
      form.reset();
    });
  };

  #setRole({ name }: Account, role: string): void {
    void this.change(
      () => changeAccess("PATCH", `auth/accounts/${encodeURIComponent(name)}`, { role }),
      `${name} is ${role} now; open sessions of that account are over.`,
    );
  }

  #removeAccount(name: string): Promise<void> {
    const question = {
      title: `Remove ${name}?`,
      text: "Its sessions end at once, and so do tokens that were given in its name.",
      action: "Remove account",
    };
    return this.changeIfSure(
      question,
      () => changeAccess("DELETE", `auth/accounts/${encodeURIComponent(name)}`),
      `${name} is removed.`,
    );
  }

  #revoke(id: string, name: string): Promise<void> {
    const question = {
      title: `Revoke ${name}?`,
      text: "Programs that use this key are refused from now on.",
      action: "Revoke key",
    };
    return this.changeIfSure(
      question,
      () => changeAccess("DELETE", `auth/keys/${id}`),
      `${name} is revoked.`,
    );
  }
}

function roleField(chosen = "viewer"): TemplateResult {
  return html`<label>Role<select name="role">${ROLES.map((each) => html`<option value=${each} ?selected=${each === chosen}>${each}</option>`)}</select></label>`;
}

function indicesField(): TemplateResult {
  return html`<label>Indices<input name="indices" class="mono" autocomplete="off" placeholder="logs-*, metrics-*" /></label>`;
}

customElements.define("tr-page-users", UsersPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-users": UsersPage;
  }
}
