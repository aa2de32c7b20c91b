/** `_health_report` of version 8: the health of the hub's parts by indicator, with impacts and diagnoses. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import type { PartHealth } from "#hub/api/ports/administration.ts";
import { clusterHealth, type Health, indexHealth } from "#hub/api/stats/index-health.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Default number of indices that a diagnosis names. */
const DEFAULT_SIZE = 1_000;
/** Page with further help. */
const HELP = "docs/runbook.md";

const COLOURS = { ok: "green", degraded: "yellow", failing: "red" } as const;
const ORDER: readonly Health[] = ["green", "yellow", "red"];

/** Areas affected by an unhealthy part. */
const AREAS: Readonly<Record<string, readonly string[]>> = {
  disk: ["ingest", "search"],
  log: ["ingest", "deployment_management"],
  cluster: ["deployment_management"],
  shards: ["search", "ingest"],
};

/** One indicator. */
interface Indicator {
  readonly status: Health;
  readonly symptom: string;
  readonly details: JsonObject;
  /** Faults; empty if everything is healthy. */
  readonly faults: readonly Fault[];
}

interface Fault {
  readonly id: string;
  /** 1 is the worst. */
  readonly severity: number;
  readonly cause: string;
  readonly areas: readonly string[];
  readonly indices?: readonly string[];
}

export function healthReportRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_health_report", "/_health_report/{feature}"],
      params: ["verbose", "size", "timeout", "master_timeout"],
      action: "monitor",
      summary: "Shows the health of the hub by subject, with what to do.",
      handle: (request) => report(parts, request),
    },
  ];
}

function report(parts: ApiContext, request: ApiRequest): ApiResponse {
  const isVerbose = request.flag("verbose") ?? true;
  const size = request.integer("size") ?? DEFAULT_SIZE;
  const all = indicatorsOf(parts);
  const wanted = request.path["feature"];
  const found = wanted === undefined ? all : all.filter(([name]) => name === wanted);
  if (found.length === 0)
    throw new AppError("not_found", `Did not find indicator ${wanted}`, {
      data: { type: "resource_not_found_exception" },
    });
  const status = worst(found.map(([, indicator]) => indicator.status));
  return json({
    ...(wanted === undefined && { status }),
    cluster_name: parts.cluster.name,
    indicators: Object.fromEntries(
      found.map(([name, indicator]) => [name, printed(indicator, isVerbose, size)]),
    ),
  });
}

function indicatorsOf(parts: ApiContext): (readonly [string, Indicator])[] {
  const health = parts.health?.().parts ?? [];
  const named = (...names: string[]): PartHealth[] => health.filter(({ part }) => names.includes(part));
  const others = health.filter(({ part }) => !["log", "cluster", "disk", "shards"].includes(part));
  return [
    ["master_is_stable", masterIsStable(parts, named("log", "cluster"))],
    ["repository_integrity", repositories(parts)],
    ["disk", disk(parts, named("disk"))],
    ["shards_availability", shardsAvailability(parts, named("shards"))],
    ["ilm", lifecycles(parts)],
    ...others.map((part) => [part.part, ofParts([part], "", `The part ${part.part} is well.`, {})] as const),
  ];
}

function masterIsStable({ cluster }: ApiContext, health: readonly PartHealth[]): Indicator {
  const master = cluster.nodes().find((node) => node.master);
  const shown = master === undefined ? null : { node_id: master.id, name: master.name };
  const details = { current_master: shown, recent_masters: shown === null ? [] : [shown] };
  return ofParts(health, "master_is_stable", "The cluster has a stable master node", details);
}

function repositories({ repositories: known }: ApiContext): Indicator {
  const count = known?.all().size ?? 0;
  const symptom = count === 0 ? "No snapshot repositories configured." : "All repositories are healthy.";
  return { status: "green", symptom, details: { total_repositories: count }, faults: [] };
}

function disk({ cluster }: ApiContext, health: readonly PartHealth[]): Indicator {
  const isWell = health.every(({ level }) => level === "ok");
  const nodes = cluster.nodes().length;
  const details = {
    indices_with_readonly_block: 0,
    nodes_with_enough_disk_space: isWell ? nodes : nodes - 1,
    nodes_with_unknown_disk_status: 0,
    nodes_over_high_watermark: health.some(({ level }) => level === "degraded") ? 1 : 0,
    nodes_over_flood_stage_watermark: health.some(({ level }) => level === "failing") ? 1 : 0,
  };
  return ofParts(health, "disk", "The cluster has enough available disk space.", details);
}

