/**
 * The turns of requests that cost much: searches and bulk requests. One principal's many requests wait for each other and not
 * others for them. What holds a turn must not wait for another one. Changes by query take no turns: they are tasks, whose number
 * is limited for each principal.
 */

import { requestOwner } from "#hub/api/http/request-owner.ts";
import type { Shards } from "#hub/api/ports/indices.ts";
import { ForwardedShards } from "#hub/host/copies/forwarded-shards.ts";
import { FairTurns, type Turn } from "#proto/kit/fair-turns.ts";
import type { Metrics } from "#proto/kit/metrics.ts";

/**
 * Turns at a time, of which one principal alone has half: enough to keep all threads busy, and searches that wait for other
 * hubs.
 */
const SEARCHES = 64;
const BULKS = 32;
/** Requests that wait: half as many as there are connections. Their bodies are charged elsewhere. */
const WAITING = 4_096;
/** Most clients leave after 30 to 60 s, and wait no longer then; this ends the wait of those that never do. */
const WAIT_MS = 120_000;

export class RequestTurns {
  readonly searches = new FairTurns({
    turns: SEARCHES,
    waiting: WAITING,
    waitMs: WAIT_MS,
    what: "searches",
  });
  readonly bulks = new FairTurns({ turns: BULKS, waiting: WAITING, waitMs: WAIT_MS, what: "bulk requests" });

  /** Counts the turns in `metrics`. */
  measure(metrics: Metrics): void {
    metrics.gauge(
      "tailrace_api_turns",
      "searches and bulk requests under way, and those that wait for their turn",
      ["of", "state"],
      (gauge) => {
        for (const kind of ["searches", "bulks"] as const) {
          gauge.set({ of: kind, state: "under_way" }, this[kind].taken);
          gauge.set({ of: kind, state: "waiting" }, this[kind].waiting);
        }
      },
    );
  }

  /** Returns the turn of the bulk request under way. */
  bulk(signal: AbortSignal): Turn {
    return this.bulks.turn(requestOwner(), signal);
  }
}

/** Shards whose searches wait for their turns. */
export class ShardsInTurn extends ForwardedShards {
  readonly #turns: FairTurns;

  constructor(shards: Shards, turns: FairTurns) {
    super(shards);
    this.#turns = turns;
  }

  override search(...call: Parameters<Shards["search"]>): ReturnType<Shards["search"]> {
    return this.#turns.during(requestOwner(), call[1], () => super.search(...call));
  }

  override openContext(...call: Parameters<Shards["openContext"]>): ReturnType<Shards["openContext"]> {
    return this.#turns.during(requestOwner(), call[1], () => super.openContext(...call));
  }

  override nextPage(...call: Parameters<Shards["nextPage"]>): ReturnType<Shards["nextPage"]> {
    return this.#turns.during(requestOwner(), call[1], () => super.nextPage(...call));
  }

  override count(...call: Parameters<Shards["count"]>): ReturnType<Shards["count"]> {
    return this.#turns.during(requestOwner(), call[1], () => super.count(...call));
  }

  override explain(...call: Parameters<Shards["explain"]>): ReturnType<Shards["explain"]> {
    return this.#turns.during(requestOwner(), call[1], () => super.explain(...call));
  }

  override termVectors(...call: Parameters<Shards["termVectors"]>): ReturnType<Shards["termVectors"]> {
    return this.#turns.during(requestOwner(), call[1], () => super.termVectors(...call));
  }
}
