/** A span query: matches documents with spans, scored by BM25 with a narrower span counting for more. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { inSteps } from "#hub/search/execute/nodes/documents.ts";
import { similarityOf } from "#hub/search/execute/nodes/term.ts";
import { explainBm25, noMatch } from "#hub/search/explain/explanation.ts";
import type {
  DocumentLocation,
  Explanation,
  HighlightSink,
  Query,
  QueryDescription,
  ScoreMode,
  ShardContext,
  Weight,
} from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import type { Bm25 } from "#hub/search/scoring/bm25.ts";
import type { Intervals } from "./algebra.ts";
import { type IntervalScore, type IntervalScorer, IntervalWeight } from "./interval-node.ts";
import { markIntervals } from "./marked-tokens.ts";
import type { IntervalSource } from "./source.ts";

/** A span query bound to a shard. */
export interface BoundSpan {
  /** Path of the field that the spans count as one of. */
  readonly field: string;
  /** Path of the field by whose lengths the query alone is scored. */
  readonly scoredField: string;
  /** In Lucene's words: `spanOr([text:a, text:b])`. */
  readonly text: string;
  readonly source: IntervalSource;
}

export class SpanNode implements Query {
  readonly #type: string;
  readonly #bind: (shard: ShardContext) => BoundSpan;

  /** `type`: the class in Lucene; `bind` throws query_shard. */
  constructor(type: string, bind: (shard: ShardContext) => BoundSpan) {
    this.#type = type;
    this.#bind = bind;
  }

  /** Returns the spans in a shard. Throws query_shard if the mapping doesn't allow it. */
  bind(shard: ShardContext): BoundSpan {
    return this.#bind(shard);
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    return new SpanWeight(this.#bind(shard), shard, mode);
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    markIntervals(this.#bind(shard).source, sink, shard);
  }

  describe(shard: ShardContext): QueryDescription {
    return { type: this.#type, text: this.#bind(shard).text };
  }

  explain(place: DocumentLocation): Explanation {
    const { shard, segment, doc } = place;
    const bound = this.#bind(shard);
    const weight = new SpanWeight(bound, shard, { scores: true, boost: 1 });
    const scorer = weight.scorer(segment);
    if (scorer === null || scorer.advance(doc) !== doc) return noMatch("no matching term");
    const freq = frequencyOf(scorer.intervals);
    const { scoredField: field, text } = bound;
    return explainBm25({ field, terms: weight.terms, text, freq, counted: "phraseFreq" }, place);
  }
}

/** Occurrences, of which one with a width counts as a part of 1. */
function frequencyOf(spans: Intervals): number {
  let frequency = 0;
  for (const { gaps } of spans) frequency += 1 / (1 + gaps);
  return Math.fround(frequency);
}

/** The scores need all terms of the shard: patterns are expanded in `prepare`, else when a scorer is made. */
class SpanWeight extends IntervalWeight {
  readonly #bound: BoundSpan;
  readonly #expansion: Generator<void, readonly string[]>;
  #terms: readonly string[] | undefined;

  constructor(bound: BoundSpan, shard: ShardContext, { scores, boost }: ScoreMode) {
    let similarity: Bm25 | undefined;
    super(bound.source, shard, (segment): IntervalScore => {
      if (!scores) return () => 0;
      similarity ??= similarityOf(shard, bound.scoredField, this.terms, boost);
      const [bm25, norms] = [similarity, segment.norms(bound.scoredField)];
      return (found, doc) => bm25.score(frequencyOf(found), norms?.[doc] ?? 0);
    });
    this.#bound = bound;
    this.#expansion = this.#expand();
    if (!scores) this.#terms = [];
  }

  /** All terms that the spans may have. */
  get terms(): readonly string[] {
    while (this.#terms === undefined) {
      const step = this.#expansion.next();
      if (step.done === true) this.#terms = step.value;
    }
    return this.#terms;
  }

  override async prepare(segment: SegmentReader, control: SearchControl): Promise<void> {
    await super.prepare(segment, control);
    this.#terms ??= await inSteps(this.#expansion, control);
  }

  override scorer(segment: SegmentReader): IntervalScorer | null {
    return super.scorer(segment);
  }

  *#expand(): Generator<void, readonly string[]> {
    const all = new Set<string>();
    for (const leaf of this.#bound.source.leaves) {
      const terms = leaf.terms();
      for (const term of "next" in terms ? yield* terms : terms) all.add(term);
    }
    return [...all];
  }
}
