/** Operations on documents, sorted into messages of the DOC stream: one index and shard each, in order, bounded. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { DocumentBatch } from "#proto/document-batch.ts";
import { DocBatch, DocOperation, type tailrace } from "#proto/messages.ts";
import { docSubject } from "#proto/subjects.ts";
import { encodeAppends } from "./append-encoder.ts";
import { shardOf } from "./routing.ts";

/** The fields shared by all messages of one write. */
export interface BatchHeader {
  readonly lenient: boolean;
  readonly timeMs: number;
  /** Origin in RAW; rawSequence 0 for the document interface. */
  readonly rawIncarnation: number;
  readonly rawPartition: number;
  readonly rawSequence: number;
  readonly sources: readonly tailrace.DocSource.$Properties[];
}

/** A message ready to be published. */
export interface EncodedBatch {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly index: IndexMetadata;
  readonly shard: number;
  /** Number of this message among those of the same write, index and shard, from 0. */
  readonly part: number;
  /** Indexes of its operations among those of the write, in order. */
  readonly places: Uint32Array;
}

/** Maximum document bytes of a message; leaves space below the 8 MiB payload limit for everything else. */
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** Maximum operations of a message: bounds the time that a shard spends on it without a pause. */
export const MAX_OPERATIONS = 5_000;
/** Bytes that an operation counts besides its document. */
export const OPERATION_BYTES = 64;

interface OpenBatch {
  readonly index: IndexMetadata;
  readonly shard: number;
  part: number;
  bytes: number;
  places: number[];
  operations: tailrace.DocOperation.$Properties[];
}

/** Collects operations and returns full messages. */
export class DocBatches {
  readonly #header: BatchHeader;
  readonly #open = new Map<string, OpenBatch>();
  readonly #done: EncodedBatch[] = [];
  readonly #reply: ((index: IndexMetadata, shard: number, part: number) => string) | undefined;

  /** `reply` returns the subject to which each message's result is sent; no results without it. */
  constructor(header: BatchHeader, reply?: (index: IndexMetadata, shard: number, part: number) => string) {
    this.#header = header;
    this.#reply = reply;
  }

  /** Adds an operation; `place` comes back with the message that carries it. */
  add(index: IndexMetadata, operation: tailrace.DocOperation.$Properties, place: number): void {
    const shard = shardOf(operation.id ?? "", operation.routing ?? "", index.settings.numberOfShards);
    const key = `${index.uuid}/${shard}`;
    let batch = this.#open.get(key);
    if (batch === undefined) {
      batch = { index, shard, part: 0, bytes: 0, places: [], operations: [] };
      this.#open.set(key, batch);
    }
    const bytes = (operation.source?.length ?? 0) + (operation.upsert?.length ?? 0) + OPERATION_BYTES;
    if (
      batch.operations.length > 0 &&
      (batch.bytes + bytes > MAX_BATCH_BYTES || batch.operations.length >= MAX_OPERATIONS)
    ) {
      this.#close(batch);
    }
    batch.bytes += bytes;
    batch.places.push(place);
    batch.operations.push(operation);
  }

  /** Yields all messages, the last ones encoded one by one; the collection is empty afterwards. */
  *take(): Iterable<EncodedBatch> {
    yield* this.#done.splice(0);
    for (const batch of this.#open.values()) {
      this.#close(batch);
      yield* this.#done.splice(0);
    }
    this.#open.clear();
  }

  #close(batch: OpenBatch): void {
    const { index, shard, part, operations, places } = batch;
    const head = {
      ...this.#header,
      sources: [...this.#header.sources],
      index: index.name,
      indexUuid: index.uuid,
      shard,
      mappingVersion: index.mapping.version,
      reply: this.#reply?.(index, shard, part) ?? "",
    };
    const data = encodeBatch(head, operations);
    this.#done.push({
      subject: docSubject(index.uuid, shard),
      data,
      index,
      shard,
      part,
      places: Uint32Array.from(places),
    });
    Object.assign(batch, { part: part + 1, bytes: 0, places: [], operations: [] });
  }
}

/** Most batches contain only new documents. */
function encodeBatch(
  head: tailrace.DocBatch.$Properties,
  operations: readonly tailrace.DocOperation.$Properties[],
): Uint8Array {
  const columns = columnsOf(operations);
  if (columns !== null) return encodeAppends(DocBatch.encode(head).finish(), columns);
  return DocBatch.encode({ ...head, operations: [...operations] }).finish();
}

/** Operations that only add documents, as columns; null if one has further fields, or the lengths of their ids differ. */
function columnsOf(operations: readonly tailrace.DocOperation.$Properties[]): DocumentBatch | null {
  if (!operations.every(isAppend)) return null;
  const ids = operations.map(({ id }) => Buffer.from(id!));
  if (!ids.every(({ length }) => length === ids[0]!.length)) return null;
  let end = 0;
  return {
    bytes: Buffer.concat(operations.map(({ source }) => source!)),
    start: 0,
    ends: Uint32Array.from(operations, ({ source }) => (end += source!.length)),
    gap: 0,
    indexNames: [],
    ids: Buffer.concat(ids),
    ordinals: Uint32Array.from(operations, ({ ordinal }) => ordinal ?? 0),
    sourceIndices: Uint32Array.from(operations, ({ sourceIndex }) => sourceIndex ?? 0),
    offsets: Float64Array.from(operations, ({ offset }) => offset ?? 0),
  };
}

function isAppend(operation: tailrace.DocOperation.$Properties): boolean {
  const { appendOnly, kind, routing, upsert, id, source } = operation;
  const saysMore =
    (kind ?? 0) > DocOperation.Kind.CREATE ||
    Boolean(routing) ||
    (upsert?.length ?? 0) > 0 ||
    operation.hasVersion === true ||
    (operation.ifPrimaryTerm ?? 0) > 0;
  return appendOnly === true && !saysMore && Boolean(id) && source !== undefined;
}
