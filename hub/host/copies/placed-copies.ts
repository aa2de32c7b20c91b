/** Operations other than searches, over shards that partly are on other hubs only: calls these, and merges the results here. */

import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import { shardKey } from "#hub/cluster/shards/shard-folders.ts";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import type * as calls from "#hub/host/contract/calls.ts";
import { addressKey } from "#hub/host/contract/calls.ts";
import type {
  HostedShards,
  NamedIndex,
  ReadDocument,
  RefreshedDocument,
} from "#hub/host/contract/hosted-shards.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Position } from "#proto/position.ts";
import { type ChosenCopiesOptions, COPY_FAULTS } from "./chosen-copies.ts";
import { ForwardedShards } from "./forwarded-shards.ts";
import { type Away, OtherHubs } from "./other-hubs.ts";

/** Time for another hub to reach the end of the log before a document is read there. */
const REACH_MS = 5_000;
/** The same if this hub has a copy itself, which is behind. */
const ELSEWHERE_MS = 1_000;
/** Number of other hubs that are tried then; the first may be the one that was just lost. */
const ELSEWHERE_TRIES = 2;
/** Maximum tries and time to find a shard that has left the hub where it was read: the new table arrives within ms. */
const MOVING_TRIES = 6;
const MOVING_MS = 2_000;
/** Multiplied by the number of tries so far. */
const MOVING_PAUSE_MS = 50;

export interface PlacedCopiesOptions
  extends Pick<ChosenCopiesOptions, "own" | "holders" | "thread" | "shards" | "clock"> {
  /** Returns the position of the last message of DOC. Throws unavailable or timeout. */
  readonly logEnd: () => Promise<Position>;
}

export class PlacedCopies extends ForwardedShards {
  readonly #options: PlacedCopiesOptions;
  readonly #others: OtherHubs;

  constructor(options: PlacedCopiesOptions) {
    super(options.own);
    this.#options = options;
    this.#others = new OtherHubs(options);
  }

  /** A query is bound to the first shard of each index. */
  override async validate(
    call: calls.ValidateCall,
    signal: AbortSignal,
  ): Promise<readonly calls.Validation[]> {
    const away = this.#others.away(call.targets.map(({ uuid }) => ({ uuid, shards: [0] })));
    if (away.length === 0) return super.validate(call, signal);
    const isAway = (each: Away, uuid: string): boolean => each.wanted.has(shardKey(uuid, 0));
    const here = call.targets.filter(({ uuid }) => !away.some((each) => isAway(each, uuid)));
    const found = await Promise.all([
      super.validate({ ...call, targets: here }, signal),
      ...away.map((each) => {
        const targets = call.targets.filter(({ uuid }) => isAway(each, uuid));
        return each.shards.validate({ ...call, targets }, signal);
      }),
    ]);
    return found.flat();
  }

  override async explain(
    call: calls.ExplainCall,
    signal: AbortSignal,
  ): Promise<(calls.Explained & { readonly source: Uint8Array }) | null> {
    const here = await super.explain(call, signal);
    return here ?? this.#first(call.targets, (shards) => shards.explain(call, signal));
  }

