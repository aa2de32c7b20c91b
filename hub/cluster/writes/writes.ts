/** The changes that the document API requests, and their results. */

import type { AppError } from "#proto/kit/errors.ts";

export type VersionType = "internal" | "external" | "external_gte";

/** Conditions on the present document. */
export interface WriteConditions {
  /** With `internal` the version expected, else the version to set. */
  readonly version?: number;
  readonly versionType?: VersionType;
  readonly ifSeqNo?: number;
  readonly ifPrimaryTerm?: number;
}

/** One change of one document. `index` is a name, alias or data stream; a missing index is created by all but `delete`. */
export type WriteItem = WriteConditions & { readonly index: string; readonly routing?: string } & (
    | {
        readonly kind: "index" | "create";
        /** Absent: the hub makes one. */
        readonly id?: string;
        /** JSON object, UTF-8, stored unchanged. */
        readonly source: Uint8Array;
      }
    | {
        readonly kind: "update";
        readonly id: string;
        /** Partial document, JSON object, UTF-8. */
        readonly source: Uint8Array;
        /** Document to index if there is none with the id. */
        readonly upsert?: Uint8Array;
        readonly docAsUpsert: boolean;
        /** A merge that changes nothing writes nothing. */
        readonly detectNoop: boolean;
      }
    | { readonly kind: "delete"; readonly id: string }
  );

/** When a write answers. `wait_for`: after the next refresh; `true`: refreshes at once. */
export type RefreshPolicy = "false" | "true" | "wait_for";

export interface WriteOptions {
  readonly refresh: RefreshPolicy;
  /** How long to wait for the shard's answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Receives the time that ingest pipelines took, ms; not called if no document went through one. */
  readonly onIngest?: (tookMs: number) => void;
  /** Called when everything is written, before waiting for a refresh. */
  readonly onWritten?: () => void;
}

/** The result of the write of a document. */
export const WRITE_OUTCOMES = ["created", "updated", "deleted", "not_found", "noop"] as const;

export interface WriteSuccess {
  /** Concrete index. */
  readonly index: string;
  readonly id: string;
  readonly result: (typeof WRITE_OUTCOMES)[number];
  readonly version: number;
  readonly seqNo: number;
  readonly primaryTerm: number;
  /** Copies that should apply the change: 1 + replicas. 0 for noop. */
  readonly copies: number;
  /** How many of `copies` did. */
  readonly copiesDone: number;
}

/** An item's failure; `error.data` may carry index, index_uuid, shard. */
export interface WriteFailure {
  readonly index: string;
  readonly id: string | undefined;
  readonly error: AppError;
}

export type WriteResult = WriteSuccess | WriteFailure;

/** Results of the documents of a batch, by their index in it. */
export interface AppendResult {
  /** Concrete index. */
  readonly index: string;
  /** Concatenated ids, ASCII that needs no escape in JSON. */
  readonly ids: Uint8Array;
  /** Offset of each id's end in `ids`. */
  readonly idEnds: Uint32Array;
  /** Index of each outcome in WRITE_OUTCOMES. */
  readonly outcomes: Uint8Array;
  readonly versions: Float64Array;
  /** Sequence numbers. */
  readonly seqNos: Float64Array;
  /** Why documents weren't stored. */
  readonly failures: ReadonlyMap<number, AppError>;
  /** Copies of a document in the index. */
  readonly copies: number;
}

/** The current document, refreshed or not. */
export interface StoredDocument {
  /** Concrete index. */
  readonly index: string;
  readonly id: string;
  readonly version: number;
  readonly seqNo: number;
  readonly primaryTerm: number;
  /** JSON as sent, UTF-8. */
  readonly source: Uint8Array;
  readonly routing?: string;
}
