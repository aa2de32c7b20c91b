/**
 * Places the copies of shards. Balances them over hubs and zones, moves only those that must move, and only a few at a time.
 * A pure function: every hub that holds the duties makes the same table.
 */

import type { CopyTable } from "./copy-table.ts";

/** A hub that may have copies. */
export interface CopyMember {
  readonly id: string;
  /** Hubs of one zone fail together; undefined: the hub is a zone of its own. */
  readonly zone?: string | undefined;
  /** When it was found lost, ms; undefined: it is live. */
  readonly lostMs?: number | undefined;
}

/** An index whose shards are placed. */
export interface PlacedIndex {
  readonly uuid: string;
  readonly shards: number;
  /** Wanted copies of each shard; at least 1. Copies beyond the number of hubs wait. */
  readonly copies: number;
  /** How long the copies of a lost hub stay its own. */
  readonly delayMs: number;
}

export interface AllocationInput {
  readonly members: readonly CopyMember[];
  readonly indices: readonly PlacedIndex[];
  readonly before: CopyTable;
  /** Returns whether a hub has a whole copy of a shard, which others can copy. */
  readonly has: (id: string, uuid: string, shard: number) => boolean;
  readonly nowMs: number;
}

/** Copies that may be in transit at a time, for balance and after a loss. */
export const MAX_MOVING = 4;

/** Hubs may differ by this many copies before one is moved. */
const SLACK = 1;

/** One shard while it is being placed. */
interface Placing {
  readonly index: PlacedIndex;
  readonly shard: number;
  holders: string[];
}

/** Returns the holders of each shard by index, the first of each list being the oldest. */
export function allocateCopies(input: AllocationInput): CopyTable["copies"] {
  return new Allocation(input).run();
}

class Allocation {
  readonly #input: AllocationInput;
  readonly #live: ReadonlyMap<string, CopyMember>;
  readonly #all: ReadonlyMap<string, CopyMember>;
  /** Copies by hub. */
  readonly #load = new Map<string, number>();
  readonly #shards: Placing[] = [];
  #moving = 0;

