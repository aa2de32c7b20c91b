/** Scopes: resource URLs under the hub's address, and others from the settings. */

import type { OwnScope } from "#hub/auth/accounts/principal.ts";

/** A permission area that a client may request. */
export interface Scope {
  /** "https://logs.example.com/auth/logs.read". */
  readonly url: string;
  /** Text on the consent page. */
  readonly title: string;
}

/** Titles of the scopes of `auth/accounts/principal.ts`. */
const OWN: Readonly<Record<OwnScope, string>> = {
  "logs.read": "Search your logs",
  "logs.write": "Add logs",
  manage: "Change indices, dashboards, pipelines and alerts",
};

/** Returns the common prefix of the scopes of the hub at `publicUrl`. */
export function scopeBaseOf(publicUrl: string): string {
  return `${publicUrl}/auth/`;
}

/** Returns the scope of the dashboard's sign-in, which allows nothing else. */
export function signInScope(publicUrl: string): string {
  return `${scopeBaseOf(publicUrl)}sign-in`;
}

/** Returns all scopes that clients may request: the hub's own, then `further` (`auth.provider.scopes`). */
export function scopesOf(publicUrl: string, further: readonly string[]): Scope[] {
  const own = Object.entries(OWN).map(([name, title]) => ({ url: scopeBaseOf(publicUrl) + name, title }));
  return [...own, ...further.map((url) => ({ url, title: `Access ${url}` }))];
}

/** Returns the last parts ("logs.read") of those scope URLs that are the hub's own. */
export function ownScopeNames(scope: string, publicUrl: string): string[] {
  const base = scopeBaseOf(publicUrl);
  return scope
    .split(" ")
    .filter((url) => url.startsWith(base))
    .map((url) => url.slice(base.length));
}
