/** How often an index is refreshed. */

import { parseDuration } from "#proto/kit/units.ts";
import type { IndexMetadata } from "./index-metadata.ts";

const DEFAULT_REFRESH_MS = 1_000;
const MIN_REFRESH_MS = 10;

export interface RefreshInterval {
  /** Infinity without automatic refresh. */
  readonly ms: number;
  /** Set explicitly: the interval is followed exactly. */
  readonly isSet: boolean;
}

const DEFAULT: RefreshInterval = { ms: DEFAULT_REFRESH_MS, isSet: false };

/** Returns the setting `refresh_interval` of an index. */
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
