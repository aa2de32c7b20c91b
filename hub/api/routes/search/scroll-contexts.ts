/**
 * Contexts of scrolls, each over a snapshot. Their number is bounded, in total and for each owner; they are closed when
 * they expire.
 */

import { randomBytes } from "node:crypto";
import { checkKeepAlive, MAX_KEEP_ALIVE_MS, missingContext } from "#hub/api/context/keep-alive.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import type { Shards } from "#hub/api/ports/indices.ts";
import { EVERYBODY } from "#hub/auth/accounts/principal.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { FairShares } from "#proto/kit/fair-shares.ts";
import type { Gauge, Metrics } from "#proto/kit/metrics.ts";

/**
 * Maximum number of contexts; one owner may have half. Each keeps its request and the files of its segments, which have no
 * other limit. search.max_open_scroll_context of ES 7 is also 500.
 */
const MAX_CONTEXTS = 500;

/** An id of a scroll: that of its hub and 24 random bytes in base64url. */
export const SCROLL_ID = /^[\w-]*\.[\w-]{32}$/;

/** Interval at which expired contexts are closed. */
const SWEEP_MS = 5_000;

export interface ScrollContext {
  /** Principal.id of the opener. */
  readonly owner: string;
  /** Names of its indices, in the form in which rights are granted on them. */
  readonly names: readonly string[];
  /** The hosts that have its snapshot under the same id. */
  readonly shards: Pick<Shards, "closeContexts">;
  /** True while a page is being made. */
  busy: boolean;
  /** Counted from the end of a page, so that a client gets the full keep-alive, however long a page takes. */
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
   * Returns the id of a new context, which is busy until `made` is called for its first page. Throws overloaded,
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

  /** Called when a page was made, or failed: the context's keep-alive starts. */
  made(id: string): void {
    const context = this.#contexts.get(id);
    if (context === undefined) return;
    context.busy = false;
    context.expiresMs = performance.now() + context.keepAliveMs;
  }

  /** Returns the client's error for a failed page; a context that the host no longer has is closed here too. */
  failureOf(id: string, error: unknown): AppError {
    const failure = toAppError(error);
    if (failure.code !== "not_found") return failure;
    this.close([id]);
    return missingContext(id, this.#cluster);
  }

  /**
   * Returns a context and sets its keep-alive; undefined `keepAliveMs` leaves it unchanged. Throws not_found,
   * overloaded.
   */
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

  /** Closes contexts of `owner` (without `owner`: of anybody) and returns how many existed; `_all` means all of them. */
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
