/** What scorers share that skip windows of documents by the largest score in them (block-max: Ding, Suel, SIGIR 2011). */

import { NO_MORE_DOCS } from "#hub/search/query/query.ts";
import { Scorer } from "#hub/search/query/scorer.ts";

/** A scorer that needs no document which can't score above a bound. */
export abstract class SkippingScorer extends Scorer {
  /** Documents must score above it; 0: all are needed. */
  protected minScore = 0;
  /** Documents up to it may score above `minScore`. */
  protected usefulUntil = -1;

  override setMinScore(score: number): void {
    this.minScore = score;
  }

  /** Returns the first document at or after `from` that may score above `minScore`; NO_MORE_DOCS if none does. */
  protected firstUseful(from: number): number {
    let target = from;
    while (target > this.usefulUntil && target < NO_MORE_DOCS) {
      if (this.maxScoreFrom(target) > this.minScore) {
        this.usefulUntil = this.impactEnd;
        return target;
      }
      target = this.impactEnd >= NO_MORE_DOCS - 1 ? NO_MORE_DOCS : this.impactEnd + 1;
    }
    return target;
  }
}
