/** Reads the contexts of scrolls and of changes by query page by page, and opens points in time. */

import { shardKey } from "#hub/cluster/shards/shard-folders.ts";
import type {
  ContextCall,
  FoundDocumentFacts,
  NamedShard,
  PageCall,
  PointCall,
  TargetIndex,
} from "#hub/host/contract/calls.ts";
import { packFound } from "#hub/host/contract/found.ts";
import type { NamedIndex } from "#hub/host/contract/hosted-shards.ts";
import { parseSlice } from "#hub/host/contract/slice.ts";
import type { Message } from "#hub/host/wire/peer.ts";
import type { Hit } from "#hub/search/execute/fetch/fetch-hit.ts";
import { RawJson, writeJson } from "#hub/search/options/json-writer.ts";
import { allFailed, partlyFailed, type SearchResponse } from "#hub/search/phases/contract.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { type HostState, indicesOf, operation } from "./operation.ts";
import type { SearchContext } from "./search-contexts.ts";
import type { OtherShards } from "./searched-shards.ts";
import { openShards } from "./target.ts";

/** See HostedShards.openContext. */
export const openContext = operation<ContextCall>(async (host, call, { signal }) =>
  packFound(await firstPage(host, call, signal), call, host.clock, signal),
);

/** See HostedShards.nextPage. */
export const nextPage = operation<PageCall>(async (host, call, { signal }) =>
  packFound(await followingPage(host, call, signal), call, host.clock, signal),
);

/** See HostedShards.openDocuments. */
export const openDocuments = operation<ContextCall>(async (host, call, { signal }) =>
  packDocuments(await firstPage(host, call, signal)),
);

/** See HostedShards.nextDocuments. */
export const nextDocuments = operation<PageCall>(async (host, call, { signal }) =>
  packDocuments(await followingPage(host, call, signal)),
);

async function firstPage(
  host: HostState,
  { id, targets, body, limits, slice: given, maxSlices, typedKeys }: ContextCall,
  signal: AbortSignal,
): Promise<SearchResponse> {
  const slice = parseSlice(given, maxSlices);
  const opened = openShards(host, targets, { slice, snapshot: id });
  const request = opened.parsing(() => parseSearchRequest(body, limits), true);
  const context = { request, body, opened, cursor: undefined, total: undefined, isAtEnd: false };
  host.contexts.add(id, context);
  try {
    const { clock } = host;
    await openSnapshots(host, id, opened.others, targets, signal);
    const options = { signal, limits, typedKeys, clock };
    return noted(context, await opened.search({ request, body, options }));
  } catch (error) {
    host.contexts.close([id]);
    throw error;
  }
}

async function followingPage(
  { contexts, clock }: HostState,
  { id, limits }: PageCall,
  signal: AbortSignal,
): Promise<SearchResponse> {
  const context = contexts.get(id);
  const { request, body, opened, cursor, isAtEnd, total } = context;
  const options = { signal, limits, clock, ...(cursor !== undefined && { cursor }) };
  const rest = { ...request, from: 0, aggregations: new Map() };
  const { from: _from, aggs: _aggs, aggregations: _aggregations, ...bare } = body;
  const response = isAtEnd
    ? await searchShards(rest, [], options)
    : await opened.search({ request: rest, body: bare, options });
  const { failures } = response.shards;
  const { count } = opened;
  return noted(context, {
    ...response,
    total: isAtEnd ? total : response.total,
    shards: { total: count, successful: count - failures.length, failures },
  });
}

/**
 * Makes the other hosts keep snapshots, and returns the shards without one: those of a host that can't answer now, and those
 * that a host lacks. If `signal` is aborted, the caller's `closeContexts` reaches the other hosts after this call and closes
 * what they opened.
 */
async function openSnapshots(
  { ask }: HostState,
  id: string,
  others: readonly OtherShards[],
  targets: readonly TargetIndex[],
  signal: AbortSignal,
): Promise<NamedShard[]> {
  const value = { id, indices: targets.map(({ uuid }) => ({ uuid })) };
  const opening = others.map(async ({ address, shards }): Promise<NamedShard[]> => {
    const wanted = shards.map(({ index: { uuid }, shard }) => ({ uuid, shard }));
    const answer = await ask(address, "openSnapshot", { value }, signal).catch(noAnswer);
    if (answer === undefined) return wanted;
    const kept = answer.value as readonly string[] | null;
    // Hubs of earlier versions don't name them.
    return kept === null ? [] : wanted.filter(({ uuid, shard }) => !kept.includes(shardKey(uuid, shard)));
  });
  const settled = await Promise.allSettled(opening);
  const refused = settled.find(({ status }) => status === "rejected");
  if (refused !== undefined) throw (refused as PromiseRejectedResult).reason;
  return settled.flatMap((each) => (each as PromiseFulfilledResult<NamedShard[]>).value);
}

/** Treats a fault of a host as no answer. Rethrows an error that the request caused: any host would refuse it. */
function noAnswer(error: unknown): undefined {
  if (toAppError(error).status < 500) throw error;
}

/** See HostedShards.openPoint. */
export const openPoint = operation<PointCall>(async (host, { id, targets }, { signal }) => {
  const opened = openShards(host, targets);
  opened.close();
  host.snapshots.add(id, host.shards.searchers(indicesOf(host, targets)));
  try {
    return { value: await openSnapshots(host, id, opened.others, targets, signal) };
  } catch (error) {
    host.snapshots.close([id]);
    throw error;
  }
});

/** Keeps a snapshot of the shards of indices for another host, and names the shards. Throws overloaded, index_closed. */
export const openSnapshot = operation<{ readonly id: string; readonly indices: readonly NamedIndex[] }>(
  (host, { id, indices }) => {
    const searchers = host.shards.searchers(indicesOf(host, indices));
    host.snapshots.add(id, searchers);
    return { value: searchers.map(({ index, shard }) => shardKey(index.uuid, shard)) };
  },
);

function noted(context: SearchContext, response: SearchResponse): SearchResponse {
  context.total = response.total;
  context.cursor = response.cursor ?? context.cursor;
  context.isAtEnd = response.cursor === undefined;
  return response;
}

/** Returns the message of documents and their sources, which are empty if none is stored. Throws the errors of failed shards. */
function packDocuments({ hits, total, shards }: SearchResponse): Message {
  const { failures } = shards;
  if (failures.length > 0)
    throw failures.length < shards.total ? partlyFailed(failures) : allFailed(failures);
  return {
    value: { total: total ?? 0, documents: hits.map(factsOf) },
    parts: hits.map(({ _source: source }) =>
      source instanceof RawJson ? source.bytes : Buffer.from(source === undefined ? "" : writeJson(source)),
    ),
  };
}

function factsOf(hit: Hit): FoundDocumentFacts {
  const { _type: type, _routing: routing } = hit;
  return {
    index: String(hit["_index"]),
    type: typeof type === "string" ? type : undefined,
    id: String(hit["_id"]),
    version: Number(hit["_version"]),
    seqNo: Number(hit["_seq_no"]),
    primaryTerm: Number(hit["_primary_term"]),
    routing: typeof routing === "string" ? routing : undefined,
  };
}
