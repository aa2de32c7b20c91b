/** Settings of an index: which are allowed, and which may change later. */

import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { nearestName } from "#proto/kit/nearest.ts";
import { type IndexMetadata, type IndexSettings, wholeNumber } from "./index-metadata.ts";
import { checkLifecycleSettings } from "./lifecycle-policy.ts";
import { checkSettingValue } from "./setting-values.ts";
import { EXPANSION } from "./templates.ts";

/** Can be set only at creation. */
const STATIC = [
  "number_of_shards",
  "number_of_routing_shards",
  "routing_partition_size",
  "codec",
  "creation_date",
  "uuid",
  "provided_name",
  "version.created",
  "sort.field",
  "sort.order",
];
const MAX_SHARDS = 1024;

/** First parts of the names of index settings that versions 5 to 8 and plugins have; what has no effect is accepted. */
const SETTING_GROUPS: ReadonlySet<string> = new Set(
  `
  allocation analysis analyze append_only archived auto_expand_replicas blocks bloom_filter_for_id_field cache
  check_on_startup codec composite_index compound_format concurrency creation_date creation_date_string
  data_path default_pipeline dense_vector downsample fast_refresh fielddata final_pipeline flush_after_merge
  format frozen gc_deletes hidden highlight history indexing knn lifecycle load_fixed_bitset_filters_eagerly
  logsdb look_ahead_time look_back_time mapper mapping max_adjacency_matrix_filters max_docvalue_fields_search
  max_inner_result_window max_ngram_diff max_refresh_listeners max_regex_length max_rescore_window
  max_result_window max_script_fields max_shingle_diff max_slices_per_pit max_slices_per_scroll
  max_terms_count merge mode number_of_replicas number_of_routing_shards number_of_shards opendistro
  optimize_auto_generated_id percolator plugins priority provided_name queries query query_string recovery
  refresh_interval remote_store replication requests resize rollup routing routing_partition_size routing_path
  search shard shared_filesystem similarity soft_deletes sort source store time_series translog ttl unassigned
  uuid verified_before_close version warmer write xpack
  `
    .trim()
    .split(/\s+/),
);

/** Throws settings_invalid for settings of a request (dotted, without "index.") or values that no version has; null removes any. */
export function checkKnownSettings(settings: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(settings)) {
    checkSettingValue(key, value);
    if (value === null || SETTING_GROUPS.has(key.split(".", 1)[0]!)) continue;
    const near = nearestName(key, [...SETTING_GROUPS]);
    const hint =
      near === undefined
        ? "please check that any required plugins are installed, or check the breaking changes documentation for removed settings"
        : `did you mean [index.${near}]?`;
    throw new AppError("settings_invalid", `unknown setting [index.${key}] ${hint}`);
  }
}

/** Throws settings_invalid for impossible numbers of shards or replicas. */
export function checkShardCounts(shards: unknown, replicas: unknown): void {
  checkCount("number_of_shards", shards, 1);
  checkCount("number_of_replicas", replicas, 0);
}

/** Throws settings_invalid for settings of a template that no index could have, or that would have no effect there. */
export function checkTemplateSettings(settings: Readonly<JsonObject>): void {
  checkShardCounts(settings["number_of_shards"], settings["number_of_replicas"]);
  readExpansion(settings[EXPANSION]);
  checkLifecycleSettings(settings);
}

/** Range of the number of replicas, both ends inclusive; `most` may be infinite. */
export interface Expansion {
  readonly least: number;
  readonly most: number;
}

/** Reads `auto_expand_replicas`: "0-1", "1-all"; undefined if it is off ("false"). Throws settings_invalid. */
export function readExpansion(value: unknown): Expansion | undefined {
  if (value === undefined || value === null || value === false || value === "false") return undefined;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const [, least, most] = /^(\d{1,4})-(\d{1,4}|all)$/.exec(text) ?? [];
  const found = { least: Number(least), most: most === "all" ? Number.POSITIVE_INFINITY : Number(most) };
  if (least !== undefined && found.least <= found.most && found.least <= MAX_SHARDS) return found;
  throw new AppError(
    "settings_invalid",
    `failed to parse [index.auto_expand_replicas] from value: [${text}]: it is false, or a range such as 0-1 or 0-all`,
  );
}

/** Returns the range of an index that expands; undefined also for invalid values, which earlier versions stored. */
export function expansionOf({ raw }: Pick<IndexSettings, "raw">): Expansion | undefined {
  try {
    return readExpansion(raw[EXPANSION]);
  } catch {
    return undefined;
  }
}

/**
 * Returns the settings of an index after `changes` (dotted, without "index."; null removes). A number of replicas removes a
 * range that isn't given with it: otherwise the range would set another number. Throws settings_invalid.
 */
export function changeSettings(
  index: IndexMetadata,
  changes: Readonly<Record<string, unknown>>,
): IndexSettings {
  const fixed = Object.keys(changes).filter(
    (key) =>
      (STATIC.includes(key) || key.startsWith("analysis.")) &&
      index.state === "open" &&
      !same(index, key, changes[key]),
  );
  if (fixed.length > 0) {
    const names = fixed.map((key) => `index.${key}`).join(", ");
    throw new AppError(
      "settings_invalid",
      `Can't update non dynamic settings [[${names}]] for open indices [[${index.name}/${index.uuid}]]`,
    );
  }
  const { number_of_replicas: replicas, number_of_shards: _, ...others } = changes;
  checkCount("number_of_replicas", replicas ?? undefined, 0);
  readExpansion(changes[EXPANSION]);
  checkLifecycleSettings(others);
  const raw = { ...index.settings.raw };
  if (typeof replicas === "number" || typeof replicas === "string") delete raw[EXPANSION];
  for (const [key, value] of Object.entries(others)) {
    if (value === null) delete raw[key];
    else raw[key] = value;
  }
  return {
    ...index.settings,
    numberOfReplicas: replicas === null ? 1 : wholeNumber(replicas, index.settings.numberOfReplicas),
    raw,
  };
}

/** Returns the settings of an index whose range of replicas now means `replicas`; unchanged settings if it has no range. */
export function expandTo(settings: IndexSettings, replicas: number): IndexSettings {
  return expansionOf(settings) === undefined ? settings : { ...settings, numberOfReplicas: replicas };
}

function same(index: IndexMetadata, key: string, value: unknown): boolean {
  return key === "number_of_shards" && wholeNumber(value, -1) === index.settings.numberOfShards;
}

function checkCount(name: string, value: unknown, least: number): void {
  if (value === undefined) return;
  const count = wholeNumber(value, Number.NaN);
  if (Number.isNaN(count)) {
    throw new AppError(
      "settings_invalid",
      `Failed to parse value [${JSON.stringify(value)}] for setting [index.${name}]`,
    );
  }
  if (count < least)
    throw new AppError(
      "settings_invalid",
      `Failed to parse value [${count}] for setting [index.${name}] must be >= ${least}`,
    );
  if (count > MAX_SHARDS)
    throw new AppError(
      "settings_invalid",
      `Failed to parse value [${count}] for setting [index.${name}] must be <= ${MAX_SHARDS}`,
    );
}
