/** The best hits of a shard: a queue per segment, merged by rank. */

import { COLUMN_BLOCK, NO_MORE_DOCS, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { KeyRange, KeySource, Rank, RankOrder, SegmentKey } from "#hub/search/sort/key.ts";
import { BATCH } from "./batch.ts";
import { HitQueue } from "./hit-queue.ts";
import { compareHits, type RankedHit } from "./ranked-hit.ts";

/** Blocks that are collected before the others: enough for a page of hits if every few documents match. */
const FIRST_BLOCKS = 8;

/** Hits whose values are read between two moments at which others may get the thread. */
const HITS_A_STEP = 32;

const NOTHING = new Float64Array(0);

const ALL_KEYS: KeyRange = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** The documents of a batch that may become hits, and their scores: a batch is done before the next one begins, whoever's it is. */
let selected = { docs: new Int32Array(BATCH), scores: new Float32Array(BATCH) };

/** The hit after which hits begin, for search_after and scrolls. */
export interface After {
  readonly ranks: readonly Rank[];
  /**
   * Position of the hit itself, for scrolls: hits of equal rank after it follow. Undefined (search_after): they don't.
   */
  readonly segmentOrder?: number;
  readonly doc?: number;
}

export interface TopHitsOptions {
  /** Hits to keep; 0 keeps none. */
  readonly limit: number;
  readonly sources: readonly KeySource[];
  readonly after: After | undefined;
  /** True: scores are kept beside other sort keys. */
  readonly keepScores: boolean;
}

export class TopHits {
  readonly #options: TopHitsOptions;
  readonly #orders: readonly RankOrder[];
  /** Keys of the current batch, each as long as the longest batch so far. */
  #columns: Float64Array[];
  /** The column of each key; one that takes two has its rest in the next. */
  readonly #places: number[] = [];
  #hits: RankedHit[] = [];
  #segment: SegmentReader | undefined;
  #order = -1;
  #keys: readonly SegmentKey[] = [];
  #queue: HitQueue | undefined;
  #afterKeys: readonly number[] | undefined;
  /** Documents of equal rank up to this one come before the hits wanted. */
  #afterDoc = Number.POSITIVE_INFINITY;
  readonly #scores = new Map<number, number>();

  constructor(options: TopHitsOptions) {
    this.#options = options;
    this.#orders = options.sources.map(({ order }) => order);
    this.#columns = options.sources.map(() => NOTHING);
  }

  /** Hits to keep. */
  get limit(): number {
    return this.#options.limit;
  }

  /** Opens a segment; `order` is its position in the snapshot. */
  segment(segment: SegmentReader, order: number): void {
    this.#settle();
    const { limit, sources, after } = this.#options;
    this.#segment = segment;
    this.#order = order;
    this.#keys = sources.map((source) => source.segment(segment));
    this.#place();
    this.#queue = limit === 0 ? undefined : new HitQueue(limit, this.#columns.length);
    this.#afterKeys = after?.ranks.flatMap((rank, at) => {
      const key = this.#keys[at]!;
      return key.restOf === undefined ? [key.keyOf(rank)] : [key.keyOf(rank), key.restOf(rank)];
    });
    const afterOrder = after?.segmentOrder;
    this.#afterDoc =
      afterOrder === undefined || order < afterOrder
        ? Number.POSITIVE_INFINITY
        : order === afterOrder
          ? after!.doc!
          : -1;
  }

  /** Offers a batch of ascending documents. */
  collect(docs: Int32Array, scores: Float32Array | null, length: number): void {
    const queue = this.#queue;
    if (queue === undefined) return;
    if (length > this.#columns[0]!.length) this.#grow(length);
    const first = this.#columns[0]!;
    this.#load(0, docs, scores, length);
    // Usually few documents of a batch may become hits: the other keys of the rest needn't be known.
    const count = this.#select(docs, scores, length);
    const [some, someScores] = [selected.docs, scores === null ? null : selected.scores];
    for (let key = 1; key < this.#keys.length; key++) this.#load(key, some, someScores, count);
    for (let at = 0; at < count; at++) {
      if (queue.isFull && first[at]! > queue.worst) continue;
      if (this.#afterKeys !== undefined && !this.#isBehind(some[at]!, at)) continue;
      queue.offer(some[at]!, this.#columns, at);
      if (this.#options.keepScores && someScores !== null) this.#keepScore(some[at]!, someScores[at]!);
    }
  }

  /** Moves the documents whose first key may be that of a hit, with it and their scores, to the front; returns their number. */
  #select(docs: Int32Array, scores: Float32Array | null, length: number): number {
    const { from, to } = this.#wanted();
    const first = this.#columns[0]!;
    const rest = this.#keys[0]!.loadExact === undefined ? undefined : this.#columns[1]!;
    let count = 0;
    for (let at = 0; at < length; at++) {
      const key = first[at]!;
      if (key < from || key > to) continue;
      selected.docs[count] = docs[at]!;
      if (scores !== null) selected.scores[count] = scores[at]!;
      first[count] = key;
      if (rest !== undefined) rest[count] = rest[at]!;
      count++;
    }
    return count;
  }

  /** First keys of documents that the queue may take. */
  #wanted(): KeyRange {
    const { isFull, worst } = this.#queue!;
    return {
      from: this.#afterKeys?.[0] ?? Number.NEGATIVE_INFINITY,
      to: isFull ? worst : Number.POSITIVE_INFINITY,
    };
  }

  #load(at: number, docs: Int32Array, scores: Float32Array | null, length: number): void {
    const key = this.#keys[at]!;
    const place = this.#places[at]!;
    const out = this.#columns[place]!;
    if (key.loadExact === undefined) key.load(docs, scores, length, out);
    else key.loadExact(docs, length, out, this.#columns[place + 1]!, at === 0 ? this.#wanted() : ALL_KEYS);
  }

  /** First key that a document has to be at or below to be kept; Infinity while the queue is not full. */
  get bound(): number {
    const own = this.#queue?.isFull === true ? this.#queue.worst : Number.POSITIVE_INFINITY;
    const worst = this.#hits.length === this.#options.limit ? this.#hits.at(-1)?.ranks[0] : undefined;
    return worst === undefined || typeof worst === "string" ? own : Math.min(own, Number(worst));
  }

  /**
   * The blocks of the open segment that probably hold the best hits, ascending; none if the order doesn't say. What is
   * collected from them first lets most of the others be skipped.
   */
  bestBlocks(): number[] {
    const blocks = Math.ceil(this.#segment!.docCount / COLUMN_BLOCK);
    if (!this.knowsBest || blocks <= FIRST_BLOCKS) return [];
    const best = Float64Array.from({ length: blocks }, (_, block) =>
      this.#isBefore(block) ? Number.POSITIVE_INFINITY : this.bestOfBlock(block),
    );
    const limit = best.toSorted()[FIRST_BLOCKS - 1]!;
    const chosen: number[] = [];
    for (let block = 0; block < blocks && chosen.length < FIRST_BLOCKS; block++) {
      if (best[block]! <= limit && this.mayImprove(block)) chosen.push(block);
    }
    return chosen;
  }

  /** True if the order says which keys of hits a block may hold. */
  get knowsBest(): boolean {
    const key = this.#keys[0];
    return (
      key?.bestOfBlock !== undefined && (this.#afterKeys === undefined || key.worstOfBlock !== undefined)
    );
  }

  /** Smallest first key that a hit of the block may have. */
  bestOfBlock(block: number): number {
    return Math.max(this.#keys[0]!.bestOfBlock!(block), this.#afterKeys?.[0] ?? Number.NEGATIVE_INFINITY);
  }

  /** False if no document of a block can become a hit. */
  mayImprove(block: number): boolean {
    if (this.#isBefore(block)) return false;
    const { bound } = this;
    if (bound === Number.POSITIVE_INFINITY) return true;
    const best = this.#keys[0]?.bestOfBlock?.(block);
    return best === undefined || best <= bound;
  }

  /** True if all documents of a block come before the hit after which hits begin. */
  #isBefore(block: number): boolean {
    const after = this.#afterKeys?.[0];
    const worst = after === undefined ? undefined : this.#keys[0]?.worstOfBlock?.(block);
    return worst !== undefined && worst < after!;
  }

  /** True if `mayImprove` is for some block of [from, to). */
  mayImproveAny(from: number, to: number): boolean {
    for (let block = from; block < to; block++) if (this.mayImprove(block)) return true;
    return false;
  }

  /** Removes documents of blocks [from, to) from `words` (one bit per document of these) that can't become hits. */
  narrow(from: number, to: number, words: Uint32Array): void {
    const { bound } = this;
    if (bound !== Number.POSITIVE_INFINITY) this.#keys[0]?.narrow?.(from, to, bound, words);
  }

  /** First document at or after `from` whose block may hold a hit worth keeping. */
  firstUseful(from: number): number {
    const isOpen = this.bound === Number.POSITIVE_INFINITY && this.#afterKeys === undefined;
    if (isOpen || this.#keys[0]?.bestOfBlock === undefined) return from;
    const docCount = this.#segment!.docCount;
    for (let doc = from; doc < docCount; doc = (Math.floor(doc / COLUMN_BLOCK) + 1) * COLUMN_BLOCK) {
      if (this.mayImprove(Math.floor(doc / COLUMN_BLOCK))) return doc;
    }
    return NO_MORE_DOCS;
  }

  /** Returns the hits from the best on. */
  finish(): RankedHit[] {
    this.#settle();
    return this.#hits;
  }

  /** Gives each key of the segment its column. */
  #place(): void {
    let width = 0;
    for (const [at, key] of this.#keys.entries()) {
      this.#places[at] = width;
      width += key.loadExact === undefined ? 1 : 2;
    }
    if (width !== this.#columns.length) this.#columns = Array.from({ length: width }, () => NOTHING);
  }

  /** Starts small: the collectors of `top_hits` buckets see one document at a time. */
  #grow(length: number): void {
    for (const key of this.#columns.keys()) this.#columns[key] = new Float64Array(length);
    if (length <= selected.docs.length) return;
    selected = { docs: new Int32Array(length), scores: new Float32Array(length) };
  }

  #isBehind(doc: number, at: number): boolean {
    for (let column = 0; column < this.#columns.length; column++) {
      const value = this.#columns[column]![at]!;
      const limit = this.#afterKeys![column]!;
      if (value !== limit) return value > limit;
    }
    return doc > this.#afterDoc;
  }

  /** Scores of all documents offered are kept until twice the limit of them are useless. */
  #keepScore(doc: number, score: number): void {
    this.#scores.set(doc, score);
    if (this.#scores.size <= 4 * this.#options.limit + BATCH) return;
    const kept = new Set(this.#queue!.docs());
    for (const known of this.#scores.keys()) if (!kept.has(known)) this.#scores.delete(known);
  }

  /** Merges the hits of the open segment into those of the ones before. */
  #settle(): void {
    const steps = this.settleSteps();
    while (steps.next().done !== true);
  }

  /** Does what the next `segment` or `finish` would do, in steps. */
  *settleSteps(): Generator<void, void> {
    const queue = this.#queue;
    if (queue === undefined || this.#segment === undefined) return;
    const found: RankedHit[] = [];
    for (const { doc, keys } of queue.drain()) {
      found.push(this.#rankedHit(this.#segment, doc, keys));
      if (found.length % HITS_A_STEP === 0) yield;
    }
    this.#queue = undefined;
    this.#scores.clear();
    const { limit } = this.#options;
    yield;
    this.#hits = [...this.#hits, ...found].sort((a, b) => compareHits(this.#orders, a, b)).slice(0, limit);
  }

  #rankedHit(segment: SegmentReader, doc: number, keys: readonly number[]): RankedHit {
    return {
      segment,
      segmentOrder: this.#order,
      doc,
      score: this.#options.keepScores ? (this.#scores.get(doc) ?? Number.NaN) : Number.NaN,
      ranks: this.#keys.map((key, at) => key.rank(doc, keys[this.#places[at]!]!)),
      sort: this.#keys.map((key, at) => key.value(doc, keys[this.#places[at]!]!)),
    };
  }
}
