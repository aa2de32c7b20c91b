/** Points in time that clients hold open: bounded in number, for each owner too, each its maker's, closed when they expire. */

import { randomBytes } from "node:crypto";
import { checkKeepAlive, missingContext } from "#hub/api/context/keep-alive.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import type { Shards } from "#hub/api/ports/indices.ts";
import { EVERYBODY } from "#hub/auth/accounts/principal.ts";
import { POINT_LOST, type TargetIndex } from "#hub/host/contract/calls.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { FairShares } from "#proto/kit/fair-shares.ts";

/** Points at a time: each keeps the files of its segments, as a scroll does. */
const MAX_POINTS = 500;

/** How often points are looked at. */
const SWEEP_MS = 5_000;

/** What a point in time shows. */
export interface PointView {
  /** The indices, with the copies whose snapshots are kept. */
  readonly targets: readonly TargetIndex[];
  /** Names of the indices. */
  readonly names: readonly string[];
  /** The largest number of parts. */
  readonly maxSlices: number;
  /** Shards, and how many of them it lacks. */
  readonly shards: { readonly total: number; readonly failed: number };
}

export interface PointInTime {
  readonly id: string;
  /** Principal.id of who opened it. */
  readonly owner: string;
  readonly view: PointView;
  /** ms since 1970-01-01 UTC. */
  readonly openedMs: number;
  keepAliveMs: number;
}

interface KeptPoint extends PointInTime {
  readonly shards: Pick<Shards, "closeContexts">;
  /** Searches that run over it. */
  uses: number;
  /** Monotonic. */
  expiresMs: number;
}

export class PointContexts {
  readonly #points = new Map<string, KeptPoint>();
  /** With those that are being opened. */
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
   * Opens a point; `open` makes its snapshots under the id it gets. Throws overloaded, request_invalid, and what `open`
   * throws.
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

  /** Runs a search over a point, which it prolongs where `keepAlive` is given. Throws not_found, and what `search` throws. */
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
      // The host that merges has it no more.
      this.close([id]);
      throw missingContext(id, this.#cluster);
    } finally {
      point.uses--;
      // The client has the time that it asked for, however long the search took.
      if (keepAlive !== undefined) point.expiresMs = this.#clock.monotonic() + point.keepAliveMs;
    }
  }

  /** The open points of `owner`, of everybody without one. */
  list(owner?: string): PointInTime[] {
    return [...this.#points.values()].filter((point) => owner === undefined || point.owner === owner);
  }

  /** Closes points of `owner`, without one of anybody, and returns the ids of those there were. */
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
