/** How long the oldest batch waits for its answer before it is sent again: some times what answers took lately. */

/** Not shorter than this: a server that isn't lost usually answers within some ms. */
const LEAST_MS = 500;
/** An answer that takes this many times longer than the slowest of late is lost. */
const FACTOR = 4;
/** Share of the slowest answer that counts after the next one. */
const DECAY = 0.9;

export class AnswerTime {
  readonly #mostMs: number;
  #slowestMs = 0;

  /** `mostMs`: the limit for all other batches, which isn't exceeded. */
  constructor(mostMs: number) {
    this.#mostMs = mostMs;
  }

  /** ms */
  get limitMs(): number {
    return Math.min(this.#mostMs, Math.max(LEAST_MS, FACTOR * this.#slowestMs));
  }

  /** Notes the answer to a batch that was sent once. */
  took(ms: number): void {
    this.#slowestMs = Math.max(ms, DECAY * this.#slowestMs);
  }

  /** Notes a second answer for a batch: it was sent again though its first answer was only late, as on a slow link. */
  wasLate(): void {
    this.#slowestMs = this.#mostMs;
  }
}
