/** Tables of `_cat` with a row for each index, alias or template, or for all of them. */

import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { totalSource } from "#hub/api/stats/copy-stats.ts";
import { clusterHealth, type HealthSource, indexHealth } from "#hub/api/stats/index-health.ts";
import { statCell } from "#hub/api/stats/statistics.ts";
import { type StatsSource, statsSources } from "#hub/api/stats/stats-source.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import { statCellsOfIndices, statColumnsOfIndices } from "./stat-columns.ts";
import { type CatTable, CLOCK_COLUMNS, clockCells, column, HIDDEN, RIGHT, type Row } from "./table.ts";

export const indicesTable: CatTable = {
  paths: ["/_cat/indices", "/_cat/indices/{index}"],
  params: ["health", "pri", ...RESOLVE_PARAMS],
  summary: "Lists indices with their health and size.",
  columns: [
    column("health", "h", "current health status"),
    column("status", "s", "open/close status"),
    column("index", "i,idx", "index name"),
    column("uuid", "id", "index uuid"),
    column("pri", "p,shards.primary,shardsPrimary", "number of primary shards", RIGHT),
    column("rep", "r,shards.replica,shardsReplica", "number of replica shards", RIGHT),
    column("docs.count", "dc,docsCount", "available docs", RIGHT),
    column("docs.deleted", "dd,docsDeleted", "deleted docs", RIGHT),
    column("creation.date", "cd", "index creation date (millisecond value)", HIDDEN),
    column("creation.date.string", "cds", "index creation date (as string)", HIDDEN),
    column("store.size", "ss,storeSize", "store size of primaries & replicas", RIGHT),
    column("pri.store.size", "", "store size of primaries", RIGHT),
    ...statColumnsOfIndices(),
  ],
  async rows(api, request) {
    const wanted = request.query["health"]?.toLowerCase();
    if (wanted !== undefined && !["green", "yellow", "red"].includes(wanted))
      throw new AppError("request_invalid", `unknown cluster health status [${wanted}]`);
    const options = resolveOptions(request, { expandWildcards: "all" });
    const found = api.indices.resolve(request.path["index"], options);
    const sources = await statsSources(
      api,
      found.filter(({ state }) => state === "open"),
    );
    return found
      .map((index) => indexRow(index, api.cluster, sources.get(index.uuid)))
      .filter((row) => wanted === undefined || row["health"] === wanted);
  },
};

/** `stats`: of each shard once; undefined for a closed index. */
function indexRow(index: IndexInfo, source: HealthSource, stats: StatsSource | undefined): Row {
  const { settings } = index;
  const isOpen = index.state === "open";
  const cell = (name: string, of = stats): Row[string] => (of === undefined ? null : statCell(of, name));
  const all = stats && totalSource(index, stats, source);
  // From 7.2 on the copies of a closed index are counted too.
  const isCounted = isOpen || answersAs(702);
  return {
    ...(stats !== undefined && all !== undefined && statCellsOfIndices(all, stats)),
    health: isCounted ? indexHealth(index, source).status : null,
    status: index.state,
    index: index.name,
    uuid: index.uuid,
    pri: isCounted ? settings.numberOfShards : null,
    rep: isCounted ? settings.numberOfReplicas : null,
    "docs.count": cell("docs.count"),
    "docs.deleted": cell("docs.deleted"),
    "creation.date": settings.creationDate,
    "creation.date.string": new Date(settings.creationDate).toISOString(),
    "store.size": cell("store.size", all),
    "pri.store.size": cell("store.size"),
  };
}

export const healthTable: CatTable = {
  paths: ["/_cat/health"],
  summary: "Shows the health of the cluster in one line.",
  columns: [
    ...CLOCK_COLUMNS,
    column("cluster", "cl", "cluster name"),
    column("status", "st", "health status"),
    column("node.total", "nt,nodeTotal", "total number of nodes", RIGHT),
    column("node.data", "nd,nodeData", "number of nodes that can store data", RIGHT),
    column("shards", "t,sh,shards.total,shardsTotal", "total number of shards", RIGHT),
    column("pri", "p,shards.primary,shardsPrimary", "number of primary shards", RIGHT),
    column("relo", "r,shards.relocating,shardsRelocating", "number of relocating nodes", RIGHT),
    column("init", "i,shards.initializing,shardsInitializing", "number of initializing nodes", RIGHT),
    column("unassign", "u,shards.unassigned,shardsUnassigned", "number of unassigned shards", RIGHT),
    column("pending_tasks", "pt,pendingTasks", "number of pending tasks", RIGHT),
    column("max_task_wait_time", "mtwt,maxTaskWaitTime", "wait time of longest task pending", RIGHT),
    column("active_shards_percent", "asp,activeShardsPercent", "active number of shards in percent", RIGHT),
  ],
  rows({ indices, cluster, clock }) {
    const open = indices.all().filter(({ state }) => state === "open");
    const { status, primaries, active, unassigned, ...moving } = clusterHealth(open, cluster);
    const total = active + moving.initializing + unassigned;
    return [
      {
        ...clockCells(clock.now()),
        cluster: cluster.name,
        status,
        "node.total": cluster.nodes().length,
        "node.data": cluster.nodes().length,
        shards: active,
        pri: primaries,
        relo: moving.relocating,
        init: moving.initializing,
        unassign: unassigned,
        pending_tasks: 0,
        max_task_wait_time: "-",
        active_shards_percent: `${(total === 0 ? 100 : (active * 100) / total).toFixed(1)}%`,
      },
    ];
  },
};

