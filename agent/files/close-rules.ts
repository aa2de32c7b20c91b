/** When an open file may be closed, and when it may be deleted. */

import { lstatOrNull } from "#agent/discovery/path.ts";
import type { Harvester } from "#agent/harvester/harvester.ts";
import { fileInode } from "#agent/harvester/identity.ts";

/** Settings by which files are closed. */
export interface CloseOptions {
  readonly closeInactiveMs: number;
  readonly closeRemoved: boolean;
  readonly closeRenamed: boolean;
  readonly closeEof: boolean;
  /** 0: never. */
  readonly closeTimeoutMs: number;
}

/** Inputs of the decision besides the file. */
interface CloseFacts {
  readonly nowMs: number;
  /** Set if other files wait to be opened: time since its last activity after which a file is closed, ms. */
  readonly pressedAfterMs: number | null;
  /** True if the last line of a rotated file has waited long enough to be sent without its end. */
  readonly final: boolean;
}

type CloseReason = "removed" | "renamed" | "eof" | "timeout" | "inactive" | "pressure";

/** A file that is written to all the time is closed after this time: otherwise waiting files would never be read. */
const TURN_MS = 5_000;

/**
 * Returns why `harvester` may be closed now, or null. Except for the time limit, which must be set explicitly, nothing
 * is closed before the end of the file is reached and acknowledged. A deleted file is also held until it is committed,
 * unless there are so many that new ones can't be opened: if the hub's log were lost, its lines would exist nowhere
 * else.
 */
export function closeReason(
  harvester: Harvester,
  options: CloseOptions,
  facts: CloseFacts,
): CloseReason | null {
  const inactiveMs = facts.nowMs - harvester.activeMs;
  const openMs = facts.nowMs - harvester.openedMs;
  const pressed = facts.pressedAfterMs !== null;
  if (options.closeTimeoutMs > 0 && openMs > options.closeTimeoutMs) return "timeout";
  if (!harvester.atEnd || !harvester.idle) return null;
  if (harvester.deleted) {
    if (options.closeRemoved) return "removed";
    const safe = harvester.committed || pressed;
    return facts.final && harvester.complete && safe ? "removed" : null;
  }
  if (harvester.movedAway && options.closeRenamed) return "renamed";
  if (options.closeEof || (harvester.isArchive && harvester.complete)) return "eof";
  const hadTurn = pressed && (inactiveMs > facts.pressedAfterMs || openMs > TURN_MS);
  if (hadTurn && !harvester.movedAway) return "pressure";
  if (inactiveMs <= options.closeInactiveMs) return null;
  return harvester.committed || pressed ? "inactive" : null;
}

/**
 * Returns true if a file may be deleted: whole, committed, quiet for `deleteAfterMs`, and still the file at its path.
 */
export function mayDelete(harvester: Harvester, deleteAfterMs: number | null, nowMs: number): boolean {
  if (deleteAfterMs === null || harvester.deleted || harvester.movedAway) return false;
  if (!harvester.atEnd || !harvester.complete || !harvester.committed) return false;
  if (nowMs - harvester.activeMs <= deleteAfterMs) return false;
  const stat = lstatOrNull(harvester.path);
  return stat?.size === harvester.offset && stat.ino === Number(fileInode(harvester.key));
}
