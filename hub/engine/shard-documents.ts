/**
 * The documents of a shard: applies operations to them, finds them, and tracks their versions. New ones go to a buffer,
 * from which `seal` makes a segment; replaced ones are marked as deleted in place.
 */

import { SegmentBuffer } from "#hub/engine/buffer/segment-buffer.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";
import { ShardSegment } from "#hub/engine/commit/shard-segment.ts";
import type { Indexing } from "#hub/engine/documents/document-indexer.ts";
import { DocumentWriter } from "#hub/engine/documents/document-writer.ts";
import { kernelIndexing } from "#hub/engine/documents/kernel-documents.ts";
import { mergeSource } from "#hub/engine/documents/merge-source.ts";
import { MemorySink, SegmentFile } from "#hub/engine/files/segment-file.ts";
import type { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import { type ItemResult, idError, itemError, MAX_ID_BYTES } from "#hub/engine/operations/item-result.ts";
import {
  type DocumentState,
  nextVersion,
  PRIMARY_TERM,
  type Tombstones,
} from "#hub/engine/operations/versioning.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DocOperation, type tailrace } from "#proto/messages.ts";
import type { Position } from "#proto/position.ts";
import { threadKernel } from "./kernel/kernel.ts";
import type { Mapping } from "./mapping/mapping.ts";
import { Segment } from "./segment/segment.ts";

/** A document as it was sent, with its metadata in the engine. */
export interface ShardDocument {
  readonly id: string;
  readonly source: Uint8Array;
  readonly version: number;
  readonly seqNo: number;
  readonly primaryTerm: number;
  readonly routing: string | undefined;
}

/** Where a document is: in the buffer (segment null) or in a segment. */
interface Place {
  readonly segment: ShardSegment | null;
  readonly doc: number;
}

/** What a shard's documents continue from. */
interface DocumentsState {
  readonly segments: ShardSegment[];
  readonly tombstones: Tombstones;
  readonly nextSegment: number;
  readonly nextSeqNo: number;
}

/** How a shard's documents are read. */
export interface DocumentsOptions {
  readonly mapping: Mapping;
  /** Default: by the kernel of the thread. */
  readonly indexing?: Indexing;
}

/** Changed by one thread only. */
export class ShardDocuments {
  /** Oldest documents first. */
  segments: ShardSegment[];
  readonly tombstones: Tombstones;
  /** Number of the segment to be made next. */
  nextSegment: number;
  nextSeqNo: number;
  /** Position before the message that is being applied. */
  after: Position;
  #mapping: Mapping;
  readonly #indexing: Indexing | undefined;
  #buffer: SegmentBuffer | null = null;
  #writer: DocumentWriter | null = null;
  /** Position before the first message whose documents are in the buffer. */
  #bufferAfter: Position;

  constructor(state: DocumentsState, options: DocumentsOptions, after: Position) {
    this.segments = state.segments;
    this.tombstones = state.tombstones;
    this.nextSegment = state.nextSegment;
    this.nextSeqNo = state.nextSeqNo;
    this.after = after;
    this.#bufferAfter = after;
    this.#mapping = options.mapping;
    this.#indexing = options.indexing;
  }

  get mapping(): Mapping {
    return this.#mapping;
  }

  /** Documents that follow are read by `mapping`. */
  set mapping(mapping: Mapping) {
    if (mapping === this.#mapping) return;
    this.#mapping = mapping;
    this.#writer?.setMapping(mapping);
  }

  /** Documents that aren't in a segment yet; null for none. */
  get buffer(): SegmentBuffer | null {
    return this.#buffer;
  }

  /**
   * Applies one operation of `batch`. With `isRepair` what was lost is being read again: an event that is there isn't
   * taken a second time. Throws what makes the shard unusable; other errors are in the result.
   */
  apply(operation: tailrace.IDocOperation, batch: tailrace.IDocBatch, isRepair: boolean): ItemResult {
    try {
      const id = toBytes(operation.id ?? "");
      if (id.length === 0 || id.length > MAX_ID_BYTES) throw idError(id.length);
      const mustLookUp = isRepair || operation.appendOnly !== true;
      const location = mustLookUp ? this.#find(id) : null;
      // What was lost is read again: an event that is there wasn't lost.
      if (isRepair && operation.appendOnly === true && location !== null) return { result: "noop" };
      const state = this.#stateOf(operation.id!, location);
      switch (operation.kind ?? DocOperation.Kind.INDEX) {
        case DocOperation.Kind.DELETE:
          return this.#delete(operation, batch, location, state);
        case DocOperation.Kind.UPDATE:
          return this.#update(operation, batch, id, location, state);
        default:
          return this.#put(operation, batch, id, operation.source ?? EMPTY, location, state);
      }
    } catch (error) {
      return itemError(error);
    }
  }

  /** Whether operation `index` of a message is done by `applyRun`, which is quicker. */
  isRunnable(batch: DocBatchView, index: number): boolean {
    const idBytes = batch.idStop(index) - batch.idStart(index);
    if (!batch.isPlain(index) || idBytes === 0 || idBytes > MAX_ID_BYTES) return false;
    return this.tombstones.isEmpty || this.tombstones.get(batch.id(index)) === undefined;
  }

  /** Applies operations `from` to `to`, which are runnable, and appends their results. Throws as `apply` does. */
  applyRun(batch: DocBatchView, from: number, to: number, results: ItemResult[]): void {
    const buffer = this.#openBuffer();
    const lenient = batch.header.lenient;
    const failed = this.#writer!.writeRun(batch, from, to, buffer.docCount, lenient);
    const errors = [...(failed ?? [])].map(([index, error]) => [index, itemError(error)] as const);
    let seqNo = this.nextSeqNo;
    this.nextSeqNo = buffer.addRun(batch, from, to, seqNo, failed);
    let done = from;
    const created = (until: number): void => {
      const count = until - done;
      if (count > 0) results.push({ result: "created", version: 1, seqNo, primaryTerm: PRIMARY_TERM, count });
      seqNo += count;
    };
    for (const [index, error] of errors) {
      created(index);
      results.push(error);
      done = index + 1;
    }
    created(to);
  }

  /** Indexes `source` as the document, in place of the one at `location`. */
  #put(
    operation: tailrace.IDocOperation,
    batch: tailrace.IDocBatch,
    id: Uint8Array,
    source: Uint8Array,
    location: Place | null,
    state: DocumentState,
  ): ItemResult {
    const version = nextVersion(operation, state);
    const buffer = this.#openBuffer();
    const seqNo = this.nextSeqNo;
    const routing = operation.routing ?? "";
    const doc = buffer.addDocument(id, source, version, seqNo, routing);
    try {
      this.#writer!.write(doc, source, routing, batch.lenient === true);
    } catch (error) {
      buffer.kill(doc);
      throw error;
    }
    this.nextSeqNo++;
    this.#kill(location);
    buffer.publish(doc);
    this.tombstones.remove(operation.id!);
    return { result: state.exists ? "updated" : "created", version, seqNo, primaryTerm: PRIMARY_TERM };
  }

  #update(
    operation: tailrace.IDocOperation,
    batch: tailrace.IDocBatch,
    id: Uint8Array,
    location: Place | null,
    state: DocumentState,
  ): ItemResult {
    const partial = operation.source ?? EMPTY;
    if (location === null) {
      const upsert = operation.docAsUpsert === true ? partial : (operation.upsert ?? EMPTY);
      if (upsert.length === 0)
        throw new AppError("document_missing", `[_doc][${operation.id}]: document missing`);
      return this.#put(operation, batch, id, upsert, null, state);
    }
    const current = (location.segment?.segment ?? this.#buffer!).source(location.doc);
    const merged = mergeSource(current, partial);
    if (merged === null && operation.detectNoop === true) {
      nextVersion(operation, state);
      return { result: "noop", version: state.version, seqNo: state.seqNo, primaryTerm: PRIMARY_TERM };
    }
    const routing = operation.routing || this.get(operation.id!)?.routing || "";
    return this.#put({ ...operation, routing }, batch, id, merged ?? current.slice(), location, state);
  }

  #delete(
    operation: tailrace.IDocOperation,
    batch: tailrace.IDocBatch,
    location: Place | null,
    state: DocumentState,
  ): ItemResult {
    const version = nextVersion(operation, state);
    const seqNo = this.nextSeqNo++;
    this.#kill(location);
    this.tombstones.add(operation.id!, { version, seqNo, timeMs: batch.timeMs ?? 0 });
    return { result: location === null ? "not_found" : "deleted", version, seqNo, primaryTerm: PRIMARY_TERM };
  }

  #stateOf(id: string, location: Place | null): DocumentState {
    if (location !== null) {
      const holder = location.segment?.segment ?? this.#buffer!;
      return { version: holder.version(location.doc), seqNo: holder.seqNo(location.doc), exists: true };
    }
    const tombstone = this.tombstones.get(id);
    return { version: tombstone?.version ?? 0, seqNo: tombstone?.seqNo ?? 0, exists: false };
  }

  /** Where the live document of an id is; the newest places first. */
  #find(id: Uint8Array): Place | null {
    const inBuffer = this.#buffer?.find(id) ?? -1;
    if (inBuffer >= 0) return { segment: null, doc: inBuffer };
    for (let index = this.segments.length - 1; index >= 0; index--) {
      const segment = this.segments[index]!;
      const doc = segment.find(id);
      if (doc >= 0) return { segment, doc };
    }
    return null;
  }

  #kill(location: Place | null): void {
    if (location === null) return;
    if (location.segment === null) this.#buffer!.kill(location.doc);
    else location.segment.kill(location.doc);
  }

  #openBuffer(): SegmentBuffer {
    if (this.#buffer !== null) return this.#buffer;
    // Not kept for the next buffer: the thread may have another kernel then.
    const indexing = this.#indexing ?? kernelIndexing(threadKernel());
    this.#buffer = new SegmentBuffer(indexing.newFields());
    this.#writer = new DocumentWriter(this.#buffer, this.#mapping, indexing);
    this.#bufferAfter = this.after;
    return this.#buffer;
  }

  /** Makes a segment in memory of the buffer; null if no document in it is left. */
  seal(): ShardSegment | null {
    const buffer = this.#buffer;
    if (buffer === null) return null;
    let sealed: ShardSegment | null = null;
    if (buffer.liveCount > 0) {
      // Rather more than it takes: pages that aren't written to cost nothing, but the collector counts them.
      const sink = new MemorySink(Math.ceil(buffer.sizeBytes / 2));
      buffer.seal(sink);
      const image = sink.buffer.view();
      const segment = new Segment(SegmentFile.ofMemory(this.newName(), image));
      sealed = new ShardSegment(segment, this.#bufferAfter, buffer.liveDocs(), 0, image);
      this.segments.push(sealed);
    }
    this.dropBuffer();
    return sealed;
  }

  /** Forgets the documents that aren't in a segment, and their memory. */
  dropBuffer(): void {
    this.#writer?.release();
    this.#buffer?.release();
    this.#buffer = null;
    this.#writer = null;
  }

  newName(): string {
    return `s${(this.nextSegment++).toString(36)}`;
  }

  /** Reads a document, refreshed or not; null if there is none. */
  get(id: string): ShardDocument | null {
    const location = this.#find(toBytes(id));
    if (location === null) return null;
    const { doc } = location;
    const holder = location.segment?.segment ?? this.#buffer!;
    return {
      id,
      source: holder.source(doc),
      version: holder.version(doc),
      seqNo: holder.seqNo(doc),
      primaryTerm: PRIMARY_TERM,
      routing:
        location.segment === null ? this.#buffer!.routing(doc) : location.segment.snapshot().routing(doc),
    };
  }
}

const EMPTY = new Uint8Array(0);
