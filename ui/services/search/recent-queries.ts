/** The queries a reader sent last, kept in the browser. */

import { readPreference, writePreference } from "#ui/services/browser/preferences.ts";

const NAME = "queries";
const MAX_QUERIES = 15;
/** A longer one is found again by other ways. */
const MAX_LENGTH = 1_000;

/** Returns them, the newest first. */
export function recentQueries(): readonly string[] {
  try {
    const known: unknown = JSON.parse(readPreference(NAME) ?? "[]");
    return Array.isArray(known) ? known.filter((one) => typeof one === "string").slice(0, MAX_QUERIES) : [];
  } catch {
    // Something else wrote there: they begin anew.
    return [];
  }
}

/** Puts a query first. */
export function rememberQuery(query: string): void {
  if (query === "" || query.length > MAX_LENGTH) return;
  const others = recentQueries().filter((one) => one !== query);
  writePreference(NAME, JSON.stringify([query, ...others].slice(0, MAX_QUERIES)));
}
