/**
 * Rules of `intervals` and span queries bound to a shard: which documents may have intervals, and the intervals of each.
 */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { TermNode } from "#hub/search/execute/nodes/term.ts";
import type { Query } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { AppError } from "#proto/kit/errors.ts";
import {
  adjacent,
  anyOf,
  extended,
  type Intervals,
  ofPositions,
  ordered,
  type Relation,
  related,
  unordered,
} from "./algebra.ts";

/** Reads the intervals of documents; documents must be requested in ascending order. */
export type IntervalReader = (doc: number) => Intervals;

/** Positions of terms: those of a segment's documents, or of a text that is highlighted, which is document 0. */
export interface PositionSource {
  postings(field: string, term: string, options: { readonly positions: true }): PositionCursor | null;
}

/** Walks the documents of a term. */
export interface PositionCursor {
  readonly doc: number;
  readonly freq: number;
  advance(target: number): number;
  /** Positions in the current document: ascending, in the first `freq` entries. */
  positions(): Int32Array;
}

/** The terms that a source begins with: one, or all that a pattern matches. */
export interface Leaf {
  readonly field: string;
  /** Whether a token's term is one of them. */
  matches(term: string): boolean;
  /** Returns those that the shard has, or finds them in steps. Throws request_invalid for too many. */
  terms(): readonly string[] | Generator<void, readonly string[]>;
}

export interface IntervalSource {
  /** Documents that may have intervals; all that have are among them. */
  readonly candidates: Query;
  /** Positions that an interval spans at least. */
  readonly minExtent: number;
  /** What intervals are made of, without what only forbids some. */
  readonly leaves: readonly Leaf[];
  /** Does beforehand, with pauses, what would keep the thread for long in `open`. See Weight.prepare. */
  prepare?(segment: SegmentReader, control: SearchControl): Promise<void>;
  /** Opens a segment, or a text. */
  open(positions: PositionSource): IntervalReader;
}

const NONE: Intervals = [];

/** Intervals of all clauses in one document: some 50 MB and 100 ms. */
const MAX_INTERVALS = 1_000_000;

/** Returns what no document has. */
export function nothing(): IntervalSource {
  return { candidates: new NoneNode(), minExtent: 1, leaves: [], open: () => () => NONE };
}

/** Returns the positions of a term. */
export function termSource(field: string, term: string): IntervalSource {
  const leaf: Leaf = {
    field,
    matches: (other) => other === term,
    terms: () => [term],
  };
  return {
    candidates: new TermNode(field, term),
    minExtent: 1,
    leaves: [leaf],
    open: (positions) => readTerm(positions, field, term),
  };
}

/** Returns a reader of the positions of a term. */
export function readTerm(positions: PositionSource, field: string, term: string): IntervalReader {
  const cursor = positions.postings(field, term, { positions: true });
  if (cursor === null) return () => NONE;
  return (doc) => {
    if (cursor.doc < doc) cursor.advance(doc);
    return cursor.doc === doc ? ofPositions(cursor.positions(), cursor.freq) : NONE;
  };
}

/** What is made of several sources. */
interface Combination extends Pick<IntervalSource, "candidates" | "minExtent" | "leaves"> {
  readonly sources: readonly IntervalSource[];
  /** Whether a document needs intervals of each source; `join` isn't called without. */
  readonly needsAll: boolean;
  /** Makes intervals of those of the sources. */
  readonly join: (lists: readonly Intervals[]) => Intervals;
}

/** Returns the source of a combination. Readers throw request_invalid for a document with too many intervals. */
export function combined({ sources, needsAll, join, ...rest }: Combination): IntervalSource {
  return {
    ...rest,
    ...prepareAll(sources),
    open(positions) {
      const readers = sources.map((source) => source.open(positions));
      return (doc) => {
        const lists: Intervals[] = [];
        let total = 0;
        for (const read of readers) {
          const list = read(doc);
          if (list.length === 0 && needsAll) return NONE;
          lists.push(list);
          if ((total += list.length) > MAX_INTERVALS) throw tooMany();
        }
        return join(lists);
      };
    },
  };
}

function tooMany(): AppError {
  return new AppError(
    "request_invalid",
    `the positions that the clauses of the query have in one document are more than ${MAX_INTERVALS}; use fewer clauses or rarer words`,
  );
}

/** Prepares sources one after the other. */
function prepareAll(sources: readonly IntervalSource[]): Pick<IntervalSource, "prepare"> {
  if (sources.every((source) => source.prepare === undefined)) return {};
  return {
    prepare: async (segment, control) => {
      for (const source of sources) await source.prepare?.(segment, control);
    },
  };
}

/** Returns the documents that may have intervals of all sources. */
export function candidatesOfAll(sources: readonly IntervalSource[]): Query {
  return new BooleanNode({ must: sources.map(({ candidates }) => candidates) });
}

/** Returns the documents that may have intervals of any of the sources. */
export function candidatesOfAny(sources: readonly IntervalSource[]): Query {
  return new BooleanNode({ should: sources.map(({ candidates }) => candidates) });
}

/** Returns the leaves of sources, one after the other. */
export function leavesOf(sources: readonly IntervalSource[]): readonly Leaf[] {
  return sources.flatMap(({ leaves }) => leaves);
}

/** Returns the intervals of any source. */
export function anySource(sources: readonly IntervalSource[]): IntervalSource {
  if (sources.length === 0) return nothing();
  if (sources.length === 1) return sources[0]!;
  return combined({
    sources,
    needsAll: false,
    candidates: candidatesOfAny(sources),
    minExtent: Math.min(...sources.map(({ minExtent }) => minExtent)),
    leaves: leavesOf(sources),
    join: anyOf,
  });
}

/** Required relation of sources to each other. */
export interface Arrangement {
  readonly ordered: boolean;
  /** Positions between them at most; below 0: any number. */
  readonly maxGaps: number;
}

/** Returns the stretches that hold intervals of all sources. */
export function allSource(
  sources: readonly IntervalSource[],
  { ordered: inOrder, maxGaps }: Arrangement,
): IntervalSource {
  if (sources.length === 0) return nothing();
  if (sources.length === 1) return sources[0]!;
  const find = inOrder ? (maxGaps === 0 ? adjacent : ordered) : unordered;
  const extents = sources.map(({ minExtent }) => minExtent);
  return combined({
    sources,
    needsAll: true,
    candidates: candidatesOfAll(sources),
    minExtent: inOrder ? extents.reduce((sum, extent) => sum + extent, 0) : Math.max(...extents),
    leaves: leavesOf(sources),
    join(lists) {
      const found = find(lists);
      return maxGaps < 0 ? found : found.filter(({ gaps }) => gaps <= maxGaps);
    },
  });
}

/** Returns a source's intervals with `before` further positions in front: those of words that aren't indexed. */
export function extendedSource(source: IntervalSource, before: number): IntervalSource {
  if (before === 0) return source;
  const { candidates, leaves } = source;
  return combined({
    sources: [source],
    needsAll: true,
    candidates,
    minExtent: source.minExtent + before,
    leaves,
    join: ([list]) => extended(list!, before),
  });
}

/** Returns the intervals of `source` that have the relation to one of `other`; `negated`: to none. */
export function relatedSource(
  source: IntervalSource,
  other: IntervalSource,
  relation: Relation,
  negated: boolean,
): IntervalSource {
  const { minExtent, leaves } = source;
  return combined({
    sources: [source, other],
    needsAll: false,
    candidates: negated ? source.candidates : candidatesOfAll([source, other]),
    minExtent,
    leaves,
    join: ([list, others]) => related(list!, others!, relation, negated),
  });
}
