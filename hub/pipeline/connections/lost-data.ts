/**
 * Counts and logs what an input loses because its senders can't be held up; the input is failing for a minute after it.
 */

import type { InputContext } from "#hub/pipeline/plugins/input.ts";

/** How often it is logged. */
const TELL_EVERY_MS = 10_000;
/** After the last loss the input counts as failing for this long. */
const FAILING_MS = 60_000;

export class LostData {
  readonly #context: Pick<InputContext, "clock" | "dropped" | "failing" | "id" | "log">;
  readonly #what: string;
  readonly #stopping = new AbortController();
  #count = 0;
  #toldMs = Number.NEGATIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;
  #failing: Promise<void> | undefined;

  /** `what`: plural of what is lost, e.g. "datagrams". */
  constructor(context: Pick<InputContext, "clock" | "dropped" | "failing" | "id" | "log">, what: string) {
    this.#context = context;
    this.#what = what;
  }

  /** Counts what is lost, one without `count`; `why` ends a sentence. */
  add(why: string, error?: unknown, count = 1): void {
    const { clock, dropped, failing, id, log } = this.#context;
    this.#count += count;
    dropped(count);
    this.#lastMs = clock.monotonic();
    this.#failing ??= this.#untilOver();
    if (this.#lastMs - this.#toldMs < TELL_EVERY_MS) return;
    this.#toldMs = this.#lastMs;
    log.warn(
      { ...(error !== undefined && { err: error }), input: id, dropped: this.#count },
      `${this.#what} are dropped, as ${why}`,
    );
    failing(`${this.#count} ${this.#what} were dropped, as ${why}`);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#failing;
  }

  async #untilOver(): Promise<void> {
    const { clock, failing } = this.#context;
    const { signal } = this.#stopping;
    for (let leftMs = FAILING_MS; leftMs > 0 && !signal.aborted; ) {
      await clock.sleep(leftMs, signal);
      leftMs = this.#lastMs + FAILING_MS - clock.monotonic();
    }
    this.#failing = undefined;
    if (!signal.aborted) failing(null);
  }
}
