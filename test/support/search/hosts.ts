/** Searches over several hosts in one thread: calls and replies are encoded and decoded as between threads. */

import assert from "node:assert/strict";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { collapsedOn, collapsedSearch, parseCollapse } from "#hub/search/collapse.ts";
import { parseJson } from "#hub/search/options/json.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { requestVersion } from "#hub/search/options/request-version.ts";
import type { SearchOptions, SearchResponse, SearchShard } from "#hub/search/phases/contract.ts";
import { RemoteSearchHost } from "#hub/search/phases/remote-host.ts";
import { type HostShards, searchHosts } from "#hub/search/phases/scatter.ts";
import type { CallShard, SearchDemand, ShardFilter } from "#hub/search/phases/search-call.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { SearchService } from "#hub/search/search-service.ts";
import { encodeValue } from "#hub/search/wire/value-writer.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { Metrics } from "#proto/kit/metrics.ts";

/** A shard with the filter that calls name, and its fault if it can't be opened. */
export interface TestShard extends SearchShard {
  readonly sentFilter?: ShardFilter;
}

/** Snapshots that hosts opened and have not closed. */
export interface OpenSnapshots {
  count: number;
}

/** Returns `count` hosts with the shards dealt out in turn; not all have one where there are more hosts than shards. */
export function hostsOf(
  shards: readonly TestShard[],
  count: number,
  open: OpenSnapshots = { count: 0 },
  note: (operation: string) => void = () => undefined,
): HostShards[] {
  const hosts = Array.from({ length: count }, (_, host) =>
    shards.flatMap((shard, order) => (order % count === host ? [{ shard, order }] : [])),
  );
  return hosts
    .filter((own) => own.length > 0)
    .map((own) => {
      const service = new SearchService({
        metrics: new Metrics(),
        open: ({ order }) => kept(own.find((each) => each.order === order)!.shard.searcher, open),
      });
      const host = new RemoteSearchHost((operation, payload, signal) => {
        note(operation);
        return service.handle(operation, payload.slice(), signal);
      });
      return { host, shards: own.map(({ shard, order }) => callShard(shard, order)) };
    });
}

function callShard({ index, shard, sentFilter, keepsResults }: TestShard, order: number): CallShard {
  return {
    index,
    shard,
    order,
    ...(sentFilter !== undefined && { filter: sentFilter }),
    ...(keepsResults !== undefined && { keepsResults }),
  };
}

/** The same snapshot, which stays open when a call closes it. */
function kept({ segments, mapping, totalDocs }: Searcher, open: OpenSnapshots): Searcher {
  open.count++;
  const close = (): void => {
    open.count--;
  };
  return { segments, mapping, totalDocs, close };
}

/** Searches the shards of `targets` as a front does. */
export function searchOver(
  targets: readonly HostShards[],
  body: JsonObject,
  demand: Omit<SearchDemand, "body">,
  signal: AbortSignal = new AbortController().signal,
): Promise<SearchResponse> {
  const collapse = parseCollapse(body);
  const plain = (given: JsonObject, more: Partial<SearchDemand>): Promise<SearchResponse> => {
    const whole = { ...demand, ...more, body: given };
    return searchHosts(parseSearchRequest(given, whole.limits), whole, targets, { signal });
  };
  if (collapse === undefined) return plain(body, {});
  return collapsedSearch(body, collapse, demand.limits, (given, limits, collapseField) =>
    plain(given, { limits, ...collapsedOn(collapseField) }),
  );
}

/** Aggregations of t-digests. A walk that pauses ends a run of values, so the time it takes decides their last digits. */
const DIGESTS = /"(?:percentiles|percentile_ranks|median_absolute_deviation|boxplot)":/;
/** Relative difference of two digests of the same values. */
const DIGEST_TOLERANCE = 0.02;

/**
 * Asserts that `search` ends on one, two and three hosts as `expected` did in this thread: byte for byte, except for
 * the last digits of t-digests.
 */
export async function assertSameOverHosts(
  shards: readonly TestShard[],
  body: JsonObject,
  options: SearchOptions,
  expected: Promise<SearchResponse>,
): Promise<void> {
  const wanted = await outcome(expected);
  const { limits, typedKeys = false, cursor, nodeId, nowMs = Date.now() } = options;
  for (const count of [1, 2, 3]) {
    if (count > Math.max(1, shards.length)) break;
    const demand = {
      limits,
      typedKeys,
      nowMs,
      version: requestVersion(),
      ...(cursor !== undefined && { cursor }),
      ...(nodeId !== undefined && { nodeId }),
    };
    const found = await outcome(searchOver(hostsOf(shards, count), body, demand));
    if (Buffer.compare(encodeValue(found), encodeValue(wanted)) === 0) continue;
    if (DIGESTS.test(JSON.stringify(body)) && isNear(asRead(found), asRead(wanted))) continue;
    assert.deepEqual(found, wanted, `over ${count} hosts: ${JSON.stringify(body)}`);
    assert.fail(`the answer over ${count} hosts has another form: ${JSON.stringify(body)}`);
  }
}

/** Returns what a client reads of a value as it is printed; whole numbers beyond 2^53 are bigints. */
export function asRead(value: unknown): unknown {
  return value === undefined ? undefined : parseJson(writeJson(value));
}

/** Returns whether two values are equal except for numbers that differ by no more than the tolerance. */
function isNear(found: unknown, wanted: unknown): boolean {
  if (typeof found === "number" && typeof wanted === "number") {
    const scale = Math.max(Math.abs(found), Math.abs(wanted));
    return Object.is(found, wanted) || Math.abs(found - wanted) <= DIGEST_TOLERANCE * scale;
  }
  if (typeof found !== "object" || typeof wanted !== "object" || found === null || wanted === null)
    return Object.is(found, wanted);
  const [a, b] = [Object.entries(found), Object.entries(wanted)];
  return (
    a.length === b.length && a.every(([key, value], at) => key === b[at]![0] && isNear(value, b[at]![1]))
  );
}

/** What doesn't depend on the time that a search takes; the error where it fails. */
async function outcome(search: Promise<SearchResponse>): Promise<unknown> {
  try {
    const { tookMs: _, profile, ...answer } = await search;
    return { ...answer, profiles: profile?.length };
  } catch (error) {
    if (error instanceof AppError) return { error };
    throw error;
  }
}
