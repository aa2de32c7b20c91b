/** Messages between the main thread and a worker of the pipeline. */

import type { Interval } from "#proto/kit/interval-set.ts";
import type { PackedDocuments } from "./packed-documents.ts";

/** What a worker is started with. */
export interface WorkerSettings {
  /** Goes into the documents' ids. */
  readonly pipelineId: string;
}

export interface WorkItem {
  /** An encoded LogBatch. */
  readonly data: Uint8Array;
  /** Parts of its source to process. */
  readonly ranges: readonly Interval[];
}

/** To the worker: process these messages. */
export interface WorkRequest {
  readonly id: number;
  readonly items: readonly WorkItem[];
}

export type WorkResult = { readonly documents: PackedDocuments } | { readonly failure: WorkFailure };

/** Why a message gave no documents. */
export interface WorkFailure {
  readonly reason: string;
  /** False: the message itself is at fault, a further try changes nothing. */
  readonly retryable: boolean;
}

/** From the worker: its results, in the order of the items. `id` 0: ready for work. */
export interface WorkResponse {
  readonly id: number;
  readonly results: readonly WorkResult[];
}
