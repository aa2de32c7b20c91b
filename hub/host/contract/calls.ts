/** Calls to a host and its answers: plain data, so that they can be sent to a thread or another node. */

import type { ShardFailure } from "#hub/search/phases/contract.ts";
import type { SearchLimits } from "#hub/search/query/query.ts";
import type { TermVectorOptions } from "#hub/search/term-vectors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Names of a host's operations. Separate from the operations, so that a caller doesn't load their code. */
export const OPERATION_NAMES = [
  "asked",
  "cacheStats",
  "check",
  "clearCaches",
  "count",
  "explain",
  "flush",
  "forceMerge",
  "get",
  "getRefreshed",
  "holdsShard",
  "largest",
  "nextDocuments",
  "nextPage",
  "nextRefresh",
  "openContext",
  "openDocuments",
  "openPoint",
  "openSnapshot",
  "progress",
  "refresh",
  "search",
  "segments",
  "stats",
  "termVectors",
  "validate",
] as const;

export type OperationName = (typeof OPERATION_NAMES)[number];

/** An index whose shards are searched. */
export interface TargetIndex {
  readonly uuid: string;
  /** Printed as `_type`. */
  readonly typeName: string;
  /** The search sees documents that match one of these queries; absent: all. */
  readonly filters?: readonly JsonObject[];
  /** True: the search sees no documents. */
  readonly isEmpty?: boolean;
  /** See SearchedIndex. */
  readonly maxTermsCount?: number;
  readonly maxAnalyzedOffset?: number;
  readonly allowsExpensive?: boolean;
  /** False: results aren't cached for this index. */
  readonly keepsResults?: boolean;
  /** Numbers of the shards that are searched; all without it. */
  readonly shards?: readonly number[];
  /** Shards that other hubs search; this hub searches the others. */
  readonly elsewhere?: readonly ShardsElsewhere[];
}

/** Shards of an index that a thread of a hub searches. */
export interface ShardsElsewhere {
  readonly at: HubThread;
  readonly shards: readonly number[];
}

/** Which hubs' copies a search reads. */
export interface CopyWish {
  /** Ids of the hubs that may search; all without it. */
  readonly only?: readonly string[];
  /** Ids of hubs whose copies are preferred. */
  readonly prefer?: readonly string[];
  /** Searches with the same text read the same copies, whichever hub they are sent to. */
  readonly session?: string;
}

/** A search body with the data that it is checked against. */
export interface SearchBody {
  readonly body: JsonObject;
  readonly limits: SearchLimits;
}

/** Options for the form of a search's answer. */
export interface AnswerForm {
  /** Names of aggregations are prefixed with their type. */
  readonly typedKeys: boolean;
  /** Totals of hits within hits and aggregations are objects. */
  readonly objectTotals: boolean;
}

export interface SearchCall extends SearchBody, AnswerForm {
  readonly targets: readonly TargetIndex[];
  readonly copies?: CopyWish;
  /** False: computed without the cache. */
  readonly useCache: boolean;
  /** Shown with each hit when explanations are requested. */
  readonly nodeId: string;
  /** The request's time, ms; without it that of the host's clock. */
  readonly nowMs?: number;
  /** Time after which the call fails, ms; no limit without it. A host that doesn't end the call then is restarted. */
  readonly limitMs?: number;
  /** Id of the point in time that is searched, whose targets these are; without it the current state is searched. */
  readonly point?: string;
  /** The option `slice` as given, and the largest number of parts. */
  readonly slice?: unknown;
  readonly maxSlices?: number;
  /** Number of shards above which those that can't match are counted; without it they never are. */
  readonly skipsAbove?: number;
  /** Name under which collected shards are counted; see HostedShards.progress. */
  readonly progress?: string;
}

/** `type` of the error for a point in time that a host no longer has. */
export const POINT_LOST = "search_context_missing_exception";

/** Opens a point in time: snapshots that searches read until they are closed. */
export interface PointCall {
  /** Made by the caller, unguessable. */
  readonly id: string;
  readonly targets: readonly TargetIndex[];
}

/** A shard of an index. */
export interface NamedShard {
  readonly uuid: string;
  readonly shard: number;
}

/** An opened point in time. */
export interface OpenedPoint {
  /** The targets of its searches. */
  readonly targets: readonly TargetIndex[];
  /** Shards without a snapshot: their hub didn't answer, or lacks them. Searches of the point in time fail there. */
  readonly failed: readonly NamedShard[];
}

/** Opens a context: a snapshot that is read page by page. */
export interface ContextCall extends SearchBody, AnswerForm {
  /** Made by the caller, unguessable where clients see it. */
  readonly id: string;
  readonly targets: readonly TargetIndex[];
  /** The option `slice` as given, and the largest number of parts. */
  readonly slice?: unknown;
  readonly maxSlices: number;
}

export interface PageCall extends Pick<AnswerForm, "objectTotals"> {
  readonly id: string;
  readonly limits: SearchLimits;
}

export interface CountCall extends SearchBody {
  readonly targets: readonly TargetIndex[];
  readonly copies?: CopyWish;
  /** With either of them, a search without hits does the count. */
  readonly minScore?: number;
  readonly terminateAfter?: number;
}

export interface Count {
  readonly count: number;
  /** Number of shards that should be counted. */
  readonly shards: number;
  readonly failures: readonly ShardFailure[];
}

/** Binds a query to a shard of each index. */
export interface ValidateCall {
  readonly targets: readonly TargetIndex[];
  readonly body: JsonObject;
}

/** A query in Lucene's syntax, or why an index can't run it. */
export interface Validation {
  readonly index: string;
  readonly text?: string;
  readonly error?: string;
}

export interface ExplainCall extends ValidateCall {
  /** Of the document. */
  readonly id: string;
}

export interface Explained {
  readonly index: string;
  readonly matches: boolean;
  readonly explanation: JsonObject;
}

export interface TermVectorsCall {
  readonly targets: readonly TargetIndex[];
  /** Of the document, whose shard supplies the frequencies. Undefined: the first shard does. */
  readonly id: string | undefined;
  /** The document. */
  readonly source: JsonObject;
  readonly options: TermVectorOptions;
}

export interface FoundTermVectors {
  readonly index: string;
  readonly typeName: string;
  readonly termVectors: JsonObject;
}

/** A document of a shard; its source is sent as bytes. */
export interface DocumentFacts {
  readonly version: number;
  readonly seqNo: number;
  readonly primaryTerm: number;
}

/** A document that a context found; its source is sent as bytes. */
export interface FoundDocumentFacts {
  readonly index: string;
  readonly type: string | undefined;
  readonly id: string;
  readonly version: number;
  readonly seqNo: number;
  readonly primaryTerm: number;
  readonly routing: string | undefined;
}

/** The segments that searches of a shard see. */
export interface ShardSegments {
  readonly uuid: string;
  readonly shard: number;
  readonly segments: readonly { readonly docs: number; readonly live: number }[];
}

/** A thread of a hub. */
export interface HubThread {
  /** Id of the hub. */
  readonly hub: string;
  readonly thread: number;
}

/** A thread of the current hub by its number, or a thread of any hub. */
export type HostAddress = number | HubThread;

/** Returns a unique name of an address. */
export function addressKey(address: HostAddress): string {
  return typeof address === "number" ? String(address) : `${address.hub}/${address.thread}`;
}
