/**
 * Where a hub is reached: commands that are given neither address nor certificate take them from `reach.json` in its data
 * folder, which the hub writes at its start and which stays when it ends. A JSON object of settings: `http.host`,
 * `http.port`, `dashboard.host`, `dashboard.port` (the ports in use), `public.url`, `tls.certificate` and `tls.ca`
 * (absolute paths, or empty).
 */

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import { FolderLock } from "#proto/kit/files/folder-lock.ts";
import { type HubArguments, type HubSettings, loadHubSettings, settingsFile } from "./hub-settings.ts";

const FILE = "reach.json";

const KEYS = [
  "http.host",
  "http.port",
  "dashboard.host",
  "dashboard.port",
  "public.url",
  "tls.certificate",
  "tls.ca",
] as const;

type Reach = Pick<HubSettings, (typeof KEYS)[number]>;

/** Notes in `folder` where the hub with these settings listens; the addresses have the ports in use. */
export function writeReach(
  folder: string,
  settings: HubSettings,
  addresses: { readonly http: string; readonly dashboard: string },
): void {
  const absolute = (path: string): string => (path === "" ? "" : resolve(path));
  const reach: Reach = {
    "http.host": settings["http.host"] || settings["network.host"],
    "http.port": portOf(addresses.http),
    "dashboard.host": settings["dashboard.host"] || settings["network.host"],
    "dashboard.port": portOf(addresses.dashboard),
    "public.url": settings["public.url"],
    "tls.certificate": absolute(settings["tls.certificate"]),
    "tls.ca": absolute(settings["tls.ca"]),
  };
  writeFileAtomic(join(folder, FILE), `${JSON.stringify(reach, null, 2)}\n`);
}

/** Where a hub keeps its data below the folder of `npm start`. */
const START_PART = "hub";

/**
 * Returns the settings for a command that works on a hub's data, where `path.data` may also be the folder of
 * `npm start`: the hub's is within it then. Throws settings_invalid, usage_invalid.
 */
export function loadPlacedSettings(given: HubArguments, env: NodeJS.ProcessEnv): HubSettings {
  const settings = loadHubSettings(given, env);
  const folder = resolve(settings["path.data"]);
  const inner = join(folder, START_PART);
  if (!existsSync(join(inner, FILE)) || FolderLock.isHeld(folder, "hub")) return settings;
  const isInner = FolderLock.isHeld(inner, "hub") || !existsSync(join(folder, FILE));
  return isInner ? { ...settings, "path.data": inner } : settings;
}

/**
 * Returns the settings for a command that asks a hub: what the command line names, then what the hub that runs on the
 * data folder says of itself, then the settings file. Where none runs, the last one's word counts only without a
 * settings file. Throws settings_invalid, usage_invalid.
 */
export function loadCommandSettings(given: HubArguments, env: NodeJS.ProcessEnv): HubSettings {
  const settings = loadPlacedSettings(given, env);
  const folder = resolve(settings["path.data"]);
  const isBest = FolderLock.isHeld(folder, "hub") || settingsFile(given.file, env) === undefined;
  const reach = isBest ? readReach(folder) : undefined;
  if (reach === undefined) return settings;
  const named = given.overrides.map((override) => override.split("=", 1)[0]!.trim());
  const taken = KEYS.filter((key) => !isNamed(key, named) && (key !== "public.url" || reach[key] !== ""));
  return { ...settings, ...Object.fromEntries(taken.map((key) => [key, reach[key]])) };
}

/** Undefined where no hub has run, this user may not read its folder, or the file is damaged: settings are asked then. */
function readReach(folder: string): Reach | undefined {
  try {
    const reach = JSON.parse(readFileSync(join(folder, FILE), "utf8")) as Readonly<Record<string, unknown>>;
    const isWhole = KEYS.every((key) => typeof reach[key] === (key.endsWith(".port") ? "number" : "string"));
    return isWhole ? (reach as Reach) : undefined;
  } catch {
    return undefined;
  }
}

/** Whoever names one of the encryption's settings means all of them. */
function isNamed(key: string, named: readonly string[]): boolean {
  if (key.startsWith("tls.") && named.some((each) => each.startsWith("tls."))) return true;
  return named.includes(key) || (key.endsWith(".host") && named.includes("network.host"));
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}
