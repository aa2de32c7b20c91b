/** Finds out whether files were written or replaced, as certificates are when they are renewed. */

import { type BigIntStats, statSync } from "node:fs";

/**
 * Files that have stayed the same for this long count as whole: others may be written further. The clock is that of this
 * process: the times of files are those of their server, and of whoever copied them.
 */
const SETTLED_MS = 1_000;

/** Time after which changed files that couldn't be used are tried again. */
const RETRY_MS = 1_000;

/** Files that haven't settled for this long are reported. */
const UNSETTLED_MS = 60_000;

/** Files that differ from the used ones. */
interface Change {
  readonly state: string;
  /** When files that hadn't settled were first seen. */
  readonly unsettledMs: number;
  isUnsettledReported: boolean;
  /** When the files may be used: they have settled then, or are tried again. */
  useMs: number;
  hasFailed: boolean;
}

export class FileChanges {
  readonly #paths: readonly string[];
  #used: string;
  #change: Change | undefined;

  /** The files as they are now count as used. Links are followed. */
  constructor(paths: readonly string[]) {
    this.#paths = paths;
    this.#used = this.#state();
  }

  /**
   * Calls `use` if a file has changed, appeared or vanished since the last call of it that succeeded; each second at most while
   * nothing changes further. Files that a call of `take` finds changed are used by one a second later at the earliest, if they
   * are still the same: half of a file may look like a whole one. `onFault` gets the first error of each change, and one if
   * the files don't settle for a minute. `nowMs`: of a monotonic clock.
   */
  take(use: () => void, onFault: (error: unknown) => void, nowMs = performance.now()): void {
    const state = this.#state();
    if (state === this.#used) {
      this.#change = undefined;
      return;
    }
    if (this.#change?.state !== state) this.#change = changeTo(state, this.#change, nowMs);
    const change = this.#change;
    if (nowMs < change.useMs) {
      this.#reportUnsettled(change, onFault, nowMs);
      return;
    }
    try {
      use();
      this.#used = state;
      this.#change = undefined;
    } catch (error) {
      change.useMs = nowMs + RETRY_MS;
      if (!change.hasFailed) onFault(error);
      change.hasFailed = true;
    }
  }

  #reportUnsettled(change: Change, onFault: (error: unknown) => void, nowMs: number): void {
    if (change.hasFailed || change.isUnsettledReported || nowMs - change.unsettledMs < UNSETTLED_MS) return;
    change.isUnsettledReported = true;
    onFault(
      new Error(
        `${this.#paths.join(", ")} are used as they were before: they have kept changing for ${UNSETTLED_MS / 1_000} s`,
      ),
    );
  }

  #state(): string {
    return this.#paths.map(stateOf).join(" ");
  }
}

function changeTo(state: string, before: Change | undefined, nowMs: number): Change {
  // A change that failed had settled.
  const unsettled = before?.hasFailed === false ? before : undefined;
  return {
    state,
    unsettledMs: unsettled?.unsettledMs ?? nowMs,
    isUnsettledReported: unsettled?.isUnsettledReported ?? false,
    useMs: nowMs + SETTLED_MS,
    hasFailed: false,
  };
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
