/**
 * Losses of DOC: the stream was recreated or set back, so that documents are gone that pipelines count as written. They
 * are reproduced from RAW and from what agents send again; shards drop those that they have.
 *
 * Each loss begins an incarnation of DOC. What counts documents as written (a cursor, a floor, a range of a file that waits
 * until the shards have committed it) carries the incarnation that DOC had when its session loaded the cursors. What it
 * covers has survived a later incarnation if all live hubs had committed it before, or the stream still has it.
 *
 * | what is known | what is done | what can go wrong |
 * |---|---|---|
 * | a cursor that is loaded carries DOC's newest incarnation | it counts | – |
 * | it carries an older one, and its documents have survived | it counts, and is stored with the newest incarnation before RAW is read | the hub ends before it is stored: the next load compares it again |
 * | it carries an older one, and documents were lost | it is reset: the partition is processed from the oldest message of RAW, and its files' ranges are forgotten. That is stored before RAW is read | outputs get once more what RAW still has; the hub ends before it is stored: as above |
 * | a hub has committed messages of the newer incarnation; what it had before isn't known | only what the stream still has counts as survived | more is reproduced than was lost |
 * | a loss was found while the hub runs | the session ends and the next one loads its cursors. The cursors that the old one stores carry the older incarnation, wherever it writes documents meanwhile | a cursor names a document of the new incarnation, and covers lost ones: it is reset |
 * | a session of before the loss still runs, or the next one can't begin | RAW isn't purged; it is tried again | RAW fills, and senders must wait |
 * | a range of a file is about to be released, and its documents were lost | the agent keeps it until it was processed again | – |
 * | a partition is taken over, from a hub that ran or died, before or after the loss | its cursor is compared when it is loaded, as above | – |
 * | a floor that is loaded covers documents that were lost | it doesn't count | partitions without a cursor are read from an earlier floor, or the oldest message of RAW |
 * | a cursor or floor carries no incarnation: a version before stored it | it was compared with the incarnation of its last document | that version stored it during a loss that it didn't notice: lost documents of it stay lost |
 */

import type { Journal } from "#hub/journal/journal.ts";
import type { DocLosses, WrittenDocuments } from "#hub/pipeline/runtime/ports.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import { DOC_STREAM } from "#proto/subjects.ts";

/** More losses than a hub sees while it runs. */
const MAX_NOTED = 64;

export interface LossOptions {
  readonly journal: Pick<Journal, "incarnation" | "positionOf" | "sequenceAt">;
  /**
   * Returns the position in DOC that all live hubs have committed; START where one of them has committed messages of a later
   * incarnation than `incarnation`, so that what it had before isn't known.
   */
  readonly committed: (incarnation: number) => Position;
}

export class LogLosses implements DocLosses {
  readonly #options: LossOptions;
  /** What was committed when this hub found each loss, the last one last. */
  readonly #committed: Position[] = [];

  constructor(options: LossOptions) {
    this.#options = options;
  }

  get incarnation(): number {
    return this.#options.journal.incarnation(DOC_STREAM).incarnation;
  }

  /** Records what is committed at a loss, before the shards commit messages of the new incarnation. */
  found(): void {
    this.#committed.push(this.#options.committed(this.incarnation - 1));
    if (this.#committed.length > MAX_NOTED) this.#committed.shift();
  }

  survives({ docPosition, docIncarnation }: WrittenDocuments): boolean {
    if (docIncarnation >= this.incarnation || comparePositions(docPosition, START) <= 0) return true;
    const survived = [
      ...this.#committed,
      this.#options.committed(docIncarnation),
      this.#kept(docIncarnation),
    ];
    return survived.some(
      (position) => position.incarnation <= docIncarnation && comparePositions(docPosition, position) <= 0,
    );
  }

  /** Returns the position before the first message after `incarnation`, whose predecessors the stream had at each later loss. */
  #kept(incarnation: number): Position {
    const { journal } = this.#options;
    const end = journal.sequenceAt(DOC_STREAM, { incarnation, sequence: Number.MAX_SAFE_INTEGER - 1 });
    return journal.positionOf(DOC_STREAM, end);
  }
}

export interface LossWiring {
  readonly journal: Pick<Journal, "onIncarnation">;
  readonly losses: Pick<LogLosses, "found">;
  readonly pipelines: { resume(): Promise<void> };
}

/** Follows losses while the hub runs. */
export function followLosses({ journal, losses, pipelines }: LossWiring): void {
  journal.onIncarnation((stream) => {
    if (stream !== DOC_STREAM) return;
    losses.found();
    // Tries until it succeeds, or the hub stops.
    void pipelines.resume();
  });
}
