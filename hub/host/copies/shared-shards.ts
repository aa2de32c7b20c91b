/**
 * The shards of this hub as copies of those of other hubs: every hub finds a write through any hub after a refresh, and
 * reads it by id at once. Concurrent callers share one read of the log's end.
 */

import type { ShardNumbers } from "#hub/cluster/shards/contract.ts";
import {
  type HostedShards,
  type NamedIndex,
  REFRESHED,
  type ReadDocument,
  type Refreshed,
} from "#hub/host/contract/hosted-shards.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Position } from "#proto/position.ts";
import type { CopyAge } from "./copy-age.ts";
import type { CopyCall, CopyCalls, CopyOperation } from "./copy-calls.ts";
import { ForwardedShards } from "./forwarded-shards.ts";

export class LogEnd {
  readonly #read: () => Promise<Position>;
  #running: Promise<Position> | undefined;
  #next: Promise<Position> | undefined;

  /** `read` returns the position of the last message of the log. */
  constructor(read: () => Promise<Position>) {
    this.#read = read;
  }

  /** Returns a position at or after every message that was stored before the call. Throws what reading throws. */
  position(): Promise<Position> {
    // A running read may have begun before the caller's message was stored.
    if (this.#running !== undefined) {
      this.#next ??= this.#running.then(
        () => this.#begin(),
        () => this.#begin(),
      );
      return this.#next;
    }
    return this.#begin();
  }

  #begin(): Promise<Position> {
    this.#next = undefined;
    const running = this.#read().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}

/** Time to reach the end of the log; a copy that is further behind continues reading the log, and callers don't wait for it. */
const REACH_MS = 5_000;
/** The same for a hub that starts, before it serves. */
const START_MS = 60_000;
/** Maximum time that reads by id don't try to reach it after a failure; the actual time is the length of the failed attempt. */
const BEHIND_MS = 5_000;
const LACKING =
  "the copies of this hub may lack what other hubs wrote: it couldn't read the log to its end in time";
/** Time for an operation of another hub on its copies. */
const COPY_MS = 10_000;
/** Time for the others' regular refresh: the interval of an index may be long. */
const NEXT_REFRESH_MS = 60_000;

/** Resolves when this hub's shards have applied the log up to a position. Throws timeout, unavailable. */
export type Reach = (position: Position, timeoutMs: number) => Promise<void>;

/** How far this hub's copies have read the log. */
interface Caught {
  /** The end of the log; undefined if it couldn't be read. */
  readonly end?: Position;
  /** Why the copies may lack messages before it; absent if they have all of them. */
  readonly behind?: AppError;
}

/** Failed attempts to reach the end of the log. */
interface Behind extends Caught {
  /** Reads by id don't try again before this monotonic time, ms. */
  readonly untilMs: number;
}

export interface SharedShardsOptions {
  /** The shards of this hub. */
  readonly own: HostedShards;
  /** Reads a document at another hub, which has applied the log up to `after`. Throws unavailable or timeout. */
  readonly elsewhere: (
    index: NamedIndex,
    shard: number,
    id: string,
    after: Position,
  ) => Promise<ReadDocument | null>;
  readonly reach: Reach;
  readonly age: Pick<CopyAge, "reached">;
  /** Returns all indices. */
  readonly indices: () => readonly NamedIndex[];
  readonly calls: CopyCalls;
  /** Returns the position of the last message of DOC. Throws unavailable or timeout. */
  readonly logEnd: () => Promise<Position>;
  readonly log: Logger;
  readonly clock: Clock;
}

export class SharedShards extends ForwardedShards {
  readonly #options: SharedShardsOptions;
  readonly #end: LogEnd;
  #behind: Behind | undefined;

  constructor(options: SharedShardsOptions) {
    super(options.own);
    this.#options = options;
    this.#end = new LogEnd(options.logEnd);
  }

