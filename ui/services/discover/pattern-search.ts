/** The patterns of a search's lines: of all of them, or of a random sample of many. */

import type { DiscoverState } from "#ui/services/search/discover-state.ts";
import { LogDocument } from "#ui/services/search/log-document.ts";
import { type SearchClient, shardFailureOf, totalOf } from "#ui/services/search/search-client.ts";
import { buildQuery, TIME_FIELD } from "#ui/services/search/search-request.ts";
import type { ResolvedRange } from "#ui/services/search/time-range.ts";
import { type LogPattern, PatternTree } from "./log-patterns.ts";

/** Lines that are compared at most: their answer stays below 1 MiB in most cases. */
const SAMPLE_LINES = 2_000;
/** The same search shows the same sample. */
const SEED = 1;
const FIELDS = ["message", TIME_FIELD, "log.level", "level", "severity", "loglevel"];

export interface FoundPatterns {
  readonly patterns: readonly LogPattern[];
  /** Lines that were compared. */
  readonly compared: number;
  /** Lines that match. Where they are more than `compared`, counts are to be multiplied by their ratio. */
  readonly total: number;
  /** Compared lines that fit none of the patterns. */
  readonly others: number;
  /** What went wrong on single shards. */
  readonly warning: string | undefined;
}

/** Searches for the patterns of a state's lines. Throws HubError. */
export async function findPatterns(
  client: SearchClient,
  state: Pick<DiscoverState, "query" | "filters" | "index">,
  range: ResolvedRange,
  signal: AbortSignal,
): Promise<FoundPatterns> {
  const functions = [{ random_score: { seed: SEED } }];
  const body = {
    size: SAMPLE_LINES,
    _source: FIELDS,
    query: { function_score: { query: buildQuery(state, range), functions, boost_mode: "replace" } },
  };
  const response = await client.search(state.index, body, signal);
  const tree = new PatternTree(range.fromMs, range.toMs);
  for (const hit of response.hits.hits) {
    const line = new LogDocument(hit);
    tree.add({ text: line.message, atMs: line.timestampMs, level: line.level });
  }
  return {
    patterns: tree.patterns(),
    compared: response.hits.hits.length,
    total: totalOf(response),
    others: tree.others,
    warning: shardFailureOf(response),
  };
}
