/** The log as this hub's shards see it: whether it is the one they know, how they read it, and who is notified of their commits. */

import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { Documents } from "#hub/cluster/writes/documents.ts";
import type { Watermarks } from "#hub/fleet/watermarks.ts";
import type { KnownPositions } from "#hub/host/client/host-link.ts";
import type { HubLogServices } from "#hub/host/client/host-threads.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { ProcessedFloor } from "#hub/upkeep/log-janitor.ts";
import { AppError } from "#proto/kit/errors.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import type { ClusterNode } from "./cluster.ts";
import * as adapters from "./journal-adapters.ts";

/** A running hub's files were damaged, and the log doesn't reach back to their content. */
const DAMAGED =
  "files of this hub's copies are damaged or missing, and the log has purged their documents: restart this hub, which then copies its shards from another hub";

/** A hub was stopped for longer than the log keeps messages for its copies, or is new. */
export const INCOMPLETE =
  "this hub's copies lack documents that the log has purged, and no other hub answered that it could copy them from: start one that has them, then this one";

export interface ShardLogWiring {
  readonly journal: Journal;
  readonly catalog: Pick<IndexCatalog, "all">;
  readonly cluster: ClusterNode;
}

/** Receivers of the position up to which the shards have committed. */
export interface Committed {
  readonly watermarks: Watermarks;
  readonly floor: ProcessedFloor;
}

/**
 * Compares the log with the positions that the shards remember; begins new incarnations if it was lost or rolled back. Returns
 * the last position in DOC that has documents: of the stream, or that the shards have.
 */
export async function reconcile(journal: Journal, known: KnownPositions): Promise<Position> {
  const { lastSequence } = await journal.majorityState(DOC_STREAM);
  const end = lastSequence === 0 ? START : journal.positionOf(DOC_STREAM, lastSequence);
  await journal.reconcile(DOC_STREAM, known.doc);
  await journal.reconcile(RAW_STREAM, known.raw);
  return comparePositions(end, known.position) > 0 ? end : known.position;
}

/** Throws unavailable if other hubs have documents that neither this hub nor the log has. */
export async function refuseIncompleteCopies(
  { journal, catalog, cluster }: ShardLogWiring,
  position: Position,
): Promise<void> {
  const { firstSequence } = await journal.majorityState(DOC_STREAM);
  const needed = journal.positionOf(DOC_STREAM, firstSequence);
  const isNext = comparePositions({ ...position, sequence: position.sequence + 1 }, needed) >= 0;
  if (isNext || firstSequence === 1 || catalog.all().length === 0) return;
  if (await cluster.hasOthers()) throw new AppError("unavailable", INCOMPLETE);
}

/** Returns the functions by which shards read the log, and those that receive their results and commits. */
export function logServices(
  { journal, cluster }: ShardLogWiring,
  { watermarks, floor }: Committed,
  documents: Pick<Documents, "deliver">,
): HubLogServices {
  return {
    read: (after, signal) => adapters.readDocs(journal, after, signal),
    oldest: async () => {
      if (await cluster.hasOthers()) throw new AppError("data_corrupt", DAMAGED);
      return adapters.oldestDoc(journal);
    },
    // A write is answered by the shards of the hub that received it, so that a read there finds it. If copies are placed and
    // that hub lacks the shard, the hubs that have it answer.
    reply: (subject, data) => {
      if (!documents.deliver(subject, data) && cluster.copies.isPlaced) journal.core.publish(subject, data);
    },
    deadLetter: (message, reason) => adapters.keepDocMessage(journal, message, reason),
    onCommitted: (position) => {
      floor.committed(position);
      watermarks.committed(cluster.committed(position));
    },
  };
}
