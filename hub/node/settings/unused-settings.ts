/** Settings that are accepted without effect: a warning at the start, and rows of docs/compatibility.md. */

import type { CompatibilityRow } from "#proto/kit/compatibility-row.ts";
import { DEFAULT_PORTS, type HubSettings } from "./hub-settings.ts";

/** A setting, or one whose effect depends on others. */
interface UnusedSetting {
  readonly name: keyof HubSettings;
  /** Returns true if the setting is given and has no effect. */
  readonly isUnused: (settings: HubSettings) => boolean;
  readonly note: string;
}

const isExternal = (settings: HubSettings): boolean => settings["nats.servers"].length > 0;
const EXTERNAL_NOTE = "has no effect with nats.servers: it configures the embedded nats-server";

const isDiscovered = (settings: HubSettings): boolean => settings["discovery.seed_hosts"].length > 0;
const DISCOVERY_NOTE = "has no effect without discovery.seed_hosts: nothing listens for other hubs";

const isClustered = (settings: HubSettings): boolean => isDiscovered(settings) || isExternal(settings);
const CLUSTER_NOTE =
  "has no effect without discovery.seed_hosts or nats.servers: nothing listens for other hubs";

const UNUSED_SETTINGS: readonly UnusedSetting[] = [
  {
    name: "cluster.secret",
    isUnused: (settings) => settings["cluster.secret"] !== "" && !isDiscovered(settings),
    note: DISCOVERY_NOTE,
  },
  {
    name: "transport.port",
    isUnused: (settings) =>
      settings["transport.port"] !== 0 &&
      settings["transport.port"] !== DEFAULT_PORTS.transport &&
      !isClustered(settings),
    note: `${CLUSTER_NOTE}; the port is reported to clients`,
  },
  {
    name: "transport.host",
    isUnused: (settings) => settings["transport.host"] !== "" && !isClustered(settings),
    note: `${CLUSTER_NOTE}; the address is reported to clients`,
  },
  {
    name: "nats.route_port",
    isUnused: (settings) => settings["nats.route_port"] !== DEFAULT_PORTS.routes && !isDiscovered(settings),
    note: DISCOVERY_NOTE,
  },
  {
    name: "nats.token",
    isUnused: (settings) => settings["nats.token"] !== "" && !isExternal(settings),
    note: "has no effect without nats.servers: the embedded nats-server generates its token",
  },
  {
    name: "nats.host",
    isUnused: (settings) => settings["nats.host"] !== "" && isExternal(settings),
    note: EXTERNAL_NOTE,
  },
  {
    name: "nats.port",
    isUnused: (settings) => settings["nats.port"] !== DEFAULT_PORTS.nats && isExternal(settings),
    note: EXTERNAL_NOTE,
  },
  {
    name: "tls.ca",
    isUnused: (settings) => settings["tls.ca"] !== "" && settings["tls.certificate"] === "",
    note: "has no effect without tls.certificate and tls.key",
  },
];

/** Returns one sentence for each given setting without effect. */
export function unusedSettings(settings: HubSettings): string[] {
  return UNUSED_SETTINGS.filter(({ isUnused }) => isUnused(settings)).map(
    ({ name, note }) => `${name}: ${note}`,
  );
}

/** Returns the settings of a hub that are accepted without effect. */
export function hubCompatibility(): CompatibilityRow[] {
  return UNUSED_SETTINGS.map(({ name, note }) => ({ where: "hub.yml", name, treatment: "no effect", note }));
}
