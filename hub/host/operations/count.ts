/** Counts documents, and checks queries against the shards of this host. */

import type { Count, CountCall, ValidateCall, Validation } from "#hub/host/contract/calls.ts";
import { plainFailures } from "#hub/host/contract/found.ts";
import type { Message } from "#hub/host/wire/peer.ts";
import { countShards } from "#hub/search/count.ts";
import { describeQuery } from "#hub/search/explain/explanation.ts";
import type { SearchShard } from "#hub/search/phases/contract.ts";
import { type Query, ShardContext } from "#hub/search/query/query.ts";
import { parseQueryBody, parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { type HostState, operation } from "./operation.ts";
import { withShards } from "./target.ts";

/** See HostedShards.count. */
export const count = operation<CountCall>((host, call, { signal }) => {
  const query = parseQueryBody(call.body);
  return withShards(host, call.targets, async (shards) => {
    const { count: found, failures } = await countIn(host, call, query, shards, signal);
    return { value: { count: found, shards: shards.length, failures: plainFailures(failures) } };
  });
});

/** Counts; with limits on score or number through a search without hits. */
async function countIn(
  { clock }: HostState,
  { body, limits, minScore, terminateAfter }: CountCall,
  query: Query,
  shards: readonly SearchShard[],
  signal: AbortSignal,
): Promise<Omit<Count, "shards">> {
  if (minScore === undefined && terminateAfter === undefined) return countShards(query, shards, signal);
  const given = { ...(minScore !== undefined && { min_score: minScore }), terminate_after: terminateAfter };
  const search = parseSearchRequest({ ...body, size: 0, ...given }, limits);
  const { total, shards: answered } = await searchShards(search, shards, { signal, limits, clock });
  return { count: total ?? 0, failures: answered.failures };
}

/** See HostedShards.validate. */
export const validate = operation<ValidateCall>((host, { targets, body }): Promise<Message> => {
  return withShards(host, targets, (shards) => {
    const query = parseQueryBody(body);
    const checks = new Map<string, Validation>();
    for (const { index, shard, searcher } of shards) {
      if (checks.has(index.name)) continue;
      const context = new ShardContext(index, shard, searcher, host.clock.now());
      checks.set(index.name, { index: index.name, ...textOrFault(query, context) });
    }
    return { value: [...checks.values()] };
  });
});

/** Binds a query to a shard; returns its text, or why it can't be. */
function textOrFault(query: Query, shard: ShardContext): Omit<Validation, "index"> {
  try {
    query.weight(shard, { scores: true, boost: 1 });
    return { text: describeQuery(query, shard).text };
  } catch (error) {
    return { error: toAppError(error).message };
  }
}
