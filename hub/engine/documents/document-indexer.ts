/** How documents get into the fields of a buffer: by the kernel, or in tests by an oracle without it. */

import type { BufferedFields } from "#hub/engine/buffer/buffered-fields.ts";
import type { DocumentRun } from "#hub/engine/kernel/document-run.ts";
import type { Leaf, PlanNode } from "./plan.ts";

/** Makes the fields of buffers and what fills them. */
export interface Indexing {
  /** Returns the fields of a new buffer. */
  newFields(): BufferedFields;
  /** Returns what indexes documents into `fields`, which `newFields` made, along a plan. */
  indexer(fields: BufferedFields, plan: PlanNode): DocumentIndexer;
}

/** Documents of one mapping into one buffer. */
export interface DocumentIndexer {
  /** Indexes documents `from` to `to` of a run, the first of them as `doc`. */
  write(run: DocumentRun, from: number, to: number, doc: number, host: DocumentHost): void;
  /** Gives memory back. */
  release(): void;
}

/** Takes the documents, and the values of documents, that an indexer leaves to TypeScript. */
export interface DocumentHost {
  /** Document `index` of the run continues here: with values, or with all of it. */
  begin(index: number): void;
  /** Takes a value, of a field or a range, that begins at `at` in the document. */
  value(of: Leaf | PlanNode, at: number): void;
  /** Takes the whole document. */
  refused(): void;
  /** Does what follows the last value. */
  end(): void;
  /** Document `index` can't be indexed. Throws where nothing can continue. */
  failed(index: number, error: unknown): void;
}

/** Leaves document `index` to the host. */
export function leaveToHost(index: number, host: DocumentHost): void {
  try {
    host.begin(index);
    host.refused();
    host.end();
  } catch (error) {
    host.failed(index, error);
  }
}
