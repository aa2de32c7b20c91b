/** The interface of suggesters: each reads its part of a request and returns suggestions. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** A shard to search. */
export interface SuggestShard {
  readonly context: ShardContext;
  /** Position among all shards of the request. */
  readonly order: number;
  /** Documents of a segment that exist for the request; null for all. */
  visible(segment: SegmentReader): Bitset | null;
}

/** A piece of the given text, with suggestions for it. */
export interface Suggested extends JsonObject {
  readonly text: string;
  /** UTF-16 units. */
  readonly offset: number;
  readonly length: number;
  readonly options: readonly JsonObject[];
}

/** Information on a suggester's work besides its results. */
export interface SuggestNotes {
  /** True: there was more than is examined, so the results may not be the best. */
  isCut: boolean;
}

/**
 * A parsed suggestion: collects the results of one host's shards, and merges those of hosts. States are plain data, so that
 * they can be sent.
 */
export interface Suggester<State = unknown> {
  /** Name of its kind: term, phrase, completion. */
  readonly kind: string;
  /** Throws request_invalid if a shard can't be queried; the others still can. */
  check?(shard: SuggestShard): void;
  /** Throws cancelled, memory_limit. */
  collect(shards: readonly SuggestShard[], control: SearchControl, notes: SuggestNotes): Promise<State>;
  /** `states`: of hosts that had shards to look in. Throws request_invalid if none of them has the field. */
  merge(states: readonly State[]): Suggested[];
}
