/** Creates the alert evaluator with its dependencies: shards to search, state, notification channels. */

import { AlertSearch } from "#hub/alerts/alert-search.ts";
import { Alerts, type AlertsOptions } from "#hub/alerts/alerts.ts";
import { Notifier } from "#hub/alerts/notifier.ts";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import { indicesWithin, isReadable, readableIndices } from "#hub/node/access/alert-rights.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";

export interface AlertWiring {
  readonly settings: HubSettings;
  readonly bucket: StateBucket;
  /** See AlertsOptions, as `presentReach`. */
  readonly sender: AlertsOptions["sender"];
  readonly presentReach?: AlertsOptions["presentReach"];
  readonly catalog: IndexCatalog;
  readonly shards: Pick<HostedShards, "check" | "search">;
  readonly dashboardUrl: () => string;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Returns the evaluator of alert rules, which must be started once searches are possible. */
export function wireAlerts({
  settings,
  bucket,
  sender,
  presentReach,
  catalog,
  shards,
  dashboardUrl,
  log,
  metrics,
}: AlertWiring): Alerts {
  const search = new AlertSearch((expression, reach, isStrict) => {
    const found = (isStrict ? readableIndices : indicesWithin)(catalog, expression, reach);
    const open = found.filter(({ state }) => state === "open");
    return open.map(({ uuid }) => ({ uuid, typeName: "_doc" }));
  }, shards);
  const notifier = new Notifier({
    allowPrivate: settings["alerts.webhook.allow_private"],
    smtpUrl: settings["alerts.smtp.url"],
    smtpFrom: settings["alerts.smtp.from"],
  });
  const maySee: AlertsOptions["maySee"] = (rule, reach) => {
    const own = sender().reach;
    const found = catalog.resolve(rule.index, { ignoreUnavailable: true, allowNoIndices: true });
    return found.every((index) => !isReadable(reach, index) || isReadable(own, index));
  };
  return new Alerts({
    bucket,
    sender,
    presentReach,
    maySee,
    search,
    notifier,
    dashboardUrl,
    clock: systemClock,
    log,
    metrics,
  });
}
