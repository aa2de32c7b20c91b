/** What the document interface is asked to change, and what became of it. */

import type { AppError } from "#proto/kit/errors.ts";

interface Conditions {
  readonly version?: number;
  readonly versionType?: "internal" | "external" | "external_gte";
  readonly ifSeqNo?: number;
  readonly ifPrimaryTerm?: number;
}

/** One change of one document. `index` is a name or alias; a missing index is created by all but `delete`. */
export type WriteItem = Conditions & { readonly index: string; readonly routing?: string } & (
    | { readonly kind: "index" | "create"; readonly id?: string; readonly source: Uint8Array }
    | {
        readonly kind: "update";
        readonly id: string;
        readonly source: Uint8Array;
        readonly upsert?: Uint8Array;
        readonly docAsUpsert: boolean;
        readonly detectNoop: boolean;
      }
    | { readonly kind: "delete"; readonly id: string }
  );

export interface WriteOptions {
  readonly refresh: "false" | "true" | "wait_for";
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface WriteSuccess {
  readonly index: string;
  readonly id: string;
  readonly result: "created" | "updated" | "deleted" | "not_found" | "noop";
  readonly version: number;
  readonly seqNo: number;
  readonly primaryTerm: number;
  readonly copies: number;
  readonly copiesDone: number;
}

export interface WriteFailure {
  readonly index: string;
  readonly id: string | undefined;
  readonly error: AppError;
}

export type WriteResult = WriteSuccess | WriteFailure;

/** A document as it is stored now. */
export interface StoredDocument {
  readonly index: string;
  readonly id: string;
  readonly version: number;
  readonly seqNo: number;
  readonly primaryTerm: number;
  readonly source: Uint8Array;
  readonly routing?: string;
}
