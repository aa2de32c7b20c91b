/** Where the pipeline's documents go: indices by name, new fields resolved, messages in DOC. */

import { randomUUID } from "node:crypto";
import { checkStreamWrite } from "#hub/cluster/catalog/data-streams.ts";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { DocOperation } from "#proto/messages.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import { appendMessages, type NewDocuments } from "./append-messages.ts";
import { appendTarget } from "./append-target.ts";
import { type BatchHeader, DocBatches, type EncodedBatch } from "./doc-batches.ts";
import { checkText } from "./doc-operation.ts";
import { KnownShapes } from "./known-shapes.ts";
import type { LogPort } from "./log-port.ts";

/** The RAW message that documents were made of. */
export interface Origin {
  readonly rawIncarnation: number;
  readonly partition: number;
  readonly rawSequence: number;
}

/** A range of a source that the message carried. `to` is exclusive. */
export interface SourceRange {
  /** `<agent id>/<file key>/<generation>`. */
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

export interface ProcessedDocument {
  readonly index: string;
  readonly id: string;
  /** JSON object, UTF-8. */
  readonly source: Uint8Array;
  /** Place among the results of the RAW message; ascending. */
  readonly ordinal: number;
  /** 1-based place in the sources, 0 for none. */
  readonly sourceIndex: number;
  readonly offset: number;
  /** What jsonShape (#proto/codec/json-shape.ts) says of `source`, where a worker has asked it. */
  readonly shape?: number;
  /** Default "append": there is no document of that id yet, by construction. */
  readonly action?: "append" | "index" | "create" | "update" | "upsert" | "delete";
}

/** New documents of one index, behind each other. */
export interface PipelineDocuments extends Omit<NewDocuments, "start" | "gap"> {
  /** Name or alias. */
  readonly index: string;
  /** What jsonShape says of each. */
  readonly shapes: Float64Array;
}

type Published = Pick<EncodedBatch, "subject" | "data" | "index" | "shard" | "part">;

/** A document that no index will ever take. */
export interface RefusedDocument {
  readonly document: ProcessedDocument;
  readonly origin: Origin;
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
  /** Keeps a refused document in the dead letters; awaited before the cursor may pass it. */
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

  /** Last message of DOC that a document of the pipeline can be in. */
  get last(): Position {
    return this.#last;
  }

  /** Publishes the documents of one RAW message and returns the position of the last message in DOC so far. */
  async write(
    origin: Origin,
    sources: readonly SourceRange[],
    documents: readonly ProcessedDocument[],
    signal?: AbortSignal,
  ): Promise<Position> {
    const batches = new DocBatches(this.#header(origin, sources));
    const indices = new Map<string, IndexMetadata | AppError>();
    for (const document of documents) {
      const index = this.#knownPlace(document, indices) ?? (await this.#place(document, indices));
      if (index instanceof AppError) await this.#options.refuse({ document, origin, error: index });
      else batches.add(index, operationOf(document), document.ordinal);
    }
    for (const batch of batches.take()) await this.#publish(origin, batch, signal);
    this.#documents.inc(documents.length);
    return this.#last;
  }

  /** The same of new documents of one index, without a look at each. Null: `write` must take them; nothing was done. */
  async append(
    origin: Origin,
    sources: readonly SourceRange[],
    documents: PipelineDocuments,
    signal?: AbortSignal,
  ): Promise<Position | null> {
    const { catalog } = this.#options;
    const placed = { ...documents, start: 0, gap: 0 };
    const index = await appendTarget(placed, catalog, this.#shapes, true);
    if (index === null) return null;
    for (const message of appendMessages(placed, index, this.#header(origin, sources), () => ""))
      await this.#publish(origin, { ...message, index }, signal);
    this.#documents.inc(documents.ends.length);
    return this.#last;
  }

  #header({ rawIncarnation, partition, rawSequence }: Origin, sources: readonly SourceRange[]): BatchHeader {
    return {
      lenient: true,
      timeMs: this.#options.now(),
      rawIncarnation,
      rawPartition: partition,
      rawSequence,
      sources: sources.map(({ key, from, to }) => ({ key, from, to })),
    };
  }

  /** Fast path: the index of a document of a known shape, where one before it went there. */
  #knownPlace(
    document: ProcessedDocument,
    indices: ReadonlyMap<string, IndexMetadata | AppError>,
  ): IndexMetadata | undefined {
    const { index, shape } = document;
    const known = indices.get(index);
    const isKnown =
      known !== undefined &&
      !(known instanceof AppError) &&
      known.dataStream === undefined &&
      shape !== undefined &&
      this.#shapes.has(known, shape) &&
      document.id.isWellFormed();
    return isKnown ? known : undefined;
  }

  /** Returns the index of a document with all its fields in the mapping, or why there will never be one. */
  async #place(
    document: ProcessedDocument,
    indices: Map<string, IndexMetadata | AppError>,
  ): Promise<IndexMetadata | AppError> {
    const { catalog } = this.#options;
    try {
      checkText(document.id, "_id");
      const known = indices.get(document.index) ?? (await catalog.ensure(document.index));
      if (known instanceof AppError) return known;
      if (known.state === "close") throw new AppError("index_closed", `index [${known.name}] is closed`);
      checkStreamWrite(known, { index: document.index, kind: STREAM_KINDS[document.action ?? "append"] });
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

  async #publish(origin: Origin, batch: Published, signal: AbortSignal | undefined): Promise<void> {
    const messageId = messageIdOf(origin, batch);
    const { sequence } = await this.#options.log.publish(batch.subject, batch.data, {
      messageId,
      ...(signal && { signal }),
    });
    const position = this.#options.positionOf(sequence);
    if (comparePositions(position, this.#last) > 0) this.#last = position;
  }
}

/** The same when a RAW message is written once more; what was made of no message has one of its own. */
function messageIdOf(
  { rawIncarnation, partition, rawSequence }: Origin,
  { index, shard, part }: Published,
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

/** As what an action counts where the index is a data stream's. */
const STREAM_KINDS = {
  append: "create",
  index: "index",
  create: "create",
  update: "update",
  upsert: "update",
  delete: "delete",
} as const;

function operationOf(document: ProcessedDocument) {
  const { action = "append" } = document;
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
