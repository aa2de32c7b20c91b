/** Creates the alert evaluator with its dependencies: shards to search, state, notification channels. */

import { AlertSearch } from "#hub/alerts/alert-search.ts";
import { Alerts, type AlertsOptions } from "#hub/alerts/alerts.ts";
import { Notifier } from "#hub/alerts/notifier.ts";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import { isReadable } from "#hub/node/access/index-access.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";

export interface AlertWiring {
  readonly settings: HubSettings;
  readonly bucket: StateBucket;
  /** See AlertsOptions. */
  readonly writer: AlertsOptions["writer"];
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
  writer,
  catalog,
  shards,
  dashboardUrl,
  log,
  metrics,
}: AlertWiring): Alerts {
  const search = new AlertSearch((expression, reach) => {
    const options = { ignoreUnavailable: true, allowNoIndices: true };
    const found = catalog.resolve(expression, options);
    const open = found.filter(({ name, state }) => state === "open" && isReadable(reach, name));
    return open.map(({ uuid }) => ({ uuid, typeName: "_doc" }));
  }, shards);
  const notifier = new Notifier({
    allowPrivate: settings["alerts.webhook.allow_private"],
    smtpUrl: settings["alerts.smtp.url"],
    smtpFrom: settings["alerts.smtp.from"],
  });
  const maySee: AlertsOptions["maySee"] = ({ rule, reach }) => {
    const sender = writer();
    const found = catalog.resolve(rule.index, { ignoreUnavailable: true, allowNoIndices: true });
    return found.every(({ name }) => !isReadable(reach, name) || isReadable(sender, name));
  };
  return new Alerts({
    bucket,
    writer,
    maySee,
    search,
    notifier,
    dashboardUrl,
    clock: systemClock,
    log,
    metrics,
  });
}