  override async termVectors(
    call: calls.TermVectorsCall,
    signal: AbortSignal,
  ): Promise<calls.FoundTermVectors> {
    const away = this.#others.away(this.#others.whole(call.targets));
    const { id, targets } = call;
    if (away.length === 0) return super.termVectors(call, signal);
    const places: HostedShards[] = [this.#options.own, ...away.map(({ shards }) => shards)];
    if (id !== undefined)
      for (const shards of places)
        if ((await shards.getRefreshed(targets, id)) !== null) return shards.termVectors(call, signal);
    const first = targets[0] === undefined ? undefined : shardKey(targets[0].uuid, 0);
    const host = away.find(({ wanted }) => first !== undefined && wanted.has(first))?.shards;
    return (host ?? this.#options.own).termVectors(call, signal);
  }

  /**
   * Also finds writes that were acknowledged before, if the hub that has the shard can reach them in time. A moving shard
   * may have left the hub that this one knows: then it is looked for again.
   */
  override async get(index: NamedIndex, shard: number, id: string): Promise<ReadDocument | null> {
    const { clock, holders } = this.#options;
    const endMs = clock.monotonic() + MOVING_MS;
    for (let tries = 1; ; tries++)
      try {
        return await this.#get(index, shard, id);
      } catch (error) {
        const { code } = toAppError(error);
        const isKnown =
          holders.isHere(index.uuid, shard) || this.#others.holders(index.uuid, shard).length > 0;
        const isMoving = COPY_FAULTS.has(code) && isKnown && clock.monotonic() < endMs;
        if (!isMoving || tries === MOVING_TRIES) throw error;
        await clock.sleep(tries * MOVING_PAUSE_MS);
      }
  }

  async #get(index: NamedIndex, shard: number, id: string): Promise<ReadDocument | null> {
    if (this.#options.holders.isHere(index.uuid, shard)) {
      try {
        return await super.get(index, shard, id);
      } catch (error) {
        // Continues below if the shard has moved to another hub meanwhile.
        if (this.#options.holders.isHere(index.uuid, shard)) throw error;
      }
    }
    const [away] = this.#others.holders(index.uuid, shard);
    if (away === undefined) throw noCopy();
    const thread = this.#options.thread(away);
    const end = await this.#knownEnd();
    try {
      if (end !== undefined) await thread.call("reach", end, { timeoutMs: REACH_MS });
    } catch (error) {
      if (toAppError(error).code !== "timeout") throw error;
    }
    return new ShardsClient(thread).get(index, shard, id);
  }

  /** The end of the log; undefined where it can't be read: copies answer as they are then, here and at other hubs. */
  async #knownEnd(): Promise<Position | undefined> {
    try {
      return await this.#options.logEnd();
    } catch (error) {
      const { code } = toAppError(error);
      if (code !== "unavailable" && code !== "timeout") throw error;
      return undefined;
    }
  }

  /** Reads a document at another hub that has applied the log up to `after`. Throws unavailable or timeout. */
  async getElsewhere(
    index: NamedIndex,
    shard: number,
    id: string,
    after: Position,
  ): Promise<ReadDocument | null> {
    let failure = noCopy();
    for (const at of this.#others.holders(index.uuid, shard).slice(0, ELSEWHERE_TRIES))
      try {
        const thread = this.#options.thread(at);
        await thread.call("reach", after, { timeoutMs: ELSEWHERE_MS });
        return await new ShardsClient(thread).get(index, shard, id);
      } catch (error) {
        failure = toAppError(error);
      }
    throw failure;
  }

  override async getRefreshed(indices: readonly NamedIndex[], id: string): Promise<RefreshedDocument | null> {
    const here = await super.getRefreshed(indices, id);
    return here ?? this.#first(indices, (shards) => shards.getRefreshed(indices, id));
  }

  /** Leaves out shards whose hub can't answer. A shard that left its hub meanwhile is looked for again, once. */
  override async stats(
    indices: readonly NamedIndex[],
  ): Promise<ReadonlyMap<string, readonly HostedShardStats[]>> {
    const found = await this.#stats(indices);
    return found.hasMoved ? (await this.#stats(indices)).all : found.all;
  }

  async #stats(indices: readonly NamedIndex[]): Promise<{
    readonly all: ReadonlyMap<string, readonly HostedShardStats[]>;
    /** A shard wasn't where it was asked for. */
    readonly hasMoved: boolean;
  }> {
    const { holders } = this.#options;
    const all = new Map<string, readonly HostedShardStats[]>();
    // A shard in transit counts at its source.
    for (const [uuid, stats] of await super.stats(indices))
      all.set(
        uuid,
        stats.filter(({ shard }) => holders.isHere(uuid, shard)),
      );
    let missing = 0;
    for (const { found, wanted } of await this.#others.ask(indices, (shards) => shards.stats(indices))) {
      missing += found === undefined ? 0 : wanted.size;
      for (const [uuid, stats] of found ?? []) {
        const theirs = stats.filter(({ shard }) => wanted.has(shardKey(uuid, shard)));
        missing -= theirs.length;
        const both = [...(all.get(uuid) ?? []), ...theirs];
        all.set(
          uuid,
          both.toSorted((a, b) => a.shard - b.shard),
        );
      }
    }
    return { all, hasMoved: missing > 0 };
  }

  /** Leaves out shards whose hub can't answer. */
  override async segments(indices: readonly NamedIndex[]): Promise<calls.ShardSegments[]> {
    const { holders } = this.#options;
    const own = await super.segments(indices);
    const all = own.filter(({ uuid, shard }) => holders.isHere(uuid, shard));
    const others = await this.#others.ask(indices, (shards) => shards.segments(indices));
    const orders = new Map(indices.map(({ uuid }, order) => [uuid, order]));
    for (const { found = [], wanted } of others)
      all.push(...found.filter(({ uuid, shard }) => wanted.has(shardKey(uuid, shard))));
    return all.toSorted((a, b) => orders.get(a.uuid)! - orders.get(b.uuid)! || a.shard - b.shard);
  }

  /** An index with an unreachable shard counts as unbounded: it must not look older than it is. */
  override async largest(
    indices: readonly NamedIndex[],
    field: string,
  ): Promise<ReadonlyMap<string, number>> {
    const all = new Map(await super.largest(indices, field));
    for (const { found, wanted } of await this.#others.ask(indices, (shards) =>
      shards.largest(indices, field),
    )) {
      for (const [uuid, value] of found ?? []) all.set(uuid, Math.max(value, all.get(uuid) ?? value));
      if (found !== undefined) continue;
      for (const { uuid } of indices)
        if ([...wanted].some((key) => key.startsWith(`${uuid}/`))) all.set(uuid, Number.POSITIVE_INFINITY);
    }
    for (const index of indices)
      if (this.#others.lacksCopies([index])) all.set(index.uuid, Number.POSITIVE_INFINITY);
    return all;
  }

  /** Also at the other hubs that have copies. One that doesn't answer keeps its results until they are outdated. */
  override async clearCaches(indices: readonly NamedIndex[]): Promise<void> {
    const { thread } = this.#options;
    const holders = this.#others
      .whole(indices)
      .flatMap(({ uuid, shards }) => shards.flatMap((shard) => this.#others.holders(uuid, shard)));
    const threads = new Map(holders.map((at) => [addressKey(at), at]));
    const others = [...threads.values()].map((at) => new ShardsClient(thread(at)).clearCaches(indices));
    await Promise.all([super.clearCaches(indices), Promise.allSettled(others)]);
  }

  /** Returns what one of the other hubs found. Throws unavailable if none did and a shard has no copy. */
  async #first<T>(
    indices: readonly NamedIndex[],
    run: (shards: HostedShards) => Promise<T | null>,
  ): Promise<T | null> {
    const found = await Promise.all(
      this.#others.away(this.#others.whole(indices)).map(({ shards }) => run(shards)),
    );
    const first = found.find((each) => each !== null) ?? null;
    if (first === null && this.#others.lacksCopies(indices)) throw noCopy();
    return first;
  }
}

function noCopy(): AppError {
  return new AppError("unavailable", "no live hub has a copy of the shard");
}
