/**
 * A viewer's requests over the live socket: calls of the HTTP API, searches in parts, and watched answers. All run with the
 * rights of the viewer's own requests.
 */

import { toAppError } from "#proto/kit/errors.ts";
import {
  type BodyHead,
  type Call,
  type LiveLimits,
  type SearchCall,
  USE_HTTP_STATUS,
  type WatchOpen,
} from "#proto/live.ts";
import type { LiveMetrics } from "./live-metrics.ts";
import type { CallAnswer, RunCall } from "./run-call.ts";
import { searchInParts } from "./search-parts.ts";

export interface ViewerCallsOptions {
  /** Undefined: calls aren't supported. */
  readonly run: RunCall | undefined;
  readonly limits: LiveLimits;
  readonly metrics: LiveMetrics;
  /** Sends a frame. */
  readonly send: (frame: string) => void;
  /** False while too much data waits in the socket. */
  readonly isReady: () => boolean;
}

interface Watch {
  readonly abort: AbortController;
  timer: NodeJS.Timeout | undefined;
  /** The last sent answer. */
  body: string | undefined;
}

export class ViewerCalls {
  readonly #options: ViewerCallsOptions;
  readonly #running = new Map<number, AbortController>();
  readonly #watches = new Map<number, Watch>();

  constructor(options: ViewerCallsOptions) {
    this.#options = options;
  }

  /** Runs a call and sends its answer. */
  call({ id, method, path, body }: Call): void {
    this.#start(id, "call", (run, signal) =>
      run({ method, path, ...(body !== undefined && { body }) }, signal),
    );
  }

  /** Runs a search; sends intermediate answers, then the final one. */
  search({ id, index, body }: SearchCall): void {
    const { partMinMs } = this.#options.limits;
    this.#start(id, "search", (run, signal) =>
      searchInParts({ run, index, body, partMinMs, signal }, (part, done, of) => {
        if (this.#options.isReady()) this.#send({ t: "part", id, done, of }, part);
      }),
    );
  }

  /** Ends a call or a search, which then has no answer. */
  cancel(id: number): void {
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  /**
   * Sends the answer to a GET now and after each change. The status is USE_HTTP_STATUS beyond the limit of watches, or if
   * calls aren't supported.
   */
  watch({ sub, path, everyMs }: WatchOpen): void {
    const { run, limits } = this.#options;
    this.unwatch(sub);
    if (run === undefined || this.#watches.size >= limits.watchesPerSocket) {
      this.#send({ t: "watched", sub, status: USE_HTTP_STATUS }, "");
      return;
    }
    const watch: Watch = { abort: new AbortController(), timer: undefined, body: undefined };
    this.#watches.set(sub, watch);
    void this.#look(sub, watch, { run, path, everyMs: Math.max(limits.watchMinMs, everyMs) });
  }

  unwatch(sub: number): void {
    const watch = this.#watches.get(sub);
    if (watch === undefined) return;
    this.#watches.delete(sub);
    clearTimeout(watch.timer);
    watch.abort.abort();
  }

  /** Ends everything. */
  release(): void {
    for (const id of this.#running.keys()) this.cancel(id);
    for (const sub of this.#watches.keys()) this.unwatch(sub);
  }

  #start(
    id: number,
    kind: "call" | "search",
    work: (run: RunCall, signal: AbortSignal) => Promise<CallAnswer>,
  ): void {
    const { run, limits, metrics } = this.#options;
    if (run === undefined || this.#running.has(id) || this.#running.size >= limits.callsPerSocket) {
      metrics.refused.inc({ reason: run === undefined ? "no_calls" : "too_many_calls" });
      this.#send({ t: "answer", id, status: USE_HTTP_STATUS }, "");
      return;
    }
    const abort = new AbortController();
    this.#running.set(id, abort);
    metrics.calls.inc({ kind });
    void this.#answer(id, abort, work(run, abort.signal));
  }

  async #answer(id: number, { signal }: AbortController, work: Promise<CallAnswer>): Promise<void> {
    const answer = await work.catch(failed);
    if (signal.aborted) return;
    this.#running.delete(id);
    const isSent = answer.body.length <= this.#options.limits.answerSizeBytes;
    this.#send(
      { t: "answer", id, status: isSent ? answer.status : USE_HTTP_STATUS },
      isSent ? answer.body : "",
    );
  }

  /** Runs a watched request, sends its answer if it has changed, and schedules the next run. */
  async #look(
    sub: number,
    watch: Watch,
    asked: { readonly run: RunCall; readonly path: string; readonly everyMs: number },
  ): Promise<void> {
    const { signal } = watch.abort;
    if (this.#options.isReady()) {
      const { status, body } = await asked.run({ method: "GET", path: asked.path }, signal).catch(failed);
      if (signal.aborted) return;
      const shown = `${status} ${body}`;
      const isSent = body.length <= this.#options.limits.answerSizeBytes;
      if (shown !== watch.body)
        this.#send({ t: "watched", sub, status: isSent ? status : USE_HTTP_STATUS }, isSent ? body : "");
      watch.body = shown;
    }
    watch.timer = setTimeout(() => void this.#look(sub, watch, asked), asked.everyMs).unref();
  }

  #send(head: BodyHead, body: string): void {
    this.#options.send(`${JSON.stringify(head)}\n${body}`);
  }
}

/** The hub API's answer for a request that couldn't be run at all. */
function failed(cause: unknown): CallAnswer {
  const { status, code, message } = toAppError(cause);
  return { status, body: JSON.stringify({ error: { type: code, reason: message }, status }) };
}
