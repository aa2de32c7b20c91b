/** Who is signed in, and whether the hub answers at all. */

import { isOpen, openOwn } from "#ui/services/browser/own-texts.ts";

/** The signed-in user, as the hub reports it. */
export interface Viewer {
  readonly name: string;
  readonly role: string;
  /** False if the hub requires no sign-in. */
  readonly canSignOut: boolean;
  /** False if the user signs in at another provider. */
  readonly hasPassword: boolean;
}

/** The hub's last answer. */
export type HubState = "ready" | "starting" | "away" | "silent" | "signed_out";

/** The hub answers with its health within 2 s; one that takes longer than this hangs. */
const SILENT_MS = 5_000;

/** Returns the signed-in user; undefined if there is none, or the hub can't answer. */
export async function fetchViewer(): Promise<Viewer | undefined> {
  try {
    const response = await fetch("/api/auth/me", {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(SILENT_MS),
    });
    if (response.status >= 500) missHub();
    if (!response.ok) return undefined;
    const { kind, name, role, has_password } = (await response.json()) as Record<string, unknown>;
    return {
      name: String(name),
      role: String(role),
      canSignOut: kind === "user",
      hasPassword: has_password !== false,
    };
  } catch {
    missHub();
    return undefined;
  }
}

/** Returns true if the hub asks for a sign-in; false as well if it can't answer. */
export async function isSignedOut(): Promise<boolean> {
  try {
    return (await fetch("/api/auth/me", { headers: { accept: "application/json" } })).status === 401;
  } catch {
    return false;
  }
}

let known: Promise<Viewer | undefined> | undefined;

/**
 * Returns the same, asked once for all while this browser is signed in with that account, and opens the account's texts.
 * If the hub can't answer, `HUB_BACK_EVENT` follows once it can.
 */
export async function knownViewer(): Promise<Viewer | undefined> {
  const before = known;
  const viewer = await before;
  if (viewer !== undefined && isOpen(viewer.name)) return viewer;
  if (known === before) known = learnViewer();
  return known;
}

async function learnViewer(): Promise<Viewer | undefined> {
  const viewer = await fetchViewer();
  if (viewer !== undefined) openOwn(viewer.name, viewer.canSignOut);
  return viewer;
}

/** Asks the hub whether it is ready. */
export async function fetchHubState(): Promise<HubState> {
  try {
    const { status } = await fetch("/health", { signal: AbortSignal.timeout(SILENT_MS) });
    if (status === 401) return "signed_out";
    return status === 200 ? "ready" : "starting";
  } catch (error) {
    return error instanceof DOMException && error.name === "TimeoutError" ? "silent" : "away";
  }
}

/** Ends the session and goes to the sign-in. Returns false if the hub didn't end it. */
export async function signOut(): Promise<boolean> {
  try {
    const { ok, status } = await fetch("/api/auth/logout", { method: "POST" });
    // 401: it had ended already.
    if (!ok && status !== 401) return false;
  } catch {
    return false;
  }
  location.assign("/api/auth/login");
  return true;
}

/** A call found no hub: the badge repeats the request until the hub answers. */
export const HUB_MISSED_EVENT = "tailrace-hub-missed";

function missHub(): void {
  dispatchEvent(new Event(HUB_MISSED_EVENT));
}

/** The hub answers again: what failed for want of it is worth another try. */
export const HUB_BACK_EVENT = "tailrace-hub-back";
