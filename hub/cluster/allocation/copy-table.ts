/**
 * The table of copies: which hubs have a copy of each shard. Key `copies` of the bucket `nodes`, JSON, changed by
 * compare-and-set. Its epoch grows with each change. A shard that isn't in it is at every hub.
 */

import { AppError } from "#proto/kit/errors.ts";

export const COPIES_KEY = "copies";
/** Prefix of the keys under which hubs publish which shards they have. */
export const HELD_PREFIX = "held.";

export interface CopyTable {
  readonly epoch: number;
  /** Ids of hubs by uuid of the index and number of the shard. */
  readonly copies: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Times at which hubs of the table were found to have left, ms since 1970, by id. */
  readonly left?: Readonly<Record<string, number>>;
}

export const NO_COPIES: CopyTable = { epoch: 0, copies: {} };

/** What a hub has. */
export interface HeldCopies {
  /** Of its membership: what it published in an earlier session is no longer true. */
  readonly session: string;
  /** Numbers of its complete shards, by uuid of the index. */
  readonly shards: Readonly<Record<string, readonly number[]>>;
  /** Shards that can be searched but lack documents: they are never copied, and no other copy is dropped for them. */
  readonly partial?: Readonly<Record<string, readonly number[]>>;
}

/** The stored form: hubs are named once. */
interface StoredTable {
  /** 1 */
  readonly v: number;
  readonly epoch: number;
  readonly hubs: readonly string[];
  readonly copies: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly left: Readonly<Record<string, number>>;
}

export function encodeCopies({ epoch, copies, left = {} }: CopyTable): Uint8Array {
  const hubs = [...new Set(Object.values(copies).flat(2))].sort();
  const places = new Map(hubs.map((hub, index) => [hub, index]));
  const stored: StoredTable = {
    v: 1,
    epoch,
    hubs,
    left,
    copies: mapped(copies, (shards) => shards.map((ids) => ids.map((id) => places.get(id)!))),
  };
  return Buffer.from(JSON.stringify(stored));
}

/** Throws settings_invalid for a table of a later version. */
export function decodeCopies(value: Uint8Array): CopyTable {
  const { v, epoch, hubs, copies, left } = JSON.parse(Buffer.from(value).toString()) as StoredTable;
  if (v !== 1)
    throw new AppError("settings_invalid", `the table of copies has version ${v}, which this hub can't read`);
  const byId = mapped(copies, (shards) => shards.map((places) => places.map((at) => hubs[at]!)));
  return { epoch, copies: byId, left };
}

/** Returns whether two tables place all copies alike. */
export function sameCopies(a: Omit<CopyTable, "epoch">, b: Omit<CopyTable, "epoch">): boolean {
  const textOf = ({ copies, left = {} }: Omit<CopyTable, "epoch">): string =>
    JSON.stringify([mapped(copies, (shards) => shards), mapped(left, (sinceMs) => sinceMs)]);
  return textOf(a) === textOf(b);
}

export function encodeHeld(held: HeldCopies): Uint8Array {
  return Buffer.from(JSON.stringify({ v: 1, ...held }));
}

export function decodeHeld(value: Uint8Array): HeldCopies {
  return JSON.parse(Buffer.from(value).toString()) as HeldCopies;
}

/** Returns whether a hub would publish the same data again. */
export function sameHeld(a: HeldCopies, b: HeldCopies): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Indices in the order of their uuids, so that equal tables are equal texts. */
function mapped<A, B>(given: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  const keys = Object.keys(given).sort();
  return Object.fromEntries(keys.map((key) => [key, map(given[key]!)]));
}
