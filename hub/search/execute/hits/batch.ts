/** A batch of matching documents, ascending, with their scores. */

import { COLUMN_BLOCK, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { NO_MORE_DOCS } from "#hub/search/query/query.ts";
import type { Scorer } from "#hub/search/query/scorer.ts";

/** Maximum number of documents of a batch: those of a column block. */
export const BATCH = COLUMN_BLOCK;

export class Batch {
  readonly docs: Int32Array;
  /** Null if they weren't requested. */
  readonly scores: Float32Array | null;
  /** Documents of the batch. */
  length = 0;

  /** `segments`: those that it takes documents of; small segments need small buffers. */
  constructor(withScores: boolean, segments: readonly SegmentReader[]) {
    const most = Math.min(BATCH, Math.max(1, ...segments.map(({ docCount }) => docCount)));
    this.docs = new Int32Array(most);
    this.scores = withScores ? new Float32Array(most) : null;
  }

  /** Takes the next documents, or none if they take long to find; false after the last. */
  take(scorer: Scorer): boolean {
    this.length = scorer.fill(this.docs, this.scores);
    return this.length > 0 || scorer.doc !== NO_MORE_DOCS;
  }

  /** Takes the document at which the scorer is, if it matches. */
  takeCurrent(scorer: Scorer): void {
    this.length = 0;
    if (scorer.matches()) this.#add(scorer);
  }

  /** Takes the documents of a column block, which isn't before the scorer. */
  takeBlock(scorer: Scorer, block: number): void {
    const from = block * COLUMN_BLOCK;
    const end = from + COLUMN_BLOCK;
    this.length = 0;
    let doc = scorer.doc >= from ? scorer.doc : scorer.seek(from);
    for (; doc < end; doc = scorer.isApproximate ? scorer.seek(doc + 1) : scorer.next())
      if (scorer.matches()) this.#add(scorer);
  }

  /** Drops the documents that are deleted. */
  keepLive({ liveDocs }: SegmentReader): void {
    if (liveDocs === null) return;
    let kept = 0;
    for (let at = 0; at < this.length; at++) if (liveDocs.has(this.docs[at]!)) this.#move(at, kept++);
    this.length = kept;
  }

  /** Drops the documents of some column blocks. */
  dropBlocks(blocks: ReadonlySet<number>): void {
    let kept = 0;
    for (let at = 0; at < this.length; at++)
      if (!blocks.has(Math.floor(this.docs[at]! / COLUMN_BLOCK))) this.#move(at, kept++);
    this.length = kept;
  }

  /** Drops the documents that score below `least`. */
  keepScored(least: number): void {
    if (this.scores === null) return;
    let kept = 0;
    for (let at = 0; at < this.length; at++) if (this.scores[at]! >= least) this.#move(at, kept++);
    this.length = kept;
  }

  /** Drops the documents that a scorer, which walks as the batches do, doesn't have; null has none. */
  keepFound(scorer: Scorer | null): void {
    let kept = 0;
    for (let at = 0; scorer !== null && at < this.length; at++) {
      if (scorer.has(this.docs[at]!)) this.#move(at, kept++);
    }
    this.length = kept;
  }

  /** Best score; -Infinity of no documents, or without scores. */
  maxScore(): number {
    let best = Number.NEGATIVE_INFINITY;
    for (let at = 0; this.scores !== null && at < this.length; at++)
      if (this.scores[at]! > best) best = this.scores[at]!;
    return best;
  }

  #add(scorer: Scorer): void {
    this.docs[this.length] = scorer.doc;
    if (this.scores !== null) this.scores[this.length] = scorer.score();
    this.length++;
  }

  #move(from: number, to: number): void {
    this.docs[to] = this.docs[from]!;
    if (this.scores !== null) this.scores[to] = this.scores[from]!;
  }
}
