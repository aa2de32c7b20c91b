/** The shards as the front thread uses them: every operation is a call to the hosts that have them. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { ShardNumbers } from "#hub/cluster/shards/contract.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import type { ResultCacheStats } from "#hub/search/execute/result-cache.ts";
import type { AppError } from "#proto/kit/errors.ts";
import type {
  ContextCall,
  Count,
  CountCall,
  DocumentFacts,
  ExplainCall,
  Explained,
  FoundDocumentFacts,
  FoundTermVectors,
  OpenedPoint,
  PageCall,
  PointCall,
  SearchBody,
  SearchCall,
  ShardSegments,
  TermVectorsCall,
  ValidateCall,
  Validation,
} from "./calls.ts";
import type { Found } from "./found.ts";

/** The fields that name an index in a call. */
export type NamedIndex = Pick<IndexMetadata, "uuid">;

/** A document with its source, JSON in UTF-8. */
export interface ReadDocument extends DocumentFacts {
  readonly source: Uint8Array;
}

/** The copies that a refresh didn't reach. */
export interface Refreshed {
  /** Why the copies of this hub lack earlier writes of other hubs; absent if they have them. */
  readonly behind?: AppError;
  /** Number of other hubs whose copies didn't refresh. */
  readonly missed: number;
}

/** Every copy finds everything written before. */
export const REFRESHED: Refreshed = { missed: 0 };

/** A document as of the last refresh. */
export interface RefreshedDocument extends ReadDocument {
  readonly uuid: string;
  readonly routing: string | undefined;
}

/** Documents of a page with their sources. */
export interface FoundDocuments {
  /** Documents of the whole query. */
  readonly total: number;
  readonly documents: readonly (FoundDocumentFacts & { readonly source: Uint8Array })[];
}

/**
 * Calls to hosts. Each throws unavailable if a host can't answer, timeout if it takes too long, cancelled if its signal is
 * aborted, and what its own comment names.
 */
export interface HostedShards {
  /** Checks the body of a search. Throws what parsing it throws. */
  check(call: SearchBody): Promise<void>;
  /** Throws what parsing throws; index_closed; the error of a shard if none could be searched; too_many_buckets. */
  search(call: SearchCall, signal: AbortSignal): Promise<Found>;
  /** Opens a context and returns its first page. Throws what `search` throws; overloaded. */
  openContext(call: ContextCall, signal: AbortSignal): Promise<Found>;
  /** Returns the next page of a context. Throws not_found. */
  nextPage(call: PageCall, signal: AbortSignal): Promise<Found>;
  /** Opens a context of documents to change; one page after the other is read. Throws as `openContext` does. */
  openDocuments(call: ContextCall, signal: AbortSignal): Promise<FoundDocuments>;
  nextDocuments(call: PageCall, signal: AbortSignal): Promise<FoundDocuments>;
  /** Throws index_closed, overloaded. */
  openPoint(call: PointCall, signal: AbortSignal): Promise<OpenedPoint>;
  /**
   * Returns the number of shards of this hub that a search with that `progress` has collected, until `closeContexts` ends
   * the count.
   */
  progress(id: string): Promise<number>;
  /** Closes contexts and points in time, and ends counts; ignores unknown ids. */
  closeContexts(ids: readonly string[]): void;
  /** Throws as `search` does. */
  count(call: CountCall, signal: AbortSignal): Promise<Count>;
  /** Returns a validation for each index. Throws what parsing throws. */
  validate(call: ValidateCall, signal: AbortSignal): Promise<readonly Validation[]>;
  /** Returns null if no shard has the document. */
  explain(
    call: ExplainCall,
    signal: AbortSignal,
  ): Promise<(Explained & { readonly source: Uint8Array }) | null>;
  /** Throws request_invalid for an unknown analyzer. */
  termVectors(call: TermVectorsCall, signal: AbortSignal): Promise<FoundTermVectors>;
  /** Reads a document in real time; null if there is none. */
  get(index: NamedIndex, shard: number, id: string): Promise<ReadDocument | null>;
  /** Reads a document as of the last refresh. */
  getRefreshed(indices: readonly NamedIndex[], id: string): Promise<RefreshedDocument | null>;
  /** Returns the statistics of the shards by the uuid of their index. */
  stats(indices: readonly NamedIndex[]): Promise<ReadonlyMap<string, readonly HostedShardStats[]>>;
  /** Returns the segments that searches see. Throws index_closed. */
  segments(indices: readonly NamedIndex[]): Promise<ShardSegments[]>;
  /** Returns the largest value of a number or date field by uuid; absent if an index has none. Throws index_closed. */
  largest(indices: readonly NamedIndex[], field: string): Promise<ReadonlyMap<string, number>>;
  /**
   * Makes earlier writes visible to searches, as far as the copies have them. `only`: of an index that it has, those to
   * these shards suffice.
   */
  refresh(indices: readonly NamedIndex[], only?: ShardNumbers): Promise<Refreshed>;
  /** Resolves when each index had a refresh that began after the call, is gone, or `signal` is aborted. */
  nextRefresh(indices: readonly NamedIndex[], signal: AbortSignal): Promise<void>;
  /** Makes everything applied durable. */
  flush(indices: readonly NamedIndex[]): Promise<void>;
  forceMerge(indices: readonly NamedIndex[], maxSegments: number): Promise<void>;
  /** Returns the statistics of cached results by the uuid of their index. */
  cacheStats(indices: readonly NamedIndex[]): Promise<ReadonlyMap<string, ResultCacheStats>>;
  clearCaches(indices: readonly NamedIndex[]): Promise<void>;
}
