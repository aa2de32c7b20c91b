/**
 * The hub interface: status, agents, slow searches, health and metrics, and `/api/cluster/members`, which removes hubs
 * permanently.
 */

import type { SlowQueries } from "#hub/api/context/slow-queries.ts";
import { empty, json, type Route } from "#hub/api/http/route.ts";
import type { HubStatus } from "#hub/api/ports/administration.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import type { Indices } from "#hub/api/ports/indices.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { LIVE_PATH, LIVE_PROTOCOL } from "#proto/live.ts";

export interface HubParts {
  readonly status: HubStatus;
  readonly metrics: Metrics;
  readonly slowQueries: SlowQueries;
  /** The indices that the sender of a request may see. */
  readonly indices: Pick<Indices, "get">;
  /** Returns the description of all interfaces. */
  readonly describe: () => JsonObject;
  /** False: `/health`, which probes read without a sign-in, shows only the state of the hub as a whole. */
  readonly showsParts: boolean;
}

/** Prometheus text format, version 0.0.4. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export function hubRoutes(parts: HubParts): Route[] {
  const { status, slowQueries, indices, describe } = parts;
  return [
    {
      methods: ["GET"],
      paths: ["/api/status"],
      params: [],
      action: "monitor",
      summary: "Shows the status of the hub.",
      handle: async () => json(await status.status()),
    },
    {
      methods: ["GET"],
      paths: [LIVE_PATH],
      params: [],
      action: "search",
      summary: `Opens a WebSocket (subprotocol ${LIVE_PROTOCOL}) for live lines, requests and watched answers.`,
      handle: () => {
        throw new AppError(
          "request_invalid",
          `${LIVE_PATH} is a WebSocket: the request has no Upgrade header`,
        );
      },
    },
    ...agentRoutes(status),
    {
      methods: ["GET"],
      paths: ["/api/slow-queries"],
      params: [],
      action: "search",
      summary: "Lists slow searches of indices that one may search, the newest first.",
      handle: () =>
        json({
          threshold_ms: Number.isFinite(slowQueries.thresholdMs) ? slowQueries.thresholdMs : null,
          queries: slowQueries
            .list()
            .filter((query) => query.indices.every((name) => indices.get(name) !== undefined)),
        }),
    },
    {
      methods: ["GET"],
      paths: ["/api/openapi.json"],
      params: [],
      action: "monitor",
      summary: "Describes the interfaces.",
      handle: () => json(describe()),
    },
    ...monitoringRoutes(parts),
  ];
}

/** Routes for the agents, as reported by themselves. */
function agentRoutes(status: HubStatus): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/api/agents"],
      params: [],
      action: "monitor",
      summary: "Lists the known agents.",
      handle: () => json(status.agents()),
    },
    {
      methods: ["GET"],
      paths: ["/api/agents/{id}"],
      params: [],
      action: "monitor",
      summary: "Shows one agent with its files, those with problems first.",
      handle: (request) => {
        const agent = status.agent(request.segment("id"));
        if (agent === undefined) throw unknownAgent();
        return json(agent);
      },
    },
    {
      methods: ["DELETE"],
      paths: ["/api/agents/{id}"],
      params: [],
      action: "administer",
      summary: "Forgets an agent that was taken out of service, until it reports again.",
      handle: (request) => {
        if (!status.forgetAgent(request.segment("id"))) throw unknownAgent();
        return empty(204);
      },
    },
  ];
}

/** Routes for probes and Prometheus. */
function monitoringRoutes({ status, metrics, showsParts }: HubParts): Route[] {
  return [
    {
      methods: ["GET", "HEAD"],
      paths: ["/health"],
      params: [],
      action: [],
      caller: "anybody",
      summary:
        "Shows whether requests can be served, and where sign-in is off the state of each part of the hub.",
      handle: () => {
        if (!status.ready()) return json({ status: "starting" }, 503);
        const report = status.health();
        return json(showsParts ? report : { status: report.status });
      },
    },
    {
      methods: ["GET"],
      paths: ["/metrics"],
      params: [],
      action: "monitor",
      summary: "Prints the metrics in the text format of Prometheus.",
      handle: async () => ({
        status: 200,
        text: await metrics.text(),
        headers: { "content-type": METRICS_TYPE },
      }),
    },
  ];
}

function unknownAgent(): AppError {
  return new AppError("not_found", "this agent has sent no status to the hub in the last week");
}

export function memberRoutes(cluster: Pick<Cluster, "remove">): Route[] {
  return [
    {
      methods: ["DELETE"],
      paths: ["/api/cluster/members/{name}"],
      params: [],
      action: "administer",
      summary:
        "Removes a hub that was stopped or lost and won't come back, with its part of the log's store.",
      handle: async (request) => {
        if (cluster.remove === undefined) throw new AppError("not_found", "this hub has no cluster");
        return json(await cluster.remove(request.segment("name")));
      },
    },
  ];
}
