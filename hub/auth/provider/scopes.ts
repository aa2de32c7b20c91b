/** Scopes: resource URLs under the hub's address, and further ones that the settings name. */

/** A permission area that a client may ask for. */
export interface Scope {
  /** "https://logs.example.com/auth/logs.read". */
  readonly url: string;
  /** What the consent page says. */
  readonly title: string;
}

const OWN: Readonly<Record<string, string>> = {
  "logs.read": "Search your logs",
  "logs.write": "Add logs",
  manage: "Change indices, dashboards, pipelines and alerts",
};

/** Returns what all scopes of the hub at `publicUrl` begin with. */
export function scopeBaseOf(publicUrl: string): string {
  return `${publicUrl}/auth/`;
}

/** Returns the scope of the dashboard's own sign-in, which allows nothing else. */
export function signInScope(publicUrl: string): string {
  return `${scopeBaseOf(publicUrl)}sign-in`;
}

/** Returns all scopes that clients may ask for: the hub's own ones, then `further` (`auth.provider.scopes`). */
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
