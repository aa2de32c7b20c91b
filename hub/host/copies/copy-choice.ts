/** Chooses which hub's copy of each shard a search reads. A pure function: earlier failures are passed in. */

import { shardKey } from "#hub/cluster/shards/shard-folders.ts";
import { ownerOf } from "#hub/cluster/shards/shard-owner.ts";
import {
  addressKey,
  type CopyWish,
  type HubThread,
  type ShardsElsewhere,
  type TargetIndex,
} from "#hub/host/contract/calls.ts";
import type { ShardFailure } from "#hub/search/phases/contract.ts";
import { fnv1a } from "#proto/codec/fnv1a.ts";
import type { AppError } from "#proto/kit/errors.ts";

/** A hub with copies. */
export interface CopyHub {
  readonly id: string;
  /** Number of its shard threads; the rule that assigns shards to them is the same as here. */
  readonly threads: number;
  /** Searches of this hub that are running there. */
  readonly load: number;
  /** It should have the copy and hasn't said that it has: it may be opening, or still be coming. */
  readonly isExpected?: boolean;
}

/** Which hubs have copies. */
export interface CopyHolders {
  /** Id of this hub. */
  readonly node: string;
  /** True if there is no other hub. */
  readonly isAlone: boolean;
  isHere(uuid: string, shard: number): boolean;
  /** The other live hubs that have a copy; if none says so, those that should have one. */
  elsewhere(uuid: string, shard: number): readonly CopyHub[];
}

/** Returns the key of a shard's copy at a hub. */
export function copyKey(hub: string, uuid: string, shard: number): string {
  return `${hub}/${uuid}/${shard}`;
}

/** The hubs and the thread that run a search. */
export interface Plan {
  readonly targets: readonly TargetIndex[];
  /** Undefined: a thread of this hub merges the answers. */
  readonly merger: HubThread | undefined;
  /** The hub that searches each shard, by `shardKey`. */
  readonly used: ReadonlyMap<string, string>;
}

export interface ChoiceOptions {
  readonly holders: CopyHolders;
  readonly wish: CopyWish | undefined;
  /** Copies that failed earlier, by `copyKey`. */
  readonly failed: ReadonlySet<string>;
  /** True if no thread of this hub can merge. */
  readonly isLost: boolean;
  /** Returns the number of an index's shards. */
  readonly shards: (uuid: string) => number;
}

/** A hub that doesn't exist: the call for a shard without a copy is sent there, and fails. */
const NO_HUB: CopyHub = { id: "-", threads: 1, load: 0 };

/** Returns where the shards of `targets` are searched. Shards of this hub aren't named, so that a single hub sends nothing. */
export function choosePlan(targets: readonly TargetIndex[], options: ChoiceOptions): Plan {
  const used = new Map<string, string>();
  const hubs = new Map<string, number>();
  const placed = targets.map((target): TargetIndex => {
    const away = new Map<string, { readonly at: HubThread; readonly shards: number[] }>();
    for (const shard of numbersOf(target, options)) {
      const hub = chosen(target.uuid, shard, options);
      const id = hub?.id ?? options.holders.node;
      used.set(shardKey(target.uuid, shard), id);
      if (hub === undefined) continue;
      hubs.set(id, (hubs.get(id) ?? 0) + 1);
      const at = { hub: id, thread: ownerOf(target.uuid, shard, hub.threads) };
      const known = away.get(addressKey(at));
      if (known === undefined) away.set(addressKey(at), { at, shards: [shard] });
      else known.shards.push(shard);
    }
    const elsewhere: readonly ShardsElsewhere[] = [...away.values()];
    return elsewhere.length === 0 ? target : { ...target, elsewhere };
  });
  const [most] = [...hubs].filter(([id]) => id !== NO_HUB.id).toSorted(([, a], [, b]) => b - a);
  const merger = options.isLost && most !== undefined ? { hub: most[0], thread: 0 } : undefined;
  return { targets: placed, merger, used };
}

/** Returns whether another copy of a shard is left. */
export function hasOther(uuid: string, shard: number, options: ChoiceOptions): boolean {
  const hub = chosen(uuid, shard, options);
  return hub === undefined || hub !== NO_HUB;
}

/**
 * Returns as failed the shards that were searched in copies that may lack writes, without those that failed anyway. `behindAt`
 * returns why a hub's copies may lack some.
 */
export function lackingShards(
  targets: readonly TargetIndex[],
  { used }: Plan,
  options: Pick<ChoiceOptions, "shards"> & { readonly nameOf: (uuid: string) => string },
  failures: readonly ShardFailure[],
  behindAt: (hub: string) => AppError | undefined,
): ShardFailure[] {
  const errors = new Map([...new Set(used.values())].map((hub) => [hub, behindAt(hub)]));
  if ([...errors.values()].every((error) => error === undefined)) return [];
  const failed = new Set(failures.map(({ indexUuid, shard }) => shardKey(indexUuid, shard)));
  return targets.flatMap((target) =>
    numbersOf(target, options).flatMap((shard) => {
      const key = shardKey(target.uuid, shard);
      const error = errors.get(used.get(key) ?? "");
      if (error === undefined || failed.has(key)) return [];
      return { index: options.nameOf(target.uuid), indexUuid: target.uuid, shard, error };
    }),
  );
}

function numbersOf({ uuid, shards }: TargetIndex, options: Pick<ChoiceOptions, "shards">): number[] {
  const count = options.shards(uuid);
  return shards?.filter((shard) => shard < count) ?? Array.from({ length: count }, (_, shard) => shard);
}

/** Returns the hub that searches a shard; undefined: this one. */
function chosen(
  uuid: string,
  shard: number,
  { holders, wish, failed, isLost }: ChoiceOptions,
): CopyHub | undefined {
  const own: CopyHub = { id: holders.node, threads: 0, load: -1 };
  const here = holders.isHere(uuid, shard) && !isLost ? [own] : [];
  const able = [...here, ...holders.elsewhere(uuid, shard)].filter(
    ({ id }) => (wish?.only?.includes(id) ?? true) && !failed.has(copyKey(id, uuid, shard)),
  );
  const [first = NO_HUB] = able.toSorted((a, b) => compare(a, b, wish));
  return first === own ? undefined : first;
}

/** Prefers this hub, then the least busy one, unless the request prefers others. */
function compare(a: CopyHub, b: CopyHub, { session, prefer = [] }: CopyWish = {}): number {
  if (session !== undefined) return hash(`${session}/${a.id}`) - hash(`${session}/${b.id}`);
  return (
    Number(prefer.includes(b.id)) - Number(prefer.includes(a.id)) || a.load - b.load || (a.id < b.id ? -1 : 1)
  );
}

/** FNV-1a over the UTF-16 units, mixed, so that names that differ at their end are spread. */
function hash(text: string): number {
  let sum = fnv1a(text);
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  return (sum ^ (sum >>> 13)) >>> 0;
}
