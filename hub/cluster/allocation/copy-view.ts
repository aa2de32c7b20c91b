/** This hub's view of the copies: the table, and what the live hubs have published. */

import type { MemberDirectory } from "#hub/cluster/membership/member-directory.ts";
import {
  COPIES_KEY,
  type CopyTable,
  decodeCopies,
  decodeHeld,
  HELD_PREFIX,
  type HeldCopies,
  NO_COPIES,
} from "./copy-table.ts";

type Numbers = ReadonlyMap<string, ReadonlySet<number>>;

interface Held {
  readonly revision: number;
  readonly session: string;
  readonly whole: Numbers;
  readonly partial: Numbers;
}

const NOTHING: Held = { revision: 0, session: "", whole: new Map(), partial: new Map() };

export class CopyView {
  readonly #directory: Pick<MemberDirectory, "shared" | "get">;
  #table: { readonly revision: number; readonly table: CopyTable } = { revision: 0, table: NO_COPIES };
  readonly #held = new Map<string, Held>();

  constructor(directory: Pick<MemberDirectory, "shared" | "get">) {
    this.#directory = directory;
  }

  /** True if copies are placed. */
  get isPlaced(): boolean {
    return this.#directory.shared(COPIES_KEY) !== undefined;
  }

  /** This hub's view of the table; empty if each hub has a copy of every shard. */
  table(): CopyTable {
    const shared = this.#directory.shared(COPIES_KEY);
    if (shared === undefined) return NO_COPIES;
    if (shared.revision !== this.#table.revision)
      this.#table = { revision: shared.revision, table: decodeCopies(shared.value) };
    return this.#table.table;
  }

  /** Returns the hubs that should have a shard; undefined: all. */
  holders(uuid: string, shard: number): readonly string[] | undefined {
    return this.table().copies[uuid]?.[shard];
  }

  /** Returns whether a hub is live and has published, since it joined, that it has a whole copy of a shard. */
  has(id: string, uuid: string, shard: number): boolean {
    return this.#heldBy(id).whole.get(uuid)?.has(shard) ?? false;
  }

  /** Returns whether what a hub has published is of its present session. */
  hasPublished(id: string, session: string): boolean {
    const { revision, session: published } = this.#heldBy(id);
    return revision > 0 && published === session;
  }

  /** As `has`, also of copies that lack documents: they can be searched. */
  reads(id: string, uuid: string, shard: number): boolean {
    return this.has(id, uuid, shard) || (this.#heldBy(id).partial.get(uuid)?.has(shard) ?? false);
  }

  /**
   * Returns those of the live `hubs` that have a copy of a shard. If none says so, those that should have one: changes of two
   * hubs are seen in any order, so of a shard that moves the loss at its old hub may be seen before the arrival at the new one.
   */
  readers<T extends { readonly id: string }>(hubs: readonly T[], uuid: string, shard: number): readonly T[] {
    const known = hubs.filter(({ id }) => this.reads(id, uuid, shard));
    if (known.length > 0) return known;
    const expected = this.holders(uuid, shard) ?? [];
    return hubs.filter(({ id }) => expected.includes(id));
  }

  /** Returns what a hub has published since it joined. */
  #heldBy(id: string): Held {
    const record = this.#directory.get(id)?.record;
    const shared = this.#directory.shared(HELD_PREFIX + id);
    if (record?.state !== "live" || shared === undefined) return NOTHING;
    let known = this.#held.get(id);
    if (known?.revision !== shared.revision) {
      const { session, shards, partial = {} } = decodeHeld(shared.value);
      known = { revision: shared.revision, session, whole: setsOf(shards), partial: setsOf(partial) };
      this.#held.set(id, known);
    }
    return known.session === record.session ? known : NOTHING;
  }
}

function setsOf(shards: HeldCopies["shards"]): Numbers {
  return new Map(Object.entries(shards).map(([uuid, numbers]) => [uuid, new Set(numbers)]));
}
