/** Documents that at least some of several scorers have, found a window of documents at a time. */

import { NO_MORE_DOCS, Scorer } from "../query.ts";

/** Documents of a window: its arrays stay in the processor's cache. */
const WINDOW = 2048;

/** Adds up the scores of those that match, or takes the best with a share of the others. */
export class DisjunctionScorer extends Scorer {
  readonly cost: number;
  readonly #parts: readonly Scorer[];
  readonly #minimum: number;
  readonly #docCount: number;
  readonly #scores: boolean;
  /** Share of the scores below the best one; undefined: all are added. */
  readonly #tieBreaker: number | undefined;
  readonly #sum = new Float64Array(WINDOW);
  readonly #best = new Float64Array(WINDOW);
  readonly #matches = new Uint16Array(WINDOW);
  #base = 0;
  #end = 0;

  constructor(
    parts: readonly Scorer[],
    minimum: number,
    docCount: number,
    scores: boolean,
    tieBreaker?: number,
  ) {
    super();
    this.#parts = parts;
    this.#minimum = minimum;
    this.#docCount = docCount;
    this.#scores = scores;
    this.#tieBreaker = tieBreaker;
    this.cost = parts.reduce((total, part) => total + part.cost, 0);
  }

  next(): number {
    return this.doc === NO_MORE_DOCS ? NO_MORE_DOCS : this.advance(this.doc + 1);
  }

  advance(target: number): number {
    let from = target;
    while (from < this.#docCount) {
      if (from >= this.#end && !this.#open(from)) break;
      if (from < this.#base) from = this.#base;
      for (let slot = from - this.#base; slot < this.#end - this.#base; slot++) {
        if (this.#matches[slot]! >= this.#minimum) return (this.doc = this.#base + slot);
      }
      from = this.#end;
    }
    return (this.doc = NO_MORE_DOCS);
  }

  score(): number {
    const slot = this.doc - this.#base;
    const sum = this.#sum[slot]!;
    if (this.#tieBreaker === undefined) return Math.fround(sum);
    const best = this.#best[slot]!;
    return Math.fround(best + this.#tieBreaker * (sum - best));
  }

  /** Gathers the window that begins with the first document at or behind `from`; false where there is none. */
  #open(from: number): boolean {
    let first = NO_MORE_DOCS;
    for (const part of this.#parts) {
      const doc = part.doc < from ? part.advance(from) : part.doc;
      if (doc < first) first = doc;
    }
    if (first === NO_MORE_DOCS) return false;
    this.#base = first;
    this.#end = Math.min(first + WINDOW, this.#docCount);
    this.#matches.fill(0);
    if (this.#scores) {
      this.#sum.fill(0);
      this.#best.fill(0);
    }
    for (const part of this.#parts) this.#gather(part);
    return true;
  }

  #gather(part: Scorer): void {
    const base = this.#base;
    const end = this.#end;
    for (let doc = part.doc; doc < end; doc = part.next()) {
      const slot = doc - base;
      this.#matches[slot]!++;
      if (!this.#scores) continue;
      const score = part.score();
      this.#sum[slot]! += score;
      if (score > this.#best[slot]!) this.#best[slot] = score;
    }
  }
}
