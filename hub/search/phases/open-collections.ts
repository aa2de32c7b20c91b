/**
 * Collections whose hits the front may still fetch. Their number and time are bounded because each keeps snapshots
 * open.
 */

import { randomBytes } from "node:crypto";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Gauge, Metrics } from "#proto/kit/metrics.ts";
import type { Collection } from "./collect.ts";

/** Collections at a time: more than searches that a front runs at once. */
const MAX_OPEN = 512;

/** Time from the collection to the last fetch; the front fetches at once. */
const MAX_AGE_MS = 30_000;

/** Interval at which expired collections are closed. */
const SWEEP_MS = 5_000;

interface Kept {
  readonly collection: Collection;
  /** Closes the snapshots. */
  readonly close: () => void;
  readonly openedMs: number;
}

export class OpenCollections {
  readonly #kept = new Map<string, Kept>();
  readonly #clock: Clock;
  readonly #gauge: Gauge;
  #timer: NodeJS.Timeout | undefined;

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock;
    this.#gauge = metrics.gauge(
      "tailrace_search_open_collections",
      "collected searches whose hits may still be fetched",
      [],
      (gauge) => gauge.set(this.#kept.size),
    );
  }

  /** Keeps a collection and returns its id. `close` is called once, also if it throws. Throws overloaded. */
  open(collection: Collection, close: () => void): string {
    this.#sweep();
    if (this.#kept.size >= MAX_OPEN) {
      close();
      throw new AppError("overloaded", `a host has ${MAX_OPEN} searches open already; try again later`);
    }
    const id = randomBytes(12).toString("base64url");
    this.#kept.set(id, { collection, close, openedMs: this.#clock.monotonic() });
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    return id;
  }

  /** Throws unavailable for one that was closed. */
  get(id: string): Collection {
    const kept = this.#kept.get(id);
    if (kept !== undefined) return kept.collection;
    throw new AppError(
      "unavailable",
      `a host closed a search after ${MAX_AGE_MS / 1000} s, before its hits were fetched`,
    );
  }

  close(id: string): void {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    kept?.close();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const id of this.#kept.keys()) this.close(id);
    this.#gauge.set(0);
  }

  #sweep(): void {
    const oldestMs = this.#clock.monotonic() - MAX_AGE_MS;
    for (const [id, { openedMs }] of this.#kept) if (openedMs < oldestMs) this.close(id);
    if (this.#kept.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
