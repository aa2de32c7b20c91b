/**
 * A shard: stores the documents of its part of the log in segments. `apply` takes messages in order and drops repeated ones;
 * `refresh` makes their documents visible to searches; `commit` makes them durable together with the position in the log.
 * Everything is synchronous and runs on one thread; searchers read immutable snapshots.
 */

import { mkdirSync } from "node:fs";
import { MANIFEST_VERSION, type Manifest, manifestTimeMs } from "#hub/engine/commit/manifest.ts";
import { type LostSegment, type Recovered, recover } from "#hub/engine/commit/recovery.ts";
import { ShardCommits } from "#hub/engine/commit/shard-commits.ts";
import { type ShardSegment, VisibleSegments } from "#hub/engine/commit/shard-segment.ts";
import { Repeats } from "#hub/engine/operations/deduplication.ts";
import { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import { addResult, type ItemResult } from "#hub/engine/operations/item-result.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { FolderLock } from "#proto/kit/files/folder-lock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { tailrace } from "#proto/messages.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import type { Mapping } from "./mapping/mapping.ts";
import { ShardMerges } from "./merge/shard-merges.ts";
import { Tombstones } from "./operations/versioning.ts";
import { type DocumentsOptions, type ShardDocument, ShardDocuments } from "./shard-documents.ts";
import { type ShardStats, statsOf, uncommittedBytesOf } from "./shard-stats.ts";

/**
 * A buffer of this many bytes or documents becomes a segment: its hash table still fits the processor's caches. All
 * shards of an index have a buffer at the same time: twice the size takes 40 MiB more of a hub, and as much CPU.
 */
const BUFFER_BYTES = 16 * 1024 * 1024;
const BUFFER_DOCS = 100_000;

/** A shard is idle when nothing was written for this long. */
const IDLE_MS = 5_000;

/** Sealed bytes in memory at which `apply` commits of its own accord, when the owner doesn't. */
const UNCOMMITTED_BYTES = 128 * 1024 * 1024;

export interface ShardOptions extends DocumentsOptions {
  /** Name of the index, for messages. */
  readonly index: string;
  readonly log: Logger;
  /** Generation of the last commit, as another file remembers it; 0 or missing: unknown. */
  readonly committedGeneration?: number;
  /** Size of a buffer at which it becomes a segment, for tests. */
  readonly bufferDocs?: number;
}

/** See the file's comment. */
export class Shard {
  /** Segments that were found damaged when the shard was opened. */
  readonly lost: readonly LostSegment[];
  /** True where damage made the position at opening older than what was committed last. */
  readonly fellBack: boolean;
  readonly #index: string;
  readonly #bufferDocs: number;
  readonly #lock: FolderLock;
  readonly #repeats: Repeats;
  readonly #documents: ShardDocuments;
  #position: Position;
  #repairUntil: Position | null;
  readonly #commits: ShardCommits;
  readonly #visible = new VisibleSegments();
  readonly #merges: ShardMerges;
  #writtenMs: number;
  #changed = false;
  #closed = false;
  #failure: AppError | null = null;

  private constructor(folder: string, options: ShardOptions, lock: FolderLock, recovered: Recovered) {
    const { manifest } = recovered;
    this.#index = options.index;
    this.#bufferDocs = options.bufferDocs ?? BUFFER_DOCS;
    this.#lock = lock;
    this.lost = recovered.lost;
    this.fellBack = recovered.wentBack || recovered.repairUntil !== null;
    this.#position = recovered.position;
    this.#repairUntil = recovered.repairUntil;
    const found = (manifest?.generation ?? 0) + recovered.damagedManifests;
    const generation = Math.max(found, options.committedGeneration ?? 0);
    this.#commits = new ShardCommits(folder, options.index, generation);
    this.#writtenMs = manifest === null ? Date.now() : manifestTimeMs(folder, manifest);
    this.#repeats = new Repeats(manifest?.repeats);
    const state = {
      segments: recovered.segments,
      tombstones: new Tombstones(manifest?.tombstones),
      nextSegment: manifest?.nextSegment ?? 1,
      nextSeqNo: manifest?.nextSeqNo ?? 0,
    };
    this.#documents = new ShardDocuments(state, options, recovered.position);
    this.#merges = new ShardMerges(folder, this.#documents, (inputs) => {
      for (const entry of inputs) this.#commits.retire(entry);
      this.#changed = true;
    });
    this.#changed = recovered.lost.length > 0 || recovered.wentBack;
    this.refresh();
  }

  /**
   * Opens or makes the shard in `folder`. Damaged segments are set aside, named in `lost`, and the position falls back
   * to before them. Throws data_locked, data_corrupt.
   */
  static open(folder: string, options: ShardOptions): Shard {
    mkdirSync(folder, { recursive: true });
    const lock = FolderLock.acquire(folder, "shard");
    try {
      const shard = new Shard(folder, options, lock, recover(folder, options.committedGeneration ?? 0));
      for (const lost of shard.lost)
        options.log.error({ index: options.index, ...lost }, "a segment is damaged");
      return shard;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Last message applied. After `open`: the one to read on after. */
  get position(): Position {
    return this.#position;
  }

  /** Of the last commit; 0 for none. */
  get generation(): number {
    return this.#commits.generation;
  }

  /** True where a message or a seal failed half-way: only opening the shard again helps. */
  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  /** Records that a closed shard couldn't be opened again: `error` is thrown until that succeeds. Returns it. */
  failedToOpen(error: unknown): AppError {
    return this.#fail(error);
  }

  get mapping(): Mapping {
    return this.#documents.mapping;
  }

  /** Positions in RAW that are remembered, of all partitions. */
  rawPositions(): Position[] {
    return this.#repeats.state().partitions.map(({ incarnation, sequence }) => ({ incarnation, sequence }));
  }

  /** Documents that follow are read by `mapping`. */
  setMapping(mapping: Mapping): void {
    this.#documents.mapping = mapping;
  }

  /**
   * Applies a message. Returns the results in the order of the operations, some for several in a row (`count`); null if
   * the message was applied before. An operation that fails has `errorCode` and `errorReason`; those dropped as repeats
   * have the result "noop".
   */
  apply(batch: DocBatchView | tailrace.IDocBatch, position: Position): ItemResult[] | null {
    this.#checkUsable();
    if (comparePositions(position, this.#position) <= 0) return null;
    this.#limitMemory();
    try {
      const view = batch instanceof DocBatchView ? batch : DocBatchView.of(batch);
      const results = this.#applyBatch(view, position);
      this.#position = position;
      this.#documents.after = position;
      this.#changed = true;
      this.#writtenMs = Date.now();
      return results;
    } catch (error) {
      // Half a message may be in the buffer.
      throw this.#fail(error);
    }
  }

  /** Makes what was applied visible to searchers made from now on. Returns true if something changed. */
  refresh(): boolean {
    if (this.#closed) return false;
    this.#seal();
    return this.#visible.show(this.#documents.segments);
  }

  /** A snapshot as of the last refresh; its `close` must be called. */
  searcher(): Searcher {
    this.#checkUsable();
    return this.#visible.searcher(this.#documents.mapping);
  }

  /** Reads a document in real time, refreshed or not; null if there is none. */
  get(id: string): ShardDocument | null {
    this.#checkUsable();
    return this.#documents.get(id);
  }

  /** Makes everything applied durable and returns the position that covers it. Throws disk_full; try again later. */
  commit(): Position {
    this.#checkUsable();
    if (!this.#changed) return this.#position;
    this.#seal();
    this.#dropDeadSegments();
    this.#write();
    this.#changed = false;
    return this.#position;
  }

  /**
   * Commits, and gives back the files that only the manifest before needs: the state is written once more, so that both
   * manifests name the same files. Costs nothing if there are none. For a shard that is idle, which would keep merged
   * segments until its next commit. Throws disk_full; try again later.
   */
  trim(): void {
    this.commit();
    if (!this.#commits.keepsFallback) return;
    this.#write();
  }

  /**
   * Does a slice of merge work (a few ms); returns true if there is more. A merge's result takes its place by itself
   * and becomes durable with the next commit. In an idle shard all documents get the form that they stay in.
   */
  mergeStep(): boolean {
    if (this.#closed || this.#failure !== null) return false;
    try {
      return this.#merges.step(Date.now() - this.#writtenMs >= IDLE_MS);
    } catch (error) {
      throw this.#commits.failure(error);
    }
  }

  /** Merges until there are at most `maxSegments`, giving way to other work between slices; gives the disk of the others back. */
  async forceMerge(maxSegments: number): Promise<void> {
    this.refresh();
    try {
      await this.#merges.force(maxSegments);
    } catch (error) {
      throw this.#commits.failure(error);
    }
    this.refresh();
    this.trim();
  }

  stats(): ShardStats {
    return statsOf(this.#documents, {
      writtenMs: this.#writtenMs,
      generation: this.#commits.generation,
    });
  }

  /** Gives files and lock back without committing; searchers that are open stay readable. Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#merges.close();
    this.#visible.close();
    for (const entry of this.#documents.segments) entry.release();
    this.#documents.segments = [];
    this.#documents.dropBuffer();
    this.#lock.release();
  }

  #applyBatch(batch: DocBatchView, position: Position): ItemResult[] {
    const { count, header } = batch;
    const documents = this.#documents;
    const isRepair = this.#repairUntil !== null && comparePositions(position, this.#repairUntil) <= 0;
    if (!isRepair) this.#repairUntil = null;
    const test = isRepair ? () => true : this.#repeats.filter(header);
    const isNew = (at: number) => test(batch.ordinal(at), batch.sourceIndex(at), batch.offset(at));
    const results: ItemResult[] = [];
    for (let from = 0; from < count; ) {
      let to = from;
      while (!isRepair && to < count && isNew(to) && documents.isRunnable(batch, to)) to++;
      if (to > from) documents.applyRun(batch, from, to, results);
      else if (isNew(to++)) addResult(results, documents.apply(batch.operation(from), header, isRepair));
      else results.push({ result: "noop" });
      from = to;
    }
    const last =
      count === 0 ? undefined : { ordinal: batch.ordinal(count - 1), offset: batch.offset(count - 1) };
    this.#repeats.take(header, last);
    return results;
  }

  #limitMemory(): void {
    const { buffer } = this.#documents;
    const { docCount = 0, sizeBytes = 0, fields } = buffer ?? {};
    if (docCount >= this.#bufferDocs || sizeBytes >= BUFFER_BYTES || fields?.isTight) this.#seal();
    if (uncommittedBytesOf(this.#documents.segments) >= UNCOMMITTED_BYTES) this.commit();
  }

  #dropDeadSegments(): void {
    const isDead = (entry: ShardSegment) => entry.liveCount === 0 && !this.#merges.uses(entry);
    const { segments } = this.#documents;
    for (const entry of segments.filter(isDead)) this.#commits.retire(entry);
    if (segments.some(isDead)) this.#documents.segments = segments.filter((entry) => !isDead(entry));
  }

  /** Writes the files of all segments and a manifest. */
  #write(): void {
    const { segments } = this.#documents;
    try {
      this.#commits.write(segments, (generation) => this.#manifest(generation));
    } catch (error) {
      // Another attempt might succeed though bytes are missing. The log has them.
      if (segments.some(({ isLost }) => isLost)) this.#fail(error);
      throw error;
    }
  }

  #manifest(generation: number): Manifest {
    return {
      version: MANIFEST_VERSION,
      generation,
      position: this.#position,
      repairUntil: this.#repairUntil,
      nextSegment: this.#documents.nextSegment,
      nextSeqNo: this.#documents.nextSeqNo,
      mappingVersion: this.#documents.mapping.version,
      segments: this.#documents.segments.map((entry) => entry.describe()),
      repeats: this.#repeats.state(),
      tombstones: this.#documents.tombstones.state(),
    };
  }

  /** Makes a segment of what was applied last. */
  #seal(): void {
    try {
      const sealed = this.#documents.seal();
      if (sealed !== null) this.#commits.writeAhead(sealed);
    } catch (error) {
      // The position covers the buffer's documents.
      throw this.#fail(error);
    }
  }

  /** Only the committed state is whole from now on. */
  #fail(error: unknown): AppError {
    return (this.#failure = toAppError(error));
  }

  #checkUsable(): void {
    if (this.#failure !== null) throw this.#failure;
    if (this.#closed) throw new AppError("closed", `the shard of [${this.#index}] is closed`);
  }
}