  constructor(input: AllocationInput) {
    this.#input = input;
    const sorted = input.members.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    this.#all = new Map(sorted.map((member) => [member.id, member]));
    this.#live = new Map(sorted.filter(({ lostMs }) => lostMs === undefined).map((each) => [each.id, each]));
    for (const id of this.#live.keys()) this.#load.set(id, 0);
  }

  run(): CopyTable["copies"] {
    const indices = this.#input.indices.toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1));
    for (const index of indices.filter((each) => this.#isPlaceable(each)))
      for (let shard = 0; shard < index.shards; shard++) this.#shards.push(this.#kept(index, shard));
    for (const each of this.#shards) for (const id of each.holders) this.#count(id, 1);
    for (const each of this.#shards) this.#moving += this.#onTheWay(each);
    for (const each of this.#shards) this.#trim(each);
    for (const each of this.#shards) this.#fill(each);
    for (const each of this.#shards) this.#spread(each);
    this.#balance();
    const byIndex = Map.groupBy(this.#shards, ({ index }) => index.uuid);
    return Object.fromEntries([...byIndex].map(([uuid, all]) => [uuid, all.map(({ holders }) => holders)]));
  }

  /**
   * An index that isn't in the table is at every hub, or the table was lost. It is placed once each of its shards was found,
   * on the hubs that have them: a hub that has dropped a shard must not count as a holder.
   */
  #isPlaceable(index: PlacedIndex): boolean {
    if (this.#input.before.copies[index.uuid] !== undefined) return true;
    return Array.from({ length: index.shards }, (_, shard) => shard).every(
      (shard) => this.#having(index.uuid, shard).length > 0,
    );
  }

  /**
   * Keeps the copies of live hubs, and those of lost hubs for a while. If no holder is live, other hubs with a whole copy
   * become holders: for example one whose copy was to move away, or one that came back late.
   */
  #kept(index: PlacedIndex, shard: number): Placing {
    const before = this.#input.before.copies[index.uuid]?.[shard];
    if (before === undefined) return { index, shard, holders: [] };
    const isKept = (id: string): boolean => {
      const lostMs = this.#all.get(id)?.lostMs;
      if (this.#live.has(id)) return true;
      return lostMs !== undefined && this.#input.nowMs - lostMs < index.delayMs;
    };
    const kept = before.filter(isKept);
    if (kept.some((id) => this.#live.has(id))) return { index, shard, holders: kept };
    const found = this.#having(index.uuid, shard);
    // The last known holders stay in the table, so that they still hold the shard when they come back.
    return { index, shard, holders: found.length > 0 ? [...found, ...kept] : before.slice() };
  }

  /** Live hubs with a whole copy. */
  #having(uuid: string, shard: number): string[] {
    return [...this.#live.keys()].filter((id) => this.#has(id, uuid, shard));
  }

  #count(id: string, by: number): void {
    const load = this.#load.get(id);
    if (load !== undefined) this.#load.set(id, load + by);
  }

  #onTheWay({ index, shard, holders }: Placing): number {
    if (this.#input.before.copies[index.uuid] === undefined) return 0;
    return holders.filter((id) => this.#live.has(id) && !this.#has(id, index.uuid, shard)).length;
  }

  #has(id: string, uuid: string, shard: number): boolean {
    return this.#input.has(id, uuid, shard);
  }

  /**
   * Removes surplus copies: first those of lost hubs, then those of hubs that don't have it yet, then those of the fullest
   * hubs.
   */
  #trim({ index, shard, holders }: Placing): void {
    const rank = (id: string): number => (!this.#live.has(id) ? 2 : this.#has(id, index.uuid, shard) ? 0 : 1);
    while (holders.length > index.copies) {
      const [worst] = holders.toSorted(
        (a, b) =>
          rank(b) - rank(a) ||
          this.#zoneUse(b, holders) - this.#zoneUse(a, holders) ||
          (this.#load.get(b) ?? 0) - (this.#load.get(a) ?? 0) ||
          (a < b ? 1 : -1),
      );
      holders.splice(holders.indexOf(worst!), 1);
      this.#count(worst!, -1);
    }
  }

  /** Gives a shard its missing copies. The limit of copies in transit doesn't hold up shards of a new index. */
  #fill({ index, shard, holders }: Placing): void {
    if (holders.length >= index.copies) return;
    const isNew = this.#input.before.copies[index.uuid] === undefined;
    // A shard without any whole copy gets no new holders.
    const hasSource = isNew || this.#having(index.uuid, shard).length > 0;
    while (holders.length < index.copies && hasSource) {
      if (!isNew && this.#moving >= MAX_MOVING) return;
      const able = this.#candidates(holders);
      const having = isNew ? able.filter((id) => this.#has(id, index.uuid, shard)) : [];
      const best = having[0] ?? able[0];
      if (best === undefined) return;
      holders.push(best);
      this.#count(best, 1);
      if (!this.#has(best, index.uuid, shard)) this.#moving++;
    }
  }

  /** Live hubs without a copy, best first: in a zone without a copy, with few copies of other shards. */
  #candidates(holders: readonly string[]): string[] {
    return [...this.#live.keys()]
      .filter((id) => !holders.includes(id))
      .toSorted(
        (a, b) =>
          this.#zoneUse(a, holders) - this.#zoneUse(b, holders) ||
          this.#load.get(a)! - this.#load.get(b)! ||
          (a < b ? -1 : 1),
      );
  }

  /** Returns how many of the other holders are in the zone of a hub. */
  #zoneUse(id: string, holders: readonly string[]): number {
    const zone = this.#all.get(id)?.zone;
    if (zone === undefined) return 0;
    return holders.filter((other) => other !== id && this.#all.get(other)?.zone === zone).length;
  }

  /** Moves a copy out of a zone that has another one of the shard to a zone with fewer, while few are in transit. */
  #spread(placing: Placing): void {
    const { holders } = placing;
    const byLoad = holders.toSorted((a, b) => this.#load.get(b)! - this.#load.get(a)! || (a < b ? -1 : 1));
    for (const from of byLoad) {
      const others = holders.filter((id) => id !== from);
      const to = this.#candidates(others).find((id) => this.#canMove(placing, from, id));
      const isCrowded = to !== undefined && this.#zoneUse(to, others) < this.#zoneUse(from, others);
      if (isCrowded && this.#moving < MAX_MOVING) this.#move(placing, from, to);
    }
  }

  /** Moves copies from the fullest hub to the emptiest one, while few are in transit. */
  #balance(): void {
    while (this.#moving < MAX_MOVING) {
      const order = [...this.#load].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
      const move = this.#bestMove(order);
      if (move === undefined) return;
      this.#move(move.placing, move.from, move.to);
    }
  }

  #move({ holders }: Placing, from: string, to: string): void {
    holders[holders.indexOf(from)] = to;
    this.#count(from, -1);
    this.#count(to, 1);
    this.#moving++;
  }

  #bestMove(
    order: readonly (readonly [id: string, load: number])[],
  ): { readonly placing: Placing; readonly from: string; readonly to: string } | undefined {
    for (const [from, fullest] of order)
      for (const [to, emptiest] of order.toReversed()) {
        if (fullest - emptiest <= SLACK) break;
        const placing = this.#shards.find((each) => this.#canMove(each, from, to));
        if (placing !== undefined) return { placing, from, to };
      }
    return undefined;
  }

  /** Moves only shards that all holders have, and never into a zone that has more copies of the shard. */
  #canMove({ index, shard, holders }: Placing, from: string, to: string): boolean {
    if (!holders.includes(from) || holders.includes(to)) return false;
    if (!holders.every((id) => this.#live.has(id) && this.#has(id, index.uuid, shard))) return false;
    const others = holders.filter((id) => id !== from);
    return this.#zoneUse(to, others) <= this.#zoneUse(from, others);
  }
}
