/** The reader's own account: its password, the applications that may act for it, its sessions. */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import {
  type Consent,
  changeAccess,
  getAccess,
  type Session,
} from "#ui/services/administration/access-client.ts";
import { scopeTitle } from "#ui/services/administration/scope-titles.ts";
import { fetchViewer, type Viewer } from "#ui/services/hub/session-client.ts";
import { formatAgo, formatMoment } from "#ui/services/text/format.ts";
import { AccessPage, tableView } from "./access-page.ts";

export class AccountPage extends AccessPage {
  @state() accessor _viewer: Viewer | undefined;
  @state() accessor _consents: readonly Consent[] = [];
  @state() accessor _sessions: readonly Session[] = [];

  protected override get heading(): string {
    return msg("My account");
  }

  /** Without sign-in there is no account, and the hub refuses the requests. */
  protected override async load(signal: AbortSignal): Promise<void> {
    const viewer = await fetchViewer();
    if (viewer?.canSignOut === true) {
      const [{ consents }, { sessions }] = await Promise.all([
        getAccess<{ consents: Consent[] }>("auth/consents", signal),
        getAccess<{ sessions: Session[] }>("auth/sessions", signal),
      ]);
      this._consents = consents;
      this._sessions = sessions;
    }
    this._viewer = viewer;
  }

  protected override content(): TemplateResult | typeof nothing {
    const viewer = this._viewer;
    if (viewer === undefined) return nothing;
    if (!viewer.canSignOut)
      return html`<p class="muted">${msg("Sign-in is off (auth.mode): nobody has an account.")}</p>`;
    return html`
      <h2>${msg("Applications with access")}</h2>
      ${tableView(
        msg("Applications with access"),
        [msg("Application"), msg("May do"), msg("Allowed")],
        this._consents.map((each) => this.#consent(each)),
        msg("No application may act for you."),
      )}
      <h2>${msg("My sessions")}</h2>
      ${tableView(
        msg("My sessions"),
        [msg("Browser"), msg("Address"), msg("Last used")],
        this._sessions.map((each) => this.#session(each)),
        "",
      )}
      <h2>${msg("New password")}</h2>
      ${viewer.hasPassword ? this.#passwordForm() : html`<p class="muted">${msg("You sign in at another provider: change your password there.")}</p>`}
    `;
  }

  #passwordForm(): TemplateResult {
    return html`
      <form class="card form" @submit=${this.#changePassword}>
        <label>${msg("Current password")}<input name="current" type="password" required autocomplete="current-password" /></label>
        <label>${msg("New password, 10 characters or more")}<input name="password" type="password" required minlength="10" autocomplete="new-password" /></label>
        <button class="primary">${msg("Change password")}</button>
      </form>
      <p class="muted">${msg("This ends your other sessions and the access of applications.")}</p>
    `;
  }

  #consent({ clientId, name, scopes, grantedAt }: Consent): TemplateResult {
    return html`<tr><td class="name">${name}</td>
      <td class="long">${scopes.map((each) => html`<div title=${each}>${scopeTitle(each, location.origin)}</div>`)}</td><td>${formatMoment(grantedAt)}</td>
      <td class="number"><button class="small" aria-label=${msg(str`Withdraw ${name}`)} @click=${() => void this.#withdraw(clientId, name)}>${msg("Withdraw")}</button></td></tr>`;
  }

  #session({ key, current, seen_at, ip, user_agent }: Session): TemplateResult {
    return html`<tr><td class="long">${user_agent || msg("unknown")}${current ? html` <strong>${msg("(this one)")}</strong>` : nothing}</td><td>${ip}</td>
      <td>${formatAgo(Date.parse(seen_at), Date.now())}</td>
      <td class="number">${current ? nothing : html`<button class="small" @click=${() => void this.change(() => changeAccess("DELETE", `auth/sessions/${encodeURIComponent(key)}`), msg("The session has ended."))}>${msg("End session")}</button>`}</td></tr>`;
  }

  #withdraw(clientId: string, name: string): Promise<void> {
    const question = {
      title: msg(str`Withdraw the access of ${name}?`),
      text: msg("Its tokens end at once. It can ask you again."),
      action: msg("Withdraw access"),
    };
    return this.changeIfSure(
      question,
      () => changeAccess("DELETE", `auth/consents/${encodeURIComponent(clientId)}`),
      msg(str`${name} has no access any more.`),
    );
  }

  readonly #changePassword = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    // Not trimmed: blanks may be part of it.
    const body = { current: data.get("current"), password: data.get("password") };
    const change = async (): Promise<void> => {
      await changeAccess("POST", "auth/password", body);
      form.reset();
    };
    void this.change(change, msg("The password is changed."));
  };
}

customElements.define("tr-page-account", AccountPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-account": AccountPage;
  }
}
