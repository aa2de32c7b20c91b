/** Progress of an import on standard error: a bar on a terminal, elsewhere a line from time to time. */

import type { Clock } from "#proto/kit/clock.ts";

/** Where progress is written. */
export interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

const BAR_WIDTH = 30;
/** Time between two updates, ms: of a bar, and of lines. */
const BAR_MS = 200;
const LINE_MS = 10_000;

export class ImportProgress {
  readonly #output: ProgressOutput;
  readonly #clock: Clock;
  readonly #startMs: number;
  #shownMs: number;
  #hasBar = false;

  constructor(output: ProgressOutput, clock: Clock) {
    this.#output = output;
    this.#clock = clock;
    this.#startMs = clock.monotonic();
    this.#shownMs = this.#startMs;
  }

  /** Shows `done` of `total` documents, unless it did so a moment ago. */
  update(done: number, total: number): void {
    const nowMs = this.#clock.monotonic();
    const isTerminal = this.#output.isTTY === true;
    if (nowMs - this.#shownMs < (isTerminal ? BAR_MS : LINE_MS)) return;
    this.#shownMs = nowMs;
    const perSecond = Math.round(done / Math.max(0.001, (nowMs - this.#startMs) / 1000));
    const text = `${done} of ${total} documents, ${perSecond} a second`;
    if (!isTerminal) this.#output.write(`${text}\n`);
    else this.#output.write(`\r[${bar(done, total)}] ${text}\u001b[K`);
    this.#hasBar = isTerminal;
  }

  /** Ends the line of the bar. */
  end(): void {
    if (this.#hasBar) this.#output.write("\n");
    this.#hasBar = false;
  }
}

function bar(done: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  return "#".repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, ".");
}
