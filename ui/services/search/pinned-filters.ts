/** Filters that a user keeps for new searches: they are added to an address of Discover without its own state. */

import { readPreference, writePreference } from "#ui/services/browser/preferences.ts";
import { type FieldFilter, readFilter, writeFilter } from "./discover-state.ts";

const KEY = "discover.pinned";
const MAX_PINNED = 20;

/** Returns the pinned filters; what can't be read is none. */
export function pinnedFilters(): readonly FieldFilter[] {
  try {
    const texts = JSON.parse(readPreference(KEY) ?? "[]") as unknown;
    if (!Array.isArray(texts)) return [];
    return texts.flatMap((text) => (typeof text === "string" ? readFilter(text) : [])).slice(0, MAX_PINNED);
  } catch {
    return [];
  }
}

/** True where a filter is pinned, turned on or off. */
export function isPinned(filter: FieldFilter): boolean {
  const text = textOf(filter);
  return pinnedFilters().some((one) => textOf(one) === text);
}

/** Pins a filter, or unpins a pinned one. Beyond the limit the oldest is unpinned. */
export function togglePinned(filter: FieldFilter): void {
  const text = textOf(filter);
  const others = pinnedFilters()
    .map(textOf)
    .filter((one) => one !== text);
  const texts = isPinned(filter) ? others : [...others, text].slice(-MAX_PINNED);
  writePreference(KEY, texts.length === 0 ? undefined : JSON.stringify(texts));
}

/**
 * Returns the address of a new search with the pinned filters; undefined if the address has conditions, if no filter is
 * pinned, and if `isEmptied`: the user removed the last part of a search, so it isn't a new one.
 */
export function pinnedAddress(parameters: URLSearchParams, isEmptied: boolean): URLSearchParams | undefined {
  const pinned = pinnedFilters();
  if (isEmptied || parameters.size > 0 || pinned.length === 0) return undefined;
  return new URLSearchParams(pinned.map((filter) => ["f", writeFilter(filter)]));
}

function textOf(filter: FieldFilter): string {
  return writeFilter({ ...filter, disabled: false, isOr: false });
}
