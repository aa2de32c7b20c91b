/** The interface of suggesters: each reads its part of a request and returns suggestions. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** A shard to look in. */
export interface SuggestShard {
  readonly context: ShardContext;
  /** Position among all shards of the request. */
  readonly order: number;
  /** Documents of a segment that exist for the request; null for all. */
  visible(segment: SegmentReader): Bitset | null;
}

/** A piece of the text that was given, with what might be meant. */
export interface Suggested extends JsonObject {
  readonly text: string;
  /** UTF-16 units. */
  readonly offset: number;
  readonly length: number;
  readonly options: readonly JsonObject[];
}

/** What a suggester notes of its work beside what it found. */
export interface SuggestNotes {
  /** There was more than is looked at: what was found may not be the best. */
  isCut: boolean;
}

/**
 * A parsed suggestion: what shards of one host have is collected, what hosts have is merged. States are plain data, so that
 * they can be sent.
 */
export interface Suggester<State = unknown> {
  /** Name of its kind: term, phrase, completion. */
  readonly kind: string;
  /** Throws request_invalid if a shard can't be asked: the others still can. */
  check?(shard: SuggestShard): void;
  /** Throws cancelled, memory_limit. */
  collect(shards: readonly SuggestShard[], control: SearchControl, notes: SuggestNotes): Promise<State>;
  /** `states`: of hosts that had shards to look in. Throws request_invalid if none of them has the field. */
  merge(states: readonly State[]): Suggested[];
}
