/** Writes the pipeline's documents: finds the indices by name, resolves new fields, publishes messages of DOC. */

import { isAscii } from "node:buffer";
import { randomUUID } from "node:crypto";
import { checkStreamWrite } from "#hub/cluster/catalog/data-streams.ts";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import {
  actionCode,
  type BatchDocument,
  type DocumentBatch,
  type DocumentOrigin,
  documentsOf,
  type SourceRange,
  sourceIndicesOf,
} from "#proto/document-batch.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { DocOperation } from "#proto/messages.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import { appendMessages } from "./append-messages.ts";
import { appendTarget } from "./append-target.ts";
import { type BatchHeader, DocBatches, type EncodedBatch } from "./doc-batches.ts";
import { KnownShapes } from "./known-shapes.ts";
import type { LogPort } from "./log-port.ts";

/** A document that no index will ever accept. */
export interface RefusedDocument {
  readonly document: BatchDocument;
  readonly origin: DocumentOrigin;
  readonly error: AppError;
}

export interface DocumentSinkOptions {
  readonly log: LogPort;
  readonly catalog: IndexCatalog;
  readonly metrics: Metrics;
  readonly now: () => number;
  /** Position of the message of DOC with this sequence. */
  readonly positionOf: (sequence: number) => Position;
  /** Last message of DOC at the start. */
  readonly last: Position;
  /** Stores a refused document in the dead letters; awaited before the cursor may pass it. */
  readonly refuse: (refused: RefusedDocument) => Promise<void>;
}

export class DocumentSink {
  readonly #options: DocumentSinkOptions;
  readonly #documents: Counter;
  readonly #shapes = new KnownShapes();
  #last: Position;

  constructor(options: DocumentSinkOptions) {
    this.#options = options;
    this.#last = options.last;
    this.#documents = options.metrics.counter(
      "tailrace_cluster_documents_published_total",
      "documents of pipelines stored in DOC",
    );
  }

  /** Last message of DOC that can contain a document of the pipeline. */
  get last(): Position {
    return this.#last;
  }

  /**
   * Publishes the documents of one RAW message and returns the position of the last message in DOC so far. Throws temporary
   * failures; called again with the same arguments, it publishes the same messages.
   */
  async write(
    origin: DocumentOrigin,
    sources: readonly SourceRange[],
    documents: DocumentBatch,
    signal?: AbortSignal,
  ): Promise<Position> {
    const isAppended = isAppend(documents) && (await this.#append(origin, sources, documents, signal));
    if (!isAppended) await this.#writeEach(origin, sources, documentsOf(documents, sources), signal);
    this.#documents.inc(documents.ends.length);
    return this.#last;
  }

  /** Fast path: columns, without inspecting each document. False if one of them must be inspected; nothing was done then. */
  async #append(
    origin: DocumentOrigin,
    sources: readonly SourceRange[],
    documents: DocumentBatch & { readonly shapes: Float64Array },
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const index = await appendTarget(documents, this.#options.catalog, this.#shapes, { lenient: true });
    if (index === null) return false;
    const batch = { ...documents, sourceIndices: sourceIndicesOf(documents, sources) };
    for (const message of appendMessages(batch, { index, header: this.#header(origin, sources) }))
      await this.#publish(origin, message, signal);
    return true;
  }

  async #writeEach(
    origin: DocumentOrigin,
    sources: readonly SourceRange[],
    documents: readonly BatchDocument[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const batches = new DocBatches(this.#header(origin, sources));
    const indices = new Map<string, IndexMetadata | AppError>();
    for (const document of documents) {
      const index = this.#knownPlace(document, indices) ?? (await this.#place(document, indices));
      if (index instanceof AppError) await this.#options.refuse({ document, origin, error: index });
      else batches.add(index, operationOf(document), document.ordinal);
    }
    for (const batch of batches.take()) await this.#publish(origin, batch, signal);
  }

  #header(
    { rawIncarnation, partition, rawSequence }: DocumentOrigin,
    sources: readonly SourceRange[],
  ): BatchHeader {
    return {
      lenient: true,
      timeMs: this.#options.now(),
      rawIncarnation,
      rawPartition: partition,
      rawSequence,
      sources: sources.map(({ key, from, to }) => ({ key, from, to })),
    };
  }

  /** Fast path: the index of a document of a known shape, if an earlier document went there. */
  #knownPlace(
    document: BatchDocument,
    indices: ReadonlyMap<string, IndexMetadata | AppError>,
  ): IndexMetadata | undefined {
    const { index, shape } = document;
    const known = indices.get(index);
    const isKnown =
      known !== undefined &&
      !(known instanceof AppError) &&
      known.dataStream === undefined &&
      shape !== undefined &&
      this.#shapes.has(known, shape);
    return isKnown ? known : undefined;
  }

  /** Returns the index of a document, once all its fields are in the mapping, or why no index will ever accept it. */
  async #place(
    document: BatchDocument,
    indices: Map<string, IndexMetadata | AppError>,
  ): Promise<IndexMetadata | AppError> {
    const { catalog } = this.#options;
    try {
      const known = indices.get(document.index) ?? (await catalog.ensure(document.index));
      if (known instanceof AppError) return known;
      if (known.state === "close") throw new AppError("index_closed", `index [${known.name}] is closed`);
      checkStreamWrite(known, { index: document.index, kind: STREAM_KINDS[document.action] });
      const fields = this.#shapes.missing(known, document.source, true, document.shape);
      if (fields !== null) await catalog.putMapping(known.name, fields);
      const index = fields === null ? known : (catalog.get(known.name) ?? known);
      indices.set(document.index, index);
      return index;
    } catch (error) {
      const refused = toAppError(error);
      if (refused.retryable || refused.code === "internal") throw error;
      return refused;
    }
  }

  async #publish(
    origin: DocumentOrigin,
    batch: EncodedBatch,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const messageId = messageIdOf(origin, batch);
    const { sequence } = await this.#options.log.publish(batch.subject, batch.data, {
      messageId,
      ...(signal && { signal }),
    });
    const position = this.#options.positionOf(sequence);
    if (comparePositions(position, this.#last) > 0) this.#last = position;
  }
}