function shardsAvailability(parts: ApiContext, health: readonly PartHealth[]): Indicator {
  const { indices, cluster } = parts;
  const all = indices.resolve(undefined, { expandWildcards: "all", expandHidden: true });
  const sum = clusterHealth(all, cluster);
  const wanted = all.reduce((shards, { settings }) => shards + settings.numberOfShards, 0);
  const details = {
    started_primaries: sum.primaries,
    unassigned_primaries: wanted - sum.primaries,
    initializing_primaries: 0,
    creating_primaries: 0,
    restarting_primaries: 0,
    started_replicas: sum.active - sum.primaries,
    unassigned_replicas: sum.unassigned - (wanted - sum.primaries),
    initializing_replicas: sum.initializing,
    creating_replicas: 0,
    restarting_replicas: sum.delayed,
  };
  const own = ofParts(health, "shards_availability", "This cluster has all shards available.", details);
  if (sum.status === "green") return own;
  const affected = all.filter((index) => indexHealth(index, cluster).status !== "green");
  const isLost = sum.status === "red";
  const cause = isLost ? "shards have no copy on a live hub" : "replicas have no hub, or are on their way";
  const symptom = `This cluster has ${wanted - sum.primaries} unavailable primary shards and ${details.unassigned_replicas} unavailable replica shards.`;
  const fault = {
    id: `shards_availability:${isLost ? "primary" : "replica"}_unassigned`,
    severity: isLost ? 1 : 2,
    cause,
    areas: isLost ? ["search", "ingest"] : ["search"],
    indices: affected.map(({ name }) => name),
  };
  return { status: worst([own.status, sum.status]), symptom, details, faults: [fault, ...own.faults] };
}

function lifecycles({ indices }: ApiContext): Indicator {
  const { lifecycles: known } = indices;
  const all = indices.resolve(undefined, { expandWildcards: "all", expandHidden: true });
  const stuck = all.filter((index) => known.fault(index) !== undefined).map(({ name }) => name);
  const details = {
    policies: Object.keys(known.all()).length,
    ilm_status: known.isStopped ? "STOPPED" : "RUNNING",
    stagnating_indices: stuck.length,
  };
  const common = { severity: 3, areas: ["deployment_management"] };
  const faults: Fault[] = [];
  if (known.isStopped) {
    const cause = "lifecycle policies were stopped; POST /_ilm/start carries them out again";
    faults.push({ ...common, id: "ilm:stopped", cause });
  }
  if (stuck.length > 0) {
    const cause = "a step of lifecycle policies failed and is tried again; GET /INDEX/_ilm/explain says why";
    faults.push({ ...common, id: "ilm:stagnating", cause, indices: stuck });
  }
  const symptom = known.isStopped
    ? "Index Lifecycle Management is not running"
    : `Index Lifecycle Management is running${stuck.length > 0 ? `, and ${stuck.length} indices are stuck` : ""}`;
  return { status: faults.length === 0 ? "green" : "yellow", symptom, details, faults };
}

/** Returns an indicator with the health of some parts of the hub. */
function ofParts(
  health: readonly PartHealth[],
  subject: string,
  wellSymptom: string,
  details: JsonObject,
): Indicator {
  const ill = health.filter(({ level }) => level !== "ok");
  return {
    status: worst(health.map(({ level }) => COLOURS[level])),
    symptom: ill.length === 0 ? wellSymptom : ill.map(({ reason }) => reason).join("; "),
    details,
    faults: ill.map(({ part, level, reason }) => ({
      id: subject === "" ? part : `${subject}:${part}`,
      severity: level === "failing" ? 1 : 2,
      cause: reason,
      areas: AREAS[part] ?? ["ingest"],
    })),
  };
}

function printed(
  { status, symptom, details, faults }: Indicator,
  isVerbose: boolean,
  size: number,
): JsonObject {
  if (!isVerbose) return { status, symptom };
  if (faults.length === 0) return { status, symptom, details };
  return {
    status,
    symptom,
    details,
    impacts: faults.map(({ id, severity, cause, areas }) => ({
      id: `tailrace:health:${id}`,
      severity,
      description: cause,
      impact_areas: areas,
    })),
    diagnosis: faults.map(({ id, cause, indices }) => ({
      id: `tailrace:health:${id}`,
      cause,
      action: `See ${HELP}, and /health of the dashboard's address.`,
      help_url: HELP,
      affected_resources: indices === undefined ? {} : { indices: indices.slice(0, size) },
    })),
  };
}

function worst(all: readonly Health[]): Health {
  return ORDER[Math.max(0, ...all.map((each) => ORDER.indexOf(each)))]!;
}