export const countTable: CatTable = {
  paths: ["/_cat/count", "/_cat/count/{index}"],
  params: ["ignore_unavailable"],
  summary: "Counts documents.",
  columns: [...CLOCK_COLUMNS, column("count", "dc,docs.count,docsCount", "the document count")],
  async rows({ indices, shards, clock }, request) {
    const found = indices.resolve(request.path["index"], resolveOptions(request));
    const segments = (await shards.segments(found)).flatMap((shard) => shard.segments);
    return [{ ...clockCells(clock.now()), count: segments.reduce((sum, { live }) => sum + live, 0) }];
  },
};

export const aliasesTable: CatTable = {
  paths: ["/_cat/aliases", "/_cat/aliases/{name}"],
  params: ["expand_wildcards"],
  summary: "Lists aliases with their indices.",
  columns: [
    column("alias", "a", "alias name"),
    column("index", "i,idx", "index alias points to"),
    column("filter", "f,fi", "filter"),
    column("routing.index", "ri,routingIndex", "index routing"),
    column("routing.search", "rs,routingSearch", "search routing"),
    column("is_write_index", "w,isWriteIndex", "write index", { from: 704 }),
  ],
  rows({ indices }, request) {
    const patterns = (request.list("name") ?? ["*"]).map((pattern) => compileWildcard(pattern));
    const { expandWildcards = "all", expandHidden = true } = resolveOptions(request);
    return indices.all().flatMap((index) =>
      Object.entries(index.aliases)
        .filter(([, alias]) => expandHidden || !isHidden(index, alias))
        .filter(() => expandWildcards === "all" || expandWildcards === index.state)
        .filter(([alias]) => patterns.some((pattern) => pattern.matches(alias)))
        .map(([alias, info]) => ({
          alias,
          index: index.name,
          filter: info.filter === undefined ? "-" : "*",
          "routing.index": info.index_routing ?? "-",
          "routing.search": info.search_routing ?? "-",
          is_write_index: info.is_write_index ?? "-",
        })),
    );
  },
};

/** Returns true if the alias or its index is marked as hidden. */
function isHidden({ settings }: IndexInfo, alias: IndexInfo["aliases"][string]): boolean {
  return alias.is_hidden === true || isTrue(settings.raw["hidden"]);
}

export const templatesTable: CatTable = {
  paths: ["/_cat/templates", "/_cat/templates/{name}"],
  summary: "Lists templates with the patterns of their indices.",
  columns: [
    column("name", "n", "template name"),
    column("index_patterns", "t", "template index patterns"),
    column("order", "o", "template application order number"),
    column("version", "v", "version"),
    column("composed_of", "c", "component templates comprising index template", { from: 708 }),
  ],
  rows({ indices }, request) {
    const pattern = compileWildcard(request.path["name"] ?? "*");
    const legacy = Object.entries(indices.templates()).map(([name, template]) => ({
      name,
      index_patterns: printList(template.index_patterns),
      order: template.order,
      version: template.version,
      composed_of: "",
    }));
    const composable = Object.entries(indices.templateCatalog.set().templates).map(([name, template]) => ({
      name,
      index_patterns: printList(template.index_patterns),
      order: template.priority,
      version: template.version,
      composed_of: printList(template.composed_of),
    }));
    return [...legacy, ...composable].filter(({ name }) => pattern.matches(name));
  },
};

export const componentTemplatesTable: CatTable = {
  paths: ["/_cat/component_templates", "/_cat/component_templates/{name}"],
  summary: "Lists parts of composable templates.",
  columns: [
    column("name", "n", "component template name"),
    column("version", "v", "version"),
    column("alias_count", "a", "alias count"),
    column("mapping_count", "m", "mapping count"),
    column("settings_count", "s", "settings count"),
    column("metadata_count", "me", "metadata count"),
    column("included_in", "i", "included in"),
  ],
  rows({ indices }, request) {
    const pattern = compileWildcard(request.path["name"] ?? "*");
    const { components, templates } = indices.templateCatalog.set();
    const users = (part: string): string[] =>
      Object.keys(templates).filter((name) => templates[name]!.composed_of.includes(part));
    return Object.entries(components)
      .filter(([name]) => pattern.matches(name))
      .map(([name, { version, template, _meta }]) => ({
        name,
        version,
        alias_count: Object.keys(template.aliases ?? {}).length,
        mapping_count: Object.keys(template.mappings ?? {}).length,
        settings_count: Object.keys(template.settings ?? {}).length,
        metadata_count: Object.keys(_meta ?? {}).length,
        included_in: printList(users(name)),
      }));
  },
};

function printList(names: readonly string[]): string {
  return `[${names.join(", ")}]`;
}
