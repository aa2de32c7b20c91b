/** Requests that an account sent from this browser, newest first. */

import { type Account, readOwn, writeOwn } from "#ui/services/browser/own-texts.ts";

export interface PastRequest {
  /** ms since 1970-01-01 UTC */
  readonly atMs: number;
  /** As it was typed: request line and body. */
  readonly text: string;
  /** HTTP status; 0 if the hub couldn't be reached. */
  readonly status: number;
}

const KEY = "console.history";
const MAX_ENTRIES = 200;
/** A request with a larger body isn't kept: a browser stores some MB in total. */
const MAX_TEXT = 20_000;

/** Returns the history; what can't be read is none. */
export function readHistory(account: Account): PastRequest[] {
  try {
    const list = JSON.parse(readOwn(account, KEY) ?? "[]") as unknown;
    return Array.isArray(list) ? list.filter(isPast) : [];
  } catch {
    return [];
  }
}

/** Returns `history` with one more in front; the same text is kept once. */
export function addToHistory(history: readonly PastRequest[], entry: PastRequest): PastRequest[] {
  if (entry.text.length > MAX_TEXT) return [...history];
  return [entry, ...history.filter(({ text }) => text !== entry.text)].slice(0, MAX_ENTRIES);
}

/** Stores the history; removes an empty one. */
export function writeHistory(account: Account, history: readonly PastRequest[]): void {
  writeOwn(account, KEY, history.length === 0 ? undefined : JSON.stringify(history));
}

function isPast(value: unknown): value is PastRequest {
  const entry = value as Partial<PastRequest> | null;
  return (
    typeof entry?.text === "string" && typeof entry.atMs === "number" && typeof entry.status === "number"
  );
}
