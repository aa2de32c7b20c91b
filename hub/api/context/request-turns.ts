/**
 * Turns of expensive requests: searches and bulk requests. Many requests of one principal wait for each other and don't delay
 * other principals. A request that holds a turn must not wait for another one. Changes by query take no turns: they are tasks,
 * whose number is limited for each principal.
 */

import { requestOwner } from "#hub/api/http/request-owner.ts";
import type { Shards } from "#hub/api/ports/indices.ts";
import { ForwardedShards } from "#hub/host/copies/forwarded-shards.ts";
import { FairTurns, type Turn } from "#proto/kit/fair-turns.ts";
import type { Metrics } from "#proto/kit/metrics.ts";

/**
 * Maximum number of concurrent turns; one principal may have half. Enough to keep all threads busy while some searches wait
 * for other hubs.
 */
const SEARCHES = 64;
const BULKS = 32;
/** Maximum number of waiting requests: half of the connections. Their bodies are charged elsewhere. */
const WAITING = 4_096;
/**
 * Maximum wait. Most clients give up after 30 to 60 s, which ends their wait; this ends the wait of those that never
 * do.
 */
const WAIT_MS = 120_000;

export class RequestTurns {
  readonly searches = new FairTurns({
    turns: SEARCHES,
    waiting: WAITING,
    waitMs: WAIT_MS,
    what: "searches",
  });
  readonly bulks = new FairTurns({ turns: BULKS, waiting: WAITING, waitMs: WAIT_MS, what: "bulk requests" });

  /** Exports the numbers of turns in `metrics`. */
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

  /** Returns the turn of the current bulk request. */
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
