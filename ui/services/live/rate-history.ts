/** How many lines and errors came in each of the last seconds. */

/** Five minutes: as far back as a reader remembers. */
export const HISTORY_SECONDS = 300;

export interface SecondCounts {
  readonly lines: number;
  readonly errors: number;
}

export class RateHistory {
  readonly #lines = new Uint32Array(HISTORY_SECONDS);
  readonly #errors = new Uint32Array(HISTORY_SECONDS);
  /** The newest second, since 1970. */
  #second = 0;

  /** Counts lines that came now. */
  add(lines: number, errors: number, nowMs: number): void {
    this.#moveTo(Math.floor(nowMs / 1_000));
    const at = this.#second % HISTORY_SECONDS;
    this.#lines[at]! += lines;
    this.#errors[at]! += errors;
  }

  /** Returns the seconds up to now, the oldest first. */
  seconds(nowMs: number): SecondCounts[] {
    this.#moveTo(Math.floor(nowMs / 1_000));
    return Array.from({ length: HISTORY_SECONDS }, (_, step) => {
      const at = (this.#second + 1 + step) % HISTORY_SECONDS;
      return { lines: this.#lines[at]!, errors: this.#errors[at]! };
    });
  }

  clear(): void {
    this.#lines.fill(0);
    this.#errors.fill(0);
  }

  /** Empties the seconds in which nothing came. A clock that was set back counts on where it was. */
  #moveTo(second: number): void {
    const gone = Math.min(HISTORY_SECONDS, second - this.#second);
    for (let step = 1; step <= gone; step++) {
      const at = (second - gone + step) % HISTORY_SECONDS;
      this.#lines[at] = 0;
      this.#errors[at] = 0;
    }
    if (gone > 0) this.#second = second;
  }
}
