/** What the bootstrap checks look at in the settings of a hub: its listeners, their encryption, its data. */

import { resolve } from "node:path";
import type { Listener } from "#hub/auth/settings.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import type { CheckedSettings } from "./bootstrap-checks.ts";

/** Listeners of a hub: their own host's setting, or network.host. */
const LISTENERS = ["http.host", "transport.host", "dashboard.host", "nats.host"] as const;

/** Returns what the checks look at. */
export function checkedSettings(settings: HubSettings): CheckedSettings {
  const embedsNats = settings["nats.servers"].length === 0;
  return {
    listeners: LISTENERS.filter((setting) => setting !== "nats.host" || embedsNats).map((setting) =>
      listenerOf(settings, setting),
    ),
    auth: settings,
    allowMmap: settings["node.store.allow_mmap"],
    dataFolder: resolve(settings["path.data"]),
  };
}

function listenerOf(settings: HubSettings, setting: (typeof LISTENERS)[number]): Listener {
  const upstream = settings["tls.terminated_upstream"];
  return {
    setting: settings[setting] === "" ? "network.host" : setting,
    host: settings[setting] || settings["network.host"],
    encrypted: upstream || settings["tls.certificate"] !== "",
  };
}
