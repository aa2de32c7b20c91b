/**
 * The table of partitions: which hub processes each partition of RAW. Key `partitions` of the bucket `nodes`, JSON, changed
 * by compare-and-set. Its epoch grows with each change.
 */

import { PARTITIONS } from "#proto/subjects.ts";

export const PARTITIONS_KEY = "partitions";

/** A member of the table: a hub that joined again is another member. */
export interface TableMember {
  readonly id: string;
  readonly session: string;
}

export interface PartitionTable {
  readonly epoch: number;
  readonly members: readonly TableMember[];
  /** By partition: index of its owner in `members`; -1 without a member. */
  readonly owners: readonly number[];
}

export const NO_TABLE: PartitionTable = { epoch: 0, members: [], owners: [] };

export function encodeTable(table: PartitionTable): Uint8Array {
  return Buffer.from(JSON.stringify({ v: 1, ...table }));
}

export function decodeTable(value: Uint8Array): PartitionTable {
  return JSON.parse(Buffer.from(value).toString()) as PartitionTable;
}

/** Returns the partitions of a member; none if the table names another session of it. */
export function partitionsOf(
  { members, owners }: PartitionTable,
  { id, session }: TableMember,
): ReadonlySet<number> {
  const index = members.findIndex((member) => member.id === id && member.session === session);
  if (index < 0) return new Set();
  return new Set(owners.flatMap((owner, partition) => (owner === index ? [partition] : [])));
}

/** Returns whether a table has exactly these members, in any order. */
export function isTableOf({ members }: PartitionTable, wanted: readonly TableMember[]): boolean {
  const keys = new Set(members.map(keyOf));
  return keys.size === wanted.length && wanted.every((member) => keys.has(keyOf(member)));
}

/**
 * Returns the table that follows `before` for these members. Spreads partitions evenly (numbers differ by at most one) and
 * leaves as many as possible with their hub. `together`: one hub gets all of them, the one that has most. A pure function:
 * every hub that holds the duties makes the same table.
 */
export function nextTable(
  before: PartitionTable,
  members: readonly TableMember[],
  together: boolean,
): PartitionTable {
  const ids = members.map(({ id }) => id);
  const stay = Array.from({ length: PARTITIONS }, (_, partition) =>
    ids.indexOf(before.members[before.owners[partition] ?? -1]?.id ?? ""),
  );
  const owners = members.length === 0 ? stay.fill(-1) : spread(stay, quotas(stay, ids, together));
  return { epoch: before.epoch + 1, members: [...members], owners };
}

/** Returns how many partitions each member gets; those that have most get the remainder. */
function quotas(stay: readonly number[], ids: readonly string[], together: boolean): number[] {
  const kept = ids.map((_, index) => stay.filter((owner) => owner === index).length);
  const order = ids
    .map((_, index) => index)
    .sort((a, b) => kept[b]! - kept[a]! || (ids[a]! < ids[b]! ? -1 : 1));
  const share = together ? 0 : Math.floor(PARTITIONS / ids.length);
  const extra = together ? PARTITIONS : PARTITIONS % ids.length;
  const result = ids.map(() => share);
  if (together) result[order[0]!] = extra;
  else for (const index of order.slice(0, extra)) result[index]!++;
  return result;
}

function spread(stay: readonly number[], left: number[]): number[] {
  const owners = stay.map((owner) => (owner >= 0 && left[owner]! > 0 && left[owner]!-- > 0 ? owner : -1));
  let index = 0;
  return owners.map((owner) => {
    if (owner >= 0) return owner;
    while (left[index] === 0) index++;
    left[index]!--;
    return index;
  });
}

function keyOf({ id, session }: TableMember): string {
  return `${id}/${session}`;
}
