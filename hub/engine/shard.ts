/**
 * A shard: the fold of its part of the log into searchable segments. `apply` takes messages in order and drops what it
 * has; `refresh` makes them visible; `commit` makes them durable together with the position they reach to. Everything is
 * synchronous and belongs to one thread; searchers read snapshots that nothing changes.
 */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { AppError, type ErrorCode, systemCode, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { DocOperation, type tailrace } from "#proto/messages.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import { toBytes } from "./bytes.ts";
import { DocumentWriter } from "./document/document-writer.ts";
import { mergeSource } from "./document/merge-source.ts";
import { lockFolder } from "./folder-lock.ts";
import { MANIFEST_VERSION, type Manifest, writeManifest } from "./manifest.ts";
import type { Mapping } from "./mapping/mapping.ts";
import { chooseMerge } from "./merge/merge-policy.ts";
import { MergeTask } from "./merge/merge-task.ts";
import { type LostSegment, type Recovered, recover } from "./recovery.ts";
import { Repeats } from "./repeats.ts";
import type { Searcher } from "./searcher.ts";
import type { SnapshotReader } from "./segment/reader.ts";
import { Segment } from "./segment/segment.ts";
import { SegmentBuffer } from "./segment/segment-buffer.ts";
import { MemorySink, SegmentFile } from "./segment/segment-file.ts";
import { ShardSegment } from "./shard-segment.ts";
import { Tombstones } from "./tombstones.ts";
import { type DocumentState, nextVersion, PRIMARY_TERM } from "./versioning.ts";

/** A buffer of so many bytes or documents becomes a segment: its hash table still fits the processor's caches. */
const BUFFER_BYTES = 32 * 1024 * 1024;
const BUFFER_DOCS = 100_000;

/** Sealed bytes in memory at which `apply` commits of its own accord, when the owner doesn't. */
const UNCOMMITTED_BYTES = 128 * 1024 * 1024;

/** Longest id, bytes. */
const MAX_ID_BYTES = 512;

export interface ShardOptions {
  /** Name of the index, for messages. */
  readonly index: string;
  readonly mapping: Mapping;
  readonly log: Logger;
  /** Size of a buffer at which it becomes a segment, for tests. */
  readonly bufferDocs?: number;
}

/** A document as it was sent, with what the engine knows of it. */
export interface ShardDocument {
  readonly id: string;
  readonly source: Uint8Array;
  readonly version: number;
  readonly seqNo: number;
  readonly primaryTerm: number;
  readonly routing: string | undefined;
}

export interface ShardStats {
  /** Live documents. */
  readonly docs: number;
  readonly deleted: number;
  /** Size of the segments. */
  readonly bytes: number;
  readonly segments: number;
  /** Memory of the buffer and of segments that aren't committed. */
  readonly memoryBytes: number;
}

type ItemResult = tailrace.DocItemResult.$Properties;

/** Where a document is: in the buffer (segment null) or in a segment. */
interface Place {
  readonly segment: ShardSegment | null;
  readonly doc: number;
}

/** See the file's comment. */
export class Shard {
  /** Segments that were found damaged when the shard was opened. */
  readonly lost: readonly LostSegment[];
  /** True where damage made the position at opening older than what was committed last. */
  readonly fellBack: boolean;
  readonly #folder: string;
  readonly #index: string;
  readonly #bufferDocs: number;
  readonly #unlock: () => void;
  readonly #repeats: Repeats;
  readonly #tombstones: Tombstones;
  #mapping: Mapping;
  #position: Position;
  #repairUntil: Position | null;
  #generation: number;
  #nextSegment: number;
  #nextSeqNo: number;
  #segments: ShardSegment[];
  /** What searchers see; its segments are retained. */
  #visible: readonly SnapshotReader[] = [];
  #buffer: SegmentBuffer | null = null;
  #writer: DocumentWriter | null = null;
  /** Position before the first message whose documents are in the buffer. */
  #bufferAfter: Position;
  #merge: MergeTask | null = null;
  /** Files that the next commit won't name, and those that only the previous manifest names. */
  #obsolete: string[] = [];
  #fallbackOnly: string[] = [];
  #changed = false;
  #closed = false;
  #failure: AppError | null = null;

  private constructor(folder: string, options: ShardOptions, unlock: () => void, recovered: Recovered) {
    const { manifest } = recovered;
    this.#folder = folder;
    this.#index = options.index;
    this.#mapping = options.mapping;
    this.#bufferDocs = options.bufferDocs ?? BUFFER_DOCS;
    this.#unlock = unlock;
    this.lost = recovered.lost;
    this.fellBack = recovered.damagedManifests > 0 || recovered.repairUntil !== null;
    this.#segments = recovered.segments;
    this.#position = recovered.position;
    this.#bufferAfter = recovered.position;
    this.#repairUntil = recovered.repairUntil;
    this.#generation = (manifest?.generation ?? 0) + recovered.damagedManifests;
    this.#nextSegment = manifest?.nextSegment ?? 1;
    this.#nextSeqNo = manifest?.nextSeqNo ?? 0;
    this.#repeats = new Repeats(manifest?.repeats);
    this.#tombstones = new Tombstones(manifest?.tombstones);
    this.#changed = recovered.lost.length > 0;
    this.refresh();
  }

  /**
   * Opens or makes the shard in `folder`. Damaged segments are set aside, named in `lost`, and the position falls back
   * to before them. Throws data_locked, data_corrupt.
   */
  static open(folder: string, options: ShardOptions): Shard {
    mkdirSync(folder, { recursive: true });
    const unlock = lockFolder(folder);
    try {
      const shard = new Shard(folder, options, unlock, recover(folder));
      for (const lost of shard.lost)
        options.log.error({ index: options.index, ...lost }, "a segment is damaged");
      return shard;
    } catch (error) {
      unlock();
      throw error;
    }
  }

  /** Last message applied. After `open`: the one to read on behind. */
  get position(): Position {
    return this.#position;
  }

  get mapping(): Mapping {
    return this.#mapping;
  }

  /** Positions in RAW that are remembered, of all partitions. */
  rawPositions(): Position[] {
    return this.#repeats.state().partitions.map(({ incarnation, sequence }) => ({ incarnation, sequence }));
  }

  /** Documents that follow are read by `mapping`. */
  setMapping(mapping: Mapping): void {
    if (mapping === this.#mapping) return;
    this.#mapping = mapping;
    this.#writer?.setMapping(mapping);
  }

  /**
   * Applies a message. Returns the results in the order of the operations; null where the message was applied before.
   * An operation that fails has `errorCode` and `errorReason`; those dropped as repeats have the result "noop".
   */
  apply(batch: tailrace.IDocBatch, position: Position): ItemResult[] | null {
    this.#checkUsable();
    if (comparePositions(position, this.#position) <= 0) return null;
    this.#limitMemory();
    try {
      const results = this.#applyBatch(batch, position);
      this.#position = position;
      this.#changed = true;
      return results;
    } catch (error) {
      // Half a message may be in the buffer: only the committed state is whole.
      this.#failure = toAppError(error);
      throw this.#failure;
    }
  }

  /** Makes what was applied visible to searchers made from now on. Returns true where something changed. */
  refresh(): boolean {
    if (this.#closed) return false;
    this.#seal();
    const visible = this.#segments.filter((entry) => entry.liveCount > 0).map((entry) => entry.snapshot());
    const before = this.#visible;
    if (visible.length === before.length && visible.every((reader, index) => reader === before[index]))
      return false;
    for (const reader of visible) reader.segment.retain();
    this.#visible = visible;
    for (const reader of before) reader.segment.release();
    return true;
  }

  /** A snapshot as of the last refresh; its `close` must be called. */
  searcher(): Searcher {
    this.#checkUsable();
    const readers = this.#visible;
    for (const reader of readers) reader.segment.retain();
    let isOpen = true;
    return {
      segments: readers,
      mapping: this.#mapping,
      totalDocs: readers.reduce((total, reader) => total + reader.liveCount, 0),
      close() {
        if (isOpen) for (const reader of readers) reader.segment.release();
        isOpen = false;
      },
    };
  }

  /** Reads a document in real time, refreshed or not; null where there is none. */
  get(id: string): ShardDocument | null {
    this.#checkUsable();
    const place = this.#find(toBytes(id));
    if (place === null) return null;
    const { doc } = place;
    const holder = place.segment?.segment ?? this.#buffer!;
    return {
      id,
      source: holder.source(doc),
      version: holder.version(doc),
      seqNo: holder.seqNo(doc),
      primaryTerm: PRIMARY_TERM,
      routing: place.segment === null ? this.#buffer!.routing(doc) : place.segment.snapshot().routing(doc),
    };
  }

  /** Makes everything applied durable and returns the position that covers it. Throws disk_full; try again later. */
  commit(): Position {
    this.#checkUsable();
    if (!this.#changed) return this.#position;
    this.#seal();
    this.#dropDeadSegments();
    try {
      for (const entry of this.#segments) this.#obsolete.push(...entry.persist(this.#folder));
      writeManifest(this.#folder, this.#manifest());
    } catch (error) {
      throw commitError(error, this.#index, this.#folder);
    }
    this.#generation++;
    this.#changed = false;
    for (const name of this.#fallbackOnly) rmSync(join(this.#folder, name), { force: true });
    this.#fallbackOnly = this.#obsolete;
    this.#obsolete = [];
    return this.#position;
  }

  /**
   * Does a slice of merge work (a few ms); returns true where there is more. A merge's result takes its place by itself
   * and becomes durable with the next commit.
   */
  mergeStep(): boolean {
    if (this.#closed || this.#failure !== null) return false;
    if (this.#merge === null) {
      const chosen = chooseMerge(this.#segments);
      if (chosen.length === 0) return false;
      this.#startMerge(chosen);
    }
    return this.#stepMerge();
  }

  /** Merges until there are at most `maxSegments`, giving way to other work between slices. */
  async forceMerge(maxSegments: number): Promise<void> {
    this.refresh();
    while (this.#merge !== null) await this.#mergeSlice();
    while (!this.#closed && this.#segments.length > Math.max(1, maxSegments)) {
      this.#startMerge(this.#segments.slice(Math.max(1, maxSegments) - 1));
      while (this.#merge !== null) await this.#mergeSlice();
    }
    this.refresh();
  }

  stats(): ShardStats {
    const docs = this.#segments.reduce((total, entry) => total + entry.liveCount, 0);
    const all = this.#segments.reduce((total, entry) => total + entry.segment.docCount, 0);
    const uncommitted = this.#segments.reduce((total, entry) => total + entry.uncommittedBytes, 0);
    return {
      docs: docs + (this.#buffer?.liveCount ?? 0),
      deleted: all - docs + (this.#buffer === null ? 0 : this.#buffer.docCount - this.#buffer.liveCount),
      bytes: this.#segments.reduce((total, entry) => total + entry.segment.sizeBytes, 0),
      segments: this.#segments.length,
      memoryBytes: uncommitted + (this.#buffer?.sizeBytes ?? 0),
    };
  }

  /** Gives files and lock back without committing; searchers that are open stay readable. Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#merge?.abandon();
    this.#merge = null;
    for (const reader of this.#visible) reader.segment.release();
    for (const entry of this.#segments) entry.segment.release();
    this.#visible = [];
    this.#segments = [];
    this.#buffer = null;
    this.#unlock();
  }

  #applyBatch(batch: tailrace.IDocBatch, position: Position): ItemResult[] {
    const isRepair = this.#repairUntil !== null && comparePositions(position, this.#repairUntil) <= 0;
    if (!isRepair) this.#repairUntil = null;
    const isNew = isRepair ? () => true : this.#repeats.filter(batch);
    const results: ItemResult[] = [];
    for (const operation of batch.operations ?? []) {
      results.push(isNew(operation) ? this.#applyOne(operation, batch, isRepair) : { result: "noop" });
    }
    this.#repeats.take(batch);
    return results;
  }

  #applyOne(operation: tailrace.IDocOperation, batch: tailrace.IDocBatch, isRepair: boolean): ItemResult {
    try {
      const id = toBytes(operation.id ?? "");
      if (id.length === 0 || id.length > MAX_ID_BYTES) throw idError(id.length);
      const mustLookUp = isRepair || operation.appendOnly !== true;
      const place = mustLookUp ? this.#find(id) : null;
      // What was lost is read again: an event that is there wasn't lost.
      if (isRepair && operation.appendOnly === true && place !== null) return { result: "noop" };
      const state = this.#stateOf(operation.id!, place);
      switch (operation.kind ?? DocOperation.Kind.INDEX) {
        case DocOperation.Kind.DELETE:
          return this.#delete(operation, batch, place, state);
        case DocOperation.Kind.UPDATE:
          return this.#update(operation, batch, id, place, state);
        default:
          return this.#put(operation, batch, id, operation.source ?? EMPTY, place, state);
      }
    } catch (error) {
      if (error instanceof AppError && ITEM_ERRORS.has(error.code)) return itemError(error);
      throw error;
    }
  }

  /** Indexes `source` as the document, in place of the one at `place`. */
  #put(
    operation: tailrace.IDocOperation,
    batch: tailrace.IDocBatch,
    id: Uint8Array,
    source: Uint8Array,
    place: Place | null,
    state: DocumentState,
  ): ItemResult {
    const version = nextVersion(operation, state);
    const buffer = this.#openBuffer();
    const seqNo = this.#nextSeqNo;
    const routing = operation.routing ?? "";
    const doc = buffer.addDocument(id, source, version, seqNo, routing);
    try {
      this.#writer!.write(doc, source, routing, batch.lenient === true);
    } catch (error) {
      buffer.kill(doc);
      throw error;
    }
    this.#nextSeqNo++;
    this.#kill(place);
    buffer.publish(doc);
    this.#tombstones.remove(operation.id!);
    return { result: state.exists ? "updated" : "created", version, seqNo, primaryTerm: PRIMARY_TERM };
  }

  #update(
    operation: tailrace.IDocOperation,
    batch: tailrace.IDocBatch,
    id: Uint8Array,
    place: Place | null,
    state: DocumentState,
  ): ItemResult {
    const partial = operation.source ?? EMPTY;
    if (place === null) {
      const upsert = operation.docAsUpsert === true ? partial : (operation.upsert ?? EMPTY);
      if (upsert.length === 0)
        throw new AppError("document_missing", `[_doc][${operation.id}]: document missing`);
      return this.#put(operation, batch, id, upsert, null, state);
    }
    const current = (place.segment?.segment ?? this.#buffer!).source(place.doc);
    const merged = mergeSource(current, partial);
    if (merged === null && operation.detectNoop === true) {
      nextVersion(operation, state);
      return { result: "noop", version: state.version, seqNo: state.seqNo, primaryTerm: PRIMARY_TERM };
    }
    const routing = operation.routing || this.get(operation.id!)?.routing || "";
    return this.#put({ ...operation, routing }, batch, id, merged ?? current.slice(), place, state);
  }

  #delete(
    operation: tailrace.IDocOperation,
    batch: tailrace.IDocBatch,
    place: Place | null,
    state: DocumentState,
  ): ItemResult {
    const version = nextVersion(operation, state);
    const seqNo = this.#nextSeqNo++;
    this.#kill(place);
    this.#tombstones.add(operation.id!, { version, seqNo, timeMs: batch.timeMs ?? 0 });
    return { result: place === null ? "not_found" : "deleted", version, seqNo, primaryTerm: PRIMARY_TERM };
  }

  #stateOf(id: string, place: Place | null): DocumentState {
    if (place !== null) {
      const holder = place.segment?.segment ?? this.#buffer!;
      return { version: holder.version(place.doc), seqNo: holder.seqNo(place.doc), exists: true };
    }
    const tombstone = this.#tombstones.get(id);
    return { version: tombstone?.version ?? 0, seqNo: tombstone?.seqNo ?? 0, exists: false };
  }

  /** Where the live document of an id is; the newest places first. */
  #find(id: Uint8Array): Place | null {
    const inBuffer = this.#buffer?.find(id) ?? -1;
    if (inBuffer >= 0) return { segment: null, doc: inBuffer };
    for (let index = this.#segments.length - 1; index >= 0; index--) {
      const segment = this.#segments[index]!;
      const doc = segment.find(id);
      if (doc >= 0) return { segment, doc };
    }
    return null;
  }

  #kill(place: Place | null): void {
    if (place === null) return;
    if (place.segment === null) this.#buffer!.kill(place.doc);
    else place.segment.kill(place.doc);
  }

  #openBuffer(): SegmentBuffer {
    if (this.#buffer !== null) return this.#buffer;
    this.#buffer = new SegmentBuffer();
    this.#writer = new DocumentWriter(this.#buffer, this.#mapping);
    this.#bufferAfter = this.#position;
    return this.#buffer;
  }

  /** Makes a segment in memory of the buffer. */
  #seal(): void {
    const buffer = this.#buffer;
    if (buffer === null) return;
    this.#buffer = null;
    this.#writer = null;
    if (buffer.liveCount === 0) return;
    const sink = new MemorySink();
    buffer.seal(sink);
    const image = sink.buffer.view().slice();
    const segment = new Segment(SegmentFile.ofMemory(this.#newName(), image));
    this.#segments.push(new ShardSegment(segment, this.#bufferAfter, buffer.liveDocs(), 0, image));
  }

  #newName(): string {
    return `s${(this.#nextSegment++).toString(36)}`;
  }

  #limitMemory(): void {
    const buffer = this.#buffer;
    if (buffer !== null && (buffer.docCount >= this.#bufferDocs || buffer.sizeBytes >= BUFFER_BYTES))
      this.#seal();
    const uncommitted = this.#segments.reduce((total, entry) => total + entry.uncommittedBytes, 0);
    if (uncommitted >= UNCOMMITTED_BYTES) this.commit();
  }

  #dropDeadSegments(): void {
    const dead = this.#segments.filter(
      (entry) => entry.liveCount === 0 && !(this.#merge?.uses(entry) ?? false),
    );
    for (const entry of dead) this.#retire(entry);
    if (dead.length > 0) this.#segments = this.#segments.filter((entry) => !dead.includes(entry));
  }

  /** Lets go of a segment; readers that have it keep it. Its files go after the next commits. */
  #retire(entry: ShardSegment): void {
    this.#obsolete.push(...entry.fileNames());
    entry.segment.release();
  }

  #manifest(): Manifest {
    return {
      version: MANIFEST_VERSION,
      generation: this.#generation + 1,
      position: this.#position,
      repairUntil: this.#repairUntil,
      nextSegment: this.#nextSegment,
      nextSeqNo: this.#nextSeqNo,
      mappingVersion: this.#mapping.version,
      segments: this.#segments.map((entry) => entry.describe()),
      repeats: this.#repeats.state(),
      tombstones: this.#tombstones.state(),
    };
  }

  #startMerge(inputs: readonly ShardSegment[]): void {
    this.#merge = new MergeTask(this.#folder, this.#newName(), inputs);
  }

  /** One slice of the merge at hand; true where there is more to do. */
  #stepMerge(): boolean {
    const merge = this.#merge!;
    try {
      if (!merge.step()) return true;
    } catch (error) {
      this.#merge = null;
      merge.abandon();
      throw commitError(error, this.#index, this.#folder);
    }
    this.#merge = null;
    const merged = merge.finish();
    const at = this.#segments.indexOf(merge.inputs[0]!);
    this.#segments = this.#segments.filter((entry) => !merge.inputs.includes(entry));
    if (merged !== null) this.#segments.splice(at, 0, merged);
    for (const entry of merge.inputs) this.#retire(entry);
    this.#changed = true;
    return chooseMerge(this.#segments).length > 0;
  }

  async #mergeSlice(): Promise<void> {
    this.#stepMerge();
    await setImmediate();
    if (this.#closed) this.#merge = null;
  }

  #checkUsable(): void {
    if (this.#closed) throw new AppError("closed", `the shard of [${this.#index}] is closed`);
    if (this.#failure !== null) throw this.#failure;
  }
}

const EMPTY = new Uint8Array(0);

/** Errors that concern one operation; all others stop the shard. */
const ITEM_ERRORS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "mapping_parse",
  "mapping_strict",
  "version_conflict",
  "document_missing",
  "request_invalid",
]);

function idError(length: number): AppError {
  return new AppError(
    "request_invalid",
    length === 0
      ? "an id is missing"
      : `id is too long, must be no longer than ${MAX_ID_BYTES} bytes but was: ${length}`,
  );
}

function itemError(error: AppError): ItemResult {
  const cause = error.data["caused_by"] as { reason?: string } | undefined;
  const errorReason = cause?.reason === undefined ? error.message : `${error.message}; ${cause.reason}`;
  return { errorCode: error.code, errorReason };
}

function commitError(error: unknown, index: string, folder: string): AppError {
  if (error instanceof AppError) return error;
  if (systemCode(error) === "ENOSPC") {
    const message = `the disk of ${folder} is full: the shard of [${index}] can't be written; free space or delete old indices`;
    return new AppError("disk_full", message, { cause: error });
  }
  return toAppError(error);
}
