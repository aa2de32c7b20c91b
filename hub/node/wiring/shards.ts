/** Creates the index catalog, the shards and the retention, and exports metrics of the kernel and the caches. */

import { join } from "node:path";
import { versionProfile } from "#hub/api/compat/version.ts";
import { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { INTERNAL_PREFIX } from "#hub/cluster/catalog/index-names.ts";
import { ShardHost } from "#hub/cluster/hosting/shard-host.ts";
import { extentCache } from "#hub/engine/files/extent-cache.ts";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";
import { filterCache } from "#hub/engine/segment/filter-cache.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { METRICS_PREFIX } from "#hub/upkeep/monitoring.ts";
import { parseRetentionRule, type RetainedIndex, Retention } from "#hub/upkeep/retention.ts";
import { RetentionRules } from "#hub/upkeep/retention-rules.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";

/** Field with the time at which the pipeline received a document. */
const INGESTED = "event.ingested";

export interface RetentionWiring {
  readonly settings: HubSettings;
  readonly catalog: IndexCatalog;
  readonly host: ShardHost;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The index catalog, and the shards of this hub. */
export interface Shards {
  readonly catalog: IndexCatalog;
  readonly host: ShardHost;
}

/**
 * Makes the catalog of `indices` and the host of the shards below `folder` (path.data); nothing is started. Throws
 * unavailable where the engine's kernel is missing.
 */
export function makeShards({
  indices,
  folder,
  log,
  compatVersion,
}: {
  readonly indices: StateBucket;
  readonly folder: string;
  readonly log: Logger;
  /** Version reported to clients. */
  readonly compatVersion: string;
}): Shards {
  threadKernel();
  const catalog = new IndexCatalog({
    bucket: indices,
    log,
    now: () => systemClock.now(),
    defaultShards: versionProfile(compatVersion).defaultShards,
  });
  const host = new ShardHost({ folder: join(folder, "engine"), catalog, log, clock: systemClock });
  return { catalog, host };
}

/** Returns the retention rules. Throws settings_invalid. */
export function retentionRules(
  { settings, catalog, host }: Pick<RetentionWiring, "settings" | "catalog" | "host">,
  bucket: StateBucket,
): RetentionRules {
  return new RetentionRules({
    bucket,
    // Rules of internal indices come first: "* 30d" means logs.
    own: [
      ownRule(settings, "auth.audit.keep", `${INTERNAL_PREFIX}audit-*`),
      ownRule(settings, "monitoring.keep", `${METRICS_PREFIX}*`),
    ],
    fixed: settings["retention.rules"],
    indices: () => catalog.all().map((index) => retained(index, host)),
    nowMs: () => systemClock.now(),
  });
}

/**
 * Returns the rule of a setting that holds an age, a size or both, for the indices of `pattern`. Throws
 * settings_invalid.
 */
function ownRule(settings: HubSettings, key: "auth.audit.keep" | "monitoring.keep", pattern: string): string {
  const keep = settings[key];
  const rule = `${pattern} ${keep}`;
  try {
    parseRetentionRule(rule);
  } catch (error) {
    const why = `${key}: "${keep}" must be an age, a size or both, such as "30d 1gb"`;
    throw new AppError("settings_invalid", why, { cause: error });
  }
  return rule;
}

/** Returns the component that deletes indices by the rules. */
export function wireRetention(
  { catalog, host, log, metrics }: RetentionWiring,
  rules: RetentionRules,
): Retention {
  return new Retention({
    rules: () => rules.all(),
    indices: () => catalog.all().map((index) => retained(index, host)),
    remove: (name) => catalog.delete([name]),
    clock: systemClock,
    log,
    metrics,
  });
}

/** Exports the metrics of the engine's caches. */
export function watchEngine(metrics: Metrics): void {
  const labels = ["cache"] as const;
  metrics.gauge("tailrace_search_cache_bytes", "bytes held by search caches", labels, (gauge) => {
    gauge.set({ cache: "files" }, extentCache().stats().bytes);
    gauge.set({ cache: "filters" }, filterCache().stats().bytes);
  });
  metrics.gauge("tailrace_search_cache_hits", "reads answered by search caches", labels, (gauge) => {
    gauge.set({ cache: "files" }, extentCache().stats().hits);
    gauge.set({ cache: "filters" }, filterCache().stats().hits);
  });
  metrics.gauge("tailrace_search_cache_misses", "reads not answered by search caches", labels, (gauge) => {
    gauge.set({ cache: "files" }, extentCache().stats().misses);
    gauge.set({ cache: "filters" }, filterCache().stats().misses);
  });
}

function retained(index: IndexMetadata, host: ShardHost): RetainedIndex {
  const stats = host.stats(index);
  const ingestedMs = index.state === "open" ? lastIngestedMs(index, host) : Number.NEGATIVE_INFINITY;
  // Documents put over HTTP have no arrival time; it is no later than the last write to their shard.
  const writtenMs = Math.max(index.settings.creationDate, ...stats.map((shard) => shard.writtenMs));
  return {
    name: index.name,
    ...(index.dataStream !== undefined && { dataStream: index.dataStream }),
    sizeBytes: stats.reduce((total, { bytes }) => total + bytes, 0),
    lastMs: ingestedMs === Number.NEGATIVE_INFINITY ? writtenMs : ingestedMs,
  };
}

function lastIngestedMs(index: IndexMetadata, host: ShardHost): number {
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const { searcher } of host.searchers([index])) {
    try {
      for (const segment of searcher.segments) {
        lastMs = Math.max(lastMs, segment.numericColumn(INGESTED)?.max ?? Number.NEGATIVE_INFINITY);
      }
    } finally {
      searcher.close();
    }
  }
  return lastMs;
}
