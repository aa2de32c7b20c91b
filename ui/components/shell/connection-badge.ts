/**
 * Shows whether the hub answers, and notifies the pages when it answers again. The state comes from the tab's
 * connection; without one the hub is polled: soon if a page's request failed, and at once when the network or the page
 * comes back.
 */

import { msg } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { CLOSE } from "#proto/live.ts";
import { controls } from "#ui/components/style/styles.ts";
import { signInAddress } from "#ui/services/browser/sign-in.ts";
import { hubConnection } from "#ui/services/hub/hub-connection.ts";
import type { SocketState } from "#ui/services/hub/hub-socket.ts";
import { MissedCalls } from "#ui/services/hub/missed-calls.ts";
import {
  fetchHubState,
  HUB_BACK_EVENT,
  HUB_MISSED_EVENT,
  type HubState,
} from "#ui/services/hub/session-client.ts";

const ASK_MS = 15_000;
/** The page's first requests come before its connection. */
const CONNECT_MS = 300;
/** While the hub is away, its return must be shown soon. */
const ASK_AGAIN_MS = 3_000;

type Shown = HubState | "http" | "failing";

const TEXTS: Readonly<Record<Shown, string>> = {
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
  @state() accessor _state: Shown = "ready";

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

  #timer: ReturnType<typeof setTimeout> | undefined;
  #isMissed = false;
  readonly #missed = new MissedCalls();
  readonly #onMissed = (): void => {
    if (this.#isMissed) return;
    this.#isMissed = true;
    clearTimeout(this.#timer);
    const nowMs = performance.now();
    this.#timer = setTimeout(this.#soon, this.#missed.miss(nowMs));
    if (this.#missed.isFailing(nowMs)) this._state = "failing";
  };
  readonly #soon = (): void => {
    const { socket } = hubConnection();
    if (document.hidden) return;
    socket.start();
    if (!socket.isOpen || this.#isUnsure) void this.#ask();
  };
  #unlisten: (() => void) | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("online", this.#soon);
    addEventListener(HUB_MISSED_EVENT, this.#onMissed);
    document.addEventListener("visibilitychange", this.#soon);
    this.#unlisten = hubConnection().socket.listen({
      onState: (state) => this.#follow(state),
      onClose: (code) => {
        if (code === CLOSE.signedOut) this._state = "signed_out";
      },
    });
    this.#timer = setTimeout(this.#soon, CONNECT_MS);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unlisten?.();
    removeEventListener("online", this.#soon);
    removeEventListener(HUB_MISSED_EVENT, this.#onMissed);
    document.removeEventListener("visibilitychange", this.#soon);
    clearTimeout(this.#timer);
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

  /** Whether the tab's connection doesn't say how the hub is. */
  get #isUnsure(): boolean {
    return this.#isMissed || this._state === "failing";
  }

  #follow(state: SocketState): void {
    if (state === "silent") this._state = "silent";
    else if (state === "open") this.#show("ready");
    // A failing hub is asked when the wait is over: the connection may fail with it, again and again.
    else if ((state === "waiting" || state === "http" || state === "ended") && this._state !== "failing")
      void this.#ask();
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#timer);
    const state = await fetchHubState();
    const { socket } = hubConnection();
    if (!this.isConnected || (socket.isOpen && !this.#isUnsure)) return;
    // Its health needs no sign-in.
    if (this._state === "signed_out" && socket.state === "ended" && state === "ready") return;
    this.#show(state === "ready" && socket.state === "http" ? "http" : state);
    // A connection that is still being made may hang with the hub; nothing else would show that.
    const isSettled = state === "ready" && socket.state !== "connecting";
    this.#timer = setTimeout(this.#soon, isSettled ? ASK_MS : ASK_AGAIN_MS);
  }

  /** Shows a state; notifies the pages of a hub that is back. */
  #show(state: Shown): void {
    const wasAway = this.#isMissed || this._state === "away" || this._state === "starting";
    const isReady = state === "ready" || state === "http";
    const nowMs = performance.now();
    if (isReady && wasAway) this.#missed.back(nowMs);
    this._state = isReady && this.#missed.isFailing(nowMs) ? "failing" : state;
    if (!isReady) return;
    this.#isMissed = false;
    if (wasAway) dispatchEvent(new Event(HUB_BACK_EVENT));
  }
}

customElements.define("tr-connection-badge", ConnectionBadge);

declare global {
  interface HTMLElementTagNameMap {
    "tr-connection-badge": ConnectionBadge;
  }
}
