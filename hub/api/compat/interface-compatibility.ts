/**
 * What the search interface accepts without effect, and what it refuses by name. Requests are warned by this list, and
 * `docs/compatibility.md` is generated from it.
 */

import { checkKnownSettings } from "#hub/cluster/catalog/index-settings.ts";
import { LIFECYCLE_SETTINGS, UNUSED_ACTIONS, unusedActions } from "#hub/cluster/catalog/lifecycle-policy.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import type { CompatibilityRow } from "#proto/kit/compatibility-row.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Settings of indices by the beginning of their names, without the leading "index.", with what to use instead. */
const SETTINGS: readonly (readonly [prefix: string, instead: string])[] = [
  ["sort.", "documents are kept in the order in which they came; name the order in the search"],
  ["lifecycle.", "only name, rollover_alias, origination_date and indexing_complete have an effect"],
  ["plugins.index_state_management.", "write a policy over _ilm, and name it in index.lifecycle.name"],
  ["routing.allocation.", "copies are spread evenly; hubs of one node.attr.zone have one of a shard"],
  ["routing.rebalance.", "copies are moved wherever hubs have unequal shares"],
  ["routing_partition_size", "documents with a routing are in one shard"],
  ["search.slowlog.", "the hub's own setting search.slowlog.threshold decides which searches are logged"],
  ["indexing.slowlog.", "slow writes aren't logged"],
  ["similarity.", "scores are BM25's, with k1 1.2 and b 0.75"],
];

/** Settings of the cluster by the beginning of their names, with the reason or what to use instead. */
const CLUSTER_SETTINGS: readonly (readonly [prefix: string, why: string])[] = [
  ["cluster.blocks.", "block indices one by one with index.blocks.*"],
  ["cluster.indices.", "closed indices and tombstones are kept as they are"],
  ["cluster.info.", "nodes report their own disk usage"],
  ["cluster.max_shards_per_node", "the memory of a node limits its shards"],
  ["cluster.no_master_block", "there is no master"],
  ["cluster.persistent_tasks.", "tasks stay on the node that started them"],
  ["cluster.remote.", "there are no remote clusters"],
  [
    "cluster.routing.",
    "copies are spread evenly; the hub's setting cluster.copies says whether a hub has all",
  ],
  ["cluster.service.", "cluster state changes need no master"],
  ["discovery.", "nodes find each other through the journal"],
  ["indices.", "caches and recoveries are sized from the memory of the node"],
  ["ingest.", "pipelines are limited by their own settings"],
  ["logger.", "the hub's own setting log.level decides what is logged"],
  ["network.", "addresses are in the hub's own settings"],
  ["node.", "nodes have their settings in files"],
  ["script.", "scripts are limited by their cost"],
  ["search.", "searches are limited by time and memory"],
  ["search_backpressure.", "searches are limited by time and memory"],
  ["task_resource_tracking.", "the resource usage of tasks isn't tracked"],
  ["snapshot.", "use tailrace-hub snapshot"],
  ["thread_pool.", "the hub's own setting hub.threads decides"],
  ["transport.", "nodes find each other through the journal"],
  ["xpack.", "features of the other product aren't offered"],
];

/** A query parameter that is accepted and has no effect. */
interface IgnoredParameter {
  readonly name: string;
  /** The value that has no effect; undefined: none has. */
  readonly value?: string;
  /** Path of the routes, with `*` for any segment; undefined: all routes that accept the parameter. */
  readonly path?: string;
  readonly why: string;
  /** True: with an effect the parameter could change the answer, so a Warning header is sent. */
  readonly warns?: true;
}

