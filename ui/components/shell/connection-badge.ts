/** Shows whether the hub answers, and notifies the pages when it answers again. */

import { msg } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { controls } from "#ui/components/style/styles.ts";
import { signInAddress } from "#ui/services/browser/sign-in.ts";
import { hubConnection } from "#ui/services/hub/hub-connection.ts";
import { HubPresence, type Presence } from "#ui/services/hub/hub-presence.ts";
import {
  fetchHubState,
  fetchViewer,
  HUB_BACK_EVENT,
  HUB_MISSED_EVENT,
} from "#ui/services/hub/session-client.ts";

const TEXTS: Readonly<Record<Presence, string>> = {
  ready: msg("Connected"),
  silent: msg("The hub doesn't respond"),
  http: msg(
    "Connected by single requests: something between this browser and the hub lets no WebSocket through",
  ),
  starting: msg("The hub is starting"),
  failing: msg("The hub answers with errors; the page tries again within a minute"),
  away: msg("The hub is away"),
  signed_out: msg("Signed out"),
};

export class ConnectionBadge extends LitElement {
  @state() accessor _state: Presence = "ready";

  static override styles = [
    controls,
    css`
      span {
        display: inline-flex;
        align-items: center;
        gap: 7px;
        padding: 0 8px;
        font-size: var(--text-small);
        white-space: nowrap;
      }
      i {
        width: 8px;
        height: 8px;
        border-radius: 50%;
        background: var(--head-mark);
      }
      .starting i,
      .http i {
        background: #f0b850;
      }
      .silent,
      .failing,
      .away,
      .signed_out {
        border-radius: 99px;
        background: #8f1f12;
        color: #fff;
        line-height: 22px;
      }
      .silent i,
      .failing i,
      .away i,
      .signed_out i {
        background: #ffb4a8;
      }
      a {
        color: inherit;
      }
    `,
  ];

  readonly #presence = new HubPresence({
    socket: hubConnection().socket,
    isHidden: () => document.hidden,
    fetchState: fetchHubState,
    tryCall: fetchViewer,
    onChange: (presence) => (this._state = presence),
    onBack: () => dispatchEvent(new Event(HUB_BACK_EVENT)),
  });

  override connectedCallback(): void {
    super.connectedCallback();
    const { look, miss } = this.#presence;
    addEventListener("online", look);
    addEventListener(HUB_MISSED_EVENT, miss);
    document.addEventListener("visibilitychange", look);
    this.#presence.start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    const { look, miss } = this.#presence;
    this.#presence.stop();
    removeEventListener("online", look);
    removeEventListener(HUB_MISSED_EVENT, miss);
    document.removeEventListener("visibilitychange", look);
  }

  override render(): TemplateResult {
    const state = this._state;
    const text = TEXTS[state];
    const shown =
      state === "ready" || state === "http" ? html`<span class="hidden-text">${text}</span>` : text;
    return html`<span class=${state} role="status" title=${text}><i></i>${shown}
      ${state === "signed_out" ? html`<a href="/api/auth/login" @click=${this.#signIn}>${msg("Sign in")}</a>` : nothing}</span>`;
  }

  /** The address may have changed since the link was drawn. */
  #signIn(event: Event): void {
    event.preventDefault();
    location.assign(signInAddress(location));
  }
}

customElements.define("tr-connection-badge", ConnectionBadge);

declare global {
  interface HTMLElementTagNameMap {
    "tr-connection-badge": ConnectionBadge;
  }
}
