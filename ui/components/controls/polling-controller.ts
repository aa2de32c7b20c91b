/** What a page shows of the hub: asked for at once and again while somebody looks, and what went wrong with it. */

import type { ReactiveController, ReactiveControllerHost } from "lit";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";

export class Refreshing<T> implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #ask: (signal: AbortSignal) => Promise<T>;
  readonly #intervalMs: number;
  #abort = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;
  #value: T | undefined;
  #askFault: HubError | undefined;
  #workFault: HubError | undefined;

  /** `ask` is called each `intervalMs` while the page is in sight. */
  constructor(host: ReactiveControllerHost, ask: (signal: AbortSignal) => Promise<T>, intervalMs: number) {
    this.#host = host;
    this.#ask = ask;
    this.#intervalMs = intervalMs;
    host.addController(this);
  }

  /** What was answered last; undefined until the first answer. */
  get value(): T | undefined {
    return this.#value;
  }

  /** Why the last work failed, else why the last answer is missing. */
  get fault(): HubError | undefined {
    return this.#workFault ?? this.#askFault;
  }

  hostConnected(): void {
    this.#abort = new AbortController();
    this.#timer = setInterval(() => {
      if (!document.hidden) void this.refresh();
    }, this.#intervalMs);
    void this.refresh();
  }

  hostDisconnected(): void {
    clearInterval(this.#timer);
    this.#abort.abort();
  }

  /** Asks now. */
  async refresh(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const value = await this.#ask(signal);
      if (signal.aborted) return;
      this.#value = value;
      this.#askFault = undefined;
    } catch (error) {
      if (signal.aborted) return;
      this.#askFault = toHubError(error);
    }
    this.#host.requestUpdate();
  }

  /** Does something, then asks; returns false where it failed, and keeps the reason until the next try. */
  async attempt(work: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> {
    const { signal } = this.#abort;
    this.forget();
    try {
      await work(signal);
    } catch (error) {
      if (!signal.aborted) this.#workFault = toHubError(error);
      this.#host.requestUpdate();
      return false;
    }
    await this.refresh();
    return true;
  }

  /** The reason why the last work failed isn't of interest any more. */
  forget(): void {
    this.#workFault = undefined;
    this.#host.requestUpdate();
  }
}
