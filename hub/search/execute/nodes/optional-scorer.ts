/** The scorer of should beside must: optional conditions only raise scores. */

import { Scorer } from "#hub/search/query/scorer.ts";

/** A required scorer whose score grows if an optional one matches too. */
export class OptionalScorer extends Scorer {
  readonly cost: number;
  override readonly isApproximate: boolean;
  readonly #required: Scorer;
  readonly #optional: Scorer;

  constructor(required: Scorer, optional: Scorer) {
    super();
    this.#required = required;
    this.#optional = optional;
    this.cost = required.cost;
    this.isApproximate = required.isApproximate;
  }

  next(): number {
    return (this.doc = this.#required.next());
  }

  advance(target: number): number {
    return (this.doc = this.#required.advance(target));
  }

  override seek(target: number): number {
    return (this.doc = this.#required.seek(target));
  }

  override matches(): boolean {
    return this.#required.matches();
  }

  score(): number {
    const score = this.#required.score();
    return this.#optional.has(this.doc) ? Math.fround(score + this.#optional.score()) : score;
  }
}
