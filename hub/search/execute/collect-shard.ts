/** Runs the query of a request over one shard: total, best hits, states of aggregations. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { COLUMN_BLOCK, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { splitGlobal } from "#hub/search/aggregations/filters/single-bucket.ts";
import { CollectBudget, type TreeState } from "#hub/search/aggregations/tree/aggregation.ts";
import { TreeCollector } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { withPauses } from "#hub/search/aggregations/tree/steps.ts";
import {
  countRun,
  expandMask,
  loadBlock,
  type SegmentRun,
  SetBlocks,
} from "#hub/search/columns/set-blocks.ts";
import { Batch } from "#hub/search/execute/hits/batch.ts";
import type { RankedHit } from "#hub/search/execute/hits/ranked-hit.ts";
import { collectSetHits } from "#hub/search/execute/hits/set-hits.ts";
import { type After, TopHits } from "#hub/search/execute/hits/top-hits.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { AllNode } from "#hub/search/execute/nodes/documents.ts";
import { prepareAll } from "#hub/search/execute/nodes/set-algebra.ts";
import { nextSize, PacedParts } from "#hub/search/execute/paced-parts.ts";
import {
  type CollectedDocuments,
  NO_MORE_DOCS,
  type Query,
  type ShardContext,
  type Weight,
} from "#hub/search/query/query.ts";
import { bindCollectors, checkFailed } from "#hub/search/query/runtime-reader.ts";
import type { Scorer } from "#hub/search/query/scorer.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import type { KeySource, RankOrder } from "#hub/search/sort/key.ts";
import { bindSort } from "#hub/search/sort/shard-sort.ts";
import { BY_SCORE, needsScores } from "#hub/search/sort/sort-request.ts";

/** What a shard found. */
export interface ShardResult {
  readonly shard: ShardContext;
  /** How ranks of hits compare. */
  readonly orders: readonly RankOrder[];
  /** Matching live documents; a lower bound if it stopped early. */
  readonly total: number;
  /** NaN if scores weren't requested or nothing matched. */
  readonly maxScore: number;
  readonly hits: readonly RankedHit[];
  readonly aggregations: TreeState;
  readonly terminatedEarly: boolean;
}

export interface CollectOptions {
  /** Hits to find: from + size. */
  readonly limit: number;
  readonly boost: number;
  /** The search sees only documents that match it, e.g. those of a filtered alias. */
  readonly filter: Query | undefined;
  /** Instead of the request's search_after. */
  readonly after: After | undefined;
  /** Position of the shard among those of the search; default 0. */
  readonly shardOrder?: number;
  /** True if no other shard is searched: nothing is merged with its states. */
  readonly isOnly?: boolean;
}

/** Searches a shard. Throws what the query, the order or an aggregation refuse, cancelled, data_corrupt. */
export async function collectShard(
  request: SearchRequest,
  shard: ShardContext,
  options: CollectOptions,
  control: SearchControl,
): Promise<ShardResult> {
  let collection: Collection | undefined;
  const keys = shard.mapping.keysResolvedBy(() => {
    collection = new Collection(request, shard, options, control);
  });
  await collection!.run(keys);
  return collection!.result();
}

/** Blocks that aggregations get at a time: more as long as the thread isn't kept too long. */
const FIRST_RUN = 1;
const LARGEST_RUN = 4096;

const NOTHING: ReadonlySet<number> = new Set();

class Collection {
  readonly #request: SearchRequest;
  readonly #shard: ShardContext;
  readonly #control: SearchControl;
  readonly #sources: readonly KeySource[];
  readonly #weight: Weight;
  readonly #postWeight: Weight | undefined;
  readonly #top: TopHits;
  readonly #aggregations: TreeCollector;
  readonly #global: TreeCollector;
  readonly #parts: PacedParts;
  readonly #needScores: boolean;
  readonly #counts: boolean;
  readonly #batch: Batch;
  /** All documents are the first owner's. */
  readonly #owners: Int32Array;
  /** Weights that aggregations take scores of documents from, or their buckets. */
  readonly #prepared: Weight[] = [];
  #post: Scorer | null = null;
  /** Keeps the keys of the open segment open. */
  readonly #held: unknown[] = [];
  /** Blocks of the open segment that were collected before the others. */
  #visited: ReadonlySet<number> = NOTHING;
  #total = 0;
  #seen = 0;
  #maxScore = Number.NEGATIVE_INFINITY;
  #terminated = false;
  #states: TreeState = {};

