/** The nested objects of a segment's documents by which these are sorted. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { JoinedSegment } from "#hub/search/query/nested-scope.ts";

export class NestedObjects {
  readonly #joined: JoinedSegment;
  readonly #allowed: Bitset | undefined;
  readonly #maxChildren: number;

  /** `allowed`: those that fit the filter; undefined: all. `maxChildren`: so many of a document count at most. */
  constructor(joined: JoinedSegment, allowed: Bitset | undefined, maxChildren: number) {
    this.#joined = joined;
    this.#allowed = allowed;
    this.#maxChildren = maxChildren;
  }

  /** Calls `take` with the objects of a document. */
  each(doc: number, take: (object: number) => void): void {
    const { starts } = this.#joined;
    let left = this.#maxChildren;
    for (let object = starts[doc]!; object < starts[doc + 1]! && left > 0; object++) {
      if (this.#allowed?.has(object) === false) continue;
      left--;
      take(object);
    }
  }
}
