/** A search over the shards of this host, from its body to its answer. */

import type { SearchBody, SearchCall } from "#hub/host/contract/calls.ts";
import { packFound } from "#hub/host/contract/found.ts";
import { optionsOf } from "#hub/host/contract/search-demand.ts";
import { parseSlice } from "#hub/host/contract/slice.ts";
import type { Message } from "#hub/host/wire/peer.ts";
import { type Collapse, collapsedOn, collapsedSearch, parseCollapse } from "#hub/search/collapse.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import type { SearchOptions, SearchResponse, ShardFailure } from "#hub/search/phases/contract.ts";
import type { SearchOperation } from "#hub/search/phases/remote-host.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { type NamedSuggester, parseSuggest, type Suggestions } from "#hub/search/suggest.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type HostState, NOTHING, operation } from "./operation.ts";
import type { SearchedShards } from "./searched-shards.ts";
import { withShards } from "./target.ts";

/** A search that was read. */
interface ParsedSearch {
  readonly request: SearchRequest;
  readonly collapse: Collapse | undefined;
  readonly suggesters: readonly NamedSuggester[];
}

/** See HostedShards.check. */
export const check = operation<SearchBody>((_host, call) => {
  parseSearch(call);
  return NOTHING;
});

/** See HostedShards.search. */
export const search = operation<SearchCall>((host, call, { signal }) => {
  const { targets, point, maxSlices = 0 } = call;
  const answer = async (shards: SearchedShards): Promise<Message> => {
    const parsed = shards.parsing(() => parseSearch(call));
    return packFound(await run(host, call, parsed, shards, signal), call, host.clock, signal);
  };
  return withShards(host, targets, answer, { point, slice: parseSlice(call.slice, maxSlices) });
});

/** See HostedShards.progress. */
export const progress = operation<string>((host, id) => ({ value: host.progress.of(id) }));

function parseSearch({ body, limits }: SearchBody): ParsedSearch {
  const collapse = parseCollapse(body);
  const suggesters = body["suggest"] === undefined ? [] : parseSuggest(body, limits);
  const request = parseSearchRequest(
    { ...searchBody(body), ...(collapse !== undefined && { collapse: {} }) },
    limits,
  );
  warnColumns(body);
  return { request, collapse, suggesters };
}

async function run(
  { clock, results, progress: counts }: HostState,
  call: SearchCall,
  { request, collapse, suggesters }: ParsedSearch,
  shards: SearchedShards,
  signal: AbortSignal,
): Promise<SearchResponse> {
  const { body, limits, skipsAbove } = call;
  const { progress: counted, cache, ...given } = optionsOf(call);
  const options: SearchOptions = {
    ...given,
    signal,
    clock,
    ...(skipsAbove !== undefined && shards.count > skipsAbove && { countsUnmatched: true }),
    ...(counted !== undefined && { progress: { ...counted, done: () => counts.note(counted.id) } }),
    ...(cache !== undefined && { cache: { ...cache, results } }),
  };
  const plain = searchBody(body);
  const response =
    collapse === undefined
      ? await shards.search({ request, body: plain, options })
      : await collapsedSearch(plain, collapse, limits, (each, itsLimits, collapseField) =>
          shards.search({
            request: parseSearchRequest(each, itsLimits),
            body: each,
            options: { ...options, limits: itsLimits, ...collapsedOn(collapseField) },
          }),
        );
  if (suggesters.length === 0) return response;
  return withSuggestions(response, await shards.suggest(suggesters, body, options, request.timeoutMs));
}

function withSuggestions(
  response: SearchResponse,
  { suggest: found, timedOut, isCut, failures: unasked }: Suggestions,
): SearchResponse {
  const { total, failures } = response.shards;
  const isNew = (a: ShardFailure): boolean =>
    !failures.some((b) => b.indexUuid === a.indexUuid && b.shard === a.shard);
  const all = [...failures, ...unasked.filter(isNew)];
  return {
    ...response,
    suggest: found,
    timedOut: response.timedOut || timedOut,
    ...(isCut && { terminatedEarly: true }),
    shards: { total, successful: total - all.length, failures: all },
  };
}

/** The body without its suggestions. If it requests only suggestions, no documents are searched. */
function searchBody({ suggest: suggestions, ...body }: JsonObject): JsonObject {
  const asked = ["query", "aggs", "aggregations", "sort"];
  // Like the 6.5 server, a search for no hits finds no documents either.
  const wantsHits = body["size"] !== undefined && body["size"] !== 0;
  if (suggestions === undefined || wantsHits || asked.some((key) => body[key] !== undefined)) return body;
  return { ...body, query: { match_none: {} }, size: 0 };
}

/** 6.x requires a format for each column; 7.x formats them by the mapping unless there is one. */
function warnColumns({ docvalue_fields: given }: JsonObject): void {
  const all: unknown[] = Array.isArray(given) ? given : given === undefined ? [] : [given];
  if (all.some((each) => isObject(each) && each["format"] === "use_field_mapping")) {
    warnDeprecated(
      "[use_field_mapping] is a special format that was only used to ease the transition to 7.x. It has become the default and shouldn't be set explicitly anymore.",
      { from: 700 },
    );
  }
  const plain = all.flatMap((each) => {
    if (typeof each === "string") return [each];
    return isObject(each) && each["format"] === undefined ? [String(each["field"])] : [];
  });
  if (plain.length === 0) return;
  warnDeprecated(
    `There are doc-value fields which are not using a format. The output will change in 7.0 when doc value fields get formatted based on mappings by default. It is recommended to pass [format=use_field_mapping] with a doc value field in order to opt in for the future behaviour and ease the migration to 7.0: [${plain.join(", ")}]`,
    { until: 700 },
  );
}

/**
 * Answers the searches of another host of the hub, the calls of its RemoteSearchHost, by SearchService. The operation is the
 * value; call and reply are one part each.
 */
export const asked = operation<SearchOperation>(async ({ service }, wanted, { parts, signal }) => ({
  value: null,
  parts: [await service.handle(wanted, parts[0]!, signal)],
}));
