import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_MORE_DOCS } from "#hub/search/query/query.ts";
import { SkippingScorer } from "./skipping-scorer.ts";

/** Windows of ten documents, each with its largest score. */
class Windows extends SkippingScorer {
  readonly cost = 1;
  readonly #largest: readonly number[];
  asked = 0;

  constructor(largest: readonly number[]) {
    super();
    this.#largest = largest;
  }

  next(): number {
    return this.advance(this.doc + 1);
  }

  advance(target: number): number {
    return (this.doc = this.firstUseful(target));
  }

  score(): number {
    return this.#largest[Math.floor(this.doc / 10)] ?? 0;
  }

  override maxScoreFrom(target: number): number {
    this.asked++;
    const window = Math.floor(target / 10);
    this.impactEnd = window >= this.#largest.length - 1 ? NO_MORE_DOCS : window * 10 + 9;
    return this.#largest[window] ?? 0;
  }
}

test("a window whose documents all score too little is skipped at once", () => {
  const scorer = new Windows([1, 1, 3, 1]);
  scorer.setMinScore(2);
  assert.equal(scorer.advance(4), 20);
  assert.equal(scorer.asked, 3);
});

test("a window with a document that may be needed is looked at once", () => {
  const scorer = new Windows([3, 1]);
  scorer.setMinScore(2);
  assert.deepEqual([scorer.next(), scorer.next(), scorer.next(), scorer.asked], [0, 1, 2, 1]);
});

test("no document is left where the rest scores too little", () => {
  const scorer = new Windows([3, 1]);
  scorer.setMinScore(3);
  assert.equal(scorer.next(), NO_MORE_DOCS);
});
