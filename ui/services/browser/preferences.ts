/** Preferences stored in the browser. If storage is blocked, they are not kept. */

const PREFIX = "tailrace.";

/** Returns a remembered text, or undefined. */
export function readPreference(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a text; undefined removes it. Returns false if the browser's storage is blocked or full. */
export function writePreference(name: string, value: string | undefined): boolean {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
    return true;
  } catch {
    return false;
  }
}

/** Returns the names of all that is stored. */
export function preferenceNames(): string[] {
  try {
    const keys = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at) ?? "");
    return keys.flatMap((key) => (key.startsWith(PREFIX) ? [key.slice(PREFIX.length)] : []));
  } catch {
    return [];
  }
}

/** Returns true if times are shown in UTC unless an address has another zone. */
export function isUtcPreferred(): boolean {
  return readPreference("zone") === "utc";
}

/** Returns false where single letters aren't shortcuts (WCAG 2.1.4). */
export function hasLetterKeys(): boolean {
  return readPreference("keys") !== "off";
}
