/** The dependencies of the pipeline: the log it reads, the sink for documents, and observers. */

import type { DocumentBatch, DocumentOrigin, SourceRange } from "#proto/document-batch.ts";
import type { AppError } from "#proto/kit/errors.ts";
import type { Position } from "#proto/position.ts";

/** A message of RAW. */
export interface RawEntry {
  readonly position: Position;
  /** 0..255 */
  readonly partition: number;
  /** Id of the agent or input that may publish on the message's subject. */
  readonly sender: string;
  /** An encoded LogBatch. */
  readonly data: Uint8Array;
}

/** The stream RAW. */
export interface RawSource {
  /**
   * Yields the messages of all partitions after `after` in the order of the stream, then waits for others
   * until `signal` is aborted. A position of an older incarnation means the beginning of the newest.
   */
  read(options: { after: Position; signal: AbortSignal }): AsyncIterable<RawEntry>;
}

/** Writes documents to the log DOC. */
export interface DocumentSink {
  /**
   * Stores the documents of one RAW message (at least one, ascending ordinals) and returns the position of the last
   * DOC message written, when it is durable. Called again with the same arguments after a retryable error.
   */
  write(origin: DocumentOrigin, sources: readonly SourceRange[], documents: DocumentBatch): Promise<Position>;
}

/** What no output will ever take, with the reason. */
export interface DeadLetter {
  readonly reason: string;
  /** Name of the plugin, "sink" or "worker". */
  readonly plugin: string;
  readonly origin: DocumentOrigin;
  readonly sourceKey: string;
  readonly offset: number;
  /** "event": JSON of an event or document; "batch": an encoded LogBatch. */
  readonly kind: "event" | "batch";
  readonly data: Uint8Array;
}

/** The stream DEAD. */
export interface DeadLetterSink {
  /** Resolves when the letter is durable. */
  write(letter: DeadLetter): Promise<void>;
}

/** Observers of events as they pass. */
export interface EventListener {
  /** False while there is no viewer: then nothing is offered. */
  readonly listening: boolean;
  offer(
    events: readonly {
      readonly index: string;
      readonly id: string;
      readonly timestampMs: number;
      readonly source: Uint8Array;
    }[],
  ): void;
}

/** What a cursor covers when it was saved. */
export interface CursorEvent {
  readonly partition: number;
  readonly rawPosition: Position;
  /** Of the last DOC message that anything at or before `rawPosition` led to. */
  readonly docPosition: Position;
  /** See WrittenDocuments. */
  readonly docIncarnation: number;
  /** Sources that moved since the last event, each with the unbroken range that was extended last. */
  readonly sources: readonly SourceRange[];
}

/** Documents that count as written to the log DOC. */
export interface WrittenDocuments {
  /** Of the last one. */
  readonly docPosition: Position;
  /** Incarnation of DOC when the session that wrote them loaded its cursors: losses up to there are taken into account. */
  readonly docIncarnation: number;
}

/** Losses of the log DOC: each begins an incarnation. */
export interface DocLosses {
  /** The newest incarnation of DOC. */
  readonly incarnation: number;
  /** Returns false where a later incarnation than `docIncarnation` may have begun without some of the documents. */
  survives(written: WrittenDocuments): boolean;
}

export interface PipelineEvents {
  /** A cursor was saved. */
  onCursor?(event: CursorEvent): void;
  /** A partition stopped permanently: journal_conflict where another hub took it over. */
  onPartitionStopped?(partition: number, error: AppError): void;
}