  constructor(request: SearchRequest, shard: ShardContext, options: CollectOptions, control: SearchControl) {
    this.#request = request;
    this.#shard = shard;
    this.#control = control;
    const keys = request.sort.length === 0 ? BY_SCORE : request.sort;
    this.#sources = bindSort(keys, shard, options.shardOrder);
    const sortsByScore = needsScores(keys);
    this.#needScores =
      (options.limit > 0 && (sortsByScore || request.trackScores)) || request.minScore !== undefined;
    this.#batch = new Batch(this.#needScores, shard.searcher.segments);
    this.#owners = new Int32Array(this.#batch.docs.length);
    const { filter } = options;
    const query =
      filter === undefined ? request.query : new BooleanNode({ must: [request.query], filter: [filter] });
    this.#weight = query.weight(shard, { scores: this.#needScores, boost: options.boost });
    this.#postWeight = request.postFilter?.weight(shard, { scores: false, boost: 1 });
    const [inner, global] = splitGlobal(request.aggregations);
    const budget = new CollectBudget();
    this.#parts = new PacedParts(control, budget);
    this.#aggregations = new TreeCollector(
      inner,
      shard.collecting(this.#collected(query, options.boost)),
      budget,
      options.isOnly,
    );
    this.#global = new TreeCollector(global, shard.collecting(this.#collected(new AllNode(), 1)), budget);
    this.#counts = request.trackTotalHits !== false;
    const after = options.after ?? this.#searchAfter();
    this.#top = new TopHits({
      limit: options.limit,
      sources: this.#sources,
      after,
      keepScores: request.trackScores || (request.sort.length > 0 && sortsByScore),
    });
  }

  /** `keys`: of `flattened` fields that it reads. */
  async run(keys: ReadonlySet<string>): Promise<void> {
    const { segments } = this.#shard.searcher;
    for (let order = 0; order < segments.length && !this.#isOver; order++) {
      const segment = segments[order]!;
      await withPauses(this.#top.settleSteps(), this.#control);
      this.#held[0] = await withPauses(segment.openKeys(keys), this.#control);
      const failing = bindCollectors(segment, () => {
        this.#top.segment(segment, order);
        this.#aggregations.segment(segment);
      });
      this.#parts.begin();
      await this.#segment(segment);
      await checkFailed(failing, this.#weight, segment, this.#control);
      if (!this.#global.isEmpty) await this.#everything(segment);
      if (this.#control.isDue) await this.#control.pause();
    }
    await withPauses(this.#top.settleSteps(), this.#control);
    this.#states = {
      ...(await withPauses(this.#aggregations.steps(0), this.#control)),
      ...(await withPauses(this.#global.steps(0), this.#control)),
    };
  }

  result(): ShardResult {
    return {
      shard: this.#shard,
      orders: this.#sources.map(({ order }) => order),
      total: this.#total,
      maxScore: this.#needScores && this.#total > 0 ? this.#maxScore : Number.NaN,
      hits: this.#top.finish(),
      aggregations: this.#states,
      terminatedEarly: this.#terminated,
    };
  }

  #collected(query: Query, boost: number): CollectedDocuments {
    let weight: Weight | undefined;
    const scored = (): Weight => {
      if (weight === undefined) {
        weight = query.weight(this.#shard, { scores: true, boost });
        this.#prepared.push(weight);
      }
      return weight;
    };
    return { query, boost, scored, prepares: (each) => this.#prepared.push(each) };
  }

  get #isOver(): boolean {
    return this.#terminated || this.#control.timedOut;
  }

  async #segment(segment: SegmentReader): Promise<void> {
    await this.#weight.prepare?.(segment, this.#control);
    await this.#postWeight?.prepare?.(segment, this.#control);
    await prepareAll(this.#prepared, segment, this.#control);
    if (this.#isOver) return;
    if (this.#aggregations.isEmpty && this.#top.limit === 0) {
      const known = this.#knownTotal(segment);
      this.#total += Math.max(0, known);
      if (known >= 0) return;
    }
    const set = this.#canUseSets ? this.#weight.set?.(segment) : undefined;
    if (set === null) return;
    if (set === undefined) await this.#walk(segment);
    else await this.#set(segment, set);
  }

  /** Returns true if documents may be taken as a set: none has to be examined individually, and all of them are needed. */
  get #canUseSets(): boolean {
    const { postFilter, minScore, terminateAfter } = this.#request;
    if (postFilter !== undefined || minScore !== undefined || terminateAfter > 0) return false;
    if (!this.#aggregations.isEmpty) return true;
    return this.#counts && !this.#needScores;
  }

  async #set(segment: SegmentReader, set: Bitset): Promise<void> {
    const blocks = new SetBlocks(segment, set);
    if (this.#aggregations.isEmpty) this.#total += blocks.count();
    else await this.#aggregateSet(blocks);
    if (this.#top.limit === 0 || this.#isOver) return;
    if (this.#needScores) await this.#walk(segment, true);
    else await collectSetHits(segment, set, this.#top, this.#control);
  }

  async #aggregateSet(blocks: SetBlocks): Promise<void> {
    let size = FIRST_RUN;
    for (let from = 0; from < blocks.blockCount; ) {
      const run = blocks.run(from, Math.min(blocks.blockCount, from + size));
      from = run.to;
      const count = countRun(run);
      this.#total += count;
      const startMs = performance.now();
      if (this.#parts.areNeeded) await this.#aggregateBlock(run);
      else if (count > 0) this.#parts.timed(run.to - run.from, () => this.#aggregations.collectRun(run, 0));
      // Parts are of one block.
      size = this.#parts.areNeeded ? 1 : nextSize(size, performance.now() - startMs, 1, LARGEST_RUN);
      if (!this.#control.isDue) continue;
      await this.#control.pause();
      if (this.#isOver) return;
    }
  }

  /**
   * Gives the documents of a run of one block to the aggregations, in parts. Parts are runs, too: answers must not depend
   * on how long a block took, and sketches and sums may differ a little between runs and documents one by one.
   */
  async #aggregateBlock(run: SegmentRun): Promise<void> {
    const mask = new Uint32Array(COLUMN_BLOCK / 32);
    const docs = new Int32Array(COLUMN_BLOCK);
    const length = loadBlock(run, run.from, mask);
    await this.#parts.collect(docs, expandMask(run.from, mask, length, docs), (part) => {
      const words = mask.fill(0);
      for (const doc of part) words[(doc % COLUMN_BLOCK) >>> 5]! |= 1 << (doc & 31);
      this.#aggregations.collectRun({ ...run, words, wordsFrom: run.from }, 0);
    });
  }

  /** Visits the documents one after the other; `counted`: for the hits only. */
  async #walk(segment: SegmentReader, counted = false): Promise<void> {
    const scorer = this.#weight.scorer(segment);
    if (scorer === null) return;
    this.#post = this.#postWeight?.scorer(segment) ?? null;
    const known = counted ? 0 : this.#knownTotal(segment);
    if (known >= 0) this.#total += known;
    const first = known >= 0 && this.#top.limit > 0 ? this.#top.bestBlocks() : [];
    if (first.length > 0) await this.#collectBlocks(segment, first);
    this.#visited = new Set(first);
    while (this.#next(scorer, known)) {
      await this.#collect(segment, known);
      if (this.#control.isDue) await this.#control.pause();
      if (this.#isOver) return;
    }
  }

  /** Collects the documents of a few blocks, ascending. */
  async #collectBlocks(segment: SegmentReader, blocks: readonly number[]): Promise<void> {
    const scorer = this.#weight.scorer(segment);
    this.#visited = NOTHING;
    if (scorer === null) return;
    for (const block of blocks) {
      this.#batch.takeBlock(scorer, block);
      if (this.#batch.length > 0) await this.#collect(segment, 0);
    }
  }

  /** Total of a segment that needs no walk over its documents; -1 if there is none or all have to be seen. */
  #knownTotal(segment: SegmentReader): number {
    const { postFilter, minScore, terminateAfter, sort, trackScores } = this.#request;
    // With track_scores, the best score of all documents is needed.
    const mustScore = this.#needScores && trackScores && sort.length > 0;
    const mustSee =
      mustScore ||
      !this.#aggregations.isEmpty ||
      postFilter !== undefined ||
      minScore !== undefined ||
      terminateAfter > 0;
    if (mustSee) return -1;
    return this.#counts ? this.#weight.count(segment) : 0;
  }

  /** Takes the next batch, false after the last; if the total is known, documents that can't become hits are skipped. */
  #next(scorer: Scorer, known: number): boolean {
    const batch = this.#batch;
    if (known < 0) return batch.take(scorer);
    if (this.#top.limit === 0 || scorer.doc === NO_MORE_DOCS) return false;
    if (this.#needScores && this.#request.sort.length === 0) scorer.setMinScore(-this.#top.bound);
    const from = scorer.doc + 1;
    const useful = this.#top.firstUseful(from);
    if (useful === from) return batch.take(scorer);
    if (useful === NO_MORE_DOCS || scorer.seek(useful) === NO_MORE_DOCS) return false;
    batch.takeCurrent(scorer);
    return true;
  }

  async #collect(segment: SegmentReader, known: number): Promise<void> {
    const batch = this.#batch;
    batch.keepLive(segment);
    if (this.#visited.size > 0) batch.dropBlocks(this.#visited);
    const { minScore } = this.#request;
    if (minScore !== undefined) batch.keepScored(minScore);
    this.#cutAtLimit();
    if (known < 0 && !this.#aggregations.isEmpty) {
      const collect = (docs: Int32Array): void => this.#aggregations.collect(docs, this.#owners, docs.length);
      if (this.#parts.areNeeded) await this.#parts.collect(batch.docs, batch.length, collect);
      else this.#parts.timed(1, () => collect(batch.docs.subarray(0, batch.length)));
    }
    if (this.#postWeight !== undefined) batch.keepFound(this.#post);
    if (known < 0) this.#total += batch.length;
    this.#maxScore = Math.max(this.#maxScore, batch.maxScore());
    this.#top.collect(batch.docs, batch.scores, batch.length);
  }

  #cutAtLimit(): void {
    const { terminateAfter } = this.#request;
    this.#seen += this.#batch.length;
    if (terminateAfter === 0 || this.#seen < terminateAfter) return;
    this.#terminated = true;
    this.#batch.length -= this.#seen - terminateAfter;
  }

  /** Gives every live document of a segment to the `global` aggregations. */
  async #everything(segment: SegmentReader): Promise<void> {
    this.#global.segment(segment);
    const all: Query = new AllNode();
    const scorer = all.weight(this.#shard, { scores: false, boost: 1 }).scorer(segment);
    if (scorer === null) return;
    this.#parts.begin();
    const batch = new Batch(false, [segment]);
    const collect = (docs: Int32Array): void => this.#global.collect(docs, this.#owners, docs.length);
    while (batch.take(scorer)) {
      batch.keepLive(segment);
      if (this.#parts.areNeeded) await this.#parts.collect(batch.docs, batch.length, collect);
      else collect(batch.docs.subarray(0, batch.length));
      if (this.#control.isDue) await this.#control.pause();
    }
  }

  #searchAfter(): After | undefined {
    const values = this.#request.searchAfter;
    return values === undefined
      ? undefined
      : { ranks: values.map((value, at) => this.#sources[at]!.rankOf(value)) };
  }
}
