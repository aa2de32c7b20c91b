/** `_count`: how many documents match. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { shardFailureBodies } from "#hub/api/http/error-body.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { countShards } from "#hub/search/count.ts";
import { parseQueryBody, parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import { resolveLookups } from "./lookups.ts";
import { targetOf } from "./search.ts";
import { QUERY_PARAMS, queryOfParams } from "./search-params.ts";
import { openShards, searchLimits } from "./search-target.ts";

export function countRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_count", "/{index}/_count", "/{index}/{type}/_count"],
      params: QUERY_PARAMS,
      action: "search",
      summary: "Counts documents.",
      handle: (request) => count(parts, request),
    },
  ];
}

async function count(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const body = request.object();
  const params = queryOfParams(request);
  const query = params === undefined ? body : { ...body, query: params };
  const parsed = parseQueryBody(await resolveLookups(parts, query, request.path["index"]));
  const opened = openShards(parts, targetOf(request));
  try {
    const { found, failures } = await countIn(parts, request, opened, query, parsed);
    const total = opened.shards.length;
    const failed = failures.length;
    return json({
      count: found,
      ...(request.integer("terminate_after") !== undefined && { terminated_early: false }),
      _shards: {
        total,
        successful: total - failed,
        skipped: 0,
        failed,
        ...(failed > 0 && { failures: shardFailureBodies(failures, parts.errors) }),
      },
    });
  } finally {
    opened.close();
  }
}

/** Counts; with limits on score or number through a search without hits. */
async function countIn(
  parts: ApiContext,
  request: ApiRequest,
  { shards }: ReturnType<typeof openShards>,
  body: Readonly<Record<string, unknown>>,
  query: ReturnType<typeof parseQueryBody>,
): Promise<{ found: number; failures: Awaited<ReturnType<typeof countShards>>["failures"] }> {
  const minScore = request.query["min_score"];
  const terminateAfter = request.integer("terminate_after");
  if (minScore === undefined && terminateAfter === undefined) {
    const { count: found, failures } = await countShards(query, shards, request.signal);
    return { found, failures };
  }
  const limits = searchLimits(parts);
  const given = {
    ...(minScore !== undefined && { min_score: Number(minScore) }),
    terminate_after: terminateAfter,
  };
  const search = parseSearchRequest({ ...body, size: 0, ...given }, limits);
  const response = await searchShards(search, shards, { signal: request.signal, limits, clock: parts.clock });
  return { found: response.total ?? 0, failures: response.shards.failures };
}