const PARAMETERS: readonly IgnoredParameter[] = [
  { name: "master_timeout", why: "cluster state changes need no master" },
  { name: "local", why: "every hub reads the state from its own copy" },
  {
    name: "wait_for_active_shards",
    path: "_close",
    why: "a closed index is closed on every hub",
  },
  {
    name: "wait_for_active_shards",
    path: "_shrink",
    why: "also of _split and _clone: the copy is durable in the log before it is answered",
  },
  {
    name: "preference",
    path: "_doc",
    why: "also of _mget and _termvectors: a document is read after everything that was acknowledged before",
  },
  { name: "ignore_throttled", why: "no index is throttled" },
  { name: "max_concurrent_searches", why: "the searches of a request run one after another" },
  {
    name: "max_concurrent_shard_requests",
    why: "checked; the hub decides how many shards it searches at once",
  },
  {
    name: "allow_partial_search_results",
    path: "_pit",
    why: "checked; a shard that can't answer is named as failed by each search over the point",
  },
  {
    name: "allow_partial_pit_creation",
    path: "_search/point_in_time",
    why: "checked; see allow_partial_search_results",
  },
  { name: "ccs_minimize_roundtrips", why: "there are no remote clusters" },
  { name: "operation_threading", why: "it chose the server's threading, which is different here" },
  { name: "accept_enterprise", why: "there are no licences" },
  { name: "update_all_types", why: "an index has one type" },
  { name: "cause", why: "it was text for the server's log" },
  { name: "payloads", why: "documents have no payloads" },
  { name: "lang", why: "scripts are Painless, templates Mustache; other languages are refused" },
  { name: "flush", path: "_forcemerge", why: "a merge is committed in any case" },
  { name: "recycler", path: "_cache/clear", why: "there is no such cache" },
  { name: "prefer_local", path: "_analyze", why: "the hub that is asked answers" },
  { name: "attributes", path: "_analyze", why: "all attributes are shown" },
  { name: "wait_for_events", path: "_cluster/health", why: "no change of the cluster's state waits" },
  { name: "retry_failed", path: "_cluster/reroute", why: "a shard that failed is opened again by itself" },
  { name: "only_ancient_segments", path: "_upgrade", why: "no segment has to be rewritten" },
  { name: "include_unloaded_segments", path: "_stats", why: "all segments are loaded" },
  { name: "pri", path: "_cat/indices", why: "sizes are those of primaries" },
  { name: "search_timeout", why: "a change by query reads until it is done or cancelled", warns: true },
  {
    name: "rewrite",
    path: "_validate/query",
    why: "explanations show the query as it was written",
    warns: true,
  },
  {
    name: "all_shards",
    path: "_validate/query",
    why: "one shard of each index validates the query",
    warns: true,
  },
  {
    name: "write_index_only",
    path: "_mapping",
    why: "the mapping of every index that the name means is changed",
    warns: true,
  },
  { name: "forbid_closed_indices", why: "closed indices are left out", warns: true },
  { name: "parent_task_id", why: "tasks have no parents", warns: true },
  { name: "parent_task", why: "tasks have no parents", warns: true },
  {
    name: "search_type",
    value: "dfs_query_then_fetch",
    why: "each shard scores by the frequencies of its own terms",
    warns: true,
  },
  { name: "node_id", path: "_cat/tasks", why: "the tasks of this node are listed", warns: true },
  {
    name: "include_yes_decisions",
    path: "_cluster/allocation/explain",
    why: "all decisions are listed",
    warns: true,
  },
];

const WARNING: ReadonlyMap<string, IgnoredParameter> = new Map(
  PARAMETERS.filter(({ warns }) => warns).map((parameter) => [parameter.name, parameter]),
);

/** Warns of the actions of a lifecycle policy that have no effect. */
export function warnOfActions(policy: Readonly<JsonObject>): void {
  for (const [action, why] of unusedActions(policy))
    warnDeprecated(`lifecycle action [${action}] is accepted and does nothing: ${why}`);
}

/** Warns of the `settings` (dotted, without "index.") that have no effect. Throws settings_invalid for unknown ones. */
export function warnOfSettings(settings: Readonly<Record<string, unknown>>): void {
  checkKnownSettings(settings);
  const retention = Object.keys(settings).some(
    (key) => key.startsWith("translog.retention.") && settings[key] !== null,
  );
  if (retention) {
    warnDeprecated(
      "Translog retention settings [index.translog.retention.age] and [index.translog.retention.size] are deprecated and effectively ignored. They will be removed in a future version.",
      { from: 707 },
    );
  }
  for (const [prefix, instead] of SETTINGS) {
    const given = Object.keys(settings).filter(
      (key) => key.startsWith(prefix) && !LIFECYCLE_SETTINGS.includes(key) && settings[key] !== null,
    );
    if (given.length === 0) continue;
    const names = given.map((key) => `[index.${key}]`).join(", ");
    warnDeprecated(`${names} is accepted and does nothing: ${instead}`);
  }
}

interface LesserField {
  readonly type: string;
  /** Absent: the type itself does less. */
  readonly parameter?: string;
  /** Value of the parameter that asks for nothing else. */
  readonly usual?: unknown;
  readonly why: string;
}

const COMPLETION_WHY =
  "completions ignore case and repeated blanks, and nothing else; let a pipeline change the inputs";

/** Field types that are stored as a less capable type, with what that lacks. */
const LESSER_FIELDS: readonly LesserField[] = [
  { type: "version", why: "versions are ordered as texts: 1.10.0 comes before 1.9.0; pad their numbers" },
  {
    type: "constant_keyword",
    parameter: "value",
    why: "a document without the value isn't found by it; let a pipeline set the field",
  },
  { type: "completion", parameter: "analyzer", usual: "simple", why: COMPLETION_WHY },
  { type: "completion", parameter: "search_analyzer", usual: "simple", why: COMPLETION_WHY },
  { type: "completion", parameter: "preserve_separators", usual: true, why: COMPLETION_WHY },
  { type: "completion", parameter: "preserve_position_increments", usual: true, why: COMPLETION_WHY },
];

