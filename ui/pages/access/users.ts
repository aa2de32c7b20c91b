/** Users: accounts with their roles, and API keys. */

import { msg, str } from "@lit/localize";
import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { dropPanel, toggleDropPanel } from "#ui/components/controls/drop-panel.ts";
import { formText, resetSent } from "#ui/components/controls/form-text.ts";
import { icon } from "#ui/components/style/icons.ts";
import {
  type Account,
  type ApiKey,
  changeAccess,
  getAccess,
  ROLES,
} from "#ui/services/administration/access-client.ts";
import { rightsOf } from "#ui/services/administration/role-rights.ts";
import { formatAgo, formatMoment } from "#ui/services/text/format.ts";
import { AccessPage, patternsOf, tableView } from "./access-page.ts";

export class UsersPage extends AccessPage {
  static override styles = [
    ...AccessPage.styles,
    dropPanel,
    css`
      .rights {
        display: grid;
        gap: 4px;
        margin: 0;
        padding: 0;
        list-style: none;
      }
      .rights li {
        display: grid;
        grid-template-columns: auto 1fr;
        gap: 8px;
        align-items: start;
      }
      .rights svg {
        margin-top: 2px;
      }
    `,
  ];

  @state() accessor _accounts: readonly Account[] | undefined;
  @state() accessor _keys: readonly ApiKey[] = [];

  protected override get heading(): string {
    return msg("Users and keys");
  }

  protected override async load(signal: AbortSignal): Promise<void> {
    const [{ accounts }, { keys }] = await Promise.all([
      getAccess<{ accounts: Account[] }>("auth/accounts", signal),
      getAccess<{ keys: ApiKey[] }>("auth/keys", signal),
    ]);
    this._accounts = accounts;
    this._keys = keys;
  }

  protected override content(): TemplateResult | typeof nothing {
    if (this._accounts === undefined) return nothing;
    return html`
      ${tableView(
        msg("Accounts"),
        [msg("Name"), msg("Role"), msg("Indices"), msg("Since")],
        this._accounts.map((each) => this.#account(each)),
        msg("There is no account yet. The hub asks for a sign-in when its setting auth.mode is “required”."),
      )}
      <h2>${msg("Add an account")}</h2>
      <form class="card form" @submit=${this.#addAccount}>
        <label>${msg("Name")}<input name="name" required autocomplete="off" /></label>
        <label>${msg("Password, 10 characters or more")}<input name="password" type="password" required minlength="10" autocomplete="new-password" /></label>
        ${roleField()}${indicesField()}<button class="primary">${msg("Add account")}</button>
      </form>
      <h2>${msg("API keys")}</h2>
      ${tableView(
        msg("API keys"),
        [msg("Name"), msg("Role"), msg("Indices"), msg("Created by"), msg("First used"), msg("Expires")],
        this._keys.map((each) => this.#key(each)),
        msg("There is no API key. Programs that write or read logs need one each."),
      )}
      <h2>${msg("New API key")}</h2>
      <form class="card form" @submit=${this.#addKey}>
        <label>${msg("Name")}<input name="name" required autocomplete="off" placeholder="billing import" /></label>
        ${roleField("ingest")}${indicesField()}
        <label>${msg("Expires on (empty: never)")}<input name="expires" type="date" /></label><button class="primary">${msg("Create key")}</button>
      </form>
    `;
  }

