/** The progress of all members together: the log may be purged below it, and agents may release their files. */

import { HOUR_MS } from "#proto/kit/units.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import type { MemberRecord } from "./member-record.ts";

/** The log keeps messages for the copies of a lost hub for this long; after that they must be copied from another hub. */
export const COPY_WAIT_MS = HOUR_MS;

/**
 * Returns the position in DOC that all live members have committed: messages before it survive the loss of all members but
 * one. `own`: this hub's, newer than its record. START as long as a member hasn't reported any.
 */
export function committedByLive(members: readonly MemberRecord[], ownId: string, own: Position): Position {
  const others = members.filter(({ id, state }) => state === "live" && id !== ownId);
  return lowest([own, ...others.map(({ doc }) => doc ?? START)]);
}

/** Returns the position in DOC below which no copy needs the log. A lost hub's position counts for COPY_WAIT_MS. */
export function neededOfDoc(members: readonly MemberRecord[], nowMs: number): Position {
  const waiting = members.filter(
    ({ state, lostMs = 0 }) => state === "live" || nowMs - lostMs < COPY_WAIT_MS,
  );
  return lowest(waiting.map(({ doc }) => doc ?? START));
}

/**
 * Returns the position in RAW up to which every partition is processed and committed; undefined while partitions move
 * between hubs. `epoch`: of the current table; `ids`: its members.
 */
export function processedRaw(
  members: readonly MemberRecord[],
  { epoch, ids }: { readonly epoch: number; readonly ids: readonly string[] },
): Position | undefined {
  const owners = ids.map((id) => members.find((member) => member.id === id));
  const positions = owners.map((owner) =>
    owner?.state === "live" && owner.active === epoch ? owner.raw : null,
  );
  if (positions.length === 0 || positions.some((position) => position === null)) return undefined;
  return lowest(positions.filter((position) => position !== null));
}

/**
 * Returns whether shards that no live hub has need the log: those of a hub that was lost or left at most COPY_WAIT_MS ago.
 * Nothing is purged meanwhile, and agents keep their files. `isHeld`: a live hub has the whole shard, whether the table
 * assigns it or not; `awayMs`: when each such hub was lost or left.
 */
export function isAwaited(
  copies: Readonly<Record<string, readonly (readonly string[])[]>>,
  isHeld: (uuid: string, shard: number) => boolean,
  awayMs: (id: string) => number | undefined,
  nowMs: number,
): boolean {
  const isAway = (id: string): boolean => nowMs - (awayMs(id) ?? Number.NEGATIVE_INFINITY) < COPY_WAIT_MS;
  return Object.entries(copies).some(([uuid, shards]) =>
    shards.some((holders, shard) => holders.some(isAway) && !isHeld(uuid, shard)),
  );
}

function lowest(positions: readonly Position[]): Position {
  const [first = START, ...rest] = positions;
  return rest.reduce((least, position) => (comparePositions(position, least) < 0 ? position : least), first);
}