/** Warns of fields of a mapping ({properties, …}) that are stored as a less capable type. */
export function warnOfFields(mapping: Readonly<JsonObject>): void {
  for (const [name, field] of leavesOf(mapping, "")) {
    for (const { type, parameter, usual, why } of LESSER_FIELDS) {
      const value = parameter === undefined ? true : field[parameter];
      if (field["type"] !== type || value === undefined || value === usual) continue;
      const what = parameter === undefined ? `type [${type}]` : `[${parameter}] of type [${type}]`;
      warnDeprecated(`${what} of field [${name}] is accepted and does less: ${why}`);
    }
  }
}

/** The fields of a mapping with their paths. */
function leavesOf(mapping: Readonly<JsonObject>, prefix: string): (readonly [string, JsonObject])[] {
  const { properties } = mapping;
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, field]) => {
    if (!isObject(field)) return [];
    const path = `${prefix}${name}`;
    return [[path, field] as const, ...leavesOf(field, `${path}.`)];
  });
}

/** Warns of a cluster setting that has no effect. Returns false for a name that isn't listed. */
export function warnOfClusterSetting(name: string): boolean {
  const unused = CLUSTER_SETTINGS.find(([prefix]) => name.startsWith(prefix));
  if (unused !== undefined) warnDeprecated(`[${name}] is accepted and does nothing: ${unused[1]}`);
  return unused !== undefined;
}

/** Warns of ignored parameters of the current request that could have changed its answer. */
export function warnOfParameters(path: string, query: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(query)) {
    if (value === "false") continue;
    const ignored = WARNING.get(name);
    if (ignored === undefined || (ignored.value ?? value) !== value) continue;
    if (ignored.path !== undefined && !path.includes(`/${ignored.path}`)) continue;
    const given = ignored.value === undefined ? name : `${name}=${value}`;
    warnDeprecated(`parameter [${given}] is accepted and does nothing: ${ignored.why}`);
  }
}

/** Returns the rows of the interface for `docs/compatibility.md`. */
export function apiCompatibility(): CompatibilityRow[] {
  return [
    ...SETTINGS.map(([prefix, note]) => ({
      where: "index settings",
      name: `index.${prefix}${prefix.endsWith(".") ? "*" : ""}`,
      treatment: "no effect" as const,
      note,
    })),
    ...CLUSTER_SETTINGS.map(([prefix, note]) => ({
      where: "cluster settings",
      name: `${prefix}${prefix.endsWith(".") ? "*" : ""}`,
      treatment: "no effect" as const,
      note,
    })),
    ...LESSER_FIELDS.map(({ type, parameter, why }) => ({
      where: parameter === undefined ? "mappings" : `mappings, type \`${type}\``,
      name: parameter ?? type,
      treatment: "no effect" as const,
      note: why,
    })),
    ...Object.entries(UNUSED_ACTIONS).map(([name, note]) => ({
      where: "lifecycle policies",
      name,
      treatment: "no effect" as const,
      note,
    })),
    ...PARAMETERS.map(({ name, value, path, why, warns }) => ({
      where: path === undefined ? "search interface" : `search interface, \`${path}\``,
      name: value === undefined ? `?${name}` : `?${name}=${value}`,
      treatment: "no effect" as const,
      note: warns ? `${why}; the answer has a Warning header` : why,
    })),
    ...NOT_OFFERED.map(({ paths, what, instead }) => ({
      where: `search interface, ${what}`,
      name: paths[0]!,
      treatment: "refused" as const,
      note: instead,
    })),
  ];
}

/** Features of the other product by the first segment of their paths. */
const FEATURES: readonly (readonly [name: string, what: string, instead: string])[] = [
  ["_slm", "snapshot lifecycles", "run tailrace-hub snapshot from a timer"],
  [
    "_security",
    "users and roles of the other product",
    "use the pages of administration or tailrace-hub user",
  ],
  ["_ml", "machine learning", "use alerts"],
  ["_watcher", "watches", "use alerts"],
  ["_rollup", "rollups", "aggregate in the search"],
  ["_transform", "transforms", "copy with _reindex"],
  ["_ccr", "replication between clusters", "let agents or pipelines send to both"],
  ["_graph", "graphs", "use significant_terms"],
  ["_eql", "event queries", "use a search"],
  ["_sql", "SQL", "use a search"],
  ["_enrich", "enrich policies", "use the translate or jdbc filters of pipelines"],
  ["_query", "ES|QL", "use a search"],
  ["_ssl", "certificates of the other product", "files of certificates are settings: tls.certificate"],
  ["_searchable_snapshots", "searchable snapshots", "restore the snapshot"],
  ["_query_rules", "query rules", "write the conditions into the search"],
  ["_synonyms", "sets of synonyms", "list the synonyms in a filter of an analyzer"],
  ["_application", "search applications", "use search templates"],
  ["_connector", "connectors", "use inputs of pipelines"],
  ["_inference", "inference", "there are no models"],
  ["_text_structure", "finding the structure of texts", "try patterns on the page of pipelines"],
  ["_features", "states of the other product's features", "take snapshots of indices"],
  ["_dangling", "dangling indices", "the log has every index"],
  ["_lifecycle", "lifecycles of data streams", "retention.rules decide when indices are deleted"],
  ["_disk_usage", "sizes by field", "run tailrace-hub segment"],
  ["_field_usage_stats", "usage by field", "search.slowlog.threshold logs the searches"],
  ["_autoscaling", "autoscaling", "there is nothing to scale"],
  ["_migration", "migration of old indices", "every version reads the formats of earlier ones"],
  ["_monitoring", "monitoring by other products", "read /metrics"],
  ["_logstash", "central management of pipelines", "use the page of pipelines"],
];