  /**
   * Reaches the end of the log and refreshes, so that everything found before the hub ended is found again; then serves the
   * others until `stop`.
   */
  async start(): Promise<void> {
    const { calls, indices } = this.#options;
    if (calls.hasOthers) {
      await this.#catchUp(START_MS);
      await super.refresh(indices());
    }
    calls.serve((call) => this.#serve(call));
  }

  async stop(): Promise<void> {
    this.#options.calls.stop();
  }

  /** Other hubs refresh all shards of the indices. */
  override refresh(indices: readonly NamedIndex[], only?: ShardNumbers): Promise<Refreshed> {
    return this.#everywhere("refresh", indices, () => super.refresh(indices, only));
  }

  /** As `refresh`, but after everything that is in the log, including writes of pipelines of this hub alone. */
  async refreshWritten(indices: readonly NamedIndex[]): Promise<void> {
    await this.#everywhere("refresh", indices, () => super.refresh(indices), { catchesUp: true });
  }

  override async nextRefresh(indices: readonly NamedIndex[], signal: AbortSignal): Promise<void> {
    const own = (): Promise<void> => super.nextRefresh(indices, signal);
    await this.#everywhere("nextRefresh", indices, own, { timeoutMs: NEXT_REFRESH_MS, signal });
  }

  override async flush(indices: readonly NamedIndex[]): Promise<void> {
    await this.#everywhere("flush", indices, () => super.flush(indices));
  }

  override async forceMerge(indices: readonly NamedIndex[], maxSegments: number): Promise<void> {
    const own = (): Promise<void> => super.forceMerge(indices, maxSegments);
    await this.#everywhere("forceMerge", indices, own, { maxSegments });
  }

  /**
   * Also finds writes that another hub has acknowledged. If this hub's copies may lack them, reads at another hub; if that
   * fails too, answers from this hub's copies as they are.
   */
  override async get(index: NamedIndex, shard: number, id: string): Promise<ReadDocument | null> {
    const { calls, elsewhere, log } = this.#options;
    if (!calls.hasOthers) return super.get(index, shard, id);
    const { end, behind } = await this.#caughtUp();
    if (behind !== undefined && end !== undefined)
      try {
        return await elsewhere(index, shard, id, end);
      } catch (error) {
        log.debug({ err: toAppError(error) }, "no other hub has what the copies of this one may lack");
      }
    return super.get(index, shard, id);
  }

  /** As `#catchUp`, but doesn't retry shortly after a failure. */
  async #caughtUp(): Promise<Caught> {
    const known = this.#behind;
    const isKnown = known !== undefined && this.#options.clock.monotonic() < known.untilMs;
    return isKnown ? known : this.#catchUp();
  }

  async #everywhere(
    operation: CopyOperation,
    indices: readonly NamedIndex[],
    own: () => Promise<unknown>,
    more: {
      readonly maxSegments?: number;
      readonly timeoutMs?: number;
      readonly signal?: AbortSignal;
      readonly catchesUp?: boolean;
    } = {},
  ): Promise<Refreshed> {
    const { calls } = this.#options;
    const { timeoutMs = COPY_MS, signal, maxSegments, catchesUp = calls.hasOthers } = more;
    const { end: after, behind } = catchesUp ? await this.#catchUp() : {};
    const reached = behind === undefined ? REFRESHED : { ...REFRESHED, behind };
    if (after === undefined || !calls.hasOthers) {
      await own();
      return reached;
    }
    const call: CopyCall = {
      operation,
      indices: indices.map(({ uuid }) => uuid),
      after,
      ...(maxSegments !== undefined && { maxSegments }),
    };
    const [missed] = await Promise.all([calls.everywhere(call, timeoutMs, signal), own()]);
    return { ...reached, missed };
  }

  /** Applies what is in the log, as far as the time allows. */
  async #catchUp(timeoutMs = REACH_MS): Promise<Caught> {
    const { reach, age, log, clock } = this.#options;
    const startMs = clock.monotonic();
    let end: Position | undefined;
    try {
      end = await this.#end.position();
      await reach(end, timeoutMs);
      this.#behind = undefined;
      age.reached(startMs);
      return { end };
    } catch (error) {
      const nowMs = clock.monotonic();
      const behind = new AppError("unavailable", LACKING, { cause: error });
      log.debug({ err: behind }, LACKING);
      const caught = { behind, ...(end !== undefined && { end }) };
      this.#behind = { ...caught, untilMs: nowMs + Math.min(BEHIND_MS, nowMs - startMs) };
      return caught;
    }
  }

  async #serve({ operation, indices, after, maxSegments = 1 }: CopyCall): Promise<void> {
    await this.#options.reach(after, REACH_MS);
    const named = indices.map((uuid) => ({ uuid }));
    switch (operation) {
      case "refresh":
        await super.refresh(named);
        return;
      case "nextRefresh":
        return super.nextRefresh(named, AbortSignal.timeout(NEXT_REFRESH_MS));
      case "flush":
        return super.flush(named);
      case "forceMerge":
        return super.forceMerge(named, maxSegments);
    }
  }
}
