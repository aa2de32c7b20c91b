/** Matches documents by required, optional, filtering and excluded queries. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { describeQuery, explainQuery, match, noMatch } from "#hub/search/explain/explanation.ts";
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
import type { Scorer } from "#hub/search/query/scorer.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { conjunction } from "./conjunction.ts";
import { DisjunctionScorer } from "./disjunction.ts";
import { AllNode } from "./documents.ts";
import { ExcludingScorer } from "./excluding-scorer.ts";
import { OptionalScorer } from "./optional-scorer.ts";
import { countLive, intersect, prepareAll, unite } from "./set-algebra.ts";

/** Choices without a set of their own that are united to one set at most. */
const MAX_WALKED = 8;

export interface Clauses {
  readonly must: readonly Query[];
  readonly filter: readonly Query[];
  readonly should: readonly Query[];
  readonly mustNot: readonly Query[];
  /** Returns how many of `should` must match, given their number; undefined: one without must and filter. */
  readonly minimumShouldMatch?: (clauses: number) => number;
}

/** A tree of conditions; the score is the sum of the scores of `must` and `should`. */
export class BooleanNode implements Query {
  readonly #clauses: Clauses;

  constructor(clauses: Partial<Clauses>) {
    this.#clauses = { must: [], filter: [], should: [], mustNot: [], ...clauses };
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    return new BooleanWeight(this.#clauses, shard, mode);
  }

  canMatch(shard: ShardContext): boolean {
    const { must, filter, should } = this.#clauses;
    const may = (query: Query): boolean => query.canMatch?.(shard) ?? true;
    return [...must, ...filter].every(may) && (leastShould(this.#clauses) === 0 || should.some(may));
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    const { must, filter, should } = this.#clauses;
    for (const query of [...must, ...filter, ...should]) query.highlight?.(sink, shard);
  }

  describe(shard: ShardContext): QueryDescription {
    return describeClauses(this.#clauses, shard);
  }

  explain(place: DocumentLocation): Explanation {
    return explainClauses(this.#clauses, leastShould(this.#clauses), place);
  }
}

/** How many of `should` a document has to match: one at least if nothing else is required. */
function leastShould({ must, filter, should, minimumShouldMatch }: Clauses): number {
  const implied = must.length + filter.length === 0 && should.length > 0 ? 1 : 0;
  return Math.max(implied, minimumShouldMatch?.(should.length) ?? implied);
}

/** Returns a query that matches any of `queries`; a single query is returned unchanged. */
export function anyOf(queries: readonly Query[]): Query {
  return queries.length === 1 ? queries[0]! : new BooleanNode({ should: queries });
}

class BooleanWeight implements Weight {
  readonly #scores: boolean;
  readonly #must: readonly Weight[];
  readonly #filter: readonly Weight[];
  readonly #should: readonly Weight[];
  readonly #mustNot: readonly Weight[];
  readonly #minimum: number;
  readonly key: string | undefined;

  constructor(clauses: Clauses, shard: ShardContext, mode: ScoreMode) {
    const silent: ScoreMode = { scores: false, boost: 1 };
    const bind = (queries: readonly Query[], how: ScoreMode): Weight[] =>
      queries.map((each) => each.weight(shard, how));
    this.#scores = mode.scores;
    this.#must = bind(clauses.must, mode);
    this.#filter = bind(clauses.filter, silent);
    this.#should = bind(clauses.should, mode);
    this.#mustNot = bind(clauses.mustNot, silent);
    const required = this.#must.length + this.#filter.length;
    if (required + this.#should.length === 0) this.#must = [new AllNode().weight(shard, mode)];
    this.#minimum = leastShould(clauses);
    const keys = [
      [...this.#must, ...this.#filter].map((weight) => weight.key),
      this.#minimum > 0 ? this.#should.map((weight) => weight.key) : [],
      this.#mustNot.map((weight) => weight.key),
    ];
    this.key = keys.flat().includes(undefined)
      ? undefined
      : `bool ${JSON.stringify([this.#minimum, ...keys])}`;
  }

  scorer(segment: SegmentReader): Scorer | null {
    const must = scorers(this.#must, segment);
    const filter = scorers(this.#filter, segment);
    if (must === null || filter === null) return null;
    const should = this.#shouldScorer(segment);
    if (should === null && this.#minimum > 0) return null;
    const required = [
      ...must.map((scorer) => ({ scorer, scores: true })),
      ...filter.map((scorer) => ({ scorer, scores: false })),
    ];
    if (should !== null && this.#minimum > 0) required.push({ scorer: should, scores: true });
    let found = required.length === 0 ? should : conjunction(required);
    if (found === null) return null;
    if (should !== null && this.#minimum === 0 && required.length > 0 && this.#scores) {
      found = new OptionalScorer(found, should);
    }
    const forbidden = this.#mustNot.map((weight) => weight.scorer(segment)).filter((each) => each !== null);
    return forbidden.length === 0 ? found : new ExcludingScorer(found, forbidden);
  }

  async prepare(segment: SegmentReader, control: SearchControl): Promise<void> {
    const required = [...this.#must, ...this.#filter];
    if (required.some((weight) => weight.cost?.(segment) === 0)) return;
    await prepareAll([...required, ...this.#should, ...this.#mustNot], segment, control);
  }

  count(segment: SegmentReader): number {
    if (this.#isWide) return -1;
    const all = [...this.#must, ...this.#filter];
    if (all.length === 1 && this.#should.length + this.#mustNot.length === 0) return all[0]!.count(segment);
    const set = this.set(segment);
    return set === undefined ? -1 : countLive(set, segment);
  }

  get isDear(): boolean {
    const all = [...this.#must, ...this.#filter, ...this.#should, ...this.#mustNot];
    return all.some((weight) => weight.isDear === true);
  }

  /** True if uniting the choices would walk each of them in one step: a scorer over all of them can be left between batches. */
  get #isWide(): boolean {
    return (
      this.key === undefined &&
      this.#should.length > MAX_WALKED &&
      this.#should.some((weight) => weight.set === undefined)
    );
  }

  set(segment: SegmentReader): Bitset | null | undefined {
    if (this.#minimum > 1 || this.#isWide || this.isDear) return undefined;
    const required = [...this.#must, ...this.#filter];
    const hasChoice = this.#minimum === 1 && this.#should.length > 0;
    if (!hasChoice && this.#mustNot.length === 0) {
      if (required.length === 1) return required[0]!.set?.(segment);
    } else if (required.some((weight) => weight.set === undefined)) return undefined;
    if (this.key === undefined) return this.#findSet(required, hasChoice, segment);
    return segment.remembered(this.key, () => this.#findSet(required, hasChoice, segment));
  }

  #findSet(
    required: readonly Weight[],
    hasChoice: boolean,
    segment: SegmentReader,
  ): Bitset | null | undefined {
    const base = required.length === 0 ? undefined : intersect(required, segment);
    if (required.length > 0 && (base === null || base === undefined)) return base;
    const choice = base === undefined || hasChoice ? unite(this.#should, segment) : undefined;
    // The set of a single condition is that condition's own.
    const own = required.length === 1 ? base?.clone() : base;
    const set = own === undefined || own === null ? choice! : choice === undefined ? own : own.and(choice);
    if (this.#mustNot.length > 0) set.andNot(unite(this.#mustNot, segment));
    return set;
  }

  #shouldScorer(segment: SegmentReader): Scorer | null {
    const minimum = Math.max(1, this.#minimum);
    const found: { readonly weight: Weight; readonly scorer: Scorer }[] = [];
    for (const weight of this.#should) {
      const scorer = weight.scorer(segment);
      if (scorer !== null) found.push({ weight, scorer });
    }
    if (found.length < minimum) return null;
    const scorers = found.map(({ scorer }) => scorer);
    if (scorers.length === 1) return scorers[0]!;
    const members = (at: number): Bitset | null | undefined => found[at]!.weight.set?.(segment);
    return new DisjunctionScorer(scorers, minimum, segment.docCount, this.#scores, undefined, members);
  }
}

/** Returns all scorers, null if one of the weights has none. */
function scorers(weights: readonly Weight[], segment: SegmentReader): Scorer[] | null {
  const found: Scorer[] = [];
  for (const weight of weights) {
    const scorer = weight.scorer(segment);
    if (scorer === null) return null;
    found.push(scorer);
  }
  return found;
}

/** Returns conditions as Lucene writes them: "+required #filtering -forbidden optional". */
export function describeClauses(clauses: Clauses, shard: ShardContext): QueryDescription {
  const print = (queries: readonly Query[], sign: string): string[] =>
    queries.map((query) => {
      const { text, type } = describeQuery(query, shard);
      return sign + (type === "BooleanQuery" ? `(${text})` : text);
    });
  const { must, filter, should, mustNot, minimumShouldMatch } = clauses;
  const parts = [...print(must, "+"), ...print(filter, "#"), ...print(should, ""), ...print(mustNot, "-")];
  const least = minimumShouldMatch?.(should.length) ?? 0;
  const text = least > 1 ? `(${parts.join(" ")})~${least}` : parts.join(" ");
  return { type: "BooleanQuery", text, children: [...must, ...filter, ...should, ...mustNot] };
}

/** Explains a document by all conditions; `leastShould`: how many of `should` it has to match. */
export function explainClauses(
  { must, filter, should, mustNot }: Clauses,
  leastShould: number,
  place: DocumentLocation,
): Explanation {
  const text = (query: Query): string => describeQuery(query, place.shard).text;
  const scored: Explanation[] = [];
  const failed: Explanation[] = [];
  for (const query of must) {
    const each = explainQuery(query, place);
    if (each.matches) scored.push(each);
    else failed.push(noMatch(`no match on required clause (${text(query)})`, [each]));
  }
  for (const query of filter) {
    const each = explainQuery(query, { ...place, boost: 1 });
    if (!each.matches) failed.push(noMatch(`no match on required clause (${text(query)})`, [each]));
    else scored.push(match(0, "match on required clause, product of:", [match(0, "# clause"), each]));
  }
  for (const query of mustNot) {
    const each = explainQuery(query, { ...place, boost: 1 });
    if (each.matches) failed.push(noMatch(`match on prohibited clause (${text(query)})`, [each]));
  }
  const optional = should.map((query) => explainQuery(query, place)).filter(({ matches }) => matches);
  if (failed.length > 0)
    return noMatch("Failure to meet condition(s) of required/prohibited clause(s)", failed);
  if (optional.length < leastShould) {
    const why =
      leastShould > 1
        ? `Failure to match minimum number of optional clauses: ${leastShould}`
        : "No matching clauses";
    return noMatch(why, optional);
  }
  const all = [...scored, ...optional];
  if (all.length === 0) return match(place.boost, "*:*");
  return match(
    all.reduce((sum, { value }) => sum + value, 0),
    "sum of:",
    all,
  );
}
