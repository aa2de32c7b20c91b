/** The journal's options from the settings of a hub. */

import { resolve } from "node:path";
import type { JournalOptions } from "#hub/journal/journal.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { parseSize } from "#proto/kit/units.ts";

interface Given {
  readonly settings: HubSettings;
  readonly folder: string;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export function journalOptions({ settings, folder, log, metrics }: Given): JournalOptions {
  const servers = settings["nats.servers"];
  const token = settings["nats.token"];
  const limit = settings["journal.max_bytes"];
  const tls = serverTls(settings);
  return {
    dataDir: folder,
    name: settings["node.name"],
    host: settings["nats.host"] || settings["network.host"],
    port: settings["nats.port"],
    log,
    metrics,
    ...(tls !== undefined && { tls }),
    ...(servers.length > 0 && { external: { servers, ...(token !== "" && { token }) } }),
    ...(limit !== "" && { maxBytes: parseSize(limit) }),
  };
}

/** Returns the files of the embedded nats-server's certificate; undefined where it does no TLS. */
export function serverTls(settings: HubSettings): JournalOptions["tls"] {
  const certificate = settings["tls.certificate"];
  if (certificate === "") return undefined;
  return { certFile: resolve(certificate), keyFile: resolve(settings["tls.key"]) };
}
