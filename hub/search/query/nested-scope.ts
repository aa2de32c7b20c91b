/**
 * The documents of one level of a snapshot: whole documents, or the nested objects of a path. Joins lead from one level
 * to those below it and above it.
 */

import { type NestedSteps, nestedBlock } from "#hub/engine/documents/nested-block.ts";
import type { NestedLevels } from "#hub/engine/mapping/nested-levels.ts";
import type { Searcher, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { NestedBlock } from "#hub/engine/segment/nested-cache.ts";
import { AppError } from "#proto/kit/errors.ts";
import { SegmentView } from "./segment-view.ts";

/** Bytes of the blocks of all levels below one snapshot: a search holds them to its end, cached or not. */
const MAX_BYTES = 512 * 1024 * 1024;

/** The objects of a lower level in one segment of an upper one. */
export interface JoinedSegment {
  /** One document per object. */
  readonly objects: SegmentReader;
  /** Objects of document d of the upper level are [starts[d], starts[d + 1]). */
  readonly starts: Int32Array;
  /** Document of the upper level of each object. */
  readonly parents: Int32Array;
}

/** Documents of an upper level that objects of a segment belong to. */
export interface ParentSegment {
  readonly segment: SegmentReader;
  /** Document of each object. */
  readonly parents: Int32Array;
}

interface Origin {
  readonly above: SegmentReader;
  readonly block: NestedBlock;
}

/** Bytes of the blocks that the levels of one snapshot hold together. */
interface HeldBytes {
  sizeBytes: number;
  readonly maxBytes: number;
}

/** Whole documents as searches see them, by snapshot: what is cached by snapshot stays valid. */
const roots = new WeakMap<Searcher, Searcher>();

/** See the file's comment. */
export class NestedScope {
  /** Path of the objects, "" for whole documents. */
  readonly path: string;
  readonly above: NestedScope | undefined;
  readonly searcher: Searcher;
  readonly #below = new Map<string, NestedScope>();
  /** The source of the objects of each segment. */
  readonly #origins: ReadonlyMap<SegmentReader, Origin>;
  readonly #held: HeldBytes;

  private constructor(
    path: string,
    searcher: Searcher,
    above: NestedScope | undefined,
    origins: ReadonlyMap<SegmentReader, Origin>,
    held: HeldBytes,
  ) {
    this.path = path;
    this.searcher = searcher;
    this.above = above;
    this.#origins = origins;
    this.#held = held;
  }

  /** Returns the level of whole documents. `maxBytes`: of the blocks of all levels below it. */
  static of(searcher: Searcher, maxBytes = MAX_BYTES): NestedScope {
    return new NestedScope("", rootOf(searcher), undefined, new Map(), { sizeBytes: 0, maxBytes });
  }

  /** Makes what `below` needs, in steps between which the caller may pause. Throws memory_limit. */
  *prepare(path: string): NestedSteps<void> {
    const [level] = this.searcher.mapping.nested.way(this.path, path) ?? [];
    if (level === undefined) return;
    const next = yield* this.#next(level);
    yield* next.prepare(path);
  }

  /**
   * Returns the level of a path, undefined if that isn't a nested object below this level. What wasn't prepared is made
   * at once. Throws memory_limit, also if that would have to wait for another search.
   */
  below(path: string): NestedScope | undefined {
    const { nested } = this.searcher.mapping;
    if (!nested.has(path)) return undefined;
    const way = nested.way(this.path, path);
    return way?.reduce<NestedScope>((scope, level) => finish(scope.#next(level)), this);
  }

  /** Returns the objects of this level by segments of the level `upper`, which is above it. */
  joinFrom(upper: NestedScope): ReadonlyMap<SegmentReader, JoinedSegment> {
    const joined = new Map<SegmentReader, JoinedSegment>();
    for (const objects of this.searcher.segments) {
      let { above, block } = this.#origins.get(objects)!;
      let { starts, parents } = block;
      for (let scope = this.above!; scope !== upper; scope = scope.above!) {
        const origin = scope.#origins.get(above)!;
        const [inner, outer] = [{ starts, parents }, origin.block];
        starts = outer.starts.map((row) => inner.starts[row]!);
        parents = inner.parents.map((row) => outer.parents[row]!);
        above = origin.above;
      }
      joined.set(above, { objects, starts, parents });
      joined.set(wholeOf(above), { objects, starts, parents });
    }
    return joined;
  }

  /** Returns the level above at `path`, this one included; undefined if there is none. */
  climb(path: string): NestedScope | undefined {
    return this.path === path ? this : this.above?.climb(path);
  }

  /** Returns the documents of a level above that the objects of a segment of this level belong to. */
  parentsIn(upper: NestedScope, objects: SegmentReader): ParentSegment {
    const origin = this.#origins.get(objects)!;
    let [segment, parents] = [origin.above, origin.block.parents];
    for (let scope = this.above!; scope !== upper; scope = scope.above!) {
      const next = scope.#origins.get(segment)!;
      parents = parents.map((row) => next.block.parents[row]!);
      segment = next.above;
    }
    return { segment, parents };
  }

  /** Returns the number of an object among those of its parent, from 0, with the parent one level above. */
  placeOf(
    objects: SegmentReader,
    doc: number,
  ): { readonly offset: number; readonly segment: SegmentReader; readonly parent: number } {
    const { above, block } = this.#origins.get(objects)!;
    const parent = block.parents[doc]!;
    return { offset: doc - block.starts[parent]!, segment: above, parent };
  }

  /** Returns the level one below at `path`. */
  *#next(path: string): NestedSteps<NestedScope> {
    const known = this.#below.get(path);
    if (known !== undefined) return known;
    const { mapping, segments: parents } = this.searcher;
    const origins = new Map<SegmentReader, Origin>();
    const { sizeBytes: before, maxBytes } = this.#held;
    let sizeBytes = before;
    for (const above of parents) {
      const block = yield* nestedBlock(wholeOf(above), mapping, path);
      if (block.objects === null) continue;
      sizeBytes += block.sizeBytes;
      if (sizeBytes > maxBytes) throw tooLarge(path, maxBytes);
      origins.set(new ScopedReader(block.objects, mapping.nested, path), { above, block });
    }
    const segments = [...origins.keys()];
    const totalDocs = segments.reduce((sum, { docCount }) => sum + docCount, 0);
    const searcher = { segments, mapping, totalDocs, close: () => undefined };
    const made = new NestedScope(path, searcher, this, origins, this.#held);
    this.#held.sizeBytes = sizeBytes;
    this.#below.set(path, made);
    return made;
  }
}

function rootOf(searcher: Searcher): Searcher {
  const { mapping, totalDocs } = searcher;
  if (mapping.nested.paths.length === 0) return searcher;
  let root = roots.get(searcher);
  if (root === undefined) {
    const segments = searcher.segments.map((segment) => new ScopedReader(segment, mapping.nested, ""));
    root = { segments, mapping, totalDocs, close: () => searcher.close() };
    roots.set(searcher, root);
  }
  return root;
}

function wholeOf(segment: SegmentReader): SegmentReader {
  return segment instanceof ScopedReader ? segment.whole : segment;
}

function finish<T>(steps: NestedSteps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (value === "waits")
      throw new AppError("memory_limit", "nested objects are prepared for another search; try again later");
  }
}

function tooLarge(path: string, maxBytes: number): AppError {
  return new AppError(
    "memory_limit",
    `the nested objects that the search reads of one shard, with those at [${path}], take more than ${maxBytes} bytes; use more shards, or smaller indices, or search fewer nested paths at once`,
  );
}

/**
 * A segment without the fields of nested objects: those aren't fields of the document around them, nor the reverse.
 * Shows the fields of one level of a mapping's nested objects; the others read as absent.
 */
class ScopedReader extends SegmentView {
  readonly #levels: NestedLevels;
  readonly #level: string;

  /** `level`: path of the nested object that the documents are, "" for whole documents. */
  constructor(whole: SegmentReader, levels: NestedLevels, level: string) {
    super(whole, level);
    this.#levels = levels;
    this.#level = level;
  }

  protected override of(field: string): SegmentReader | null {
    return this.#levels.isVisible(field, this.#level) ? this.whole : null;
  }
}
