/** Titles of the hub's own scopes, as its consent page has them, in the reader's language. */

import { msg } from "@lit/localize";

/** By the last part of the scope's address. */
const TITLES: Readonly<Record<string, string>> = {
  "logs.read": msg("Search your logs"),
  "logs.write": msg("Add logs"),
  manage: msg("Change indices, dashboards, pipelines and alerts"),
};

/** Returns the title of a scope of the hub at `origin`; `other` for any other scope. */
export function scopeTitle(scope: string, origin: string, other = scope): string {
  const base = `${origin}/auth/`;
  return (scope.startsWith(base) ? TITLES[scope.slice(base.length)] : undefined) ?? other;
}
