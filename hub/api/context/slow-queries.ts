/** Slow searches: each is logged, and the newest are kept for `/api/slow-queries`. */

import type { Clock } from "#proto/kit/clock.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { Logger } from "#proto/kit/log.ts";

/** Searches kept, the newest. */
const MAX_KEPT = 200;

/** Characters of a body that are kept. */
const MAX_BODY = 2000;

export interface SlowQuery {
  /** Time at which the search ended: ISO 8601, UTC. */
  readonly at: string;
  readonly took_ms: number;
  readonly indices: readonly string[];
  /** JSON of the body, cut when it is long. */
  readonly body: string;
  /** Total hits; null if they weren't counted. */
  readonly total: number | null;
  readonly timed_out: boolean;
}

export class SlowQueries {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #thresholdMs: number;
  readonly #kept: SlowQuery[] = [];

  /** `thresholdMs`: duration from which a search is slow; Infinity: none is. */
  constructor(clock: Clock, log: Logger, thresholdMs: number) {
    this.#clock = clock;
    this.#log = log;
    this.#thresholdMs = thresholdMs;
  }

  get thresholdMs(): number {
    return this.#thresholdMs;
  }

  /** The newest first. */
  list(): SlowQuery[] {
    return this.#kept.toReversed();
  }

  /** Keeps and logs a search if it was slow. */
  note(
    tookMs: number,
    indices: readonly string[],
    body: JsonObject,
    total: number | undefined,
    timedOut: boolean,
  ): void {
    if (tookMs < this.#thresholdMs) return;
    const text = JSON.stringify(body, (_key, value: unknown) =>
      typeof value === "bigint" ? Number(value) : value,
    );
    const query: SlowQuery = {
      at: new Date(this.#clock.now()).toISOString(),
      took_ms: tookMs,
      indices: indices.slice(0, 20),
      body: text.length > MAX_BODY ? `${text.slice(0, MAX_BODY)}…` : text,
      total: total ?? null,
      timed_out: timedOut,
    };
    this.#kept.push(query);
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
    this.#log.warn({ took_ms: tookMs, indices: query.indices, body: query.body }, "a search was slow");
  }
}
