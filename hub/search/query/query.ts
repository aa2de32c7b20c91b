/**
 * The model of a query in three steps: a Query is independent of any index; `weight` binds it to a shard (mapping, term
 * statistics); `scorer` walks one segment.
 */

import type { Token } from "#hub/engine/analysis/analysis.ts";
import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { Mapping } from "#hub/engine/mapping/mapping.ts";
import { NO_MORE_DOCS, type Searcher, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { AppError } from "#proto/kit/errors.ts";
import { NestedScope } from "./nested-scope.ts";
import type { Scorer } from "./scorer.ts";
import type { SearchControl } from "./search-control.ts";

export { NO_MORE_DOCS };

/** A node of the query tree. Immutable; used for many shards. */
export interface Query {
  /** Binds to a shard. Throws query_shard or request_invalid if the mapping doesn't allow it. */
  weight(shard: ShardContext, mode: ScoreMode): Weight;
  /** Returns false if no document of the shard can match, as far as that is known without a walk. Absent: any may match. */
  canMatch?(shard: ShardContext): boolean;
  /** Passes what to mark in text to `sink`; absent for queries that mark nothing. */
  highlight?(sink: HighlightSink, shard: ShardContext): void;
  /** Describes the query; absent: the class name is the description. */
  describe?(shard: ShardContext): QueryDescription;
  /** Explains why a document matches or not and how its score is computed; absent: the score alone is shown. */
  explain?(place: DocumentLocation): Explanation;
}

/** What a query is on a shard, in Lucene's words. */
export interface QueryDescription {
  /** "TermQuery". */
  readonly type: string;
  /** "message:post". */
  readonly text: string;
  /** Queries that it is made of. */
  readonly children?: readonly Query[];
}

/** A document with what is around a query. */
export interface DocumentLocation {
  readonly shard: ShardContext;
  readonly segment: SegmentReader;
  readonly doc: number;
  /** Factor of all scores below. */
  readonly boost: number;
}

/** Why a document matches or doesn't. */
export interface Explanation {
  readonly matches: boolean;
  /** The score, or a part of it. */
  readonly value: number;
  readonly description: string;
  readonly details: readonly Explanation[];
}

export interface ScoreMode {
  /** False: `score` is never called. */
  readonly scores: boolean;
  /** Factor of all scores below. */
  readonly boost: number;
}

/** A query bound to a shard. */
export interface Weight {
  /** Walks the documents of a segment, deleted ones included; null if none match. */
  scorer(segment: SegmentReader): Scorer | null;
  /** Number of matching live documents if that is known without walking; else -1. */
  count(segment: SegmentReader): number;
  /**
   * Documents of a segment as a set, deleted ones included, null for none; undefined, or no method, if walking them is
   * cheaper. Must not be changed.
   */
  readonly set?: ((segment: SegmentReader) => Bitset | null | undefined) | undefined;
  /**
   * Does the long work of the other calls for a segment beforehand, with pauses. Absent if nothing takes long. Ends
   * early at the timeout: the segment is not used any more.
   */
  prepare?(segment: SegmentReader, control: SearchControl): Promise<void>;
  /** Documents that a walk would meet; undefined if that is not known at once. */
  readonly cost?: ((segment: SegmentReader) => number | undefined) | undefined;
  /** Names the set among those of a segment; undefined if it depends on more than the segment. */
  readonly key?: string | undefined;
  /** True if scorers are approximate: a set of the documents isn't made in one step. */
  readonly isDear?: boolean | undefined;
}

/** A text part to mark, by field. */
export interface HighlightSink {
  /** `text`: the analysed term. */
  term(field: string, text: string): void;
  /** Terms that a pattern matches. */
  pattern(field: string, matches: (text: string) => boolean): void;
  /** Terms that count only if they follow one another; `terms[i]` alternatives at position i. */
  phrase(field: string, terms: readonly (readonly string[])[], slop: number): void;
  /** Tokens that `find` returns of those of a text. */
  tokens(field: string, find: (tokens: readonly Token[]) => Iterable<Token>): void;
}

/** Documents with at least one term of a field, by segment and field: a text may have none. */
const withTerms = new WeakMap<SegmentReader, Map<string, number>>();

function docsWithTerms(segment: SegmentReader, field: string, docsWithField: number): number {
  let known = withTerms.get(segment);
  if (known === undefined) withTerms.set(segment, (known = new Map()));
  let count = known.get(field);
  if (count === undefined) {
    const norms = segment.norms(field);
    count = norms === null ? docsWithField : countNonZero(norms);
    known.set(field, count);
  }
  return count;
}

function countNonZero(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== 0) count++;
  return count;
}