/** Operations that clients know but that aren't supported. */
export interface NotOffered {
  readonly paths: readonly string[];
  readonly what: string;
  readonly instead: string;
}

export const NOT_OFFERED: readonly NotOffered[] = [
  {
    paths: ["/_search/pipeline", "/_search/pipeline/{id}"],
    what: "search pipelines",
    instead: "send the whole request with each search, or use a search template",
  },
  {
    paths: [
      "/_nodes/hot_threads",
      "/_nodes/{nodes}/hot_threads",
      "/_nodes/hotthreads",
      "/_nodes/{nodes}/hotthreads",
      "/_cluster/nodes/hotthreads",
      "/_cluster/nodes/hot_threads",
      "/_cluster/nodes/{nodes}/hotthreads",
      "/_cluster/nodes/{nodes}/hot_threads",
    ],
    what: "stacks of busy threads",
    instead: "read the load of threads in /metrics, and running searches in _tasks",
  },
  {
    paths: ["/_nodes/shutdown", "/_nodes/{nodes}/shutdown"],
    what: "shutting down nodes over the interface",
    instead: "stop the service: a hub that is stopped loses nothing",
  },
  {
    paths: ["/_info/{target}"],
    what: "statistics by subject",
    instead: "use _nodes/stats",
  },
  {
    paths: ["/_resolve/cluster", "/_resolve/cluster/{name}"],
    what: "searches of other clusters",
    instead: "there are no remote clusters",
  },
  {
    paths: ["/{index}/_mvt/{field}/{zoom}/{x}/{y}"],
    what: "vector tiles",
    instead: "aggregate with geotile_grid",
  },
  {
    paths: ["/_ingest/geoip/stats", "/_ingest/geoip/database", "/_ingest/geoip/database/{id}"],
    what: "downloads of address databases",
    instead: "put the database's file beside the hub, see the filter geoip",
  },
  {
    paths: [
      "/_data_stream/{name}/_lifecycle",
      "/_data_stream/_lifecycle/stats",
      "/_data_stream/{name}/_options",
    ],
    what: "lifecycles of data streams",
    instead: "retention.rules decide when indices are deleted",
  },
  {
    paths: ["/_data_stream/_migrate/{alias}", "/_data_stream/_modify", "/_data_stream/_promote/{name}"],
    what: "changing which indices a data stream has",
    instead: 'make a stream and copy into it with _reindex and "op_type": "create"',
  },
  {
    paths: ["/_ilm/move/{index}"],
    what: "moving an index to another step",
    instead: "steps follow from the policy and the age; set index.lifecycle.origination_date",
  },
  {
    paths: ["/_ilm/migrate_to_data_tiers"],
    what: "data tiers",
    instead: "there is one kind of storage",
  },
  {
    paths: [
      ...pathsBelow("/services/collector", 2),
      "/v1/logs",
      "/v1/traces",
      "/v1/metrics",
      "/loki/api/v1/push",
      "/api/v1/write",
      "/api/v1/push",
      "/api/v2/logs",
      "/api/v2/write",
      "/insert/jsonline",
      "/insert/loki/api/v1/push",
      "/gelf",
      "/v1/input",
    ],
    what: "intake of other products",
    instead:
      "send them to an input of a pipeline (intake, otlp, loki, splunk_hec, gelf), or documents to _bulk",
  },
  ...FEATURES.map(([name, what, instead]) => ({
    paths: [...pathsBelow(`/${name}`, 4), ...pathsBelow(`/{index}/${name}`, 2)],
    what,
    instead,
  })),
];

/** Returns a path, and the paths with up to `depth` more segments. */
function pathsBelow(path: string, depth: number): string[] {
  const names = ["{a}", "{b}", "{c}", "{d}"].slice(0, depth);
  return [path, ...names.map((_, at) => `${path}/${names.slice(0, at + 1).join("/")}`)];
}
