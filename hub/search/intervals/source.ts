/** Rules of `intervals` bound to a shard: which documents may have intervals, and the intervals of each. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { TermNode } from "#hub/search/execute/nodes/term.ts";
import type { Query } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
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

/** Reads the intervals of documents; they must be asked for in ascending order. */
export type IntervalReader = (doc: number) => Intervals;

export interface IntervalSource {
  /** Documents that may have intervals; all that have are among them. */
  readonly candidates: Query;
  /** Positions that an interval spans at least. */
  readonly minExtent: number;
  /** Does beforehand, with pauses, what would keep the thread for long in `open`. See Weight.prepare. */
  prepare?(segment: SegmentReader, control: SearchControl): Promise<void>;
  /** Opens a segment. */
  open(segment: SegmentReader): IntervalReader;
}

const NONE: Intervals = [];

/** Returns what no document has. */
export function nothing(): IntervalSource {
  return { candidates: new NoneNode(), minExtent: 1, open: () => () => NONE };
}

/** Returns the places of a term. */
export function termSource(field: string, term: string): IntervalSource {
  return {
    candidates: new TermNode(field, term),
    minExtent: 1,
    open(segment) {
      const cursor = segment.postings(field, term, { positions: true });
      if (cursor === null) return () => NONE;
      return (doc) => {
        if (cursor.doc < doc) cursor.advance(doc);
        return cursor.doc === doc ? ofPositions(cursor.positions(), cursor.freq) : NONE;
      };
    },
  };
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

/** Returns the intervals of any source. */
export function anySource(sources: readonly IntervalSource[]): IntervalSource {
  if (sources.length === 0) return nothing();
  if (sources.length === 1) return sources[0]!;
  return {
    candidates: new BooleanNode({ should: sources.map(({ candidates }) => candidates) }),
    minExtent: Math.min(...sources.map(({ minExtent }) => minExtent)),
    ...prepareAll(sources),
    open(segment) {
      const readers = sources.map((source) => source.open(segment));
      return (doc) => anyOf(readers.map((read) => read(doc)));
    },
  };
}

/** How sources have to stand to each other. */
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
  const join = inOrder ? (maxGaps === 0 ? adjacent : ordered) : unordered;
  const extents = sources.map(({ minExtent }) => minExtent);
  return {
    candidates: new BooleanNode({ must: sources.map(({ candidates }) => candidates) }),
    minExtent: inOrder ? extents.reduce((sum, extent) => sum + extent, 0) : Math.max(...extents),
    ...prepareAll(sources),
    open(segment) {
      const readers = sources.map((source) => source.open(segment));
      return (doc) => {
        const lists: Intervals[] = [];
        for (const read of readers) {
          const list = read(doc);
          if (list.length === 0) return NONE;
          lists.push(list);
        }
        const found = join(lists);
        return maxGaps < 0 ? found : found.filter(({ gaps }) => gaps <= maxGaps);
      };
    },
  };
}

/** Returns a source's intervals with `before` further positions in front: those of words that aren't indexed. */
export function extendedSource(source: IntervalSource, before: number): IntervalSource {
  if (before === 0) return source;
  return {
    candidates: source.candidates,
    minExtent: source.minExtent + before,
    ...prepareAll([source]),
    open(segment) {
      const read = source.open(segment);
      return (doc) => extended(read(doc), before);
    },
  };
}

/** Returns the intervals of `source` that stand so to one of `other`; `negated`: to none. */
export function relatedSource(
  source: IntervalSource,
  other: IntervalSource,
  relation: Relation,
  negated: boolean,
): IntervalSource {
  return {
    candidates: negated
      ? source.candidates
      : new BooleanNode({ must: [source.candidates, other.candidates] }),
    minExtent: source.minExtent,
    ...prepareAll([source, other]),
    open(segment) {
      const [read, readOther] = [source.open(segment), other.open(segment)];
      return (doc) => {
        const list = read(doc);
        return list.length === 0 ? NONE : related(list, readOther(doc), relation, negated);
      };
    },
  };
}
