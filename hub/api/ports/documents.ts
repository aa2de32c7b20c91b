/** Port of the HTTP interfaces to documents: writes through the journal, reads in real time. */

import type { AppendRun } from "#hub/cluster/writes/append-run.ts";
import type { BodyThreads } from "#hub/cluster/writes/body-threads.ts";
import type {
  AppendResult,
  WriteItem as ClusterWriteItem,
  StoredDocument,
  WriteOptions,
  WriteResult,
} from "#hub/cluster/writes/writes.ts";

/** A change of a document, as requested by a route. */
export type WriteItem =
  | Exclude<ClusterWriteItem, NewVersion>
  | (NewVersion & {
      /** Ingest pipeline that the document passes first; of an update: its `upsert`, not with `docAsUpsert`. */
      readonly pipeline?: string;
      /** True: it passes none, not even those of the index. */
      readonly skipsPipelines?: boolean;
      /** True: the document may only go to an alias or a data stream, whichever index pipelines choose. */
      readonly requiresAlias?: boolean;
      /** Makes the document to write of what the pipelines made; undefined: none is written. Throws request_invalid. */
      readonly remake?: (source: Uint8Array) => Uint8Array | undefined;
      /** Mapping type that the client names, for the index that pipelines choose. */
      readonly type?: string;
    });

type NewVersion = Extract<ClusterWriteItem, { kind: "index" | "create" | "update" }>;

/** Threads for bodies of more than `smallBytes`. */
export type LargeBodies = Pick<BodyThreads, "lend" | "smallBytes">;

/** The document interface: every change goes through the journal. */
export interface Documents {
  /**
   * Resolves with one result per item, in order; items fail one by one. Throws only if no write was attempted
   * (overloaded, journal_full, unavailable).
   */
  write(items: readonly WriteItem[], options: WriteOptions): Promise<WriteResult[]>;
  /**
   * Fast path for documents of one index, all indexed or all created. Null if the documents don't qualify: nothing was
   * written, and `write` must be used.
   */
  append(run: AppendRun, options: WriteOptions): Promise<AppendResult | null>;
  /**
   * Reads a document in real time. `index`: a name or an alias of one index. Null: no such document. Throws
   * index_missing, index_closed, routing_missing.
   */
  get(index: string, id: string, options: { readonly routing?: string }): Promise<StoredDocument | null>;
}
