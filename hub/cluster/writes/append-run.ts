/**
 * A run of documents of one action that is being written to the log. The bytes of a large run are with a body thread.
 */

import type { DocumentBatch } from "#proto/document-batch.ts";
import type { BodyJob, BodyResults } from "./body-work.ts";

/**
 * Documents of one index that are all indexed or all created. `ids`: those that the client chose, as in ScannedKeys; such a
 * run is lent. `shapes`: by the kernels of this process.
 */
export interface AppendRun extends DocumentBatch {
  /** A thread has the bytes; `bytes` is empty. */
  readonly lent?: LentRun;
}

/** What is known here about documents that a thread has, besides their shapes. */
export interface LentRun {
  readonly body: LentBody;
  /** A sample document of each shape, by shape; if there are very many shapes, only of some. */
  readonly samples: ReadonlyMap<number, Uint8Array>;
}

/** A body that a thread has. */
export interface LentBody {
  /**
   * Does a job with the body. Throws what the job throws; unavailable if the thread was lost, and the body with it; timeout
   * or cancelled if `signal` is aborted; closed.
   */
  run<J extends BodyJob>(job: J, signal: AbortSignal): Promise<BodyResults[J["kind"]]>;
  /** Takes the body back. Throws as `run` does. */
  reclaim(signal: AbortSignal): Promise<Buffer>;
  /** Frees its memory once its jobs are done. Must be called in the end. */
  free(): void;
}

/** Bytes of a run's documents, including what is between them. */
export function bytesOf({ start, ends }: Pick<DocumentBatch, "start" | "ends">): number {
  return (ends.at(-1) ?? start) - start;
}
