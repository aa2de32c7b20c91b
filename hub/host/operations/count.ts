/** Counts documents, and checks queries against the shards of this host. */

import type { Count, CountCall, ValidateCall, Validation } from "#hub/host/contract/calls.ts";
import type { Message } from "#hub/host/wire/peer.ts";
import { describeQuery } from "#hub/search/explain/explanation.ts";
import { prepareNested } from "#hub/search/phases/prepare-search.ts";
import { ShardContext } from "#hub/search/query/query.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import {
  parseQueryBody,
  parseQueryRequest,
  parseSearchRequest,
  type QueryRequest,
} from "#hub/search/request/search-request.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { type HostState, operation } from "./operation.ts";
import type { SearchedShards } from "./searched-shards.ts";
import { withShards } from "./target.ts";

/** See HostedShards.count. */
export const count = operation<CountCall>((host, call, { signal }) => {
  parseQueryBody(call.body);
  return withShards(host, call.targets, async (shards) => {
    const { count: found, failures } = await countIn(host, call, shards, signal);
    return { value: { count: found, shards: shards.count, failures } };
  });
});

/** Counts; with limits on score or number through a search without hits. */
async function countIn(
  { clock }: HostState,
  { body, limits, minScore, terminateAfter }: CountCall,
  shards: SearchedShards,
  signal: AbortSignal,
): Promise<Omit<Count, "shards">> {
  if (minScore === undefined && terminateAfter === undefined) return shards.countDocs(body, limits, signal);
  const given = { ...(minScore !== undefined && { min_score: minScore }), terminate_after: terminateAfter };
  const counting = { ...body, size: 0, ...given };
  const request = parseSearchRequest(counting, limits);
  const options = { signal, limits, clock };
  const { total, shards: answered } = await shards.search({ request, body: counting, options });
  return { count: total ?? 0, failures: answered.failures };
}

/** See HostedShards.validate. */
export const validate = operation<ValidateCall>((host, { targets, body }, { signal }): Promise<Message> => {
  return withShards(host, targets, async (shards) => {
    const query = parseQueryRequest(body);
    const control = new SearchControl(host.clock, signal, undefined);
    const checks = new Map<string, Validation>();
    for (const { index, shard, searcher } of shards.own) {
      if (checks.has(index.name)) continue;
      const context = new ShardContext(index, shard, searcher, host.clock.now());
      checks.set(index.name, { index: index.name, ...(await textOrFault(query, context, control)) });
    }
    return { value: [...checks.values()] };
  });
});

/** Binds a query to a shard; returns its text, or why it can't be bound. */
async function textOrFault(
  { query, nestedPaths }: QueryRequest,
  shard: ShardContext,
  control: SearchControl,
): Promise<Omit<Validation, "index">> {
  try {
    await prepareNested(shard, control, nestedPaths);
    query.weight(shard, { scores: true, boost: 1 });
    return { text: describeQuery(query, shard).text };
  } catch (error) {
    return { error: toAppError(error).message };
  }
}
