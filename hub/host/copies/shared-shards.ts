/**
 * The shards of this hub as copies of those that other hubs have: what is written through any hub is found on all of them
 * after a refresh, and read by id at once.
 */

import type { HostedShards, NamedIndex, ReadDocument } from "#hub/host/contract/hosted-shards.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Position } from "#proto/position.ts";
import type { CopyCall, CopyCalls, CopyOperation } from "./copy-calls.ts";
import { ForwardedShards } from "./forwarded-shards.ts";
import { LogEnd } from "./log-end.ts";

/** Time to reach the end of the log; a copy that is further behind reads the log on and isn't waited for. */
const REACH_MS = 5_000;
/** The same for a hub that starts, before it serves. */
const START_MS = 60_000;
/** How long at most reads by id don't try to reach it after that failed: as long as the attempt took. */
const BEHIND_MS = 5_000;
/** Time for what another hub does with its copies. */
const COPY_MS = 10_000;
/** Time for the others' regular refresh; the interval of an index may be long. */
const NEXT_REFRESH_MS = 60_000;

/** Resolves when this hub's shards have applied the log up to a position. Throws timeout, unavailable. */
export type Reach = (position: Position, timeoutMs: number) => Promise<void>;

export interface SharedShardsOptions {
  /** The shards of this hub. */
  readonly own: HostedShards;
  readonly reach: Reach;
  readonly calls: CopyCalls;
  /** Returns the position of the last message of DOC. Throws unavailable or timeout. */
  readonly logEnd: () => Promise<Position>;
  readonly log: Logger;
  readonly clock: Clock;
}

export class SharedShards extends ForwardedShards {
  readonly #options: SharedShardsOptions;
  readonly #end: LogEnd;
  /** Until then reads by id take this hub's copies as they are; monotonic time, ms. */
  #behindUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: SharedShardsOptions) {
    super(options.own);
    this.#options = options;
    this.#end = new LogEnd(options.logEnd);
  }

  /** Reaches the end of the log, then serves the others until `stop`. */
  async start(): Promise<void> {
    if (this.#options.calls.hasOthers) await this.#catchUp(START_MS);
    this.#options.calls.serve((call) => this.#serve(call));
  }

  async stop(): Promise<void> {
    this.#options.calls.stop();
  }

  override refresh(indices: readonly NamedIndex[]): Promise<void> {
    return this.#everywhere("refresh", indices, () => super.refresh(indices));
  }

  /** As `refresh`, but after everything that the log holds, also where a pipeline of this hub alone wrote it. */
  refreshWritten(indices: readonly NamedIndex[]): Promise<void> {
    return this.#everywhere("refresh", indices, () => super.refresh(indices), { catchesUp: true });
  }

  override nextRefresh(indices: readonly NamedIndex[], signal: AbortSignal): Promise<void> {
    const own = (): Promise<void> => super.nextRefresh(indices, signal);
    return this.#everywhere("nextRefresh", indices, own, { timeoutMs: NEXT_REFRESH_MS, signal });
  }

  override flush(indices: readonly NamedIndex[]): Promise<void> {
    return this.#everywhere("flush", indices, () => super.flush(indices));
  }

  override forceMerge(indices: readonly NamedIndex[], maxSegments: number): Promise<void> {
    const own = (): Promise<void> => super.forceMerge(indices, maxSegments);
    return this.#everywhere("forceMerge", indices, own, { maxSegments });
  }

  /** Also finds what another hub has acknowledged, unless the end of the log could not be reached shortly before. */
  override async get(index: NamedIndex, shard: number, id: string): Promise<ReadDocument | null> {
    const { calls, clock } = this.#options;
    if (calls.hasOthers && clock.monotonic() >= this.#behindUntilMs) await this.#catchUp();
    return super.get(index, shard, id);
  }

  async #everywhere(
    operation: CopyOperation,
    indices: readonly NamedIndex[],
    own: () => Promise<void>,
    more: {
      readonly maxSegments?: number;
      readonly timeoutMs?: number;
      readonly signal?: AbortSignal;
      readonly catchesUp?: boolean;
    } = {},
  ): Promise<void> {
    const { calls } = this.#options;
    const { timeoutMs = COPY_MS, signal, maxSegments, catchesUp = calls.hasOthers } = more;
    const after = catchesUp ? await this.#catchUp() : undefined;
    if (after === undefined || !calls.hasOthers) return own();
    const call: CopyCall = {
      operation,
      indices: indices.map(({ uuid }) => uuid),
      after,
      ...(maxSegments !== undefined && { maxSegments }),
    };
    await Promise.all([own(), calls.everywhere(call, timeoutMs, signal)]);
  }

  /** Applies what the log holds, as far as that is done in time; returns the log's end, undefined where it isn't known. */
  async #catchUp(timeoutMs = REACH_MS): Promise<Position | undefined> {
    const { reach, log, clock } = this.#options;
    const startMs = clock.monotonic();
    let end: Position | undefined;
    try {
      end = await this.#end.position();
      await reach(end, timeoutMs);
      this.#behindUntilMs = Number.NEGATIVE_INFINITY;
    } catch (error) {
      const nowMs = clock.monotonic();
      this.#behindUntilMs = nowMs + Math.min(BEHIND_MS, nowMs - startMs);
      log.debug({ err: toAppError(error) }, "the copies of this hub may lack what others wrote");
    }
    return end;
  }

  async #serve({ operation, indices, after, maxSegments = 1 }: CopyCall): Promise<void> {
    await this.#options.reach(after, REACH_MS);
    const named = indices.map((uuid) => ({ uuid }));
    switch (operation) {
      case "refresh":
        return super.refresh(named);
      case "nextRefresh":
        return super.nextRefresh(named, AbortSignal.timeout(NEXT_REFRESH_MS));
      case "flush":
        return super.flush(named);
      case "forceMerge":
        return super.forceMerge(named, maxSegments);
    }
  }
}
