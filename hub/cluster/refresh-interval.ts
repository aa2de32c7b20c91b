/** How often an index is refreshed. */

import { parseDuration } from "#proto/kit/units.ts";
import type { IndexMetadata } from "./index-metadata.ts";

const DEFAULT_REFRESH_MS = 1_000;

/** Returns `refresh_interval` of an index in ms; Infinity where it is off. */
export function refreshInterval(index: IndexMetadata | undefined): number {
  const value = index?.settings.raw["refresh_interval"];
  if (typeof value !== "string" && typeof value !== "number") return DEFAULT_REFRESH_MS;
  if (Number(value) === -1) return Number.POSITIVE_INFINITY;
  try {
    return Math.max(parseDuration(`${value}`), 10);
  } catch {
    return DEFAULT_REFRESH_MS;
  }
}
