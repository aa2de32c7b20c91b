/**
 * How many documents aggregations get at a time: parts of a block if a block takes long, so that other work gets the
 * thread.
 */

import { COLUMN_BLOCK } from "#hub/engine/searcher/searcher.ts";
import type { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";

/** Time that aggregations should have the thread for at a time, ms: other work waits for its end. */
const STEP_MS = 1;
/** Time for one block from which on aggregations get parts of blocks, ms, and the smallest part, in documents. */
const SLOW_BLOCK_MS = 2;
const SMALLEST_PART = 8;
/** Documents at a time if each may fall into thousands of buckets. */
const COSTLY_PART = 32;

export class PacedParts {
  readonly #control: SearchControl;
  readonly #budget: CollectBudget;
  /** Documents, at most. */
  #part = COLUMN_BLOCK;

  constructor(control: SearchControl, budget: CollectBudget) {
    this.#control = control;
    this.#budget = budget;
  }

  /** True: blocks are too large, and come by `collect`. */
  get areNeeded(): boolean {
    return this.#part < COLUMN_BLOCK;
  }

  /** Begins a segment: what a document may cost is known by now. */
  begin(): void {
    this.#part = Math.min(this.#part, this.#largest);
  }

  /** Gives `blocks` whole blocks to aggregations by `collect`; if one takes long, the next come in parts. */
  timed(blocks: number, collect: () => void): void {
    const startMs = performance.now();
    collect();
    if (performance.now() - startMs > SLOW_BLOCK_MS * blocks) this.#part = COLUMN_BLOCK >>> 3;
  }

  /** Gives the first `length` of `docs` to aggregations in parts, with pauses; ends early at the search's timeout. */
  async collect(docs: Int32Array, length: number, collect: (part: Int32Array) => void): Promise<void> {
    for (let from = 0; from < length; ) {
      const part = docs.subarray(from, Math.min(length, from + this.#part));
      const startMs = performance.now();
      collect(part);
      from += part.length;
      this.#part = nextSize(this.#part, performance.now() - startMs, SMALLEST_PART, this.#largest);
      if (!this.#control.isDue) continue;
      await this.#control.pause();
      if (this.#control.timedOut) return;
    }
  }

  get #largest(): number {
    return this.#budget.isCostly ? COSTLY_PART : COLUMN_BLOCK;
  }
}

/** Returns how much to take next, after `size` took `tookMs`, so that a step takes about STEP_MS. */
export function nextSize(size: number, tookMs: number, least: number, most: number): number {
  if (tookMs > STEP_MS) return Math.max(least, size >>> 1);
  return tookMs > STEP_MS / 2 ? Math.min(most, size) : Math.min(most, 2 * size);
}