/** Whether a batch has only new documents of one index with ids of one length, which is nearly always the case. */
function isAppend(documents: DocumentBatch): documents is DocumentBatch & { readonly shapes: Float64Array } {
  const { ids, idEnds, indexNames, actions, shapes } = documents;
  const idBytes = idEnds?.[0] ?? 0;
  if (ids === undefined || shapes === undefined || indexNames.length !== 1 || idBytes === 0) return false;
  for (let at = 0; at < documents.ends.length; at++)
    if (actions?.[at] !== APPEND || idEnds![at] !== (at + 1) * idBytes) return false;
  // Ids that a user chose may be more than ASCII.
  return isAscii(ids);
}

const APPEND = actionCode("append");

/** Returns the same id when a RAW message is written again; a random one for documents that come from no RAW message. */
function messageIdOf(
  { rawIncarnation, partition, rawSequence }: DocumentOrigin,
  { index, shard, part }: EncodedBatch,
): string {
  if (rawSequence === 0) return `p/${randomUUID()}`;
  return ["p", rawIncarnation, partition, rawSequence, index.uuid, shard, part].join("/");
}

const KINDS = {
  append: DocOperation.Kind.INDEX,
  index: DocOperation.Kind.INDEX,
  create: DocOperation.Kind.CREATE,
  update: DocOperation.Kind.UPDATE,
  upsert: DocOperation.Kind.UPDATE,
  delete: DocOperation.Kind.DELETE,
} as const;

/** The kind of write that an action counts as if the index belongs to a data stream. */
const STREAM_KINDS = {
  append: "create",
  index: "index",
  create: "create",
  update: "update",
  upsert: "update",
  delete: "delete",
} as const;

function operationOf(document: BatchDocument) {
  const { action } = document;
  return {
    kind: KINDS[action],
    id: document.id,
    source: document.source,
    ordinal: document.ordinal,
    sourceIndex: document.sourceIndex,
    offset: document.offset,
    appendOnly: action === "append",
    docAsUpsert: action === "upsert",
  };
}
