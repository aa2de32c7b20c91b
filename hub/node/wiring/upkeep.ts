/**
 * Creates the retention and the lifecycles, which the hub with the duties runs (cluster-work.ts), with the ages and sizes of
 * indices that they judge by.
 */

import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { INTERNAL_PREFIX, indexMissing } from "#hub/cluster/catalog/index-names.ts";
import { sizeOfShards } from "#hub/cluster/catalog/rollover.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { Lifecycles } from "#hub/upkeep/lifecycles.ts";
import { METRICS_PREFIX } from "#hub/upkeep/monitoring.ts";
import { parseRetentionRule, type RetainedIndex, Retention } from "#hub/upkeep/retention.ts";
import { RetentionRules } from "#hub/upkeep/retention-rules.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";

/** Field with the time at which the pipeline received a document. */
const INGESTED = "event.ingested";

export interface RetentionWiring {
  readonly settings: HubSettings;
  readonly catalog: IndexCatalog;
  readonly shards: HostedShards;
  /** Clock that determines how old an index is. */
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Returns the retention rules. Throws settings_invalid. */
export function retentionRules(
  { settings, catalog, shards, clock }: Pick<RetentionWiring, "settings" | "catalog" | "shards" | "clock">,
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
    indices: () => retained(catalog, shards),
    nowMs: () => clock.now(),
  });
}

/** Returns the rule of a setting with an age, a size or both, for the indices of `pattern`. Throws settings_invalid. */
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
  { catalog, shards, clock, log, metrics }: Omit<RetentionWiring, "settings">,
  rules: Pick<RetentionRules, "all">,
): Retention {
  return new Retention({
    rules: () => rules.all(),
    indices: () => retained(catalog, shards),
    remove: async (index) => {
      if (catalog.get(index.name)?.uuid !== index.uuid) throw indexMissing(index.name);
      await catalog.deleteExactly(index);
    },
    clock,
    log,
    metrics,
  });
}

/** Returns the component that carries out lifecycle policies. */
export function wireLifecycles(
  { catalog, shards, clock, log, metrics }: RetentionWiring,
  mayAct: () => boolean,
): Lifecycles {
  return new Lifecycles({
    indices: catalog,
    size: async (index) => sizeOfShards((await shards.stats([index])).get(index.uuid) ?? []),
    merge: (index, maxSegments) => shards.forceMerge([index], maxSegments),
    mayAct,
    clock,
    log,
    metrics,
  });
}

async function retained(catalog: IndexCatalog, shards: HostedShards): Promise<RetainedIndex[]> {
  const indices = catalog.all();
  const open = indices.filter(({ state }) => state === "open");
  const [stats, ingested] = await Promise.all([shards.stats(indices), shards.largest(open, INGESTED)]);
  return indices.map((index) => retainedIndex(index, stats.get(index.uuid) ?? [], ingested.get(index.uuid)));
}

function retainedIndex(
  { name, uuid, dataStream, settings }: IndexMetadata,
  stats: readonly HostedShardStats[],
  ingestedMs: number | undefined,
): RetainedIndex {
  // Documents written over HTTP have no arrival time; they arrived no later than the last write to their shard.
  const writtenMs = Math.max(settings.creationDate, ...stats.map((shard) => shard.writtenMs));
  return {
    name,
    uuid,
    ...(dataStream !== undefined && { dataStream }),
    sizeBytes: stats.reduce((total, { bytes }) => total + bytes, 0),
    lastMs: ingestedMs ?? writtenMs,
  };
}
