/**
 * What a hub does when DOC was lost or rolled back: documents that cursors count as written, and shards haven't, are made
 * again from RAW and from what agents resend.
 */

import type { Watermarks } from "#hub/fleet/watermarks.ts";
import type { Journal } from "#hub/journal/journal.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import { DOC_STREAM } from "#proto/subjects.ts";
import type { LogFindings } from "./journal-adapters.ts";

type LostLog = Pick<Journal, "incarnation" | "positionOf">;

/**
 * Returns the findings about a log of which shards have `committed`: it counts as lost if a newer incarnation has begun since,
 * whichever hub began it. Of the earlier ones the stream may still have messages.
 */
export function findingsOf(journal: LostLog, committed: Position): LogFindings {
  const { incarnation, firstSequence } = journal.incarnation(DOC_STREAM);
  if (committed.incarnation === START.incarnation || committed.incarnation >= incarnation)
    return { docLost: false, survived: committed };
  const kept = journal.positionOf(DOC_STREAM, firstSequence - 1);
  const isKept = kept.incarnation < incarnation && comparePositions(kept, committed) > 0;
  return { docLost: true, survived: isKept ? kept : committed };
}

export interface LossWiring {
  readonly journal: LostLog & Pick<Journal, "onIncarnation">;
  readonly watermarks: Pick<Watermarks, "lost">;
  readonly pipelines: { resume(): Promise<void> };
  /** Position in DOC that all live hubs have committed. */
  readonly committed: () => Position;
  /** Takes the findings by which cursors are resumed. */
  readonly found: (findings: LogFindings) => void;
  readonly log: Logger;
}

/** Follows losses while the hub runs. */
export function followLosses({ journal, watermarks, pipelines, committed, found, log }: LossWiring): void {
  journal.onIncarnation((stream) => {
    if (stream !== DOC_STREAM) return;
    // Documents that a shard has applied and not committed count as lost: it drops those that it still has.
    const { survived } = findingsOf(journal, committed());
    found({ docLost: true, survived });
    watermarks.lost(survived);
    pipelines.resume().catch((error: unknown) => {
      const err = toAppError(error);
      if (err.code === "closed") return;
      log.error({ err }, "documents that the log has lost can't be made again now; restart the hub");
    });
  });
}
