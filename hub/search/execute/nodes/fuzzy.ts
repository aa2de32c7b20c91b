/**
 * Matches documents with a term within a few edits of a given one. The terms score like TopTermsBlendedFreqScoringRewrite
 * of Lucene: the fewer edits the more, all with the document frequency of the most frequent one.
 */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { editsFrom } from "#hub/search/patterns/edit-distance.ts";
import type {
  HighlightSink,
  Query,
  QueryDescription,
  ScoreMode,
  ShardContext,
  Weight,
} from "#hub/search/query/query.ts";
import type { Scorer } from "#hub/search/query/scorer.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { TermListNode } from "./any-term.ts";
import { BooleanNode } from "./boolean.ts";
import { NoneNode } from "./documents.ts";
import { TermNode } from "./term.ts";
import { BoostNode } from "./wrapped-query.ts";

export interface FuzzyOptions {
  readonly edits: number;
  /** Leading characters that no edit may change. */
  readonly prefixLength: number;
  /** Maximum number of similar terms; terms with the fewest edits come first. */
  readonly maxExpansions: number;
  /** Whether two transposed letters are one edit; else two. */
  readonly transpositions: boolean;
}

/** Terms of a dictionary that are compared between two pauses. */
const STEP_TERMS = 256;

interface SimilarTerm {
  readonly text: string;
  /** 1 for the term itself, less with each edit. */
  readonly boost: number;
}

export class FuzzyNode implements Query {
  readonly field: string;
  readonly #term: string;
  readonly #options: FuzzyOptions;

  constructor(field: string, term: string, options: FuzzyOptions) {
    this.field = field;
    this.#term = term;
    this.#options = options;
  }

  /** Throws query_shard if the cluster refuses such queries. */
  checkCost(shard: ShardContext): void {
    shard.checkExpensive("[fuzzy] queries");
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    this.checkCost(shard);
    return new FuzzyWeight(this.expand(shard), (terms) => this.#bound(terms, shard, mode));
  }

  describe(): QueryDescription {
    return { type: "FuzzyQuery", text: `${this.field}:${this.#term}~${this.#options.edits}` };
  }

  highlight(sink: HighlightSink): void {
    const edits = editsFrom(this.#term, this.#options.edits, this.#options.transpositions);
    sink.pattern(this.field, (text) => edits(text) <= this.#options.edits);
  }

  /** Finds the similar terms of all segments, in steps. */
  *expand(shard: ShardContext): Generator<void, SimilarTerm[]> {
    shard.requireOne(); // the nearest terms of each shard
    const { edits: limit, prefixLength, maxExpansions, transpositions } = this.#options;
    const wanted = Array.from(this.#term);
    const edits = editsFrom(this.#term, limit, transpositions);
    const prefix = wanted.slice(0, prefixLength).join("");
    const found = new Map<string, number>();
    let compared = 0;
    for (const segment of shard.searcher.segments) {
      const terms = segment.terms(this.field)?.prefix(prefix);
      for (;;) {
        while (terms?.approach() === false) yield;
        if (terms?.next() !== true) break;
        const text = terms.text();
        const distance = edits(text);
        if (distance <= limit) found.set(text, boostOf(distance, wanted.length, text));
        if (++compared % STEP_TERMS === 0) yield;
      }
    }
    return Array.from(found, ([text, boost]) => ({ text, boost }))
      .sort((a, b) => b.boost - a.boost || (a.text < b.text ? -1 : 1))
      .slice(0, maxExpansions);
  }

  #bound(terms: readonly SimilarTerm[], shard: ShardContext, mode: ScoreMode): Weight {
    if (terms.length === 0) return new NoneNode().weight();
    shard.chargeExpansions(terms.length);
    if (!mode.scores) {
      const texts = terms.map(({ text }) => text);
      return new TermListNode(this.field, texts).weight(shard, mode);
    }
    const docFreq = Math.max(...terms.map(({ text }) => shard.docFreq(this.field, text)));
    const should = terms.map(
      ({ text, boost }) => new BoostNode(new TermNode(this.field, text, () => docFreq), boost),
    );
    return (should.length === 1 ? should[0]! : new BooleanNode({ should })).weight(shard, mode);
  }
}

/** The similarity of a term of `length` characters and one that differs by some edits. */
function boostOf(edits: number, length: number, text: string): number {
  return Math.fround(1 - edits / Math.min(length, Array.from(text).length));
}

/** A weight that is bound once its terms are found: with pauses in `prepare`, else at its first use. */
class FuzzyWeight implements Weight {
  readonly #expansion: Generator<void, SimilarTerm[]>;
  readonly #bind: (terms: readonly SimilarTerm[]) => Weight;
  #bound: Weight | undefined;

  constructor(expansion: Generator<void, SimilarTerm[]>, bind: (terms: readonly SimilarTerm[]) => Weight) {
    this.#expansion = expansion;
    this.#bind = bind;
  }

  scorer(segment: SegmentReader): Scorer | null {
    return this.#ready().scorer(segment);
  }

  count(segment: SegmentReader): number {
    return this.#ready().count(segment);
  }

  async prepare(segment: SegmentReader, control: SearchControl): Promise<void> {
    while (this.#bound === undefined) {
      if (this.#step()) break;
      if (control.isDue) await control.pause();
      if (control.timedOut) return;
    }
    await this.#bound?.prepare?.(segment, control);
  }

  #ready(): Weight {
    while (this.#bound === undefined) this.#step();
    return this.#bound;
  }

  /** Returns true if the weight is bound. */
  #step(): boolean {
    const step = this.#expansion.next();
    if (step.done === true) this.#bound = this.#bind(step.value);
    return step.done === true;
  }
}
