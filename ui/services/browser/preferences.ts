/** Preferences stored in the browser. If storage is blocked, they are not kept. */

/** Returns a remembered text, or undefined. */
export function readPreference(name: string): string | undefined {
  try {
    return localStorage.getItem(`tailrace.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a text; undefined removes it. Returns false if the browser's storage is blocked or full. */
export function writePreference(name: string, value: string | undefined): boolean {
  try {
    if (value === undefined) localStorage.removeItem(`tailrace.${name}`);
    else localStorage.setItem(`tailrace.${name}`, value);
    return true;
  } catch {
    return false;
  }
}

/** Returns true if times are shown in UTC unless an address has another zone. */
export function isUtcPreferred(): boolean {
  return readPreference("zone") === "utc";
}

/** Returns false where single letters are no shortcuts (WCAG 2.1.4). */
export function hasLetterKeys(): boolean {
  return readPreference("keys") !== "off";
}
