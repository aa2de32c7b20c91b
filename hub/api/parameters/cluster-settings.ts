/**
 * Settings of the whole cluster (`_cluster/settings`): those that have an effect with the values they take, those that
 * other servers know and that do nothing here, and nothing else: a mistyped name is an error.
 */

import { warnOfClusterSetting } from "#hub/api/compat/interface-compatibility.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { optionalInteger, optionalText } from "./values.ts";

type Check = (value: string, name: string) => void;

/** Names with an effect, and the check of a new value. */
const SETTINGS = {
  /** `false`, `true`, or patterns of names with `+` and `-`: which indices a client's write may make. */
  "action.auto_create_index": checkCreation,
  /** `true`: an index is deleted by its whole name only. */
  "action.destructive_requires_name": checkFlag,
  /** For a search that names no `timeout`; "-1" and "0" are no limit. */
  "search.default_search_timeout": checkTimeLimit,
  "search.max_buckets": checkBuckets,
  "search.max_keep_alive": checkDuration,
} satisfies Readonly<Record<string, Check>>;

export type ClusterSettingName = keyof typeof SETTINGS;

/** Settings of 6.5 that are read at its start alone. */
const STATIC: ReadonlySet<string> = new Set(["script.painless.regex.enabled"]);

/** Free notes of the cluster's owner, which are kept as they are. */
const NOTES = "cluster.metadata.";

/** Returns the value of a setting as text; transient ones win. */
export function clusterSetting(cluster: Cluster, name: ClusterSettingName): string | undefined {
  const { persistent, transient } = cluster.settings();
  return optionalText(transient[name] ?? persistent[name], name);
}

/**
 * Checks changes (dotted names; null takes a setting away, whatever its name) and warns of those that do nothing.
 * @throws request_invalid for a name that no server knows, and for a value that the setting doesn't take.
 */
export function checkClusterSettings(changes: Readonly<JsonObject>, kind: "persistent" | "transient"): void {
  for (const [name, value] of Object.entries(changes)) {
    const text = optionalText(value, name);
    if (text === undefined || name.startsWith(NOTES)) continue;
    if (STATIC.has(name))
      throw new AppError("request_invalid", `${kind} setting [${name}], not dynamically updateable`);
    const check = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as ClusterSettingName] : undefined;
    if (check !== undefined) check(text, name);
    else if (!warnOfClusterSetting(name))
      throw new AppError("request_invalid", `${kind} setting [${name}], not recognized`, {
        data: { type: "settings_exception" },
      });
  }
}

/** Throws request_invalid for an expression with patterns where `action.destructive_requires_name` wants whole names. */
export function checkWholeNames(cluster: Cluster, expression: string): void {
  if (clusterSetting(cluster, "action.destructive_requires_name") !== "true") return;
  if (!/[*?]/.test(expression) && !expression.split(",").includes("_all")) return;
  throw new AppError("request_invalid", "Wildcard expressions or all indices are not allowed");
}

/** Returns why a client's write mustn't make the index `name`; undefined where it may. */
export function creationFault(cluster: Cluster, name: string): AppError | undefined {
  const setting = clusterSetting(cluster, "action.auto_create_index") ?? "true";
  const decision = decide(setting, name);
  if (decision === undefined) return undefined;
  return new AppError("index_missing", `no such index [${name}] and ${decision}`, { data: { index: name } });
}

/** Why `name` mustn't be made, in the words of the other server; undefined where it may. */
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
    // Answered as a negative one.
  }
  throw new AppError(
    "request_invalid",
    `failed to parse setting [${name}] with value [${value}] as a time value; write for example 30s, or -1 for no limit`,
  );
}
