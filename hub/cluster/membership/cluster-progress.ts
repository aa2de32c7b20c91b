/** The progress of all members together: the log may be purged below it, and agents may release their files. */

import type { Clock } from "#proto/kit/clock.ts";
import { HOUR_MS, MINUTE_MS } from "#proto/kit/units.ts";
import { lowestOf, type Position, START } from "#proto/position.ts";
import type { MemberRecord } from "./member-record.ts";

/** The log keeps messages for the copies of a lost hub for this long; after that they must be copied from another hub. */
export const COPY_WAIT_MS = HOUR_MS;
/** The same for a hub that was stopped, which may be for a restart, or for good. */
export const RESTART_WAIT_MS = 15 * MINUTE_MS;

/**
 * Returns the position in DOC that all live members have committed: messages before it survive the loss of all members but
 * one. `own`: this hub's, newer than its record. START as long as a member hasn't reported any, or one has committed messages of
 * a later incarnation than `incarnation`: what it had before isn't known.
 */
export function committedByLive(
  members: readonly MemberRecord[],
  ownId: string,
  own: Position,
  incarnation = Number.POSITIVE_INFINITY,
): Position {
  const others = members.filter(({ id, state }) => state === "live" && id !== ownId);
  const positions = [own, ...others.map(({ doc }) => doc ?? START)];
  return positions.some((position) => position.incarnation > incarnation) ? START : lowestOf(positions);
}

/**
 * Returns the position in DOC below which no copy needs the log. A lost hub's position counts for COPY_WAIT_MS; `awayForMs`:
 * how long such a hub has been known to be away. `stopped`: positions of hubs that have left and may come back.
 */
export function neededOfDoc(
  members: readonly MemberRecord[],
  awayForMs: (id: string) => number | undefined,
  stopped: readonly Position[],
): Position {
  const waiting = members.filter(({ id, state }) => state === "live" || (awayForMs(id) ?? 0) < COPY_WAIT_MS);
  return lowestOf([...waiting.map(({ doc }) => doc ?? START), ...stopped]);
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
  return lowestOf(positions.filter((position) => position !== null));
}

/**
 * Returns whether shards that no live hub has need the log: those of a hub that was lost or left at most COPY_WAIT_MS ago.
 * Nothing is purged meanwhile, and agents keep their files. `isHeld`: a live hub has the whole shard, whether the table
 * assigns it or not; `awayForMs`: how long a hub that was lost or has left has been known to be away; undefined: it isn't.
 */
export function isAwaited(
  copies: Readonly<Record<string, readonly (readonly string[])[]>>,
  isHeld: (uuid: string, shard: number) => boolean,
  awayForMs: (id: string) => number | undefined,
): boolean {
  const isAway = (id: string): boolean => (awayForMs(id) ?? COPY_WAIT_MS) < COPY_WAIT_MS;
  return Object.entries(copies).some(([uuid, shards]) =>
    shards.some((holders, shard) => holders.some(isAway) && !isHeld(uuid, shard)),
  );
}

/**
 * How long other hubs have been away, by this process's monotonic clock: a change of the clock must not release the
 * log. A restart begins counting again, so the log is kept longer.
 */
export class AwayTimes {
  readonly #clock: Clock;
  /** By id: when the hub was lost or left according to its record, and when this process first saw that, monotonic ms. */
  #seen: ReadonlyMap<string, { readonly recordedMs: number; readonly sinceMs: number }> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records the hubs that are away now; `recorded`: when, according to their records. Forgets all others. */
  observe(recorded: ReadonlyMap<string, number>): void {
    const nowMs = this.#clock.monotonic();
    const seen = this.#seen;
    this.#seen = new Map(
      [...recorded].map(([id, recordedMs]) => {
        const before = seen.get(id);
        return [id, before?.recordedMs === recordedMs ? before : { recordedMs, sinceMs: nowMs }];
      }),
    );
  }

  /** Returns for how long a hub has been away, ms; undefined: it isn't. */
  forMs(id: string): number | undefined {
    const seen = this.#seen.get(id);
    return seen === undefined ? undefined : this.#clock.monotonic() - seen.sinceMs;
  }
}

/** Hubs that this process saw leave, which have no record any more, with the last position in DOC that each reported. */
export class StoppedMembers {
  readonly #clock: Clock;
  #live = new Map<string, MemberRecord>();
  readonly #stopped = new Map<string, { readonly doc: Position; readonly sinceMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records the members of now. */
  observe(members: readonly MemberRecord[]): void {
    const sinceMs = this.#clock.monotonic();
    const known = new Set(members.map(({ id }) => id));
    for (const [id, { doc }] of this.#live)
      if (!known.has(id) && doc !== null) this.#stopped.set(id, { doc, sinceMs });
    for (const id of known) this.#stopped.delete(id);
    this.#live = new Map(members.filter(({ state }) => state === "live").map((each) => [each.id, each]));
  }

  /** Returns the positions of those that left less than RESTART_WAIT_MS ago. */
  positions(): Position[] {
    const nowMs = this.#clock.monotonic();
    for (const [id, { sinceMs }] of this.#stopped)
      if (nowMs - sinceMs >= RESTART_WAIT_MS) this.#stopped.delete(id);
    return [...this.#stopped.values()].map(({ doc }) => doc);
  }
}
