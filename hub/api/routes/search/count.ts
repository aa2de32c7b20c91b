/** `_count`: how many documents match. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { shardFailureBodies } from "#hub/api/http/error-body.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { resolveLookups } from "./lookups.ts";
import { targetOf } from "./search.ts";
import { QUERY_PARAMS, queryOfParams } from "./search-params.ts";
import { checkedIndices, searchLimits } from "./search-target.ts";

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
  const given = request.object();
  const params = queryOfParams(request);
  const query = params === undefined ? given : { ...given, query: params };
  const body = await resolveLookups(parts, query, request.path["index"]);
  const minScore = request.query["min_score"];
  const terminateAfter = request.integer("terminate_after");
  const call = {
    body,
    limits: searchLimits(parts),
    ...(minScore !== undefined && { minScore: Number(minScore) }),
    ...(terminateAfter !== undefined && { terminateAfter }),
  };
  const { shards } = parts;
  const { signal } = request;
  const target = targetOf(parts, request);
  const { targets } = await checkedIndices(parts, target, () =>
    shards.count({ ...call, targets: [] }, signal),
  );
  const wish = target.copies === undefined ? {} : { copies: target.copies };
  const counted = await shards.count({ ...call, ...wish, targets }, signal);
  const { count: found, shards: total, failures } = counted;
  const failed = failures.length;
  return json({
    count: found,
    ...(terminateAfter !== undefined && { terminated_early: false }),
    _shards: {
      total,
      successful: total - failed,
      skipped: 0,
      failed,
      ...(failed > 0 && { failures: shardFailureBodies(failures, parts.errors) }),
    },
  });
}
