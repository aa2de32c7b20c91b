/** Finds out whether files were written or replaced, as certificates are when they are renewed. */

import { type BigIntStats, statSync } from "node:fs";

/** Files that were written within this time may be written further. */
const SETTLED_MS = 1_000;

/** Time after which changed files that couldn't be used are tried again. */
const RETRY_MS = 1_000;

export class FileChanges {
  readonly #paths: readonly string[];
  #used: string;
  /** State of files that couldn't be used, and the time of the next attempt; undefined after a success. */
  #failed: { state: string; retryMs: number } | undefined;

  /** The files as they are now count as used. Links are followed. */
  constructor(paths: readonly string[]) {
    this.#paths = paths;
    this.#used = this.#state();
  }

  /**
   * Calls `use` if a file has changed, appeared or vanished since the last call of it that succeeded; each second at most while
   * nothing changes further. Files that are being written aren't used yet: half of one may look like a whole one. `onFault`
   * gets the first error of each change.
   */
  take(use: () => void, onFault: (error: unknown) => void, nowMs = performance.now()): void {
    const state = this.#state();
    if (state === this.#used) return;
    const failed = this.#failed?.state === state ? this.#failed : undefined;
    if (failed !== undefined && nowMs < failed.retryMs) return;
    if (this.#paths.some(isFresh)) return;
    try {
      use();
      this.#used = state;
      this.#failed = undefined;
    } catch (error) {
      this.#failed = { state, retryMs: nowMs + RETRY_MS };
      if (failed === undefined) onFault(error);
    }
  }

  #state(): string {
    return this.#paths.map(stateOf).join(" ");
  }
}

/** Returns whether a file was written just now. A time in the future is that of another clock: nothing follows from it. */
function isFresh(path: string): boolean {
  const ageMs = Date.now() - Number(statOf(path)?.mtimeMs ?? 0);
  return ageMs >= 0 && ageMs < SETTLED_MS;
}

function stateOf(path: string): string {
  const found = statOf(path);
  if (found === undefined) return "none";
  // The time of the last change counts too: a file that becomes readable is the same otherwise.
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return [dev, ino, size, mtimeNs, ctimeNs].join("/");
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}
