/** Which part of RAW is done with: processed, and its documents committed. */

import { comparePositions, type Position, START } from "#proto/position.ts";

interface Waiting {
  readonly raw: Position;
  /** Documents of `raw` and before lie at or before this place in DOC. */
  readonly doc: Position;
}

/** Joins the pipeline's progress in RAW with the shards' progress in DOC. */
export class ProcessedFloor {
  #waiting: Waiting | undefined;
  #done: Position = START;
  #committed: Position = START;

  /** Place in DOC up to which the shards have committed. */
  get position(): Position {
    return this.#committed;
  }

  committed(position: Position): void {
    this.#committed = position;
  }

  /** Returns the place in RAW that is done with. `raw`: processed up to here; `doc`: the last document written so far. */
  advance(raw: Position, doc: Position): Position {
    if (this.#waiting !== undefined && comparePositions(this.#waiting.doc, this.#committed) <= 0) {
      this.#done = this.#waiting.raw;
      this.#waiting = undefined;
    }
    this.#waiting ??= { raw, doc };
    return this.#done;
  }
}
