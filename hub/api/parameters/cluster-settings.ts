/**
 * Settings of the whole cluster (`_cluster/settings`): those with an effect, with their valid values, and those that
 * other servers have but that have no effect here. All other names are errors, so that typing errors are noticed.
 */

import { warnOfClusterSetting } from "#hub/api/compat/interface-compatibility.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { optionalInteger, optionalText } from "./values.ts";

type Check = (value: string, name: string) => void;

/** Names with an effect, and the check of a new value. */
const SETTINGS = {
  /** `false`, `true`, or name patterns with `+` and `-`: which indices a client's write may create. */
  "action.auto_create_index": checkCreation,
  /** `true`: an index can be deleted only by its full name. */
  "action.destructive_requires_name": checkFlag,
  /** `false`: queries that walk many terms or documents are refused. */
  "search.allow_expensive_queries": checkFlag,
  /** Timeout of a search that names no `timeout`; "-1" and "0": no limit. */
  "search.default_search_timeout": checkTimeLimit,
  "search.max_buckets": checkBuckets,
  "search.max_keep_alive": checkDuration,
} satisfies Readonly<Record<string, Check>>;

export type ClusterSettingName = keyof typeof SETTINGS;

/** Settings that 6.5 reads only at its start. */
const STATIC: ReadonlySet<string> = new Set(["script.painless.regex.enabled"]);

/** Prefix of free notes of the cluster's owner, which are stored unchanged. */
const NOTES = "cluster.metadata.";

/** Returns the value of a setting as text; transient ones win. */
export function clusterSetting(cluster: Cluster, name: ClusterSettingName): string | undefined {
  const { persistent, transient } = cluster.settings();
  return optionalText(transient[name] ?? persistent[name], name);
}

/**
 * Checks changes (dotted names; null removes a setting, whatever its name) and warns of those without effect.
 * @throws request_invalid for a name that no server knows, and for a value that the setting doesn't accept.
 */
export function checkClusterSettings(changes: Readonly<JsonObject>, kind: "persistent" | "transient"): void {
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === null || name.startsWith(NOTES)) continue;
    if (STATIC.has(name))
      throw new AppError("request_invalid", `${kind} setting [${name}], not dynamically updateable`);
    const check = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as ClusterSettingName] : undefined;
    if (check !== undefined) check(scalarText(value, name), name);
    else if (!warnOfClusterSetting(name))
      throw new AppError("request_invalid", `${kind} setting [${name}], not recognized`, {
        data: answersAs(700) ? { type: "settings_exception" } : {},
      });
  }
}

/** Throws request_invalid for an expression with patterns if `action.destructive_requires_name` requires full names. */
export function checkWholeNames(cluster: Cluster, expression: string): void {
  if (clusterSetting(cluster, "action.destructive_requires_name") !== "true") return;
  if (!/[*?]/.test(expression) && !expression.split(",").includes("_all")) return;
  throw new AppError("request_invalid", "Wildcard expressions or all indices are not allowed");
}

/** Returns why a client's write must not create the index `name`; undefined if it may. */
export function creationFault(cluster: Cluster, name: string): AppError | undefined {
  const setting = clusterSetting(cluster, "action.auto_create_index") ?? "true";
  const decision = decide(setting, name);
  if (decision === undefined) return undefined;
  const missing = answersAs(700) ? `no such index [${name}]` : "no such index";
  return new AppError("index_missing", `${missing} and ${decision}`, { data: { index: name } });
}

/** Returns why `name` must not be created, in the words of the other server; undefined if it may. */
function decide(setting: string, name: string): string | undefined {
  if (setting === "true") return undefined;
  if (setting === "false") return "[action.auto_create_index] is [false]";
  for (const part of setting.split(",")) {
    const pattern = part.trim().replace(/^[+-]/, "");
    if (!compileWildcard(pattern).matches(name)) continue;
    if (!part.trim().startsWith("-")) return undefined;
    return `[action.auto_create_index] contains [${part.trim()}] which forbids automatic creation of the index`;
  }
  return `[action.auto_create_index] ([${setting}]) doesn't match`;
}

function checkCreation(value: string, name: string): void {
  if (value !== "" && value.split(",").every((part) => /^\s*[+-]?[^\s+,-]/.test(part))) return;
  throw new AppError(
    "request_invalid",
    `[${name}] must be true, false or a list of patterns, not [${value}]`,
  );
}

function checkFlag(value: string, name: string): void {
  if (value === "true" || value === "false") return;
  throw new AppError(
    "request_invalid",
    `Failed to parse value [${value}] as only [true] or [false] are allowed for [${name}].`,
  );
}

function checkBuckets(value: string, name: string): void {
  if (optionalInteger(value, name)! >= -1) return;
  throw new AppError(
    "request_invalid",
    `Failed to parse value [${value}] for setting [${name}] must be >= -1`,
  );
}

function checkDuration(value: string, name: string): void {
  try {
    parseDuration(value, 1);
  } catch (cause) {
    throw new AppError("request_invalid", `[${name}] must be a time such as [5m], not [${value}]`, { cause });
  }
}

function checkTimeLimit(value: string, name: string): void {
  if (value === "-1") return;
  try {
    if (parseDuration(value) >= 0) return;
  } catch {
    // Answered like a negative number.
  }
  throw new AppError(
    "request_invalid",
    `failed to parse setting [${name}] with value [${value}] as a time value; write for example 30s, or -1 for no limit`,
  );
}
