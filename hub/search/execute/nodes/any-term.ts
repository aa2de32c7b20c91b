/**
 * Matches documents with any of many terms of a field: prefixes, patterns, keyword ranges, lists. The score is 1.
 */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader, TermIterator } from "#hub/engine/searcher/searcher.ts";
import type {
  HighlightSink,
  QueryDescription,
  ScoreMode,
  ShardContext,
  Weight,
} from "#hub/search/query/query.ts";
import { SetNode } from "./documents.ts";

/** Work of a step, in documents added to a set: a millisecond at most. */
const STEP_WORK = 65_536;
/** Work of each term besides its documents. */
const TERM_WORK = 64;
/** Work of a unit of `TermSelection.work`. */
const TEST_WORK = 6;

/** The terms of a dictionary that a query matches. */
export interface TermSelection {
  /** Terms of the segment's dictionary that may match, in order; null for none. */
  terms(segment: SegmentReader, field: string): TermIterator | null;
  /** False leaves the term out; absent: all of `terms` match. */
  readonly accepts?: (text: string) => boolean;
  /** Work of all calls of `accepts` so far, each unit some 100 ns; absent: each call is quick. */
  readonly work?: () => number;
  /** Whether a term is to be marked; absent: those that are accepted. */
  readonly marks?: (text: string) => boolean;
  /** Identifies this selection among others of the field; absent: its documents aren't cached. */
  readonly key?: string;
  /** Kind of the query, if a cluster may refuse it because it walks many terms. */
  readonly expensive?: "prefix" | "wildcard" | "regexp" | "range" | undefined;
  /** The selection as Lucene writes it: "foo*", "/fo+/". */
  readonly text?: string;
}

/** The queries that are refused of a kind, with what to do instead. */
const REFUSALS: Readonly<Record<NonNullable<TermSelection["expensive"]>, readonly [string, string?]>> = {
  prefix: [
    "[prefix] queries",
    " For optimised prefix queries on text fields please enable [index_prefixes].",
  ],
  wildcard: ["[wildcard] queries"],
  regexp: ["[regexp] queries"],
  range: ["[range] queries on [text] or [keyword] fields"],
};

/** Documents with a term of a selection. */
export class TermsNode extends SetNode {
  readonly field: string;
  readonly selection: TermSelection;
  protected override readonly key: string | undefined;

  constructor(field: string, selection: TermSelection) {
    super();
    this.key = selection.key === undefined ? undefined : `terms ${JSON.stringify([field, selection.key])}`;
    this.field = field;
    this.selection = selection;
  }

  /** Throws query_shard if the cluster refuses such queries. */
  checkCost(shard: ShardContext): void {
    const { expensive } = this.selection;
    if (expensive !== undefined) shard.checkExpensive(...REFUSALS[expensive]);
  }

  override weight(shard: ShardContext, mode: ScoreMode): Weight {
    this.checkCost(shard);
    return super.weight(shard, mode);
  }

  describe(): QueryDescription {
    return { type: "MultiTermQuery", text: `${this.field}:${this.selection.text ?? "[terms]"}` };
  }

  highlight(sink: HighlightSink): void {
    const { accepts, marks = accepts } = this.selection;
    if (marks !== undefined) sink.pattern(this.field, marks);
  }

  protected select(segment: SegmentReader): Bitset | null {
    const steps = this.selectInSteps(segment);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  }

  protected override *selectInSteps(segment: SegmentReader): Generator<void, Bitset | null> {
    const terms = this.selection.terms(segment, this.field);
    if (terms === null) return null;
    const { accepts, work: tested = () => 0 } = this.selection;
    let set: Bitset | null = null;
    let work = 0;
    let testedBefore = tested();
    for (;;) {
      while (!terms.approach()) yield;
      if (!terms.next()) return set;
      work += TERM_WORK;
      if (accepts === undefined || accepts(terms.text())) {
        set ??= new Bitset(segment.docCount);
        terms.postings().addTo(set);
        work += terms.docFreq;
      }
      if (work + TEST_WORK * (tested() - testedBefore) < STEP_WORK) continue;
      work = 0;
      yield;
      testedBefore = tested();
    }
  }
}

/** Documents with one of the terms given. */
export class TermListNode extends SetNode {
  readonly #field: string;
  readonly #terms: readonly (string | Uint8Array)[];

  constructor(field: string, terms: readonly (string | Uint8Array)[]) {
    super();
    this.#field = field;
    this.#terms = terms;
  }

  describe(): QueryDescription {
    const terms = this.#terms.map((term) =>
      typeof term === "string" ? term : Buffer.from(term).toString("hex"),
    );
    return { type: "TermInSetQuery", text: `${this.#field}:(${terms.join(" ")})` };
  }

  highlight(sink: HighlightSink): void {
    for (const term of this.#terms) if (typeof term === "string") sink.term(this.#field, term);
  }

  protected select(segment: SegmentReader): Bitset | null {
    let set: Bitset | null = null;
    for (const term of this.#terms) {
      const cursor = segment.postings(this.#field, term);
      if (cursor === null) continue;
      set ??= new Bitset(segment.docCount);
      cursor.addTo(set);
    }
    return set;
  }
}
