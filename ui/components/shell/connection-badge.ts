/**
 * Says whether the hub answers, and tells the pages when it does so again. Asks it now and then, soon where a page
 * missed it, and at once when the network or the page comes back.
 */

import { msg } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { controls } from "#ui/components/style/styles.ts";
import {
  fetchHubState,
  HUB_BACK_EVENT,
  HUB_MISSED_EVENT,
  type HubState,
} from "#ui/services/hub/session-client.ts";

const ASK_MS = 15_000;
/** A hub that restarts is back after about so long. */
const ASK_MISSED_MS = 1_000;
/** While it is away its return is to show soon. */
const ASK_AGAIN_MS = 3_000;

const TEXTS: Readonly<Record<HubState, string>> = {
  ready: msg("Connected"),
  starting: msg("The hub is starting"),
  away: msg("The hub is away"),
  signed_out: msg("Signed out"),
};

export class ConnectionBadge extends LitElement {
  @state() accessor _state: HubState = "ready";

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
      .starting i {
        background: #f0b850;
      }
      .away,
      .signed_out {
        border-radius: 99px;
        background: #8f1f12;
        color: #fff;
        line-height: 22px;
      }
      .away i,
      .signed_out i {
        background: #ffb4a8;
      }
      a {
        color: inherit;
      }
    `,
  ];

  #timer: ReturnType<typeof setTimeout> | undefined;
  #isMissed = false;
  readonly #onMissed = (): void => {
    if (this.#isMissed) return;
    this.#isMissed = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#soon, ASK_MISSED_MS);
  };
  readonly #soon = (): void => {
    if (!document.hidden) void this.#ask();
  };

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("online", this.#soon);
    addEventListener(HUB_MISSED_EVENT, this.#onMissed);
    document.addEventListener("visibilitychange", this.#soon);
    this.#timer = setTimeout(this.#soon, ASK_AGAIN_MS);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("online", this.#soon);
    removeEventListener(HUB_MISSED_EVENT, this.#onMissed);
    document.removeEventListener("visibilitychange", this.#soon);
    clearTimeout(this.#timer);
  }

  override render(): TemplateResult {
    const state = this._state;
    const text = TEXTS[state];
    const shown = state === "ready" ? html`<span class="hidden-text">${text}</span>` : text;
    return html`<span class=${state} role="status" title=${text}><i></i>${shown}
      ${state === "signed_out" ? html`<a href="/api/auth/login">${msg("Sign in")}</a>` : nothing}</span>`;
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#timer);
    const wasAway = this.#isMissed || this._state === "away" || this._state === "starting";
    this._state = await fetchHubState();
    if (!this.isConnected) return;
    if (this._state === "ready") {
      this.#isMissed = false;
      if (wasAway) dispatchEvent(new Event(HUB_BACK_EVENT));
    }
    this.#timer = setTimeout(this.#soon, this._state === "ready" ? ASK_MS : ASK_AGAIN_MS);
  }
}

customElements.define("tr-connection-badge", ConnectionBadge);

declare global {
  interface HTMLElementTagNameMap {
    "tr-connection-badge": ConnectionBadge;
  }
}
