/** Positions of all terms that match a prefix, a pattern, a range or a fuzzy term. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { TermsNode } from "#hub/search/execute/nodes/any-term.ts";
import { inSteps } from "#hub/search/execute/nodes/documents.ts";
import { FuzzyNode } from "#hub/search/execute/nodes/fuzzy.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Intervals } from "./algebra.ts";
import { anyOf } from "./algebra.ts";
import { TextPositions } from "./marked-tokens.ts";
import {
  type IntervalReader,
  type IntervalSource,
  type Leaf,
  type PositionSource,
  readTerm,
} from "./source.ts";

/** Maximum number of a shard's terms that a pattern may match: each is read by a cursor of its own. */
const MAX_TERMS = 1024;

/** Terms of the dictionary between two pauses: well below a millisecond. */
const STEP_TERMS = 512;
/** Work of tests of a step, see TermSelection.work: a millisecond. */
const STEP_TESTED = 10_000;

export class PatternSource implements IntervalSource, Leaf {
  readonly candidates: Query;
  readonly minExtent = 1;
  readonly leaves: readonly Leaf[] = [this];
  readonly field: string;
  readonly #owner: string;
  readonly #node: TermsNode | FuzzyNode;
  readonly #shard: ShardContext;
  readonly #join: (lists: readonly Intervals[]) => Intervals;
  #found: readonly string[] | undefined;
  #matches: ((term: string) => boolean) | undefined;

  /** `owner`: the clause, for messages; `join`: how the positions of several terms become one list. */
  constructor(
    owner: string,
    node: TermsNode | FuzzyNode,
    shard: ShardContext,
    join: (lists: readonly Intervals[]) => Intervals = anyOf,
  ) {
    this.#owner = owner;
    this.#node = node;
    this.#shard = shard;
    this.#join = join;
    this.field = node.field;
    this.candidates = node;
  }

  matches(term: string): boolean {
    this.#matches ??= matcherOf(this.#node);
    return this.#matches(term);
  }

  async prepare(_segment: SegmentReader, control: SearchControl): Promise<void> {
    await inSteps(this.terms(), control);
  }

  open(positions: PositionSource): IntervalReader {
    const terms =
      positions instanceof TextPositions
        ? positions.termsOf(this.field).filter((term) => this.matches(term))
        : this.#all();
    const readers = terms.map((term) => readTerm(positions, this.field, term));
    return (doc) => {
      const lists: Intervals[] = [];
      for (const read of readers) {
        const list = read(doc);
        if (list.length > 0) lists.push(list);
      }
      return this.#join(lists);
    };
  }

  *terms(): Generator<void, readonly string[]> {
    if (this.#found !== undefined) return this.#found;
    const node = this.#node;
    const found = yield* node instanceof FuzzyNode ? this.#similar(node) : this.#selected(node);
    // Found twice if two ask for the terms at once.
    if (this.#found === undefined) this.#shard.chargeExpansions(found.length);
    return (this.#found ??= found);
  }

  #all(): readonly string[] {
    const steps = this.terms();
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  }

  *#similar(node: FuzzyNode): Generator<void, readonly string[]> {
    const terms = yield* node.expand(this.#shard);
    if (terms.length > MAX_TERMS) throw this.#tooMany();
    return terms.map(({ text }) => text);
  }

  *#selected({ field, selection }: TermsNode): Generator<void, readonly string[]> {
    const found = new Set<string>();
    const { work: tested = () => 0 } = selection;
    let walked = 0;
    let testedBefore = tested();
    for (const segment of this.#shard.searcher.segments) {
      const terms = selection.terms(segment, field);
      for (;;) {
        while (terms?.approach() === false) yield;
        if (terms?.next() !== true) break;
        if (++walked % STEP_TERMS === 0) yield;
        const text = terms.text();
        const isAccepted = selection.accepts?.(text) !== false;
        if (tested() - testedBefore > STEP_TESTED) {
          yield;
          testedBefore = tested();
        }
        if (!isAccepted) continue;
        if (found.add(text).size > MAX_TERMS) throw this.#tooMany();
      }
    }
    return [...found];
  }

  #tooMany(): AppError {
    return new AppError(
      "request_invalid",
      `${this.#owner} expanded to too many terms (limit ${MAX_TERMS}); give more characters`,
      { data: { type: "too_many_clauses" } },
    );
  }
}

/** Returns whether a term is one that the query would mark. */
function matcherOf(node: TermsNode | FuzzyNode): (term: string) => boolean {
  let matches = (_term: string): boolean => false;
  node.highlight({
    term: () => {},
    phrase: () => {},
    tokens: () => {},
    pattern: (_field, each) => {
      matches = each;
    },
  });
  return matches;
}
