/** Redirects to the sign-in if the session ends while a page is open, and back to the same address afterwards. */

/** Several answers may have the status, and a sign-in that ends in 401 again must not repeat indefinitely. */
const AT_MOST_EVERY_MS = 10_000;
const LEFT_AT = "tailrace.signed-out-at";

let hasEdits = false;

/** Records whether something was typed on the current page: it must not be lost to a sign-in. */
export function watchEdits(): void {
  addEventListener("input", () => void (hasEdits = true), { capture: true, passive: true });
  addEventListener("hashchange", () => void (hasEdits = false));
}

/** Goes to the sign-in if the hub answered with 401; if something was typed, the user chooses when. */
export function leaveIfSignedOut(status: number): void {
  if (status !== 401 || hasEdits || typeof location === "undefined") return;
  const now = Date.now();
  if (now - Number(sessionStorage.getItem(LEFT_AT) ?? 0) < AT_MOST_EVERY_MS) return;
  sessionStorage.setItem(LEFT_AT, String(now));
  location.assign(signInAddress(location));
}

/** Loads the page of whoever is signed in now, if nothing was typed that would be lost. */
export function reloadUnlessEdited(): void {
  if (!hasEdits) location.reload();
}

/** Returns the address of the sign-in that leads back to `here`. */
export function signInAddress({
  pathname,
  search,
  hash,
}: Pick<Location, "pathname" | "search" | "hash">): string {
  return `/api/auth/login?return_to=${encodeURIComponent(`${pathname}${search}${hash}`)}`;
}
