/** How often an index is refreshed. */

import { parseDuration } from "#proto/kit/units.ts";
import type { IndexMetadata } from "./index-metadata.ts";

const DEFAULT_REFRESH_MS = 1_000;
const MIN_REFRESH_MS = 10;

export interface RefreshInterval {
  /** Infinity where it doesn't refresh by itself. */
  readonly ms: number;
  /** Somebody has set it: it is kept to the letter. */
  readonly isSet: boolean;
}

const DEFAULT: RefreshInterval = { ms: DEFAULT_REFRESH_MS, isSet: false };

/** Returns what the setting `refresh_interval` of an index says. */
export function refreshInterval(index: IndexMetadata | undefined): RefreshInterval {
  const value = index?.settings.raw["refresh_interval"];
  if (typeof value !== "string" && typeof value !== "number") return DEFAULT;
  if (Number(value) === -1) return { ms: Number.POSITIVE_INFINITY, isSet: true };
  try {
    return { ms: Math.max(parseDuration(`${value}`), MIN_REFRESH_MS), isSet: true };
  } catch {
    return DEFAULT;
  }
}
