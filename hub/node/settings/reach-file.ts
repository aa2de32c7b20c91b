/**
 * The addresses of a hub: as seen from other machines, and for commands that are given neither address nor certificate.
 * Those commands read the file `reach.json` in the data folder. The hub writes it at its start; the file remains when the
 * hub stops. A JSON object of settings: `http.host`, `http.port`, `dashboard.host`, `dashboard.port` (the actual ports),
 * `public.url`, `tls.certificate` and `tls.ca` (absolute paths, or empty).
 */

import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import { FolderLock } from "#proto/kit/files/folder-lock.ts";
import { type HubArguments, type HubSettings, loadHubSettings, settingsFile } from "./hub-settings.ts";

/** Wildcard addresses. */
const EVERYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "::", "[::]"]);

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

/** Writes the file into `folder`. `addresses` contain the actual ports. */
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

/** Subfolder of the hub's data in the folder of `npm start`. */
const START_PART = "hub";

/**
 * Returns the settings for a command that works on a hub's data. `path.data` may also be the folder of `npm start`,
 * which contains the hub's. Throws settings_invalid, usage_invalid.
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
 * Returns the settings for a command that queries a hub, by precedence: the command line, the file of the hub running
 * on the data folder, the settings file. If none is running, the file of the last one is used only without a settings
 * file. Throws settings_invalid, usage_invalid.
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

/**
 * Returns undefined if no hub has run, this user may not read its folder, or the file is damaged: then the settings
 * apply.
 */
function readReach(folder: string): Reach | undefined {
  try {
    const reach = JSON.parse(readFileSync(join(folder, FILE), "utf8")) as Readonly<Record<string, unknown>>;
    const isWhole = KEYS.every((key) => typeof reach[key] === (key.endsWith(".port") ? "number" : "string"));
    return isWhole ? (reach as Reach) : undefined;
  } catch {
    return undefined;
  }
}

/** Naming one TLS setting overrides all of them. */
function isNamed(key: string, named: readonly string[]): boolean {
  if (key.startsWith("tls.") && named.some((each) => each.startsWith("tls."))) return true;
  return named.includes(key) || (key.endsWith(".host") && named.includes("network.host"));
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

/** Returns true if a listener on `host` accepts connections at every address of the machine. */
export function isEverywhere(host: string): boolean {
  return EVERYWHERE.has(host);
}

/**
 * Returns the addresses of the dashboard and the search interface of a hub that listens at `local`: from
 * `public.url`, else with the machine's name if it listens at every address.
 */
export function advertisedAddresses(
  settings: HubSettings,
  local: { readonly http: string; readonly dashboard: string },
): { readonly http: string; readonly dashboard: string } {
  const publicUrl = settings["public.url"].replace(/\/$/, "");
  const name = publicUrl === "" ? hostname() : new URL(publicUrl).hostname;
  const shown = (part: "http" | "dashboard"): string =>
    isEverywhere(settings[`${part}.host`] || settings["network.host"])
      ? named(local[part], name)
      : local[part];
  return { http: shown("http"), dashboard: publicUrl || shown("dashboard") };
}

function named(url: string, name: string): string {
  const { protocol, port } = new URL(url);
  return `${protocol}//${name}${port === "" ? "" : `:${port}`}`;
}