  #account(account: Account): TemplateResult {
    const { name, role, indices, createdAt } = account;
    return html`<tr><td class="name">${name}</td>
      <td><select aria-label=${msg(str`Role of ${name}`)} @change=${(event: Event) => void this.#setRole(account, event.currentTarget as HTMLSelectElement)}>
        ${ROLES.map((each) => html`<option value=${each} .selected=${each === role}>${each}</option>`)}</select></td>
      <td class="long">${indices.join(", ")} ${rightsView(name, role, indices)}</td><td>${formatMoment(createdAt)}</td>
      <td class="number"><button class="plain small icon" aria-label=${msg(str`Remove ${name}`)} title=${msg("Remove")} @click=${() => void this.#removeAccount(name)}>${icon("trash")}</button></td></tr>`;
  }

  #key({ id, name, role, indices, createdBy, firstUsedAt, expiresAt }: ApiKey): TemplateResult {
    return html`<tr><td class="name">${name}</td><td>${role}</td><td class="long">${indices.join(", ")} ${rightsView(name, role, indices)}</td><td>${createdBy}</td>
      <td>${firstUsedAt === null ? msg("never") : formatAgo(firstUsedAt, Date.now())}</td>
      <td>${expiresAt === null ? msg("never") : formatMoment(expiresAt)}</td>
      <td class="number"><button class="plain small icon" aria-label=${msg(str`Revoke ${name}`)} title=${msg("Revoke")} @click=${() => void this.#revoke(id, name)}>${icon("trash")}</button></td></tr>`;
  }

  readonly #addAccount = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const name = formText(data, "name");
    const body = {
      name,
      // Not trimmed: blanks may be part of it.
      password: data.get("password"),
      role: formText(data, "role"),
      indices: patternsOf(formText(data, "indices")),
    };
    void this.change(
      async () => {
        await changeAccess("POST", "auth/accounts", body);
        resetSent(form, data);
      },
      msg(str`${name} can sign in now.`),
    );
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
        text: msg("Send this key as “Authorization: Bearer KEY”."),
        values: [[msg("API key"), key]],
      };
      resetSent(form, data);
    });
  };

  /** Asks first: a key that passes a role in the list also changes it. */
  async #setRole({ name }: Account, list: HTMLSelectElement): Promise<void> {
    const role = list.value;
    const question = {
      title: msg(str`Change the role of ${name} to ${role}?`),
      text: msg("Open sessions of that account end."),
      action: msg("Change role"),
    };
    await this.changeIfSure(
      question,
      () => changeAccess("PATCH", `auth/accounts/${encodeURIComponent(name)}`, { role }),
      msg(str`${name} is ${role} now; open sessions of that account have ended.`),
    );
    // One that was refused or not confirmed must not stay in sight.
    list.value = this._accounts?.find((each) => each.name === name)?.role ?? "";
  }

  #removeAccount(name: string): Promise<void> {
    const question = {
      title: msg(str`Remove ${name}?`),
      text: msg("Its sessions end at once, and so do tokens that were given in its name."),
      action: msg("Remove account"),
    };
    return this.changeIfSure(
      question,
      () => changeAccess("DELETE", `auth/accounts/${encodeURIComponent(name)}`),
      msg(str`${name} is removed.`),
    );
  }

  #revoke(id: string, name: string): Promise<void> {
    const question = {
      title: msg(str`Revoke ${name}?`),
      text: msg("Programs that use this key are refused from now on."),
      action: msg("Revoke key"),
    };
    return this.changeIfSure(
      question,
      () => changeAccess("DELETE", `auth/keys/${id}`),
      msg(str`${name} is revoked.`),
    );
  }
}

/** A button that shows what an account or a key may do. */
function rightsView(name: string, role: string, indices: readonly string[]): TemplateResult {
  const label = msg(str`What ${name} may do`);
  return html`<button class="plain small icon" aria-haspopup="dialog" aria-label=${label} title=${label} @click=${(event: Event) => toggleDropPanel(event.currentTarget as HTMLElement)}>${icon("eye")}</button>
    <div class="panel" popover role="dialog" aria-label=${label}><h2>${label}</h2>
      <ul class="rights">${rightsOf(role, indices).map(
        ({
          text,
          isAllowed,
          patterns,
        }) => html`<li class=${isAllowed ? "" : "muted"}>${icon(isAllowed ? "check" : "close")}
          <span>${text}${patterns.length === 0 ? nothing : html`: <code>${patterns.join(", ")}</code>`}${isAllowed ? nothing : html` <b>(${msg("no")})</b>`}</span></li>`,
      )}</ul></div>`;
}

function roleField(chosen = "viewer"): TemplateResult {
  return html`<label>${msg("Role")}<select name="role">${ROLES.map((each) => html`<option value=${each} .selected=${each === chosen}>${each}</option>`)}</select></label>`;
}

function indicesField(): TemplateResult {
  return html`<label>${msg("Indices (empty: all)")}<input name="indices" class="mono" autocomplete="off" placeholder="logs-*, metrics-*" /></label>`;
}

customElements.define("tr-page-users", UsersPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-users": UsersPage;
  }
}
