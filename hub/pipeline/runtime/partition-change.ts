/**
 * Changes the partitions that a session processes. Reading of those that stay continues: only those that are given away
 * are drained, and only new ones are opened.
 *
 * | what is known | what is done | what can go wrong |
 * |---|---|---|
 * | a partition stays | nothing: reading and writing continue | its cursor is lost to another hub: the session ends, and the next one loads the cursors of the new table |
 * | it is given away, and some of its messages are in a thread, or in a batch of an output with those of others | it takes no further ones. Once these have arrived, its cursor is stored; then the change is reported | a thread dies: it does the batch again |
 * | it is given away, and an output or the log doesn't take its messages | after some seconds the session ends like at a reload: what no write has begun with is given back, a write under way gets time to end. The next session has the partitions of the new table | a write that doesn't end in time may be repeated by the next hub, as at a reload |
 * | it is given away, and never had a message | a floor of what is given away is stored, which says from where the next hub reads | it is replaced 5 s later: then that hub reads from the floor of the purge |
 * | it is given away, and its cursor can't be stored | it counts as given away | the next hub repeats what came after the stored one; shards drop it |
 * | it is new | its cursor is loaded, and another hub's fenced. A reader of its own reads it up to where the others are, which aren't kept back by its backlog | the cursor can't be loaded: the change fails, those that stay are processed, and the caller tries again |
 * | it is new, and an output is blocked | nothing is drained, so it is taken at once | – |
 * | it is given away or new before the last change's reader has caught up | the same; each reader has its own partitions | – |
 * | DOC has lost something that the cursors weren't compared with | another session begins | it is lost during the change: new cursors are stored with the incarnation of before, and compared by the session that follows |
 * | a partition has failed, or none stays | another session begins, with the threads of this one | – |
 * | filters keep events | another session with new threads begins: one hub has all partitions or none | – |
 * | the membership lapses, or another hub stores a cursor, during the change | what is in flight is given up; another session begins | – |
 * | the pipeline stops during the change | nothing is waited for, and the session ends as it would without it | – |
 */

import { AppError } from "#proto/kit/errors.ts";
import type { Session } from "./session.ts";

/**
 * Time for what partitions that are given away have in flight: they take no further messages meanwhile. With the writes
 * under way, which then get 10 s at most, a blocked output delays the change by less than 15 s.
 */
const AT_RELEASE = { stallMs: 3_000, totalMs: 10_000 };

/**
 * Processes `partitions` and no others. Returns false where another session has to begin for that: what is given away can't be
 * written in time, or the session has ended meanwhile. Throws data_corrupt, unavailable where new partitions can't be loaded; the
 * others are processed then. Throws closed if `stopping` is aborted.
 */
export async function changePartitions(
  session: Session,
  partitions: ReadonlySet<number>,
  stopping: AbortSignal,
): Promise<boolean> {
  const { owned } = session.keeper;
  const given = owned.difference(partitions);
  if (given.size > 0 && !(await session.release(given, AT_RELEASE, stopping))) {
    if (stopping.aborted) throw new AppError("closed", "the pipeline stops");
    return false;
  }
  const added = partitions.difference(owned);
  if (added.size > 0 && !session.isHealthy) return false;
  if (added.size > 0) await session.take(added);
  return true;
}
