/** The part of RAW that is no longer needed: processed, with its documents committed. */

import { comparePositions, type Position, START } from "#proto/position.ts";

interface Waiting {
  readonly raw: Position;
  /** Documents of `raw` and before are at or before this position in DOC. */
  readonly doc: Position;
}

/** Joins the pipeline's progress in RAW with the shards' progress in DOC. */
export class ProcessedFloor {
  #waiting: Waiting | undefined;
  #done: Position = START;
  #committed: Position = START;

  /** Position in DOC up to which the shards have committed. */
  get position(): Position {
    return this.#committed;
  }

  committed(position: Position): void {
    this.#committed = position;
  }

  /**
   * Returns the position in RAW up to which everything is done. `raw`: processed up to here; `doc`: the last document
   * written so far.
   */
  advance(raw: Position, doc: Position): Position {
    if (this.#waiting !== undefined && comparePositions(this.#waiting.doc, this.#committed) <= 0) {
      this.#done = this.#waiting.raw;
      this.#waiting = undefined;
    }
    this.#waiting ??= { raw, doc };
    return this.#done;
  }
}
