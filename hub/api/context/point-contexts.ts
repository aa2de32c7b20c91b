/**
 * Points in time that clients hold open. Each belongs to the principal that opened it and is closed when it expires.
 * Their number is bounded, in total and for each owner.
 */

import { randomBytes } from "node:crypto";
import { checkKeepAlive, missingContext } from "#hub/api/context/keep-alive.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import type { Shards } from "#hub/api/ports/indices.ts";
import { EVERYBODY } from "#hub/auth/accounts/principal.ts";
import { POINT_LOST, type TargetIndex } from "#hub/host/contract/calls.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { FairShares } from "#proto/kit/fair-shares.ts";

/** Maximum number of points: each keeps the files of its segments, like a scroll. */
const MAX_POINTS = 500;

/** Interval at which expired points are closed. */
const SWEEP_MS = 5_000;

/** The view of a point in time. */
export interface PointView {
  /** The indices with the copies whose snapshots are held. */
  readonly targets: readonly TargetIndex[];
  /** Names of the indices. */
  readonly names: readonly string[];
  /** Maximum number of slices. */
  readonly maxSlices: number;
  /** Number of shards, and how many of them the point lacks. */
  readonly shards: { readonly total: number; readonly failed: number };
}

export interface PointInTime {
  readonly id: string;
  /** Principal.id of the opener. */
  readonly owner: string;
  readonly view: PointView;
  /** ms since 1970-01-01 UTC. */
  readonly openedMs: number;
  keepAliveMs: number;
}

interface KeptPoint extends PointInTime {
  readonly shards: Pick<Shards, "closeContexts">;
  /** Number of searches that use it now. */
  uses: number;
  /** Monotonic. */
  expiresMs: number;
}

export class PointContexts {
  readonly #points = new Map<string, KeptPoint>();
  /** Includes the points that are being opened. */
  readonly #shares = new FairShares({
    limit: MAX_POINTS,
    what: "points in time are open",
    remedy: "close some with DELETE /_pit or use shorter times",
    everybody: EVERYBODY,
  });
  readonly #cluster: Pick<Cluster, "nodes">;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | undefined;

  /** `cluster`: its first node is this hub, whose id begins the ids of its points. */
  constructor(cluster: Pick<Cluster, "nodes">, clock: Clock) {
    this.#cluster = cluster;
    this.#clock = clock;
  }

  get size(): number {
    return this.#points.size;
  }

  /** Points that were refused because too many were open. */
  get refused(): number {
    return this.#shares.refused;
  }

  /**
   * Opens a point; `open` takes its snapshots under the id that it is given. Throws overloaded, request_invalid, and
   * what `open` throws.
   */
  async open(
    shards: KeptPoint["shards"],
    owner: string,
    keepAlive: { readonly ms: number; readonly limitMs: number },
    open: (id: string) => Promise<PointView>,
  ): Promise<PointInTime> {
    checkKeepAlive("point in time", keepAlive.ms, keepAlive.limitMs);
    this.#sweep();
    this.#shares.take(owner);
    const id = `${this.#cluster.nodes()[0]?.id ?? ""}.${randomBytes(24).toString("base64url")}`;
    try {
      const view = await open(id);
      const [openedMs, expiresMs] = [this.#clock.now(), this.#clock.monotonic() + keepAlive.ms];
      const point = { id, owner, view, openedMs, keepAliveMs: keepAlive.ms, shards, uses: 0, expiresMs };
      this.#points.set(id, point);
      this.#timer ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
      return point;
    } catch (error) {
      shards.closeContexts([id]);
      this.#shares.give(owner);
      throw error;
    }
  }

  /** Runs a search over a point; with `keepAlive` the point's life is extended. Throws not_found, and what `search` throws. */
  async during<T>(
    id: string,
    owner: string,
    keepAlive: { readonly ms: number; readonly limitMs: number } | undefined,
    search: (point: PointInTime) => Promise<T>,
  ): Promise<T> {
    const point = this.#points.get(id);
    if (point === undefined || point.owner !== owner) throw missingContext(id, this.#cluster);
    if (keepAlive !== undefined) {
      checkKeepAlive("point in time", keepAlive.ms, keepAlive.limitMs);
      point.keepAliveMs = keepAlive.ms;
      point.expiresMs = this.#clock.monotonic() + keepAlive.ms;
    }
    point.uses++;
    try {
      return await search(point);
    } catch (error) {
      const failure = toAppError(error);
      if (failure.data["type"] !== POINT_LOST) throw failure;
      // The merging host no longer has it.
      this.close([id]);
      throw missingContext(id, this.#cluster);
    } finally {
      point.uses--;
      // The client gets the full keep-alive, however long the search took.
      if (keepAlive !== undefined) point.expiresMs = this.#clock.monotonic() + point.keepAliveMs;
    }
  }

  /** The open points of `owner`; without `owner`: of everybody. */
  list(owner?: string): PointInTime[] {
    return [...this.#points.values()].filter((point) => owner === undefined || point.owner === owner);
  }

  /** Closes points of `owner` (without `owner`: of anybody) and returns the ids of those that existed. */
  close(ids: readonly string[], owner?: string): string[] {
    const closed = ids.filter((id) => {
      const point = this.#points.get(id);
      if (point === undefined || (owner !== undefined && point.owner !== owner)) return false;
      this.#points.delete(id);
      this.#shares.give(point.owner);
      point.shards.closeContexts([id]);
      return true;
    });
    if (this.#points.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    return closed;
  }

  stop(): void {
    this.close([...this.#points.keys()]);
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonic();
    const over = [...this.#points.values()].filter(({ uses, expiresMs }) => uses === 0 && expiresMs <= nowMs);
    this.close(over.map(({ id }) => id));
  }
}
