/** Finds the hubs that have shards which aren't here, and asks them. */

import { shardKey } from "#hub/cluster/shards/shard-folders.ts";
import { ownerOf } from "#hub/cluster/shards/shard-owner.ts";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import { addressKey, type HubThread } from "#hub/host/contract/calls.ts";
import type { HostedShards, NamedIndex } from "#hub/host/contract/hosted-shards.ts";
import type { ChosenCopiesOptions } from "./chosen-copies.ts";

/** Shards that are requested from a thread of another hub. */
export interface Away {
  readonly at: HubThread;
  readonly shards: HostedShards;
  /** By `shardKey`. */
  readonly wanted: Set<string>;
}

/** The answer of a hub about shards. */
export interface ShardsAnswer<T> {
  readonly hub: string;
  /** Absent: it didn't answer. */
  readonly found?: T;
  /** By `shardKey`. */
  readonly wanted: ReadonlySet<string>;
}

export class OtherHubs {
  readonly #options: Pick<ChosenCopiesOptions, "holders" | "thread" | "shards">;

  constructor(options: Pick<ChosenCopiesOptions, "holders" | "thread" | "shards">) {
    this.#options = options;
  }

  /** Asks for the shards that aren't here; where a hub doesn't answer, another one that has a copy, once. */
  async ask<T>(
    indices: readonly NamedIndex[],
    run: (shards: HostedShards) => Promise<T>,
  ): Promise<ShardsAnswer<T>[]> {
    const first = await askEach(this.away(this.whole(indices)), run);
    const silent = first.filter(({ found }) => found === undefined);
    if (silent.length === 0) return first;
    const lacking = new Set(silent.flatMap(({ wanted }) => [...wanted]));
    const wanted = this.whole(indices).map(({ uuid, shards }) => ({
      uuid,
      shards: shards.filter((shard) => lacking.has(shardKey(uuid, shard))),
    }));
    const others = this.away(wanted, new Set(silent.map(({ hub }) => hub)));
    const answers = [...first, ...(await askEach(others, run))].filter(({ found }) => found !== undefined);
    for (const each of answers) for (const key of each.wanted) lacking.delete(key);
    return lacking.size === 0 ? answers : [...answers, { hub: silent[0]!.hub, wanted: lacking }];
  }

  /** True if no live hub says that it has one of the shards. */
  lacksCopies(indices: readonly NamedIndex[]): boolean {
    const { holders } = this.#options;
    const isKnown = (uuid: string, shard: number): boolean =>
      holders.elsewhere(uuid, shard).some(({ isExpected = false }) => !isExpected);
    return this.whole(indices).some(({ uuid, shards }) =>
      shards.some((shard) => !holders.isHere(uuid, shard) && !isKnown(uuid, shard)),
    );
  }

  /** Returns the numbers of all shards of indices. */
  whole(indices: readonly NamedIndex[]): { uuid: string; shards: number[] }[] {
    return indices.map(({ uuid }) => ({
      uuid,
      shards: Array.from({ length: this.#options.shards(uuid) }, (_, shard) => shard),
    }));
  }

  /**
   * Returns the threads of other hubs that have the shards which aren't here, without the hubs of `without`. A shard that no hub
   * has is in none of them.
   */
  away(
    indices: readonly { readonly uuid: string; readonly shards: readonly number[] }[],
    without: ReadonlySet<string> = new Set(),
  ): Away[] {
    const { holders, thread } = this.#options;
    const found = new Map<string, Away>();
    for (const { uuid, shards } of indices)
      for (const shard of shards) {
        if (holders.isHere(uuid, shard)) continue;
        const at = this.holders(uuid, shard).find(({ hub }) => !without.has(hub));
        if (at === undefined) continue;
        const known = found.get(addressKey(at));
        if (known === undefined)
          found.set(addressKey(at), {
            at,
            shards: new ShardsClient(thread(at)),
            wanted: new Set([shardKey(uuid, shard)]),
          });
        else known.wanted.add(shardKey(uuid, shard));
      }
    return [...found.values()];
  }

  /** Returns the threads of other hubs that have a copy of the shard, best first. */
  holders(uuid: string, shard: number): HubThread[] {
    return this.#options.holders
      .elsewhere(uuid, shard)
      .toSorted((a, b) => a.load - b.load || (a.id < b.id ? -1 : 1))
      .map(({ id, threads }) => ({ hub: id, thread: ownerOf(uuid, shard, threads) }));
  }
}

async function askEach<T>(
  away: readonly Away[],
  run: (shards: HostedShards) => Promise<T>,
): Promise<ShardsAnswer<T>[]> {
  return Promise.all(
    away.map(async ({ at: { hub }, shards, wanted }) => {
      try {
        return { hub, found: await run(shards), wanted };
      } catch {
        return { hub, wanted };
      }
    }),
  );
}
