/**
 * Data of the hub for a page: loaded at once and refreshed while the page is visible, with its last error. Over the
 * tab's connection the hub pushes changes, so that a refresh costs no request.
 */

import type { ReactiveController, ReactiveControllerHost } from "lit";
import { hubConnection } from "#ui/services/hub/hub-connection.ts";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";

/** Interval in which the hub checks for changes to push. */
const PUSH_MS = 1_000;

export class Refreshing<T> implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #ask: (signal: AbortSignal) => Promise<T>;
  readonly #intervalMs: number;
  #abort = new AbortController();
  readonly #paths: readonly string[];
  #timer: ReturnType<typeof setInterval> | undefined;
  #unwatch: readonly (() => void)[] = [];
  #value: T | undefined;
  #askFault: HubError | undefined;
  #workFault: HubError | undefined;
  /** Numbers of the last request, and of the one whose answer is shown. */
  #asked = 0;
  #answered = 0;
  /** The last work, which the next one waits for. */
  #work: Promise<unknown> = Promise.resolve();

  /** `ask` is called each `intervalMs` while the page is visible, and when the answer to a GET of `paths` changes. */
  constructor(
    host: ReactiveControllerHost,
    ask: (signal: AbortSignal) => Promise<T>,
    intervalMs: number,
    paths: readonly string[] = [],
  ) {
    this.#host = host;
    this.#ask = ask;
    this.#intervalMs = intervalMs;
    this.#paths = paths;
    host.addController(this);
  }

  /** The last answer; undefined until the first one. */
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
      if (!document.hidden) void this.#look();
    }, this.#intervalMs);
    document.addEventListener("visibilitychange", this.#onVisibility);
    this.#onVisibility();
    void this.#look();
  }

  hostDisconnected(): void {
    clearInterval(this.#timer);
    document.removeEventListener("visibilitychange", this.#onVisibility);
    this.#endWatches();
    this.#abort.abort();
  }

  /** A hidden page gets no pushed changes. */
  readonly #onVisibility = (): void => {
    this.#endWatches();
    if (document.hidden) return;
    const { calls } = hubConnection();
    this.#unwatch = this.#paths.map((path) => calls.watch(path, PUSH_MS, () => void this.#look()));
  };

  #endWatches(): void {
    for (const end of this.#unwatch) end();
    this.#unwatch = [];
  }

  /** Requests the data now. */
  refresh(): Promise<void> {
    hubConnection().calls.forgetPushed();
    return this.#look();
  }

  async #look(): Promise<void> {
    const { signal } = this.#abort;
    const number = ++this.#asked;
    // An earlier request may be answered later.
    const isLate = (): boolean => signal.aborted || number < this.#answered;
    try {
      const value = await this.#ask(signal);
      if (isLate()) return;
      this.#value = value;
      this.#askFault = undefined;
    } catch (error) {
      if (isLate()) return;
      this.#askFault = toHubError(error);
    }
    this.#answered = number;
    this.#host.requestUpdate();
  }

  /**
   * Runs `work` after the running one, then refreshes: `work` finds in `value` the result of the previous work. Returns
   * false if it failed, and keeps the reason until the next try.
   */
  attempt(work: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> {
    const done = this.#work.then(() => this.#attempt(work));
    this.#work = done;
    return done;
  }

  async #attempt(work: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> {
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

  /** Clears the reason why the last work failed. */
  forget(): void {
    this.#workFault = undefined;
    this.#host.requestUpdate();
  }
}
