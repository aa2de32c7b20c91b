/** Names of daily indices, `<prefix>yyyy.MM.dd` in UTC. */

import { DAY_MS } from "#proto/kit/units.ts";

/** Returns names; that of the day asked last is kept. */
export class DailyIndex {
  readonly #prefix: string;
  #day = Number.NaN;
  #name = "";

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Returns the index of an event at `timeMs` since 1970-01-01 UTC. */
  of(timeMs: number): string {
    const day = Math.floor(timeMs / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#name = this.#prefix + new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", ".");
    }
    return this.#name;
  }
}
