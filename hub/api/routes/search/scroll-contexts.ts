/** Contexts of scrolls, each over a snapshot: bounded in number, for each owner too, closed when they expire. */

import { randomBytes } from "node:crypto";
import { checkKeepAlive, MAX_KEEP_ALIVE_MS, missingContext } from "#hub/api/context/keep-alive.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import type { Shards } from "#hub/api/ports/indices.ts";
import { EVERYBODY } from "#hub/auth/accounts/principal.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { FairShares } from "#proto/kit/fair-shares.ts";
import type { Gauge, Metrics } from "#proto/kit/metrics.ts";

/**
 * Contexts at a time, half for one owner: each keeps its request and the files of its segments, which nothing else bounds.
 * search.max_open_scroll_context of ES 7 is 500 too.
 */
const MAX_CONTEXTS = 500;

/** How often contexts are looked at. */
const SWEEP_MS = 5_000;

export interface ScrollContext {
  /** Principal.id of who opened it. */
  readonly owner: string;
  /** Of its indices, as rights are granted on them. */
  readonly names: readonly string[];
  /** The hosts that have its snapshot, under the same id. */
  readonly shards: Pick<Shards, "closeContexts">;
  /** True while a page is made. */
  busy: boolean;
  /** From the end of a page on: a client has the time that it asked for, however long a page takes. */
  keepAliveMs: number;
  expiresMs: number;
}

export class ScrollContexts {
  readonly #contexts = new Map<string, ScrollContext>();
  readonly #shares = new FairShares({
    limit: MAX_CONTEXTS,
    what: "scroll contexts are open",
    remedy: "close some with DELETE /_search/scroll or use shorter times",
    everybody: EVERYBODY,
  });
  readonly #gauge: Gauge;
  readonly #cluster: Pick<Cluster, "nodes">;
  #timer: NodeJS.Timeout | undefined;

  /** `cluster`: its first node is this hub, whose id begins the ids of its contexts. */
  constructor(metrics: Metrics, cluster: Pick<Cluster, "nodes">) {
    this.#cluster = cluster;
    this.#gauge = metrics.gauge("tailrace_search_scroll_contexts", "open scroll contexts", [], (gauge) =>
      gauge.set(this.#contexts.size),
    );
  }

  /** Scrolls that were refused because too many were open. */
  get refused(): number {
    return this.#shares.refused;
  }

  /**
   * Returns the id of a new context, which is busy until `made`: its first page is to be made. Throws overloaded,
   * request_invalid.
   */
  open(
    shards: ScrollContext["shards"],
    { owner, names }: Pick<ScrollContext, "owner" | "names">,
    keepAliveMs: number,
    limitMs: number = MAX_KEEP_ALIVE_MS,
  ): string {
    checkKeepAlive("scroll", keepAliveMs, limitMs);
    this.#sweep();
    this.#shares.take(owner);
    const id = `${this.#cluster.nodes()[0]?.id ?? ""}.${randomBytes(24).toString("base64url")}`;
    const expiresMs = performance.now() + keepAliveMs;
    this.#contexts.set(id, { owner, names, shards, busy: true, keepAliveMs, expiresMs });
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    return id;
  }

  /** A page was made, or failed: the context's time begins. */
  made(id: string): void {
    const context = this.#contexts.get(id);
    if (context === undefined) return;
    context.busy = false;
    context.expiresMs = performance.now() + context.keepAliveMs;
  }

  /** Returns what the client gets for a page that failed; a context that the host has no more is closed here too. */
  failureOf(id: string, error: unknown): AppError {
    const failure = toAppError(error);
    if (failure.code !== "not_found") return failure;
    this.close([id]);
    return missingContext(id, this.#cluster);
  }

  /** Returns a context and prolongs its time; undefined `keepAliveMs` leaves it. Throws not_found, overloaded. */
  take(
    id: string,
    owner: string,
    keepAliveMs: number | undefined,
    limitMs: number = MAX_KEEP_ALIVE_MS,
  ): ScrollContext {
    const context = this.#contexts.get(id);
    if (context === undefined || context.owner !== owner) throw missingContext(id, this.#cluster);
    if (keepAliveMs !== undefined) {
      checkKeepAlive("scroll", keepAliveMs, limitMs);
      context.keepAliveMs = keepAliveMs;
      context.expiresMs = performance.now() + keepAliveMs;
    }
    if (context.busy)
      throw new AppError("overloaded", "another request reads the next page of this scroll; wait for it");
    return context;
  }

  /** Closes contexts of `owner`, without one of anybody, and returns how many there were; `_all` stands for all of them. */
  close(ids: readonly string[], owner?: string): number {
    const wanted = ids.includes("_all") ? [...this.#contexts.keys()] : ids;
    let closed = 0;
    for (const id of wanted) {
      const context = this.#contexts.get(id);
      if (context === undefined || (owner !== undefined && context.owner !== owner)) continue;
      this.#contexts.delete(id);
      this.#shares.give(context.owner);
      context.shards.closeContexts([id]);
      closed++;
    }
    return closed;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.close(["_all"]);
    this.#gauge.set(0);
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const [id, context] of this.#contexts) {
      if (!context.busy && context.expiresMs <= nowMs) this.close([id]);
    }
    if (this.#contexts.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}
