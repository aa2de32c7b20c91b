/** The addresses of a hub as seen from other machines. */

import { hostname } from "node:os";
import type { HubSettings } from "./hub-settings.ts";

/** Wildcard addresses. */
const EVERYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "::", "[::]"]);

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
