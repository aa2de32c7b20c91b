/** `_cluster/health`: green, yellow or red, and the numbers of shards. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import {
  clusterHealth,
  type Health,
  type HealthSource,
  indexCopies,
  indexHealth,
  type ShardHealth,
  shardHealth,
} from "#hub/api/stats/index-health.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
/** Interval of the checks while a request waits for a better status. */
const POLL_MS = 100;
const HEALTH_ORDER: readonly Health[] = ["red", "yellow", "green"];

export function clusterHealthRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_cluster/health", "/_cluster/health/{index}"],
      params: [
        ...RESOLVE_PARAMS,
        "level",
        "local",
        "master_timeout",
        "timeout",
        "wait_for_active_shards",
        "wait_for_events",
        "wait_for_no_relocating_shards",
        "wait_for_no_initializing_shards",
        "wait_for_nodes",
        "wait_for_status",
      ],
      action: "monitor",
      summary: "Shows the health of the cluster and its indices.",
      handle: (request) => health(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_cluster/pending_tasks"],
      params: ["local", "master_timeout"],
      action: "monitor",
      summary: "Shows changes of metadata that wait; none do.",
      handle: () => json({ tasks: [] }),
    },
  ];
}

async function health(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const deadlineMs = parts.clock.monotonic() + (request.duration("timeout") ?? DEFAULT_TIMEOUT_MS);
  for (;;) {
    const found = healthTargets(parts, request);
    const reached = found !== undefined && isHealthy(parts, request, found);
    if (reached || parts.clock.monotonic() >= deadlineMs || request.signal.aborted) {
      return json(healthBody(parts, request, found ?? [], !reached), reached ? 200 : 408);
    }
    const leftMs = deadlineMs - parts.clock.monotonic();
    await parts.clock.sleep(Math.min(POLL_MS, leftMs), request.signal);
  }
}

/** Returns undefined if an index doesn't exist, or doesn't exist yet. */
function healthTargets(parts: ApiContext, request: ApiRequest): IndexInfo[] | undefined {
  // From 7.2 on the shards of closed indices are counted.
  const expandWildcards = answersAs(700) ? "all" : "open";
  try {
    return parts.indices.resolve(request.path["index"], resolveOptions(request, { expandWildcards }));
  } catch (error) {
    if (error instanceof AppError && error.code === "index_missing") return undefined;
    throw error;
  }
}

function isHealthy({ cluster }: ApiContext, request: ApiRequest, found: readonly IndexInfo[]): boolean {
  const { status, active, relocating, initializing, unassigned } = clusterHealth(found, cluster);
  const wanted = request.query["wait_for_status"]?.toLowerCase();
  if (wanted !== undefined && !HEALTH_ORDER.includes(wanted as Health))
    throw new AppError("request_invalid", `unknown cluster health status [${wanted}]`);
  if (wanted !== undefined && HEALTH_ORDER.indexOf(status) < HEALTH_ORDER.indexOf(wanted as Health))
    return false;
  const shards = request.query["wait_for_active_shards"];
  if (shards === "all" && unassigned + initializing > 0) return false;
  if (request.flag("wait_for_no_relocating_shards") === true && relocating > 0) return false;
  if (request.flag("wait_for_no_initializing_shards") === true && initializing > 0) return false;
  if (shards !== undefined && /^\d+$/.test(shards) && active < Number(shards)) return false;
  return fitsCount(request.query["wait_for_nodes"], cluster.nodes().length);
}

/** `3`, `>=3`, `ge(3)` … */
function fitsCount(wanted: string | undefined, count: number): boolean {
  if (wanted === undefined) return true;
  const [, sign = "", digits = ""] = /^(>=|<=|>|<|ge|le|gt|lt)?\(?(\d+)\)?$/.exec(wanted) ?? [];
  if (digits === "")
    throw new AppError(
      "request_invalid",
      `wait_for_nodes [${wanted}] isn't a number, with or without >=, <=, > or <`,
    );
  const number = Number(digits);
  if (sign === ">=" || sign === "ge") return count >= number;
  if (sign === "<=" || sign === "le") return count <= number;
  if (sign === ">" || sign === "gt") return count > number;
  return sign === "<" || sign === "lt" ? count < number : count === number;
}

function healthBody(
  parts: ApiContext,
  request: ApiRequest,
  found: readonly IndexInfo[],
  timedOut: boolean,
): JsonObject {
  const { cluster } = parts;
  const sum = clusterHealth(found, cluster);
  const total = sum.active + sum.initializing + sum.unassigned;
  const wanted = found.reduce((shards, { settings }) => shards + settings.numberOfShards, 0);
  const level = request.query["level"];
  return {
    cluster_name: cluster.name,
    status: timedOut && found.length === 0 && request.path["index"] !== undefined ? "red" : sum.status,
    timed_out: timedOut,
    number_of_nodes: cluster.nodes().length,
    number_of_data_nodes: cluster.nodes().length,
    active_primary_shards: sum.primaries,
    active_shards: sum.active,
    relocating_shards: sum.relocating,
    initializing_shards: sum.initializing,
    unassigned_shards: sum.unassigned,
    ...unassignedPrimaries(wanted - sum.primaries),
    delayed_unassigned_shards: sum.delayed,
    number_of_pending_tasks: 0,
    number_of_in_flight_fetch: 0,
    task_max_waiting_in_queue_millis: 0,
    active_shards_percent_as_number: total === 0 ? 100 : (sum.active * 100) / total,
    ...((level === "indices" || level === "shards") && {
      indices: Object.fromEntries(
        found.map((index) => [index.name, indexHealthBody(index, cluster, level === "shards")]),
      ),
    }),
  };
}

function unassignedPrimaries(count: number): JsonObject {
  return answersAs(800) ? { unassigned_primary_shards: count } : {};
}

function indexHealthBody(index: IndexInfo, source: HealthSource, withShards: boolean): JsonObject {
  const { status, primaries, ...counts } = indexHealth(index, source);
  const { numberOfShards, numberOfReplicas } = index.settings;
  return {
    status,
    number_of_shards: numberOfShards,
    number_of_replicas: numberOfReplicas,
    active_primary_shards: primaries,
    ...countBody(counts),
    ...unassignedPrimaries(numberOfShards - primaries),
    ...(withShards && {
      shards: Object.fromEntries(
        indexCopies(index, source).map((copies, at) => {
          const { status: state, primaries: primary, ...rest } = shardHealth(copies);
          const body = { status: state, primary_active: primary > 0, ...countBody(rest) };
          return [String(at), { ...body, ...unassignedPrimaries(1 - primary) }];
        }),
      ),
    }),
  };
}

function countBody(
  counts: Pick<ShardHealth, "active" | "relocating" | "initializing" | "unassigned">,
): JsonObject {
  return {
    active_shards: counts.active,
    relocating_shards: counts.relocating,
    initializing_shards: counts.initializing,
    unassigned_shards: counts.unassigned,
  };
}