/** Statistics of a field over the shard. */
export interface ShardFieldStats {
  readonly docCount: number;
  readonly sumTotalTermFreq: number;
}

/** What a request may cost. */
export interface SearchLimits {
  /** Buckets of an answer's aggregations. */
  readonly maxBuckets: number;
  /** from + size. */
  readonly maxResultWindow: number;
  /** Best hits of a shard that are scored again. */
  readonly maxRescoreWindow: number;
  /** Fields whose values are returned from columns. */
  readonly maxColumnFields: number;
  /** Fields that scripts make of a hit. */
  readonly maxScriptFields: number;
  /** Characters of a regular expression. */
  readonly maxRegexLength: number;
}

/** Limits of a search unless settings of the cluster or of an index say otherwise. */
export const DEFAULT_LIMITS: SearchLimits = {
  maxBuckets: 65_536,
  maxResultWindow: 10_000,
  maxRescoreWindow: 10_000,
  maxColumnFields: 100,
  maxScriptFields: 32,
  maxRegexLength: 1_000,
};

/** An index as a search names it. */
export interface SearchedIndex {
  readonly name: string;
  readonly uuid: string;
  /** Printed as `_type`. */
  readonly typeName: string;
  /** Other names of the index: its aliases and its data stream. */
  readonly otherNames?: readonly string[];
  /** index.max_terms_count; 65,536 without it. */
  readonly maxTermsCount?: number;
  /** index.highlight.max_analyzed_offset, if it is set: texts without offsets that are longer aren't highlighted. */
  readonly maxAnalyzedOffset?: number;
  /** False: queries that walk many terms or documents are refused. */
  readonly allowsExpensive?: boolean;
  /** True: the documents of several of its shards are searched as one shard's. */
  readonly isJoined?: boolean;
}

/** index.max_terms_count by default. */
export const DEFAULT_MAX_TERMS_COUNT = 65_536;

/**
 * Maximum number of a shard's terms that a query's fuzzy clauses, and patterns in spans and intervals, may match: a scorer over
 * more would block the thread too long.
 */
const MAX_EXPANSIONS = 20_000;

/** The documents that aggregations collect. */
export interface CollectedDocuments {
  /** The query that matches them. */
  readonly query: Query;
  /** Factor of all its scores. */
  readonly boost: number;
  /** Returns the query bound for scores. It is prepared for a segment before documents of the segment are collected. */
  scored(): Weight;
  /** Prepares a weight for each segment, too, before documents of the segment are collected. */
  prepares(weight: Weight): void;
}

/** A shard as a search sees it. */
export class ShardContext {
  readonly index: string;
  readonly indexUuid: string;
  /** From 0. */
  readonly shard: number;
  readonly searcher: Searcher;
  readonly mapping: Mapping;
  /** The request's time, ms. */
  readonly nowMs: number;
  /** Type name that documents are printed with. */
  readonly typeName: string;
  /** Number of values of a `terms` query above which a warning is given. */
  readonly maxTermsCount: number;
  /** Characters of a text from which on highlighting it fails; undefined: it is cut. */
  readonly maxAnalyzedOffset: number | undefined;
  /** The documents that are collected, to whose level or one below it this leads; undefined outside of a collection. */
  readonly origin: CollectedDocuments | undefined;
  /** The level of nested objects that the documents are. */
  readonly scope: NestedScope;
  readonly #searchedIndex: SearchedIndex;
  readonly #fieldStats = new Map<string, ShardFieldStats>();
  #expansions = { terms: 0 };

  constructor(
    index: SearchedIndex,
    shard: number,
    searcher: Searcher,
    nowMs: number,
    origin?: CollectedDocuments,
    scope = NestedScope.of(searcher),
  ) {
    this.#searchedIndex = index;
    this.origin = origin;
    this.scope = scope;
    this.index = index.name;
    this.indexUuid = index.uuid;
    this.typeName = index.typeName;
    this.maxTermsCount = index.maxTermsCount ?? DEFAULT_MAX_TERMS_COUNT;
    this.maxAnalyzedOffset = index.maxAnalyzedOffset;
    this.shard = shard;
    this.searcher = scope.searcher;
    this.mapping = searcher.mapping;
    this.nowMs = nowMs;
  }

