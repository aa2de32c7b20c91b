/**
 * Follows whether the hub answers. The state comes from the tab's connection; without one the hub is polled: soon if a page's
 * call failed, and at once when the network or the page comes back.
 */

import { CLOSE } from "#proto/live.ts";
import type { HubSocket, SocketState } from "./hub-socket.ts";
import { MissedCalls } from "./missed-calls.ts";
import type { HubState } from "./session-client.ts";

const ASK_MS = 15_000;
/** The page's first requests come before its connection. */
const CONNECT_MS = 300;
/** While the hub is away, its return must be shown soon. */
const ASK_AGAIN_MS = 3_000;
/** Calls that pages repeat fail within this time, unless the hub hangs. */
const TRY_MS = 1_000;

/** `http`: ready, but no socket can be opened; `failing`: calls fail although the hub reports that it is ready. */
export type Presence = HubState | "http" | "failing";

export interface PresenceOptions {
  readonly socket: Pick<HubSocket, "isOpen" | "state" | "start" | "listen">;
  readonly isHidden: () => boolean;
  readonly fetchState: () => Promise<HubState>;
  /** Makes a call as pages do; `miss` must have been called once it resolves if the hub couldn't answer. */
  readonly tryCall: () => Promise<unknown>;
  readonly onChange: (presence: Presence) => void;
  /** The hub is back: what failed for want of it is worth another try. */
  readonly onBack: () => void;
}

export class HubPresence {
  readonly #options: PresenceOptions;
  readonly #missed = new MissedCalls();
  #presence: Presence = "ready";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isMissed = false;
  #isSignedOut = false;
  #isTrying = false;
  #unlisten: (() => void) | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  start(): void {
    this.#unlisten = this.#options.socket.listen({
      onState: (state) => this.#follow(state),
      onClose: (code) => {
        if (code !== CLOSE.signedOut) return;
        this.#isSignedOut = true;
        this.#set("signed_out");
      },
    });
    this.#after(CONNECT_MS);
  }

  stop(): void {
    this.#unlisten?.();
    this.#unlisten = undefined;
    clearTimeout(this.#timer);
  }

  /** A page's call found no hub, or one that fails. */
  readonly miss = (): void => {
    if (this.#isMissed) return;
    this.#isMissed = true;
    const nowMs = performance.now();
    this.#after(this.#missed.miss(nowMs));
    if (!this.#isSignedOut && this.#missed.isFailing(nowMs)) this.#set("failing");
  };

  /** Dials, and asks the hub if the connection doesn't say how it is. */
  readonly look = (): void => {
    const { socket, isHidden } = this.#options;
    if (isHidden()) return;
    socket.start();
    if (!socket.isOpen || this.#isUnsure) void this.#ask();
  };

  /** Whether the tab's connection doesn't say how the hub is. */
  get #isUnsure(): boolean {
    return this.#isMissed || this.#presence === "failing";
  }

  #follow(state: SocketState): void {
    if (state === "silent") this.#set("silent");
    else if (state === "open") {
      this.#isSignedOut = false;
      this.#show("ready");
      if (this.#presence === "failing") void this.#try();
    } else if (state === "waiting" || state === "http" || state === "ended") {
      // The connection to a failing hub may end again and again: pages repeat their calls when the wait is over.
      if (this.#presence === "failing") void this.#askIfAway();
      else void this.#ask();
    }
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#timer);
    const { socket, fetchState } = this.#options;
    const state = await fetchState();
    if (this.#unlisten === undefined || (socket.isOpen && !this.#isUnsure)) return;
    this.#show(state === "ready" && socket.state === "http" ? "http" : state);
    if (this.#presence === "signed_out") return;
    if (state === "ready" && this.#presence === "failing") {
      this.#timer = setTimeout(() => void this.#try(), TRY_MS);
      return;
    }
    // A connection that is still being made may hang with the hub; nothing else would show that.
    const isSettled = state === "ready" && socket.state !== "connecting";
    this.#after(isSettled ? ASK_MS : ASK_AGAIN_MS);
  }

  async #askIfAway(): Promise<void> {
    const state = await this.#options.fetchState();
    if (this.#unlisten === undefined || state !== "away" || this.#presence !== "failing") return;
    this.#show(state);
    this.#after(ASK_AGAIN_MS);
  }

  /** Ends `failing` if a call works. */
  async #try(): Promise<void> {
    if (this.#isTrying || this.#isMissed) return;
    this.#isTrying = true;
    this.#after(ASK_MS);
    await this.#options.tryCall();
    this.#isTrying = false;
    if (this.#isMissed || this.#unlisten === undefined || this.#presence !== "failing") return;
    this.#missed.answered();
    this.#show("ready");
  }

  /** Shows a state; notifies the pages of a hub that is back. */
  #show(state: Presence): void {
    const wasAway = this.#isMissed || this.#presence === "away" || this.#presence === "starting";
    const isReady = state === "ready" || state === "http";
    if (!isReady) {
      this.#set(state);
      return;
    }
    this.#isMissed = false;
    // The hub's health needs no sign-in.
    if (this.#isSignedOut) {
      this.#set("signed_out");
      return;
    }
    const nowMs = performance.now();
    if (wasAway) this.#missed.back(nowMs);
    this.#set(this.#missed.isFailing(nowMs) ? "failing" : state);
    if (wasAway) this.#options.onBack();
  }

  #set(presence: Presence): void {
    this.#presence = presence;
    this.#options.onChange(presence);
  }

  #after(waitMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.look, waitMs);
  }
}