  /** Returns the same shard for collectors that see `collected`. */
  collecting(collected: CollectedDocuments): ShardContext {
    const { shard, searcher, nowMs, scope } = this;
    return new ShardContext(this.#searchedIndex, shard, searcher, nowMs, collected, scope);
  }

  /** Returns the shard as a search among the documents of another level sees it. */
  at(scope: NestedScope): ShardContext {
    if (scope === this.scope) return this;
    const { shard, nowMs, origin } = this;
    const context = new ShardContext(this.#searchedIndex, shard, scope.searcher, nowMs, origin, scope);
    context.#expansions = this.#expansions;
    return context;
  }

  /** Returns the same shard with nothing charged: for each hit that is explained, queries are bound to it again. */
  uncharged(): ShardContext {
    const { shard, searcher, nowMs, origin, scope } = this;
    return new ShardContext(this.#searchedIndex, shard, searcher, nowMs, origin, scope);
  }

  /** What the collectors of aggregations get to see; undefined outside of a collection and at levels of nested objects. */
  get collected(): CollectedDocuments | undefined {
    return this.scope.path === "" ? this.origin : undefined;
  }

  /** Other names of the index: its aliases and its data stream. */
  get otherNames(): readonly string[] {
    return this.#searchedIndex.otherNames ?? [];
  }

  /** To be called by what finds other documents, or other terms, in several shards than in each of them. Throws for several. */
  requireOne(): void {
    if (this.#searchedIndex.isJoined === true) throw new Error("this needs each shard by itself");
  }

  /** Throws query_shard if the cluster refuses expensive queries. `what`: the queries, as "[fuzzy] queries". */
  checkExpensive(what: string, advice = ""): void {
    if (this.#searchedIndex.allowsExpensive !== false) return;
    throw this.#refused(
      `${what} cannot be executed when 'search.allow_expensive_queries' is set to false.${advice}`,
    );
  }

  /** Throws query_shard if the cluster refuses expensive queries and the search computes the field at `path`. */
  checkComputed(path: string): void {
    if (this.#searchedIndex.allowsExpensive !== false || !this.mapping.isComputed(path)) return;
    throw this.#refused(
      "queries cannot be executed against runtime fields while [search.allow_expensive_queries] is set to [false].",
    );
  }

  #refused(why: string): AppError {
    return new AppError("query_shard", `failed to create query: ${why}`, {
      data: { index: this.index, index_uuid: this.indexUuid },
    });
  }

  /** Counts terms that a clause matches. Throws request_invalid if there are too many in total. */
  chargeExpansions(terms: number): void {
    const charged = this.#expansions;
    charged.terms += terms;
    if (charged.terms <= MAX_EXPANSIONS) return;
    throw new AppError(
      "request_invalid",
      `too_many_clauses: the clauses of the query (fuzzy ones, patterns in spans and intervals) stand for more than ${MAX_EXPANSIONS} terms; search for fewer words, give more characters, or lower [max_expansions] or [fuzziness]`,
      { data: { type: "too_many_clauses" } },
    );
  }

  /** Returns the statistics of an indexed field over all segments. */
  fieldStats(field: string): ShardFieldStats {
    const known = this.#fieldStats.get(field);
    if (known !== undefined) return known;
    let docCount = 0;
    let sumTotalTermFreq = 0;
    for (const segment of this.searcher.segments) {
      const stats = segment.fieldStats(field);
      docCount += stats === null || stats === undefined ? 0 : docsWithTerms(segment, field, stats.docCount);
      sumTotalTermFreq += stats?.sumTotalTermFreq ?? 0;
    }
    const stats = { docCount, sumTotalTermFreq };
    this.#fieldStats.set(field, stats);
    return stats;
  }

  /** Returns the number of documents with a term over all segments, deleted ones included. */
  docFreq(field: string, term: string | Uint8Array): number {
    let total = 0;
    for (const segment of this.searcher.segments) total += segment.terms(field)?.find(term)?.docFreq ?? 0;
    return total;
  }
}
